//! What a client has said, and how long it has said nothing.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::timer::until;
use crate::{matches::Clock, table::Moment};

/// What an HTTP/2 client says first (RFC 9113, section 3.4). The shortest HTTP/1.1 request with a host has as many bytes.
/// Once they are there, the keepalive of HTTP/2 and the header timeout of HTTP/1 take over.
pub(super) const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// What a client has said so far.
#[derive(Clone)]
pub(super) struct Heard {
    said: Arc<Mutex<Said>>,
    clock: Arc<dyn Clock>,
}

#[derive(Clone, Copy)]
struct Said {
    bytes: usize,
    last: Moment,
    /// Whether it is as a client of HTTP/2 would say it.
    http2: bool,
}

impl Heard {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        let said = Said { bytes: 0, last: clock.now(), http2: true };
        Self { said: Arc::new(Mutex::new(said)), clock }
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the client has said as much as every client does first.
    pub(super) fn has_begun(&self) -> bool {
        self.said().bytes >= PREFACE.len()
    }

    /// Takes in what the client has said. What of it comes after the preface of HTTP/2 is returned: frames.
    pub(super) fn hear<'a>(&self, new: &'a [u8]) -> Option<&'a [u8]> {
        let now = self.clock.now();
        let mut said = self.said();
        let preface = PREFACE.get(said.bytes..).unwrap_or_default();
        let (begin, frames) = new.split_at(new.len().min(preface.len()));
        said.http2 &= preface.starts_with(begin);
        if !new.is_empty() {
            said.bytes += new.len();
            said.last = now;
        }
        (said.http2 && said.bytes >= PREFACE.len()).then_some(frames)
    }

    /// Waits until a client of HTTP/2, which answers pings, has said nothing for so long. One of HTTP/1 may.
    pub(super) async fn silent_for(&self, silence: Duration) {
        loop {
            let last = self.said().last;
            until(&*self.clock, last.after(silence)).await;
            let said = *self.said();
            if !said.http2 {
                return std::future::pending().await;
            }
            if said.last == last {
                return;
            }
        }
    }
}
