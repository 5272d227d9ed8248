//! The rows that are in the redo log and nowhere else: where each is, and how many of each file are still of a running match.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::live::Position;
use crate::journal::redo::{FileNumber, RedoFile, Sequence, Written};

/// The first position of a row in the redo log: those of rows in tables are below it.
pub(super) const YOUNG: Position = 1 << 61;

/// The files of the redo log that are needed, the oldest first.
#[derive(Debug)]
pub(super) struct Young {
    files: VecDeque<YoungFile>,
    next: Position,
    /// The first row that is in no file yet.
    unwritten: Position,
    /// How many of the rows from there on are live.
    unwritten_live: u64,
}

#[derive(Debug)]
struct YoungFile {
    file: Arc<RedoFile>,
    first: Position,
    /// The last commit before those of this file.
    before: Sequence,
    bytes: u64,
    live: u64,
    /// The last position of each commit with rows, and where it begins.
    commits: Vec<(Position, u64)>,
}

/// Where a row is in the redo log.
#[derive(Clone, Debug)]
pub(super) struct YoungPlace {
    pub(super) file: Arc<RedoFile>,
    /// Where its commit begins.
    pub(super) offset: u64,
    pub(super) position: Position,
}

impl Young {
    pub(super) fn new() -> Self {
        Self { files: VecDeque::new(), next: YOUNG, unwritten: YOUNG, unwritten_live: 0 }
    }

    pub(super) fn next_position(&self) -> Position {
        self.next
    }

    /// The position of the first row that is not written.
    pub(super) fn unwritten(&self) -> Position {
        self.unwritten
    }

    pub(super) fn add_row(&mut self) -> Position {
        let position = self.next;
        self.next += 1;
        position
    }

    /// So many more rows are live at a position.
    pub(super) fn count(&mut self, position: Position, change: i64) {
        let live = if position >= self.unwritten {
            &mut self.unwritten_live
        } else {
            let after = self.files.partition_point(|file| file.first <= position);
            match after.checked_sub(1).and_then(|at| self.files.get_mut(at)) {
                Some(file) => &mut file.live,
                None => return,
            }
        };
        *live = live.saturating_add_signed(change);
    }

    /// The rows that were not written are there.
    pub(super) fn written(&mut self, Written { file, offset, bytes, sequence }: Written) {
        let is_current = self.files.back().is_some_and(|current| Arc::ptr_eq(&current.file, &file));
        if !is_current {
            let (first, before) = (self.unwritten, sequence.before());
            self.files.push_back(YoungFile { file, first, before, bytes: 0, live: 0, commits: Vec::new() });
        }
        if let Some(current) = self.files.back_mut() {
            current.bytes += bytes;
            current.live += self.unwritten_live;
            if self.next > self.unwritten {
                current.commits.push((self.next - 1, offset));
            }
        }
        (self.unwritten, self.unwritten_live) = (self.next, 0);
    }

    /// The rows that were not written never were.
    pub(super) fn take_back(&mut self) {
        (self.next, self.unwritten_live) = (self.unwritten, 0);
    }

    /// Where the row at a position is.
    pub(super) fn place(&self, position: Position) -> Option<YoungPlace> {
        let after = self.files.partition_point(|file| file.first <= position);
        let YoungFile { file, commits, .. } = self.files.get(after.checked_sub(1)?)?;
        let (_, offset) = commits.get(commits.partition_point(|(last, _)| *last < position))?;
        Some(YoungPlace { file: file.clone(), offset: *offset, position })
    }

    /// All bytes, and how many rows are live.
    pub(super) fn bytes(&self) -> (u64, u64) {
        self.files.iter().fold((0, 0), |(bytes, live), file| (bytes + file.bytes, live + file.live))
    }

    /// The rows of the oldest file, and how many are live, unless it is the one that is written.
    pub(super) fn oldest(&self) -> Option<(Range<Position>, u64)> {
        let (first, second) = (self.files.front()?, self.files.get(1)?);
        Some((first.first..second.first, first.live))
    }

    /// The rows of the oldest file, whichever it is.
    pub(super) fn first(&self) -> Option<Range<Position>> {
        let end = self.files.get(1).map_or(self.unwritten, |second| second.first);
        Some(self.files.front()?.first..end)
    }

    /// The number of a file, the first being 0, and the last commit before it.
    pub(super) fn begin_of(&self, at: usize) -> Option<(FileNumber, Sequence)> {
        self.files.get(at).map(|file| (file.file.number, file.before))
    }

    /// Takes the oldest file out, of which nothing is needed any more.
    pub(super) fn pop(&mut self) -> Option<Arc<RedoFile>> {
        self.files.pop_front().map(|file| file.file)
    }
}
