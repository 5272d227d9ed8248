//! The redo log as it is written.

use std::collections::VecDeque;
use std::io;
use std::ops::RangeBounds;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Position;
use super::file::{self, FileNumber, RedoFile};
use super::frame::{Frame, FrameBuilder, SECTOR_BYTES, Sequence};

/// Files that are kept to be written again.
const SPARES: usize = 2;
/// Commits to wait for after no file could be made ahead of them.
const COMMITS_BEFORE_NEXT_FILE: u32 = 1000;
/// Failures at one place after which the next file is written: a place of the disk may be bad for ever.
const MOST_FAILURES: u32 = 2;

/// The files that commits are added to. The next file is there before the current one has its first commit, so one that is gone with
/// commits in it leaves a hole, and is missed.
#[derive(Debug)]
pub(crate) struct RedoLog {
    folder: PathBuf,
    size: RedoSize,
    current: Arc<RedoFile>,
    /// Where the next commit goes.
    end: u64,
    /// Those that come next, in order; there is at least one.
    next: VecDeque<Arc<RedoFile>>,
    /// Those of which nothing is needed any more, the oldest first.
    spares: VecDeque<Arc<RedoFile>>,
    last: Sequence,
    /// Bytes of all files.
    bytes: u64,
    names: Names,
    /// How often a write has failed since the last commit: one that failed half way may be at the end. Another one takes its place there,
    /// or it goes.
    failures: u32,
    /// After no file could be made ahead: how many commits are left before that is tried again.
    paused_for: u32,
}

/// Whether the names of all files are durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    Durable,
    /// One has taken the place of another, which may be back after a loss of power: it gets no commit yet.
    ToSync,
}

/// How long the redo log is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RedoSize {
    /// Bytes of a file, unless one commit has more.
    pub(crate) file_bytes: u64,
    /// The most bytes of all of its files, those that are kept to be written again too.
    pub(crate) most_bytes: u64,
}

/// Where a commit is.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) file: Arc<RedoFile>,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    pub(crate) sequence: Sequence,
}

/// Why a commit was not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    /// Nothing of it was.
    #[error("no file of the redo log can be made: {0}")]
    NotBegun(io::Error),
    /// Perhaps it was.
    #[error("the redo log can't be written: {0}")]
    Unknown(io::Error),
}

impl RedoLog {
    /// Begins with new files after this one, and after this commit.
    pub(crate) fn begin(
        folder: &Path,
        after: FileNumber,
        last: Sequence,
        size: RedoSize,
    ) -> io::Result<Self> {
        let make = |number| RedoFile::make(folder, number, size.file_bytes).map(Arc::new);
        let current = make(after + 1)?;
        let next = VecDeque::from([make(after + 2)?]);
        file::sync_names(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            size,
            bytes: 2 * size.file_bytes,
            current,
            end: SECTOR_BYTES as u64,
            next,
            spares: VecDeque::new(),
            last,
            names: Names::Durable,
            failures: 0,
            paused_for: 0,
        })
    }

    /// The number of the file after all that are there.
    pub(crate) fn after(&self) -> FileNumber {
        self.newest() + 1
    }

    /// The number of the file that is written now.
    pub(crate) fn current(&self) -> FileNumber {
        self.current.number
    }

    /// Makes a commit durable.
    ///
    /// # Errors
    /// A [`WriteError`].
    pub(crate) fn append(
        &mut self,
        frame: &mut FrameBuilder,
        first: Position,
    ) -> Result<Written, WriteError> {
        self.paused_for = self.paused_for.saturating_sub(1);
        let length = frame.len() as u64;
        let is_bad = self.failures >= MOST_FAILURES && self.end > SECTOR_BYTES as u64;
        if is_bad || self.end + length > self.current.bytes {
            self.switch(length).map_err(WriteError::NotBegun)?;
        }
        if self.end == SECTOR_BYTES as u64 && self.names == Names::ToSync {
            self.sync_names().map_err(WriteError::NotBegun)?;
        }
        let sequence = self.last.next();
        let bytes = frame.seal(self.current.salt, sequence, first);
        if let Err(error) = self.current.write(bytes, self.end) {
            self.say_suspect();
            return Err(WriteError::Unknown(error));
        }
        if self.failures > 0 {
            self.say_sound();
        }
        let written = Written { file: self.current.clone(), offset: self.end, bytes: length, sequence };
        self.last = sequence;
        self.end += length;
        Ok(written)
    }

    /// Goes on in the next file, which has room for so much.
    fn switch(&mut self, length: u64) -> io::Result<()> {
        let room = SECTOR_BYTES as u64 + length;
        if self.end == SECTOR_BYTES as u64 {
            // Nothing of it is needed, nor of a commit in it that failed.
            self.current = self.instead_of(&self.current.clone(), room)?;
            self.say_sound();
            return Ok(());
        }
        if self.failures > 0 {
            // Else it would count should the one that comes be damaged.
            match self.current.write(&[0; SECTOR_BYTES], self.end) {
                Ok(()) => self.say_sound(),
                Err(error) => {
                    self.failures += 1;
                    if self.failures <= MOST_FAILURES {
                        return Err(error);
                    }
                    // This place may take nothing for ever. What comes has the number of the one that failed, and counts in its stead.
                }
            }
        }
        if let Some(next) = self.next.front().cloned().filter(|next| next.bytes < room) {
            self.next[0] = self.instead_of(&next, room)?;
        }
        if self.next.len() < 2 {
            self.prepare()?;
        }
        let next = self.next.pop_front().ok_or_else(|| io::Error::other("there is no next file"))?;
        self.current = next;
        self.end = SECTOR_BYTES as u64;
        // No more than one is left in the file before.
        self.failures = self.failures.min(1);
        Ok(())
    }

    /// Says that what is at the end may be a commit that failed, by a lock on the next file: whoever reads the files meanwhile can't tell it
    /// from one that counts. No room on the disk is needed for that.
    fn say_suspect(&mut self) {
        self.failures = self.failures.saturating_add(1);
        let found = self.current.commit_at(self.end);
        // Where nothing of it is, the last that can be read is one that counts.
        let is_there = found.map_or(true, |bytes| Frame::read(&bytes, self.current.salt).is_some());
        if let Some(next) = self.next.front()
            && is_there
        {
            // Whoever looks right now has it: then the next that fails says so.
            let _taken = next.take();
        }
    }

    /// Says that there is none any more, in this file and the one before.
    fn say_sound(&mut self) {
        if self.failures > 0 {
            self.current.give_back();
            if let Some(next) = self.next.front() {
                next.give_back();
            }
        }
        self.failures = 0;
    }

    /// A longer file without commits, with room for so many bytes, in the place of this one.
    fn instead_of(&mut self, file: &RedoFile, room: u64) -> io::Result<Arc<RedoFile>> {
        let more = room - file.bytes;
        self.has_room_for(more)?;
        let longer = RedoFile::make(&self.folder, file.number, room)?;
        // From here on the other has no name: whatever fails now, this one is the file with that number.
        self.names = Names::ToSync;
        self.bytes += more;
        Ok(Arc::new(longer))
    }

    fn sync_names(&mut self) -> io::Result<()> {
        file::sync_names(&self.folder)?;
        self.names = Names::Durable;
        Ok(())
    }

    /// Whether the file after the next is not there yet, so that a commit would wait for it.
    pub(crate) fn is_short_of_files(&self) -> bool {
        self.next.len() < 2 && !self.has_no_room()
    }

    /// Whether no file could be made of late.
    pub(crate) fn has_no_room(&self) -> bool {
        self.paused_for > 0
    }

    /// Makes one more file, or one of those that are not needed any more one that comes.
    ///
    /// # Errors
    /// If there is no room for it.
    pub(crate) fn prepare(&mut self) -> io::Result<()> {
        let prepared = self.try_to_prepare();
        self.paused_for = if prepared.is_ok() { 0 } else { COMMITS_BEFORE_NEXT_FILE };
        prepared
    }

    fn try_to_prepare(&mut self) -> io::Result<()> {
        let number = self.newest() + 1;
        let file_bytes = self.size.file_bytes;
        let is_usable = |spare: &mut Arc<RedoFile>| spare.bytes == file_bytes && spare.take();
        let prepared = if let Some(spare) = self.spares.pop_front_if(is_usable) {
            self.bytes -= file_bytes;
            spare.make_again(&self.folder, number)?
        } else {
            self.has_room_for(file_bytes)?;
            RedoFile::make(&self.folder, number, file_bytes)?
        };
        // Else it is made again under this number.
        self.sync_names()?;
        self.bytes += file_bytes;
        self.next.push_back(Arc::new(prepared));
        Ok(())
    }

    fn newest(&self) -> FileNumber {
        self.next.back().map_or(self.current.number, |next| next.number)
    }

    fn has_room_for(&self, more: u64) -> io::Result<()> {
        let RedoSize { most_bytes, .. } = self.size;
        if self.bytes.saturating_add(more) <= most_bytes {
            return Ok(());
        }
        let what = format!("it would have more than {most_bytes} bytes");
        Err(io::Error::new(io::ErrorKind::QuotaExceeded, what))
    }

    /// Nothing of this file is needed any more, and the database says so. Files come in their order.
    pub(crate) fn is_done(&mut self, file: Arc<RedoFile>) {
        self.spares.push_back(file);
        // One that somebody reads, such as a backup, holds all after it.
        let too_many = |spares: &VecDeque<Arc<RedoFile>>| {
            spares.len() > SPARES || spares.front().is_some_and(|spare| spare.bytes != self.size.file_bytes)
        };
        while too_many(&self.spares)
            && let Some(spare) = self.spares.pop_front_if(|spare| spare.take())
        {
            self.bytes -= spare.bytes;
            if let Err(error) = file::remove(&self.folder, spare.number) {
                tracing::warn!(number = spare.number, %error, "a file of the redo log can't be removed");
            }
        }
    }

    /// The last commit.
    pub(crate) fn last(&self) -> Sequence {
        self.last
    }

    /// Removes all files, of which nothing is needed any more.
    ///
    /// # Errors
    /// If one can't be removed: it goes at the next start.
    pub(crate) fn remove_all(&self) -> io::Result<()> {
        Self::remove(&self.folder, ..=self.newest())
    }

    /// Removes the files with these numbers, of which nothing is needed any more.
    pub(crate) fn remove(folder: &Path, numbers: impl RangeBounds<FileNumber>) -> io::Result<()> {
        for number in file::numbers(folder)?.into_iter().filter(|number| numbers.contains(number)) {
            file::remove(folder, number)?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests;
