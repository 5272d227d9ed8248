//! How a server comes to its end, as its calls and streams know it.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use zetema_proto::v1;

use crate::limits;

/// A server that is told to stop drains first: everything goes on but new matches. Then it closes: streams and
/// connections end. A clone is another handle to the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct Drain {
    deadline: Arc<OnceLock<Instant>>,
    draining: CancellationToken,
    closing: CancellationToken,
}

impl Drain {
    /// Drains until this moment at most. The first that is given stands.
    pub(crate) fn begin(&self, deadline: Instant) {
        self.deadline.get_or_init(|| deadline);
        self.draining.cancel();
    }

    /// Closes, whether the deadline has come or not.
    pub(crate) fn close(&self) {
        self.begin(Instant::now());
        self.closing.cancel();
    }

    /// Cancelled when the server drains.
    pub(crate) const fn draining(&self) -> &CancellationToken {
        &self.draining
    }

    /// Cancelled when it closes.
    pub(crate) const fn closing(&self) -> &CancellationToken {
        &self.closing
    }

    /// In how long it closes at the latest; nothing when it already does.
    pub(super) fn stops_in(&self) -> Duration {
        let deadline = self.deadline.get().filter(|_| !self.closing.is_cancelled());
        deadline.map_or(Duration::ZERO, |deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// What a stream is told when the server drains.
    pub(super) fn message(&self) -> v1::Draining {
        v1::Draining {
            reconnect_after_ms: limits::RECONNECT_AFTER_MS,
            stops_in_ms: u32::try_from(self.stops_in().as_millis()).unwrap_or(u32::MAX),
        }
    }
}
