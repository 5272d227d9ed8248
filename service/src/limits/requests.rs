//! What one request may be, how many there may be at once, and how fast they may come.

use std::time::Duration;

/// Bytes of one request message, unless configured. The largest honest one is a batch of [`MAX_BATCH_MATCHES`] matches
/// with rules of their own, some 200 bytes each.
pub const DEFAULT_MAX_REQUEST_BYTES: usize = 1024 * 1024;

/// Bytes of one message to the other calls of `PlayService`: an Observe of [`MAX_SEATS_PER_STREAM`](super::MAX_SEATS_PER_STREAM) seats is the largest, some 80
/// each.
pub const MAX_PLAY_REQUEST_BYTES: usize = 128 * 1024;

/// Bytes of one message to `RulesService`, `TokenService`, `BotService`, `WebhookService` and the standard services: a rules record is the largest.
pub const MAX_SMALL_REQUEST_BYTES: usize = 16 * 1024;

/// Bytes of one answer. A page of a thousand matches is the largest.
pub const MAX_RESPONSE_BYTES: usize = 16 * 1024 * 1024;

/// Matches that one `BatchCreateMatches` makes in one transaction.
pub const MAX_BATCH_MATCHES: usize = 1_000;

/// Entries of a page when the client names no number.
pub const DEFAULT_PAGE_SIZE: u16 = 100;

/// Entries of a page at most.
pub const MAX_PAGE_SIZE: u16 = 1_000;

/// Bytes of a match's client reference, as the wire promises.
pub const MAX_CLIENT_REFERENCE_BYTES: usize = 64;

/// Characters of a request id, as the wire promises.
pub const MAX_REQUEST_ID_CHARS: usize = 64;

/// Observations for which a player's queue keeps room behind the first when it is empty: those of a turn and of its answer.
pub const QUEUE_KEPT: usize = 4;

/// Answers of tables, and seats that call, for which a stream keeps room behind the first when there are none.
pub const LETTERS_KEPT: usize = 64;

/// How long the message of a request, or the hello of a Play stream, may take to come, unless configured, in milliseconds.
pub const DEFAULT_REQUEST_TIMEOUT_MS: u32 = 10_000;

/// Calls of one connection that are worked on at once, until the first piece of their answer is made. The others wait.
pub const MAX_CALLS_AT_WORK: usize = 64;

/// Lists and records that are made at once for one address, which are much work. The others wait for their turn.
pub const LISTS_AT_WORK_PER_ADDRESS: usize = 4;

/// Those that are made at once for all addresses. Each may take [`MAX_RESPONSE_BYTES`] until what is sent of it is counted.
pub const LISTS_AT_WORK: usize = 8;

/// Bytes of one request that are taken whatever the others are: most are smaller.
pub const SMALL_REQUEST_BYTES: usize = 16 * 1024;

/// Bytes of requests beyond that, of all connections together, whose messages are not whole yet. What is beyond waits.
pub const LARGE_REQUESTS_BYTES: u64 = 128 * 1024 * 1024;

/// One address has one part in so many of it: sixteen of the largest requests at once.
pub const PART_OF_LARGE_REQUESTS: u64 = 8;

/// How often a request that waits for that asks again.
pub const LARGE_REQUEST_RETRY: Duration = Duration::from_millis(100);

/// Calls and Play messages in a second by one token or from one address, unless configured: more than a small machine can
/// do, so that a load test from one place meets the machine and not this bound. It is there to stop a flood.
pub const DEFAULT_REQUESTS_PER_SECOND: u32 = 20_000;

/// Those that may come at once after a pause, unless configured.
pub const DEFAULT_REQUEST_BURST: u32 = 40_000;

/// Matches created in a second by one token or from one address, unless configured.
pub const DEFAULT_CREATES_PER_SECOND: u32 = 1_000;

/// Those that may be created at once after a pause, unless configured: ten whole batches.
pub const DEFAULT_CREATE_BURST: u32 = 10_000;

/// How long a client is told to wait before it sends again what was refused for want of room, in milliseconds.
pub const RETRY_AFTER_MS: u32 = 1_000;

/// Slots that tokens and addresses fall into, by a hash that nobody can foresee, when their requests are counted: some 40
/// bytes each in memory.
pub const RATE_SLOTS: u64 = 128 * 1024;

/// How often those are forgotten that may send a whole burst again.
pub const RATES_TIDY_INTERVAL: Duration = Duration::from_secs(30);
