//! Time as the table knows it: given from outside.

use std::time::Duration;

/// A point of the server's monotonic clock, which alone decides when a deadline has passed. It means
/// nothing outside of one run of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(Duration);

impl Moment {
    /// The moment so long after the clock's start.
    pub const fn since_start(elapsed: Duration) -> Self {
        Self(elapsed)
    }

    /// The moment so many milliseconds later.
    #[must_use]
    pub const fn after_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_add(Duration::from_millis(ms)))
    }

    /// The moment so much later.
    #[must_use]
    pub const fn after(self, time: Duration) -> Self {
        Self(self.0.saturating_add(time))
    }

    /// The moment so much earlier, at the earliest the clock's start.
    #[must_use]
    pub const fn before(self, time: Duration) -> Self {
        Self(self.0.saturating_sub(time))
    }

    /// The time from `earlier` to this moment; zero if it is the later one.
    pub const fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}
