//! The memory of what has happened in the matches that are not over.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::CreateError;
use crate::table::Rejection;

/// Bytes of memory that all matches which are not over have for their entries.
#[derive(Debug)]
pub(super) struct LiveBytes {
    bytes: AtomicUsize,
    most: usize,
}

/// What one match has of them, or the matches of a deal set together, as long as this is kept.
#[derive(Debug)]
pub(super) struct Held {
    all: Arc<LiveBytes>,
    bytes: usize,
}

/// They are as many as may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooManyBytes {
    limit: usize,
}

impl LiveBytes {
    pub(super) const fn new(most: usize) -> Self {
        Self { bytes: AtomicUsize::new(0), most }
    }

    /// How many they are.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Lets pass what a match can be without. What runs adds to them whatever they are, or it could not be played.
    pub(super) fn check(&self) -> Result<(), TooManyBytes> {
        if self.bytes() < self.most { Ok(()) } else { Err(TooManyBytes { limit: self.most }) }
    }

    /// So many more.
    pub(super) fn hold(self: &Arc<Self>, bytes: usize) -> Held {
        let mut held = Held { all: Arc::clone(self), bytes: 0 };
        held.add(bytes);
        held
    }
}

impl Held {
    /// So many more.
    pub(super) fn add(&mut self, bytes: usize) {
        self.all.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.bytes += bytes;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.all.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl From<TooManyBytes> for CreateError {
    fn from(TooManyBytes { limit }: TooManyBytes) -> Self {
        Self::TooManyBytes { limit }
    }
}

impl From<TooManyBytes> for Rejection {
    fn from(TooManyBytes { limit }: TooManyBytes) -> Self {
        Self::TooManyBytes { limit }
    }
}
