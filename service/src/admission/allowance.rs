//! Frames of HTTP/2 that carry nothing: how many a client may send.

use tokio::time::Instant;

use super::frames::{Frame, kind};
use crate::limits;

/// Frames that carry nothing that a client may send: it gets some back with time, and for everything that it asks and is
/// told, so that acknowledging much is no flood.
#[derive(Debug)]
pub(super) struct Allowance {
    left: u64,
    /// Bytes that were sent, for which it has got nothing back yet.
    said: u64,
    refilled: Instant,
}

impl Allowance {
    pub(super) fn new(now: Instant) -> Self {
        Self { left: limits::EMPTY_FRAMES_BURST, said: 0, refilled: now }
    }

    pub(super) fn give(&mut self, frames: u64) {
        self.left = (self.left + frames).min(limits::EMPTY_FRAMES_BURST);
    }

    pub(super) fn said(&mut self, bytes: u64) {
        self.said += bytes;
        self.give(self.said / limits::BYTES_PER_EMPTY_FRAME);
        self.said %= limits::BYTES_PER_EMPTY_FRAME;
    }

    /// Whether there was enough.
    pub(super) fn take(&mut self, frames: u64, now: Instant) -> bool {
        if self.left < frames {
            let millis = u64::try_from(now.duration_since(self.refilled).as_millis()).unwrap_or(u64::MAX);
            self.give(millis.saturating_mul(limits::EMPTY_FRAMES_PER_SECOND) / 1_000);
            self.refilled = now;
        }
        let enough = self.left >= frames;
        self.left = self.left.saturating_sub(frames);
        enough
    }
}

/// How many frames that carry nothing a frame is worth.
pub(super) fn cost(frame: &Frame<'_>) -> u64 {
    match frame.kind {
        kind::HEADERS => 0,
        // What is large is bounded by the windows.
        kind::DATA if frame.length >= limits::LARGE_FRAME_BYTES => 0,
        // Each entry of settings is work.
        kind::SETTINGS => 1 + u64::try_from(frame.payload.len() / 64).unwrap_or(u64::MAX),
        _ => 1,
    }
}
