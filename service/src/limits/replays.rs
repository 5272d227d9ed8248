//! Matches that are replayed for who asks about what is over, or has missed something.

use std::time::Duration;

/// Replays of matches that are over, for their old receipts, their last view or their observations, that are made at once for one
/// address. Of 1,000 actions one takes about a millisecond of the processor.
pub const REPLAYS_AT_WORK_PER_ADDRESS: usize = 2;

/// Those that are made at once for all addresses.
pub const REPLAYS_AT_WORK: usize = 4;

/// Entries of a match that are replayed in one go, in some hundred microseconds: then others have their turn.
pub const ENTRIES_REPLAYED: usize = 256;

/// Places for replays that are read at once, observation by observation, unless configured: of matches that are over, and of those
/// that run for spectators who have missed something. One is kept until its reader has come to the end, or has caught up. Seats that
/// come back to matches that run have as many again, as they have clocks.
pub const DEFAULT_MAX_REPLAYS: u32 = 512;

/// Entries of a match whose replay takes one place, some 256 KiB of memory. A longer one takes as many places as it has of these: the
/// longest ([`MAX_MATCH_ENTRIES`](super::MAX_MATCH_ENTRIES)) takes 50. Where there are fewer, of its address or of all, it takes all of them.
pub const ENTRIES_PER_REPLAY: usize = 1_000;

/// By so many entries a match that runs may at least grow while a replay of it is read. Who is slower than that is cut, as its replay
/// would take more memory than its places stand for.
pub const REPLAY_GROWTH_ENTRIES: usize = 500;

/// Those from one address, unless configured: a quarter of all, so that four addresses are needed to keep the others out.
pub const DEFAULT_MAX_REPLAYS_PER_ADDRESS: u32 = 128;

/// How long it is waited for a turn to have a match replayed, and for one to read it.
pub const REPLAY_PATIENCE: Duration = Duration::from_secs(10);

/// Those who wait for such a turn, some 2 KiB each.
pub const MAX_WAITING_FOR_REPLAYS: usize = 16_384;

/// Those from one address.
pub const MAX_WAITING_FOR_REPLAYS_PER_ADDRESS: usize = 4_096;

/// Slots that addresses fall into, by a hash that nobody can foresee, when they wait for their turn.
pub const TURN_SLOTS: usize = 1_024;
