//! Play streams.

/// A Play stream without a sign of life for so many ping intervals is cut, as the wire tells clients to do too, and so is
/// an HTTP/2 connection that does not answer the pings of HTTP/2.
pub const SILENT_PING_INTERVALS: u32 = 3;

/// Answers that a Play stream buffers before its session waits for the reader.
pub const PLAY_BUFFERED_ANSWERS: usize = 16;

/// Streams of whose cut the next stream with the same token is told, some 400 bytes each.
pub const MAX_REMEMBERED_CUTS: usize = 10_000;

/// Those of one bot, or of one owner and the seats of its matches, so that nobody can have those of others forgotten. The admin and
/// the seats of its matches have no such limit.
pub const MAX_REMEMBERED_CUTS_PER_OWNER: usize = 1_000;

/// Seats of such a stream whose cursors are remembered with it, some 80 bytes each.
pub const MAX_REMEMBERED_CURSORS: usize = 32;

/// Round trips of a Play stream that are remembered: the smallest counts.
pub const ROUND_TRIPS_KEPT: usize = 8;
