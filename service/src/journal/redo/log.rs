//! The redo log as it is written.

use std::collections::VecDeque;
use std::io;
use std::ops::RangeBounds;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Position;
use super::file::{self, FileNumber, RedoFile};
use super::frame::{FrameBuilder, SECTOR_BYTES, Sequence};

/// Files that are kept to be written again.
const SPARES: usize = 2;
/// Commits to wait for after no file could be made ahead of them.
const COMMITS_BEFORE_NEXT_FILE: u32 = 1000;

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
    /// A commit failed half way: nothing is written behind it.
    is_suspect: bool,
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
            is_suspect: false,
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
        if self.is_suspect || self.end + length > self.current.bytes {
            self.switch(length).map_err(WriteError::NotBegun)?;
        }
        if self.end == SECTOR_BYTES as u64 && self.names == Names::ToSync {
            self.sync_names().map_err(WriteError::NotBegun)?;
        }
        let sequence = self.last.next();
        let bytes = frame.seal(self.current.salt, sequence, first);
        if let Err(error) = self.current.write(bytes, self.end) {
            self.is_suspect = true;
            return Err(WriteError::Unknown(error));
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
            // Nothing of it is needed: of what it may have nobody knows whether it is there.
            self.current = self.instead_of(&self.current.clone(), room)?;
            self.is_suspect = false;
            return Ok(());
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
        self.is_suspect = false;
        Ok(())
    }

    /// A file without commits, with room for so many bytes, in the place of this one.
    fn instead_of(&mut self, file: &RedoFile, room: u64) -> io::Result<Arc<RedoFile>> {
        if file.bytes >= room {
            return file.renew().map(Arc::new);
        }
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
mod tests {
    use super::*;
    use crate::journal::redo::{Frame, Kind, Unreadable, walk};
    use crate::planted::{Bug, plant, take_out};

    const SIZE: RedoSize = RedoSize { file_bytes: 4096, most_bytes: u64::MAX };

    fn begun(folder: &Path) -> RedoLog {
        RedoLog::begin(folder, 0, Sequence(7), SIZE).unwrap()
    }

    fn write(log: &mut RedoLog, text: &str) -> Result<Written, WriteError> {
        let mut frame = FrameBuilder::default();
        frame.push(Kind::Row, text.as_bytes());
        log.append(&mut frame, 1)
    }

    /// As if the sync of the last commit had failed: nobody knows whether it is there.
    fn fail(log: &mut RedoLog, Written { offset, sequence, .. }: &Written) {
        (log.end, log.last, log.is_suspect) = (*offset, Sequence(sequence.0 - 1), true);
    }

    fn found(folder: &Path) -> Vec<(u64, String)> {
        let walked = walk(folder, 1, Sequence(7)).unwrap();
        assert_eq!(walked.damage, None);
        let mut found = Vec::new();
        let read = walked.frames(|frame: Frame<'_>| {
            let rows = frame.rows().map(|(_, row)| String::from_utf8(row.to_vec()).unwrap());
            found.extend(rows.map(|row| (frame.sequence.0, row)));
            Ok::<(), Unreadable>(())
        });
        assert!(read.is_ok());
        found
    }

    fn texts(from: u64, texts: &[&str]) -> Vec<(u64, String)> {
        (from..).zip(texts.iter().map(ToString::to_string)).collect()
    }

    #[test]
    fn commits_are_found_in_order_over_all_files() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = begun(folder.path());
        let all: Vec<String> = (0..40).map(|number| format!("commit {number}")).collect();
        for text in &all {
            write(&mut log, text).unwrap();
        }
        assert!(log.current() > 4);
        assert_eq!(found(folder.path()), (8..).zip(all).collect::<Vec<_>>());
    }

    /// Whether the one that failed is on the disk or not, what was committed in its place counts.
    #[test]
    fn of_a_commit_that_failed_and_the_next_the_next_counts() {
        for is_there in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let mut log = begun(folder.path());
            write(&mut log, "first").unwrap();
            let failed = write(&mut log, "failed").unwrap();
            fail(&mut log, &failed);
            if !is_there {
                failed.file.write(&[0; SECTOR_BYTES], failed.offset).unwrap();
            }
            write(&mut log, "second").unwrap();
            write(&mut log, "third").unwrap();
            assert_eq!(found(folder.path()), texts(8, &["first", "second", "third"]), "{is_there}");
        }
    }

    /// Nothing that was acknowledged is in a file without a name, as a kill would lose it.
    #[test]
    fn a_longer_file_is_the_one_with_its_number_whatever_fails_behind_that() {
        let too_long = "a".repeat(2 * 4096);
        for commits_before in [0, 1] {
            let folder = tempfile::tempdir().unwrap();
            let mut log = begun(folder.path());
            let mut written = vec!["first".to_owned(); commits_before];
            for text in &written {
                write(&mut log, text).unwrap();
            }
            plant(Bug::FolderSyncFails);
            for _ in 0..2 {
                let error = write(&mut log, &too_long).unwrap_err();
                assert!(matches!(error, WriteError::NotBegun(_)), "{error}");
            }
            // What has room in the file of before goes on, and gets no commit in another one.
            while let Ok(_commit) = write(&mut log, "short") {
                written.push("short".to_owned());
            }
            assert_eq!(log.current(), 1);
            take_out();
            let number = log.current() + 3;
            while log.current() < number {
                write(&mut log, "later").unwrap();
                written.push("later".to_owned());
            }
            let expected: Vec<_> = (8..).zip(written).collect();
            assert_eq!(found(folder.path()), expected, "{commits_before}");
        }
    }

    #[test]
    fn a_commit_that_failed_with_nothing_after_it_may_be_there() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = begun(folder.path());
        write(&mut log, "first").unwrap();
        let failed = write(&mut log, "failed").unwrap();
        fail(&mut log, &failed);
        assert_eq!(found(folder.path()), texts(8, &["first", "failed"]));
    }

    /// Else a disk that takes nothing would be filled.
    #[test]
    fn a_file_whose_first_commits_fail_one_after_the_other_stays_the_only_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = begun(folder.path());
        for _ in 0..10 {
            let failed = write(&mut log, "failed").unwrap();
            fail(&mut log, &failed);
        }
        write(&mut log, "first").unwrap();
        assert_eq!(log.current(), 1);
        assert_eq!(crate::journal::redo::files(folder.path()).unwrap().len(), 2);
        assert_eq!(found(folder.path()), texts(8, &["first"]));
    }

    #[test]
    fn a_file_that_is_written_again_has_none_of_what_it_had() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = begun(folder.path());
        let first = write(&mut log, "old").unwrap().file;
        while log.current() < 2 {
            write(&mut log, "old").unwrap();
        }
        log.is_done(first);
        let used = log.last();
        while log.current() < 4 {
            write(&mut log, "new").unwrap();
        }
        let walked = walk(folder.path(), 2, Sequence(used.0 - 1)).unwrap();
        assert_eq!((walked.damage, walked.last), (None, log.last()));
        assert!(!file::path(folder.path(), 1).exists());
    }

    #[test]
    fn what_would_be_longer_than_it_may_is_not_begun() {
        let folder = tempfile::tempdir().unwrap();
        let size = RedoSize { most_bytes: 4 * SIZE.file_bytes, ..SIZE };
        let mut log = RedoLog::begin(folder.path(), 0, Sequence(7), size).unwrap();
        let mut written = Vec::new();
        let error = loop {
            match write(&mut log, "a") {
                Ok(commit) => written.push(commit),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, WriteError::NotBegun(_)), "{error}");
        assert_eq!(found(folder.path()).len(), written.len());
        log.is_done(written.remove(0).file);
        write(&mut log, "goes on").unwrap();
    }
}
