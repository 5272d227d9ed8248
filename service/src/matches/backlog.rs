//! What waits for all readers of all matches, and what therefore may wait for one.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::Limits;
use crate::limits;

/// Bytes of observations that wait for readers, of all matches.
#[derive(Debug)]
pub(super) struct Backlog {
    bytes: AtomicUsize,
    most: usize,
    most_of_queue: usize,
}

impl Backlog {
    pub(super) const fn new(limits: &Limits) -> Self {
        let &Limits { queued_bytes_in_all: most, queued_bytes: most_of_queue, .. } = limits;
        Self { bytes: AtomicUsize::new(0), most, most_of_queue }
    }

    /// Bytes that wait.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Bytes that may wait in one queue now. The more waits in all, the fewer: so those who are far behind are the first to be cut,
    /// and those who read keep up however little it is.
    pub(super) fn most_of_queue(&self) -> usize {
        let bytes = self.bytes();
        if bytes < self.most / 2 {
            self.most_of_queue
        } else if bytes < self.most {
            self.most_of_queue.min(limits::QUEUED_BYTES_PER_SEAT_WHEN_HALF_FULL)
        } else {
            self.most_of_queue.min(limits::QUEUED_BYTES_PER_SEAT_WHEN_FULL)
        }
    }

    pub(super) fn add(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn remove(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}
