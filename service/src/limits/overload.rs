//! When the server takes on less that is new.

use std::time::Duration;

/// How late the server may be with what is due until it takes on less that is new, unless configured. What is looked at waits for one
/// turn of all that is ready, of the runtime's tasks and then of streams', and an action for several: with twice the matches that the
/// server can play, half of all actions take about as long as this, and 99 of 100 three times, far less than what makes a stall
/// ([`STALL_GAP`](super::STALL_GAP)). The later it may be the more matches run at once, and the farther away is the memory of each.
pub const DEFAULT_MAX_LATE_MS: u32 = 5;

/// So late is in time, however little is configured to be too late: an idle virtual machine is late by just over a millisecond.
pub const PRESSURE_AT_REST: Duration = Duration::from_millis(2);

/// How often it is looked how late the server is.
pub const PRESSURE_BEAT: Duration = Duration::from_millis(10);

/// For how long it is looked at until it counts how late it usually was.
pub const PRESSURE_WINDOW: Duration = Duration::from_millis(250);

/// How many times it has to be looked at for that.
pub const PRESSURE_BEATS: usize = 5;

/// How long it is waited for what is looked at until it counts as so late, and as later after as long again.
pub const PRESSURE_PATIENCE: Duration = Duration::from_secs(1);

/// How long before the time to join a match is over a late server lets in those that it waits for, at the latest from half of
/// that time on: else it would make no-shows of them. They are told to try again after [`RETRY_AFTER_MS`](super::RETRY_AFTER_MS).
pub const LAST_JOINS: Duration = Duration::from_secs(10);

/// Bytes of the disk of the data folder that have to be free for a match to be created, unless configured: what runs is played to its
/// end in them, some kilobytes each, and the write-ahead log has its room.
pub const DEFAULT_MIN_FREE_DISK_BYTES: u64 = 1024 * 1024 * 1024;

/// On a small disk one part in so many is enough.
pub const PART_OF_DISK_KEPT_FREE: u64 = 10;
