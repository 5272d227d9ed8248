//! Every bound of the tables, with its unit.

use std::time::Duration;

/// The bounds of the tables (I5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Matches that run at once.
    pub live_matches: usize,
    /// Messages that wait for one table. Who sends more waits.
    pub inbox_messages: usize,
    /// Observations that wait for one subscriber. A reader that falls further behind is cut.
    pub queued_observations: usize,
    /// Subscribers of one match.
    pub subscribers: usize,
    /// Journal entries that a resuming subscriber may be behind when it changes over to what is live.
    pub follow_gap_entries: usize,
    /// The first wait before a journal that failed is asked again; it doubles each time.
    pub first_retry: Duration,
    /// The longest such wait.
    pub last_retry: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            live_matches: 100_000,
            inbox_messages: 64,
            queued_observations: 256,
            subscribers: 1_000,
            follow_gap_entries: 32,
            first_retry: Duration::from_millis(50),
            last_retry: Duration::from_secs(5),
        }
    }
}
