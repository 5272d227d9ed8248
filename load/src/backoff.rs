//! How long to wait until a connection is tried again.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(5);

/// Waits that double.
#[derive(Debug)]
pub(crate) struct Backoff(Duration);

impl Default for Backoff {
    fn default() -> Self {
        Self(FIRST)
    }
}

impl Backoff {
    /// How long to wait now.
    pub(crate) fn next(&mut self) -> Duration {
        let wait = self.0;
        self.0 = LONGEST.min(wait * 2);
        wait
    }

    /// The same, if there is somebody who says to wait this long at least.
    pub(crate) fn next_after(&mut self, at_least: Option<Duration>) -> Duration {
        self.next().max(at_least.unwrap_or_default())
    }
}
