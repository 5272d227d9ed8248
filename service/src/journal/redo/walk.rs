//! The walk through the files before anything is made of them.
//!
//! Each frame is synced before the next is written, so only the last one can be torn. A frame that is not as it was written is damage if a
//! later one is there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::file::{self, FileNumber};
use super::frame::{Frame, SECTOR_BYTES, Salt, Sequence};

const MISSING: &str = "it is missing";

/// What the redo log holds.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    files: Vec<Part>,
    /// Commits that can be read.
    pub(crate) commits: u64,
    /// The last of them.
    pub(crate) last: Sequence,
    /// The number of the newest file; 0 if there is none.
    pub(crate) newest: FileNumber,
    /// Damage, if less can be read than what was once durable.
    pub(crate) damage: Option<RedoDamage>,
}

/// A file, and where its frames are.
#[derive(Debug)]
struct Part {
    number: FileNumber,
    path: PathBuf,
    salt: Salt,
    frames: Vec<(usize, Sequence)>,
    /// Where the last of them ends.
    end: usize,
}

/// Damage in the redo log: commits that were durable, and that can't be read, or not after what can't be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedoDamage {
    /// The file that is damaged or gone.
    pub file: PathBuf,
    /// The first byte of the header or commit that is damaged.
    pub offset: u64,
    /// What was found, in words.
    pub what: &'static str,
}

/// A file of the redo log that can't be read any more.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub(crate) path: PathBuf,
    pub(crate) source: io::Error,
}

impl Walked {
    /// Reads all commits, in order.
    pub(crate) fn frames<E: From<Unreadable>>(
        &self,
        mut each: impl FnMut(Frame<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        for Part { path, salt, frames, .. } in self.files.iter().filter(|file| !file.frames.is_empty()) {
            let unreadable = |source| Unreadable { path: path.clone(), source };
            let bytes = fs::read(path).map_err(unreadable)?;
            for (at, _) in frames {
                let frame = bytes.get(*at..).and_then(|bytes| Frame::read(bytes, *salt));
                let changed = || unreadable(io::Error::other("it has changed since it was looked at"));
                each(frame.ok_or_else(changed)?)?;
            }
        }
        Ok(())
    }

    fn damaged(&mut self, file: PathBuf, offset: usize, what: &'static str) {
        self.damage.get_or_insert(RedoDamage { file, offset: offset as u64, what });
    }
}

/// Walks the files of a folder from one on; of what is before it nothing is needed. `before` is the last commit before those in it.
pub(crate) fn walk(folder: &Path, from: FileNumber, before: Sequence) -> io::Result<Walked> {
    let mut walked = Walked { last: before, ..Walked::default() };
    let numbers = file::numbers(folder)?;
    walked.newest = numbers.last().copied().unwrap_or(0);
    for number in from..=walked.newest.max(from) {
        let path = file::path(folder, number);
        let (bytes, salt) = match file::load(folder, number) {
            Ok(loaded) => loaded,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                walked.damaged(path, 0, MISSING);
                return Ok(walked);
            }
            Err(error) => return Err(error),
        };
        let Some(salt) = salt else {
            walked.damaged(path, 0, "its header is not as it was written");
            return Ok(walked);
        };
        let mut part = Part { number, path: path.clone(), salt, frames: Vec::new(), end: SECTOR_BYTES };
        while let Some(frame) = bytes.get(part.end..).and_then(|bytes| Frame::read(bytes, salt)) {
            if part.frames.is_empty() && frame.sequence == walked.last {
                // A commit that failed half way, where nothing could be written in its place, as builds of November 2026 left each. What came
                // after it counts.
                walked.take_back();
            }
            if frame.sequence != walked.last.next() {
                walked.damaged(path, part.end, "commits before one of it are missing");
                return Ok(walked);
            }
            part.frames.push((part.end, frame.sequence));
            walked.commits += 1;
            walked.last = frame.sequence;
            part.end += frame.len();
        }
        let at = part.end;
        walked.files.push(part);
        if has_frame_after(&bytes, at, salt) {
            walked.damaged(path, at, "a commit is not as it was written, and later ones are there");
            return Ok(walked);
        }
    }
    // The file after it was there before the first commit of one.
    let is_last = walked.newest <= from || walked.files.last().is_some_and(|file| !file.frames.is_empty());
    if is_last {
        walked.damaged(file::path(folder, walked.newest.max(from) + 1), 0, MISSING);
    }
    Ok(walked)
}

/// Looks whether files from one on have commits of which a database does not know that lets none be needed: it has lost some itself then, as
/// it knows a file before that has its first commit.
pub(crate) fn walk_closed(folder: &Path, from: FileNumber) -> io::Result<Walked> {
    let mut walked = Walked::default();
    for number in file::numbers(folder)?.into_iter().filter(|number| *number >= from) {
        walked.newest = number;
        let (bytes, salt) = file::load(folder, number)?;
        if salt.is_some_and(|salt| has_frame_after(&bytes, 0, salt)) {
            walked.damaged(
                file::path(folder, number),
                0,
                "it has commits, and the database does not know of it",
            );
        }
    }
    Ok(walked)
}

impl Walked {
    /// Whether this commit is there, or one behind it: else those up to it are gone from the end.
    pub(crate) fn has_to_have(&mut self, commit: Sequence) {
        let last = self.files.iter().rfind(|file| !file.frames.is_empty()).or(self.files.first());
        if self.last < commit
            && let Some(last) = last
        {
            self.damaged(
                last.path.clone(),
                last.end,
                "commits that the database knows are missing at its end",
            );
        }
    }

    /// Whether the last commit counts, where a server may be writing: it is on the disk, and has not failed. One that is being written, or
    /// has failed, can be read as well.
    pub(crate) fn last_counts(&self, folder: &Path) -> bool {
        let Some(last) = self.files.iter().rfind(|file| !file.frames.is_empty()) else { return true };
        // In this order: what can't be synced fails here as well, or the server has said so by then.
        let counts = file::sync(folder, last.number).and_then(|()| file::is_taken(folder, last.number + 1));
        counts.is_ok_and(|is_suspect| !is_suspect)
    }

    /// Leaves out the last commit, if it is there.
    fn take_back(&mut self) {
        let Some(file) = self.files.iter_mut().rfind(|file| !file.frames.is_empty()) else { return };
        if let Some((_, sequence)) = file.frames.pop() {
            self.commits -= 1;
            self.last = sequence.before();
        }
    }
}

/// Whether a commit begins behind a place where none does.
fn has_frame_after(bytes: &[u8], at: usize, salt: Salt) -> bool {
    let later = (at + SECTOR_BYTES..bytes.len()).step_by(SECTOR_BYTES);
    later.filter_map(|at| bytes.get(at..)).any(|bytes| Frame::read(bytes, salt).is_some())
}
