//! What the writer has done since it was opened.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Counters that only grow, and what the writer has in its hands.
#[derive(Debug, Default)]
pub(super) struct Stats {
    commits: AtomicU64,
    commit_micros: AtomicU64,
    failed_commits: AtomicU64,
    writes: AtomicU64,
    rows: AtomicU64,
    copied_rows: AtomicU64,
    dropped_segments: AtomicU64,
    /// Requests in the writer's hands.
    in_hand: AtomicUsize,
    /// Since when the oldest of them has waited.
    oldest: Mutex<Option<Instant>>,
}

/// What the writer of a journal has done since it was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JournalStats {
    /// Transactions of writes that are durable. Cleaning is not counted.
    pub commits: u64,
    /// How long they took.
    pub commit_time: Duration,
    /// Transactions of writes that did not go through.
    pub failed_commits: u64,
    /// Writes in the durable ones, refused ones included.
    pub writes: u64,
    /// Rows added to the log by them.
    pub rows: u64,
    /// Rows copied from an old segment of the log to the current one.
    pub copied_rows: u64,
    /// Segments of the log that were dropped.
    pub dropped_segments: u64,
}

/// What waits for the writer of a journal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JournalQueue {
    /// Requests that wait, those in the writer's hands too.
    pub waiting: usize,
    /// For how long the oldest of them has waited.
    pub oldest: Duration,
}

impl Stats {
    /// The writer has taken so many requests, of which the oldest waits since then.
    pub(super) fn took(&self, requests: usize, oldest: Option<Instant>) {
        self.in_hand.store(requests, Relaxed);
        *self.oldest.lock().unwrap_or_else(PoisonError::into_inner) = oldest;
    }

    /// What waits, when so much is in the queue before the writer.
    pub(super) fn queue(&self, queued: usize) -> JournalQueue {
        let oldest = *self.oldest.lock().unwrap_or_else(PoisonError::into_inner);
        JournalQueue {
            waiting: queued + self.in_hand.load(Relaxed),
            oldest: oldest.map_or(Duration::ZERO, |since| since.elapsed()),
        }
    }

    pub(super) fn committed(&self, writes: u64, rows: u64, took: Duration) {
        self.commits.fetch_add(1, Relaxed);
        self.commit_micros.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Relaxed);
        self.writes.fetch_add(writes, Relaxed);
        self.rows.fetch_add(rows, Relaxed);
    }

    pub(super) fn failed(&self) {
        self.failed_commits.fetch_add(1, Relaxed);
    }

    pub(super) fn cleaned(&self, copied_rows: u64, dropped_segments: u64) {
        self.copied_rows.fetch_add(copied_rows, Relaxed);
        self.dropped_segments.fetch_add(dropped_segments, Relaxed);
    }

    pub(super) fn get(&self) -> JournalStats {
        JournalStats {
            commits: self.commits.load(Relaxed),
            commit_time: Duration::from_micros(self.commit_micros.load(Relaxed)),
            failed_commits: self.failed_commits.load(Relaxed),
            writes: self.writes.load(Relaxed),
            rows: self.rows.load(Relaxed),
            copied_rows: self.copied_rows.load(Relaxed),
            dropped_segments: self.dropped_segments.load(Relaxed),
        }
    }
}
