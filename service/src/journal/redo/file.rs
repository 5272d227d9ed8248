//! A file of the redo log: how it is named, made, used again and read.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use twox_hash::XxHash3_128;

use super::frame::{Frame, SECTOR_BYTES, Salt};
use crate::journal::sqlite::private_file;
#[cfg(test)]
use crate::planted::{self, Bug};

/// The number of a file: they go up one by one.
pub(crate) type FileNumber = u64;

/// No journal comes to have so many.
const END: FileNumber = 1 << 62;
const PREFIX: &str = "journal.redo-";
/// What is not whole yet.
const PART: &str = "journal.redo.part";
const MAGIC: [u8; 8] = *b"ZTMAREDO";
const VERSION: u32 = 1;
/// Magic, version, number, salt.
const HASHED_BYTES: usize = 8 + 4 + 8 + 16;
/// Zeros that are written at once to a new file.
static ZEROS: [u8; 1024 * 1024] = [0; 1024 * 1024];

/// A file with a salt of its own. Its header is durable, and its name.
#[derive(Debug)]
pub(crate) struct RedoFile {
    pub(crate) number: FileNumber,
    pub(crate) salt: Salt,
    file: File,
    /// How long it was when it was made.
    pub(crate) bytes: u64,
}

impl RedoFile {
    /// Makes a file of this length, all of it written, also in the place of one with its number. An error comes before it has its name, which
    /// is durable once the folder is [synced](sync_names).
    pub(super) fn make(folder: &Path, number: FileNumber, bytes: u64) -> io::Result<Self> {
        let part = folder.join(PART);
        let file = private_file(&part)?;
        let written = fill(&file, bytes).and_then(|()| Self::begin(folder, &part, file, number, bytes));
        if written.is_err() {
            // Else it keeps what room there is from those who could go on with it.
            let _gone = fs::remove_file(&part);
        }
        written
    }

    /// Makes this file another one, without what is in it. It has to be [taken](Self::take), and stays so until it is that one. Its name is
    /// durable once the folder is [synced](sync_names).
    pub(super) fn make_again(&self, folder: &Path, number: FileNumber) -> io::Result<Self> {
        let part = folder.join(PART);
        fs::rename(path(folder, self.number), &part)?;
        let again = Self::begin(folder, &part, self.file.try_clone()?, number, self.bytes)?;
        again.file.unlock()?;
        Ok(again)
    }

    fn begin(folder: &Path, part: &Path, file: File, number: FileNumber, bytes: u64) -> io::Result<Self> {
        let salt = new_salt()?;
        write_at(&file, &header(number, salt), 0)?;
        file.sync_all()?;
        fs::rename(part, path(folder, number))?;
        Ok(Self { number, salt, file, bytes })
    }

    pub(super) fn write(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        write_at(&self.file, bytes, at)?;
        #[cfg(test)]
        if planted::is(Bug::RedoSyncFails) {
            return Err(io::Error::other("planted"));
        }
        self.file.sync_data()
    }

    /// Reads so many bytes from a place on, or as many as there are.
    pub(crate) fn read(&self, at: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        let mut read = 0;
        while read < length {
            match read_at(&self.file, &mut bytes[read..], at + read as u64)? {
                0 => break,
                more => read += more,
            }
        }
        bytes.truncate(read);
        Ok(bytes)
    }

    /// The bytes of the commit that begins at a place; fewer, or others, if none does.
    pub(crate) fn commit_at(&self, at: u64) -> io::Result<Vec<u8>> {
        let head = self.read(at, SECTOR_BYTES)?;
        let length = head.first_chunk().and_then(|head| Frame::length_at(head, self.salt));
        match length {
            Some(length) if at.saturating_add(length as u64) <= self.bytes => self.read(at, length),
            _ => Ok(head),
        }
    }

    /// Whether it still is the file that it was made as, and not another one.
    pub(crate) fn is_itself(&self) -> io::Result<bool> {
        let header = self.read(0, SECTOR_BYTES)?;
        Ok(read_header(&header).is_some_and(|(_, salt)| salt == self.salt))
    }

    /// Takes it for the server alone, if nobody holds it as it is: who wants to waits until it is another one.
    pub(super) fn take(&self) -> bool {
        self.file.try_lock().is_ok()
    }

    /// Lets others have it again.
    pub(super) fn give_back(&self) {
        if let Err(error) = self.file.unlock() {
            tracing::warn!(number = self.number, %error, "a file of the redo log can't be unlocked");
        }
    }
}

/// Whether a server has [taken](RedoFile::take) the file with a number.
pub(super) fn is_taken(folder: &Path, number: FileNumber) -> io::Result<bool> {
    match File::open(path(folder, number))?.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Waits until what anyone has written to the file with a number is durable.
pub(super) fn sync(folder: &Path, number: FileNumber) -> io::Result<()> {
    // Windows syncs no file that was opened to be read.
    File::options().read(true).write(cfg!(windows)).open(path(folder, number))?.sync_data()
}

/// Makes the names of the files in a folder durable.
pub(super) fn sync_names(folder: &Path) -> io::Result<()> {
    #[cfg(test)]
    if planted::is(Bug::FolderSyncFails) {
        return Err(io::Error::other("planted"));
    }
    File::open(folder)?.sync_all()
}

/// Makes a file that has so many zeros and nothing else.
fn fill(file: &File, bytes: u64) -> io::Result<()> {
    file.set_len(0)?;
    let mut at = 0;
    while at < bytes {
        let length = usize::try_from(bytes - at).unwrap_or(usize::MAX).min(ZEROS.len());
        write_at(file, &ZEROS[..length], at)?;
        at += length as u64;
    }
    Ok(())
}

fn new_salt() -> io::Result<Salt> {
    let mut salt = Salt([0; 16]);
    getrandom::fill(&mut salt.0).map_err(io::Error::other)?;
    Ok(salt)
}

/// Where the file with a number is.
pub(super) fn path(folder: &Path, number: FileNumber) -> PathBuf {
    folder.join(format!("{PREFIX}{number}"))
}

/// The bytes of the file with a number, and its salt, if its header is as it was written.
pub(super) fn load(folder: &Path, number: FileNumber) -> io::Result<(Vec<u8>, Option<Salt>)> {
    let bytes = fs::read(path(folder, number))?;
    let salt = read_header(&bytes).filter(|(is, _)| *is == number).map(|(_, salt)| salt);
    Ok((bytes, salt))
}

/// The numbers of all files in a folder, in order.
pub(super) fn numbers(folder: &Path) -> io::Result<Vec<FileNumber>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(PREFIX)).and_then(|n| n.parse().ok());
        let is_ours = |number: &FileNumber| *number < END && path(folder, *number).file_name() == Some(&name);
        numbers.extend(number.filter(is_ours));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Removes the file with a number, and one that was never whole.
pub(super) fn remove(folder: &Path, number: FileNumber) -> io::Result<()> {
    for gone in [folder.join(PART), path(folder, number)] {
        match fs::remove_file(gone) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

fn header(number: FileNumber, salt: Salt) -> [u8; SECTOR_BYTES] {
    let mut header = [0; SECTOR_BYTES];
    let hashed = [&MAGIC[..], &VERSION.to_be_bytes(), &number.to_be_bytes(), &salt.0].concat();
    header[..HASHED_BYTES].copy_from_slice(&hashed);
    header[HASHED_BYTES..HASHED_BYTES + 16].copy_from_slice(&XxHash3_128::oneshot(&hashed).to_be_bytes());
    header
}

/// The number and the salt in a header, if it is one of this format and as it was written.
fn read_header(bytes: &[u8]) -> Option<(FileNumber, Salt)> {
    let (hashed, rest) = bytes.split_first_chunk::<HASHED_BYTES>()?;
    let number = FileNumber::from_be_bytes(std::array::from_fn(|i| hashed[12 + i]));
    let salt = Salt(std::array::from_fn(|i| hashed[20 + i]));
    let hash: &[u8; 16] = rest.first_chunk()?;
    (header(number, salt).first_chunk()? == hashed && XxHash3_128::oneshot(hashed).to_be_bytes() == *hash)
        .then_some((number, salt))
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    match std::os::unix::fs::FileExt::read_at(file, bytes, at) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => read_at(file, bytes, at),
        read => read,
    }
}

#[cfg(windows)]
fn write_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_write(file, bytes, at)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => {
                bytes = &bytes[written..];
                at += written as u64;
            }
        }
    }
    Ok(())
}

#[cfg(windows)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, at)
}
