//! Time and randomness, as the program has them and as tests replace them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

use crate::journal::UnixMillis;
use crate::table::Moment;

/// What time it is.
pub trait Clock: Send + Sync + 'static {
    /// By the monotonic clock, which decides about deadlines.
    fn now(&self) -> Moment;

    /// What [`Clock::now`] showed at this instant, which was read a moment ago, and never less than what it has shown since: the
    /// machine's clock is read once for all that is timed together. A clock that is not the machine's shows what it shows now.
    fn shown_at(&self, instant: Instant) -> Moment {
        let _ = instant;
        self.now()
    }

    /// By the wall clock, for people and records.
    fn wall(&self) -> UnixMillis;

    /// How long ago the monotonic clock began.
    fn since_start(&self) -> Duration {
        self.now().since(Moment::since_start(Duration::ZERO))
    }
}

/// The clocks of the machine. A server has [`ServerClock`](super::ServerClock), which knows of its stalls.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// A clock that starts now.
    pub fn new() -> Self {
        Self { start: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Moment {
        self.shown_at(Instant::now())
    }

    fn shown_at(&self, instant: Instant) -> Moment {
        Moment::since_start(instant.saturating_duration_since(self.start))
    }

    fn wall(&self) -> UnixMillis {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        UnixMillis::new(u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX))
    }
}

/// Where seeds and ids come from.
pub trait Entropy: Send + Sync + 'static {
    /// Fills the bytes with random ones.
    ///
    /// # Errors
    /// [`EntropyError`] if there are none to be had.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError>;
}

/// The operating system gives no random bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no random bytes: {0}")]
pub struct EntropyError(pub String);

/// The operating system's randomness.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError> {
        getrandom::fill(bytes).map_err(|error| EntropyError(error.to_string()))
    }
}
