//! Play streams.

use std::time::Duration;

/// Bytes of one message on a Play stream: an action is some ten bytes, a join a hundred. As much is kept of each stream
/// while one comes in pieces.
pub const MAX_PLAY_MESSAGE_BYTES: usize = 16 * 1024;

/// Characters of a client's name in hello: it goes to the log.
pub const MAX_CLIENT_NAME_CHARS: usize = 64;

/// Seats that one Play or Observe stream carries. Each costs a queue in its table.
pub const MAX_SEATS_PER_STREAM: usize = 1_000;

/// Requests of one Play stream that wait for their tables, or whose answers wait for their reader. When it is full, the stream
/// is not read on, and the client feels it as back pressure.
pub const MAX_REQUESTS_IN_FLIGHT: usize = 2 * MAX_SEATS_PER_STREAM;

/// Of these, as many as each stream may have whatever the others have.
pub const OWN_REQUESTS_IN_FLIGHT: usize = 8;

/// Those of all streams beyond that, some 2 KiB each with its answer.
pub const UNANSWERED_REQUESTS: u64 = 128 * 1024;

/// The same of the streams from one address: a quarter, so that nobody can keep the others at [`OWN_REQUESTS_IN_FLIGHT`] alone.
pub const UNANSWERED_REQUESTS_PER_ADDRESS: u64 = 32 * 1024;

/// As many of them a stream takes the room for at once.
pub const UNANSWERED_REQUESTS_AT_ONCE: u64 = 16;

/// How long a stream is not read for which there is no room, or which has sent too much, before that is looked at again.
pub const LEAST_REST: Duration = Duration::from_millis(10);

/// How often a Play stream is pinged, unless configured, in milliseconds.
pub const DEFAULT_PING_INTERVAL_MS: u32 = 10_000;

/// A Play stream without a sign of life for so many ping intervals is cut, as the wire tells clients to do too, and so is
/// an HTTP/2 connection that does not answer the pings of HTTP/2.
pub const SILENT_PING_INTERVALS: u32 = 3;

/// So much may wait for the reader of a Play stream, answers included, before it is told of more seats that its bot gets and words of its
/// ladders. As much is still told when it is cut.
pub const BUFFERED_ANSWERS: usize = 16;

/// Streams of whose cut the next stream with the same token is told, some 400 bytes each.
pub const MAX_REMEMBERED_CUTS: usize = 10_000;

/// Those of one bot, or of one owner and the seats of its matches, so that nobody can have those of others forgotten. The admin and
/// the seats of its matches have no such limit.
pub const MAX_REMEMBERED_CUTS_PER_OWNER: usize = 1_000;

/// Seats of such a stream whose cursors are remembered with it, some 80 bytes each.
pub const MAX_REMEMBERED_CURSORS: usize = 32;

/// Round trips of a Play stream that are remembered: the smallest counts.
pub const ROUND_TRIPS_KEPT: usize = 8;
