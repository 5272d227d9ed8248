//! The redo log: what was committed last, in files of our own format that were written before, so that a commit is one write and one sync.
//!
//! A frame is one commit. It has the rows of the log that came in it, and what of it is for the database: ends of matches, and requests that
//! named themselves. These are put into the database some time later, many at once; rows stay here until their match is over or
//! the log is long, and only then those that are still of a running match are copied into the database. Its format is in
//! `docs/journal.md`.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use frame::SECTOR_BYTES;

mod entry;
mod file;
mod frame;
mod log;
mod walk;

pub(crate) use entry::Entry;
pub(crate) use file::{FileNumber, RedoFile};
pub(crate) use frame::{Frame, FrameBuilder, Kind, Sequence};
pub(crate) use log::{RedoLog, RedoSize, WriteError, Written};
pub use walk::RedoDamage;
pub(crate) use walk::{Unreadable, Walked, walk, walk_closed};

/// The place of a row in the log.
pub(crate) type Position = i64;

/// The files in a folder, needed or not, the oldest first.
pub(crate) fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(file::numbers(folder)?.into_iter().map(|number| file::path(folder, number)).collect())
}

/// The number of the newest of them; 0 if there is none.
pub(crate) fn newest(folder: &Path) -> io::Result<FileNumber> {
    Ok(file::numbers(folder)?.last().copied().unwrap_or(0))
}

/// The number of the oldest of them that can be read, and the last commit before its own; zeros if there is none.
pub(crate) fn oldest(folder: &Path) -> io::Result<(FileNumber, Sequence)> {
    for number in file::numbers(folder)? {
        let (bytes, salt) = file::load(folder, number)?;
        let first = salt.and_then(|salt| Frame::read(bytes.get(SECTOR_BYTES..)?, salt));
        if let Some(frame) = first {
            return Ok((number, frame.sequence.before()));
        }
    }
    Ok((0, Sequence::default()))
}

/// Holds the redo log as it is: as long as the answer is there, no file of it becomes another one.
pub(crate) fn hold(folder: &Path) -> io::Result<Option<File>> {
    loop {
        let Some(oldest) = file::numbers(folder)?.first().copied() else { return Ok(None) };
        let held = match File::open(file::path(folder, oldest)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        held.lock_shared()?;
        // It may have gone, or become another one, before it was held: then it has not this name any more.
        if file::numbers(folder)?.first() == Some(&oldest) {
            return Ok(Some(held));
        }
    }
}
