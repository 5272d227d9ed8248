//! A piece of an answer that waits to be sent, counted for as long as it is there.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::Bytes;
use hyper::body::Buf;

use super::Traffic;

/// Bytes that the connection has let go, sent or thrown away, until they are taken off what waits.
#[derive(Debug, Default)]
pub(super) struct LetGo(AtomicU64);

impl LetGo {
    fn more(&self, bytes: usize) {
        self.0.fetch_add(u64::try_from(bytes).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// What was let go since this was asked last.
    pub(super) fn take(&self) -> u64 {
        self.0.swap(0, Ordering::Relaxed)
    }
}

/// A piece of an answer that was handed to its connection. What is written of it waits no more, nor what is left of it when
/// its stream is reset: whoever has it drops it then.
#[derive(Debug)]
pub(crate) struct Queued {
    bytes: Bytes,
    traffic: Traffic,
}

impl Queued {
    /// A piece that was counted.
    pub(super) const fn new(bytes: Bytes, traffic: Traffic) -> Self {
        Self { bytes, traffic }
    }

    /// Bytes of it that wait.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }
}

impl Buf for Queued {
    fn remaining(&self) -> usize {
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.bytes.chunk()
    }

    fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
        self.traffic.let_go().more(count);
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        if !self.bytes.is_empty() {
            self.traffic.let_go().more(self.bytes.len());
        }
    }
}
