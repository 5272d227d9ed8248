//! The faults of players, and incidents of the server.

use std::time::Duration;

/// Faults that are remembered of one seat, some 300 bytes each: enough to see how it began to go wrong.
pub const FAULTS_PER_SEAT: usize = 16;

/// Seats of which faults are remembered. When there are more, whoever has the most has its oldest forgotten, so that nobody can have
/// those of others forgotten who have less: among a hundred bots with faults each has a hundred seats at least.
pub const MAX_SEATS_WITH_FAULTS: usize = 10_000;

/// Those of one bot, and the others in the matches of one owner. The others of the admin have no such limit. A bot that has a fault in
/// every match, of [`DEFAULT_BOT_MATCHES_A_DAY`](super::DEFAULT_BOT_MATCHES_A_DAY), has those of half a day: twice as long as the longest of the usual benches.
pub const MAX_SEATS_WITH_FAULTS_OF_ONE: usize = 1_000;

/// How long after the end of its match the faults of a seat are remembered that is no bot's. There is no more to come of them, and
/// whoever has the seat's token has been told.
pub const FAULTS_KEPT_AFTER_MATCH: Duration = Duration::from_hours(1);

/// How long a fault is not in the file at most in which faults outlast a crash. All of them are written anew each time: 46 MiB, if there
/// are as many as there may be.
pub const FAULTS_SAVED_EVERY: Duration = Duration::from_secs(30);

/// How long a stop waits until what went wrong for players is written.
pub const FAULTS_SAVED_AT_STOP: Duration = Duration::from_secs(5);

/// How long the first fault after a pause waits for others to be written with it.
pub const FAULTS_GATHERED: Duration = Duration::from_secs(1);

/// Seats with faults that are looked up while tables wait, and then written and synced while none does: 1.2 MiB at most.
pub const FAULTS_SAVED_AT_ONCE: usize = 256;

/// Bytes of what is in that file of one seat. A longer entry is damage.
pub const MAX_SAVED_FAULTS_BYTES: u32 = 1024 * 1024;

/// Damaged matches whose incident is remembered, some 50 bytes each: of these the log tells once.
pub const MAX_REMEMBERED_INCIDENTS: usize = 10_000;
