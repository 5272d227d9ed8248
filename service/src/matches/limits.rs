//! The bounds of the tables, as a value that tests may change. Their defaults are in [`crate::limits`].

use std::time::Duration;

use super::FaultLimits;
use crate::limits;

/// The bounds of the tables (I5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Matches that run at once.
    pub live_matches: usize,
    /// Those of one owner.
    pub live_matches_of_owner: usize,
    /// Bytes of memory that what has happened in them may take. Beyond that none is created, and no token of a seat is replaced.
    pub live_bytes: usize,
    /// Entries of one match. One that has so many and is not over is aborted.
    pub match_entries: usize,
    /// Messages that wait for one table. Who sends more waits.
    pub inbox_messages: usize,
    /// Observations that wait for one subscriber. A reader that falls further behind is cut.
    pub queued_observations: usize,
    /// Bytes of observations that wait for one subscriber. A reader that falls further behind is cut.
    pub queued_bytes: usize,
    /// Bytes of observations that wait for all subscribers. The more they are, the fewer may wait for one.
    pub queued_bytes_in_all: usize,
    /// Subscribers of one match with the same eyes: its spectators, or those who observe one seat. Players are not
    /// counted.
    pub subscribers: usize,
    /// Journal entries that a resuming subscriber may be behind when it changes over to what is live.
    pub follow_gap_entries: usize,
    /// How long the clocks of the matches that go on after a restart stand still, for their players to come back.
    pub restart_grace: Duration,
    /// What is remembered of what went wrong for players.
    pub faults: FaultLimits,
    /// The first wait before a journal that failed is asked again; it doubles each time.
    pub first_retry: Duration,
    /// The longest such wait.
    pub last_retry: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            live_matches: limits::DEFAULT_MAX_LIVE_MATCHES as usize,
            live_matches_of_owner: limits::DEFAULT_MAX_LIVE_MATCHES_PER_OWNER as usize,
            live_bytes: usize::try_from(limits::DEFAULT_MAX_LIVE_MATCH_BYTES).unwrap_or(usize::MAX),
            match_entries: limits::MAX_MATCH_ENTRIES,
            inbox_messages: limits::TABLE_INBOX_MESSAGES,
            queued_observations: limits::TABLE_QUEUED_OBSERVATIONS,
            queued_bytes: limits::DEFAULT_MAX_QUEUED_BYTES_PER_SEAT,
            queued_bytes_in_all: limits::DEFAULT_MAX_QUEUED_OBSERVATION_BYTES,
            subscribers: limits::DEFAULT_MAX_OBSERVERS_PER_MATCH,
            follow_gap_entries: limits::TABLE_FOLLOW_GAP_ENTRIES,
            restart_grace: limits::RESTART_GRACE,
            faults: FaultLimits {
                per_seat: limits::FAULTS_PER_SEAT,
                seats: limits::MAX_SEATS_WITH_FAULTS,
                seats_of_one: limits::MAX_SEATS_WITH_FAULTS_OF_ONE,
                kept: limits::FAULTS_KEPT_AFTER_MATCH,
            },
            first_retry: limits::JOURNAL_FIRST_RETRY,
            last_retry: limits::JOURNAL_LAST_RETRY,
        }
    }
}
