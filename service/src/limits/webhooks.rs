//! Webhooks and their deliveries.

use std::time::Duration;

/// Webhooks in all. Each has a task, a connection and a page of results, some 100 KiB, and a thread while its receiver's name is
/// looked up. Of these [`MAX_WEBHOOKS_PER_OWNER`] places are for those of all matches alone, which only the admin can make.
pub const MAX_WEBHOOKS: usize = 200;

/// Those of one owner, or of the admin for all matches: 19 owners may have as many as that.
pub const MAX_WEBHOOKS_PER_OWNER: usize = 10;

/// Names that are looked up at the same time for webhooks that are to be made, a thread each. A webhook that is there has a
/// thread of its own for that.
pub const WEBHOOK_LOOKUPS: usize = 8;

/// Those of one owner, or of the admin: four owners with names that take long are needed to keep the others waiting.
pub const WEBHOOK_LOOKUPS_PER_OWNER: usize = 2;

/// Addresses of one receiver that are tried, each for its share of the attempt's time.
pub const WEBHOOK_ADDRESSES: usize = 4;

/// Bytes of a webhook's address, as the wire promises.
pub const MAX_WEBHOOK_URL_BYTES: usize = 2_048;

/// Dead letters that are kept of one webhook, some 400 bytes each, as the wire promises. With so many it goes on trying the next
/// result that is not taken.
pub const MAX_DEAD_LETTERS: u16 = 1_000;

/// Attempts after which a result that its receiver refuses (by a status that says that it will do so again) is a dead letter, and those
/// of a dead letter that is sent again.
pub const WEBHOOK_REFUSED_ATTEMPTS: u32 = 3;

/// How long a webhook waits at least after a result was refused, or its longest wait if that is less: a receiver that is being put
/// in place answers 401 or 404 for a minute or two, and results that come meanwhile should not be dead letters.
pub const WEBHOOK_REFUSED_WAIT: Duration = Duration::from_mins(2);

/// How long an attempt of a webhook may take, the connection and the TLS handshake counted in, unless configured, in milliseconds.
pub const DEFAULT_WEBHOOK_TIMEOUT_MS: u32 = 10_000;

/// The most that a webhook waits after its first attempt in vain, unless configured, in milliseconds. It doubles each time.
pub const DEFAULT_WEBHOOK_FIRST_RETRY_MS: u32 = 1_000;

/// The most that a webhook ever waits between two attempts, unless configured, in milliseconds.
pub const DEFAULT_WEBHOOK_LAST_RETRY_MS: u32 = 300_000;

/// How long a webhook tries to deliver a result whose receiver is not there, until it is a dead letter, unless configured, in
/// seconds.
pub const DEFAULT_WEBHOOK_GIVE_UP_S: u32 = 86_400;

/// Results that a webhook delivers before it stores that it has: so many may come again after a crash.
pub const WEBHOOK_UNSETTLED_RESULTS: u64 = 64;

/// How long after the last of some results a webhook stores that it has delivered them, when no more come at once: one commit
/// a second for each webhook, however results trickle in.
pub const WEBHOOK_SETTLED_WITHIN: Duration = Duration::from_secs(1);

/// Bytes of the head of a receiver's answer.
pub const WEBHOOK_ANSWER_HEAD_BYTES: usize = 16 * 1024;

/// Headers of a receiver's answer.
pub const WEBHOOK_ANSWER_HEADERS: usize = 64;

/// Bytes of the body of a receiver's answer that are read, and thrown away. With more its connection is closed.
pub const WEBHOOK_ANSWER_BODY_BYTES: usize = 16 * 1024;

/// How long the body of a receiver's answer may take, once its head has said what came of the message.
pub const WEBHOOK_ANSWER_BODY_WITHIN: Duration = Duration::from_secs(1);

/// Bytes of what is kept of a failed attempt, as the wire promises.
pub const MAX_DELIVERY_ERROR_BYTES: usize = 256;
