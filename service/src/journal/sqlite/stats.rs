//! What the writer has done since it was opened.

use std::sync::atomic::{
    AtomicBool, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Counters, and what the writer has in its hands.
#[derive(Debug, Default)]
pub(super) struct Stats {
    commits: AtomicU64,
    commit_micros: AtomicU64,
    failed_commits: AtomicU64,
    writes: AtomicU64,
    rows: AtomicU64,
    copied_rows: AtomicU64,
    dropped_segments: AtomicU64,
    damaged_segments: AtomicU64,
    /// Whether what is durable is not yet in the database.
    pending: AtomicBool,
    /// Requests in the writer's hands.
    in_hand: AtomicUsize,
    /// Since when the oldest of them has waited.
    oldest: Mutex<Option<Instant>>,
    /// Since when the writer keeps its files small, while it does: whatever waits then is in the queue.
    tidying: Mutex<Option<Instant>>,
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
    /// Segments of the log that cleaning found damaged, and that stay: a live row of theirs can't be read, or they can't be dropped. They
    /// may become fewer.
    pub damaged_segments: u64,
}

/// What waits for the writer of a journal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JournalQueue {
    /// Requests that wait, those in the writer's hands too.
    pub waiting: usize,
    /// For how long the oldest of them has waited at most, counted from when the writer last looked; while the writer keeps its files small, for how long it has done that.
    pub oldest: Duration,
}

impl Stats {
    /// The writer has taken so many requests, of which the oldest waits since then.
    pub(super) fn took(&self, requests: usize, oldest: Option<Instant>) {
        self.in_hand.store(requests, Relaxed);
        *self.oldest.lock().unwrap_or_else(PoisonError::into_inner) = oldest;
    }

    /// From now on the writer takes nothing, until [`Self::tidied`].
    pub(super) fn tidies(&self) {
        *self.tidying.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// It takes what waits again.
    pub(super) fn tidied(&self) {
        *self.tidying.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// What waits, when so much is in the queue before the writer.
    pub(super) fn queue(&self, queued: usize) -> JournalQueue {
        let since = |at: &Mutex<Option<Instant>>| *at.lock().unwrap_or_else(PoisonError::into_inner);
        // Since when what is in the queue is there nobody knows: at most since the writer has looked away.
        let looked_away = since(&self.tidying).filter(|_| queued > 0);
        JournalQueue {
            waiting: queued + self.in_hand.load(Relaxed),
            oldest: since(&self.oldest).or(looked_away).map_or(Duration::ZERO, |since| since.elapsed()),
        }
    }

    pub(super) fn committed(&self, writes: u64, rows: u64, took: Duration) {
        self.commits.fetch_add(1, Relaxed);
        self.commit_micros.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Relaxed);
        self.writes.fetch_add(writes, Relaxed);
        self.rows.fetch_add(rows, Relaxed);
    }

    /// Whether what is durable is not yet in the database, from now on.
    pub(super) fn pending(&self, is_pending: bool) {
        // Before anybody is told of what is pending.
        self.pending.store(is_pending, Release);
    }

    pub(super) fn is_pending(&self) -> bool {
        self.pending.load(Acquire)
    }

    pub(super) fn failed(&self) {
        self.failed_commits.fetch_add(1, Relaxed);
    }

    pub(super) fn cleaned(&self, copied_rows: u64, dropped_segments: u64) {
        self.copied_rows.fetch_add(copied_rows, Relaxed);
        self.dropped_segments.fetch_add(dropped_segments, Relaxed);
    }

    /// So many segments stay, damaged as they are.
    pub(super) fn stay(&self, damaged_segments: usize) {
        self.damaged_segments.store(damaged_segments as u64, Relaxed);
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
            damaged_segments: self.damaged_segments.load(Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_while_the_files_are_kept_small_has_waited() {
        let stats = Stats::default();
        assert_eq!(stats.queue(1).oldest, Duration::ZERO);
        stats.took(1, Some(Instant::now()));
        assert!(stats.queue(0).oldest > Duration::ZERO);
        stats.took(0, None);
        stats.tidies();
        assert_eq!(stats.queue(0), JournalQueue::default());
        let JournalQueue { waiting, oldest } = stats.queue(2);
        assert!(waiting == 2 && oldest > Duration::ZERO, "{oldest:?}");
        stats.tidied();
        assert_eq!(stats.queue(2).oldest, Duration::ZERO);
    }
}
