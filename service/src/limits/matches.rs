//! Matches that run: their tables, their journal, their clocks, and who follows them.

use std::time::Duration;

use super::RETRY_AFTER_MS;

/// Matches that are not over, at once, unless configured.
pub const DEFAULT_MAX_LIVE_MATCHES: u32 = 100_000;

/// Those of one owner, unless configured, so that nobody can keep the others out. The admin has no owner and none of
/// these limits.
pub const DEFAULT_MAX_LIVE_MATCHES_PER_OWNER: u32 = 20_000;

/// Bytes of memory that what has happened in all matches that are not over may take, unless configured: 20 KiB for each of
/// [`DEFAULT_MAX_LIVE_MATCHES`], which are the creation and a hundred actions of 160 bytes. A match of two by the default preset has some 300 when it
/// is over. Beyond that nothing is begun, and what runs is played on.
pub const DEFAULT_MAX_LIVE_MATCH_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// Seats of all matches of one deal set: 128 matches of two, or 42 of six. The journal and the record of each of its matches have
/// the nonces of all of them, some 120 bytes each: 30 KiB twice in a match of the largest set, where a record of the journal may
/// have 256 KiB.
pub const MAX_DEAL_SET_SEATS: usize = 256;

/// Entries of one match: what was done in it, its setup and the tokens of its seats. A match that has so many and is not over is
/// aborted as too long, so that its record can be filed ([`RecordBytes`](crate::journal::RecordBytes) has room for one twice as
/// long) and what it takes in memory is bounded. One of two with the highest target (10,000) has some 10,000 to 15,000, and one of six
/// who never declare anything up to 43,000: 667 deals, where kings and queens score nothing. Whoever plays to lengthen it, by what
/// scores nothing or by faults, comes to the bound with such a target; by rules of one's own by which nothing scores any match does.
pub const MAX_MATCH_ENTRIES: usize = 50_000;

/// Tokens that one seat of a match has one after the other. Each is an entry of the match's journal, which is in memory while it runs
/// and is replayed by who asks for its past: a thousand take some 160 KB, and nobody leaks so many.
pub const MAX_SEAT_TOKENS: u32 = 1_000;

/// Slots that matches fall into, by a hash that nobody can foresee, when tokens of their seats are replaced.
pub const ROTATION_SLOTS: usize = 1_024;

/// Messages that wait for one table: more than its seats send at once. Who sends more waits.
pub const TABLE_INBOX_MESSAGES: usize = 64;

/// Of these, messages of those who begin to look on at a match. However many come at once, a player's action waits for no
/// more of them.
pub const TABLE_INBOX_ONLOOKERS: usize = 8;

/// Readers of one match that are woken at once, until others run. Each may take some ten microseconds.
pub const READERS_WOKEN_AT_ONCE: usize = 64;

/// Observations that wait for one subscriber: several deals' worth. A reader that falls further behind is cut, and
/// resumes.
pub const TABLE_QUEUED_OBSERVATIONS: usize = 256;

/// Bytes of observations that wait for one subscriber, unless configured: more than [`TABLE_QUEUED_OBSERVATIONS`] of
/// them take. All that see the same share them.
pub const DEFAULT_MAX_QUEUED_BYTES_PER_SEAT: usize = 1024 * 1024;

/// Bytes of observations that wait for all subscribers, unless configured.
pub const DEFAULT_MAX_QUEUED_OBSERVATION_BYTES: usize = 256 * 1024 * 1024;

/// Bytes of them that wait for one subscriber when half of that waits: some fifty.
pub const QUEUED_BYTES_PER_SEAT_WHEN_HALF_FULL: usize = 64 * 1024;

/// The same when all of it waits: some few, which a reader that reads is not behind.
pub const QUEUED_BYTES_PER_SEAT_WHEN_FULL: usize = 4 * 1024;

/// Spectators of one match, and those who observe one seat, unless configured. They share what they are shown, and each
/// costs a stream, of which there are [`DEFAULT_MAX_STREAMS`](super::DEFAULT_MAX_STREAMS) in all.
pub const DEFAULT_MAX_OBSERVERS_PER_MATCH: usize = 10_000;

/// Seats that are followed at once on Play and Observe streams, unless configured, some 4 KiB each until their first answers are read, then
/// half of it: both seats of each of
/// [`DEFAULT_MAX_LIVE_MATCHES`], and a quarter more for those who observe or come back before their old stream is known to be
/// gone.
pub const DEFAULT_MAX_FOLLOWED_SEATS: u32 = 250_000;

/// Those from one address, unless configured: both seats of each of the matches of one owner, and as many again as one stream
/// after the other comes back with. Five addresses are needed to keep the others out.
pub const DEFAULT_MAX_FOLLOWED_SEATS_PER_ADDRESS: u32 = 50_000;

/// Journal entries that a resuming subscriber may be behind when it changes over to what is live: they are
/// handed over in one message.
pub const TABLE_FOLLOW_GAP_ENTRIES: usize = 32;

/// The first wait before a journal that failed is asked again; it doubles each time.
pub const JOURNAL_FIRST_RETRY: Duration = Duration::from_millis(50);

/// The longest such wait.
pub const JOURNAL_LAST_RETRY: Duration = Duration::from_secs(5);

/// Results that are read at once for one reader of `WatchResults`, who gets no more until it has read them.
pub const RESULTS_PAGE: u16 = 100;

/// The latest results that are kept in memory, some kilobyte each, so that many who follow them cost the journal one reading.
pub const RECENT_RESULTS: u16 = 1_000;

/// `WatchResults` streams open at once. Each may hold a [`RESULTS_PAGE`].
pub const MAX_RESULT_STREAMS: usize = 1_000;

/// Those of one owner, or of the admin, so that nobody can keep the others out. All owners together leave the admin as many.
pub const MAX_RESULT_STREAMS_PER_OWNER: usize = 100;

/// How long a `WatchResults` stream is silent at most: as the wire promises.
pub const RESULTS_SILENCE: Duration = Duration::from_secs(10);

/// Matches of a backup that are aborted at once, so that one commit takes many.
pub const ABORTS_AT_ONCE: usize = 1_000;

/// How long the clocks of the matches stand still after a restart, for their players to come back: an SDK that backs off
/// up to five seconds tries twice in it.
pub const RESTART_GRACE: Duration = Duration::from_secs(10);

/// How long a match's clock stands still when it is known again what is stored: whoever was told to send the same
/// again has waited [`RETRY_AFTER_MS`](super::RETRY_AFTER_MS) by then, and its answer has come.
pub const RESEND_GRACE: Duration = Duration::from_millis(2 * RETRY_AFTER_MS as u64);

/// How long after a deadline a table acts on it: what was received before has so much time to come in.
pub const EXPIRY_SLACK: Duration = Duration::from_millis(5);

/// How often the server's clock is told that the server runs.
pub const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(25);

/// How much later than it should a heartbeat may come. What is beyond is a stall, which no clock counts.
pub const STALL_GAP: Duration = Duration::from_millis(100);

/// After a stall of this length the clocks stand still for [`RESTART_GRACE`] more: a client may have given the connection
/// up meanwhile.
pub const LONG_STALL: Duration = Duration::from_secs(5);

/// Running matches that a list looks at in one go: then others have their turn.
pub const LIVE_MATCHES_VISITED: usize = 1_024;
