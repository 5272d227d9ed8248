//! Every bound of the server, with its unit and its reason (invariant I5: one bad client hurts nobody).
//!
//! The journal's own, which no client can reach, are beside it in `journal/sqlite/limits.rs`.
//!
//! What tonic, hyper and h2 leave unlimited by default is limited here too. A bound that an operator may want
//! to move has a key in [`Config`](crate::config::Config), whose default is here.

use std::num::NonZeroU32;
use std::time::Duration;

/// Bytes of one request message, unless configured. The largest honest one is a batch of [`MAX_BATCH_MATCHES`] matches
/// with rules of their own, some 200 bytes each.
pub const DEFAULT_MAX_REQUEST_BYTES: usize = 1024 * 1024;

/// Bytes of one message on a Play stream: an action is some ten bytes, a join a hundred. As much is kept for each stream.
pub const MAX_PLAY_MESSAGE_BYTES: usize = 16 * 1024;

/// Bytes of one message to the other calls of `PlayService`: an Observe of [`MAX_SEATS_PER_STREAM`] seats is the largest, some 80
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

/// Characters of a client's name in hello: it goes to the log.
pub const MAX_CLIENT_NAME_CHARS: usize = 64;

/// Observations for which a player's queue keeps room when it is empty: those of a turn and of its answer.
pub const QUEUE_KEPT: usize = 4;

/// Letters for which a mailbox keeps room when it is empty.
pub const MAILBOX_KEPT: usize = 64;

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

/// Connections open at once, unless configured. Each may cost up to [`HTTP2_CONNECTION_WINDOW_BYTES`].
pub const DEFAULT_MAX_CONNECTIONS: u32 = 4_096;

/// File descriptors that the server may open beside those of its connections: one for each webhook, and those of the journal, a backup
/// and the system's own.
pub const DESCRIPTORS_BESIDE_CONNECTIONS: u64 = 512;

/// Connections open at once from one address, unless configured: a quarter of all, so that four addresses are needed to
/// keep the others out. Of IPv6 an address is its first 64 bits, since a client has the rest to choose.
pub const DEFAULT_MAX_CONNECTIONS_PER_ADDRESS: u32 = 1_024;

/// Connections opened in a second from one address, unless configured: as many bots as may be open at once come back within
/// ten seconds of a restart, and within none out of the burst.
pub const DEFAULT_CONNECTIONS_PER_SECOND: u32 = 100;

/// Those that may be opened at once after a pause, unless configured: twice as many as may be open.
pub const DEFAULT_CONNECTION_BURST: u32 = 2_048;

/// As how many a connection counts that was cut for flooding: opening it costs the server little, what went over it much.
pub const CONNECTIONS_OF_A_FLOOD: u32 = 20;

/// How late the server may be with what is due until it takes on nothing new, unless configured. An action comes by some five
/// queues, one after the other: so late in each, it takes as long as what makes a stall ([`STALL_GAP`]).
pub const DEFAULT_MAX_LATE_MS: u32 = 20;

/// How often it is looked how late the server is.
pub const PRESSURE_BEAT: Duration = Duration::from_millis(10);

/// For how long it is looked at until it counts how late it usually was.
pub const PRESSURE_WINDOW: Duration = Duration::from_millis(250);

/// How many times it has to be looked at for that.
pub const PRESSURE_BEATS: usize = 5;

/// How long it is waited for what is looked at. It is late by then, whatever it waits for.
pub const PRESSURE_PATIENCE: Duration = Duration::from_secs(1);

/// How long before the time to join a match is over a late server lets in those that it waits for, at the latest from half of
/// that time on: else it would make no-shows of them. They are told to try again after [`RETRY_AFTER_MS`].
pub const LAST_JOINS: Duration = Duration::from_secs(10);

/// Matches that are not over, at once, unless configured.
pub const DEFAULT_MAX_LIVE_MATCHES: u32 = 100_000;

/// Those of one owner, unless configured, so that nobody can keep the others out. The admin has no owner and none of
/// these limits.
pub const DEFAULT_MAX_LIVE_MATCHES_PER_OWNER: u32 = 20_000;

/// Bytes of memory that what has happened in all matches that are not over may take, unless configured: 20 KiB for each of
/// [`DEFAULT_MAX_LIVE_MATCHES`], which are a hundred actions of 208 bytes. A match of two by the default preset has some 300 when it
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
/// and is replayed by who asks for its past: a thousand take some 100 KiB, and nobody leaks so many.
pub const MAX_SEAT_TOKENS: u32 = 1_000;

/// Slots that matches fall into, by a hash that nobody can foresee, when tokens of their seats are replaced.
pub const ROTATION_SLOTS: usize = 1_024;

/// Bytes of the disk of the data folder that have to be free for a match to be created, unless configured: what runs is played to its
/// end in them, some kilobytes each, and the write-ahead log has its room.
pub const DEFAULT_MIN_FREE_DISK_BYTES: u64 = 1024 * 1024 * 1024;

/// On a small disk one part in so many is enough.
pub const PART_OF_DISK_KEPT_FREE: u64 = 10;

/// Messages that wait for one table: more than its seats send at once. Who sends more waits.
pub const TABLE_INBOX_MESSAGES: usize = 64;

/// Of these, messages of those who begin to look on at a match. However many come at once, a player's action waits for no
/// more of them.
pub const TABLE_INBOX_ONLOOKERS: usize = 8;

/// Readers of one match that are woken at once, until others run. Each may take some ten microseconds.
pub const READERS_WOKEN_AT_ONCE: usize = 64;

/// Bytes that are taken at once to put what a spectator is told in: a message or two. Each stream has its own.
pub const SPECTATOR_BUFFER_BYTES: usize = 1024;

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
/// costs a stream, of which there are [`DEFAULT_MAX_STREAMS`] in all.
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

/// Those of one owner, or of the admin, so that nobody can keep the others out.
pub const MAX_RESULT_STREAMS_PER_OWNER: usize = 100;

/// How long a `WatchResults` stream is silent at most: as the wire promises.
pub const RESULTS_SILENCE: Duration = Duration::from_secs(10);

/// Matches of a backup that are aborted at once, so that one commit takes many.
pub const ABORTS_AT_ONCE: usize = 1_000;

/// How long the clocks of the matches stand still after a restart, for their players to come back: an SDK that backs off
/// up to five seconds tries twice in it.
pub const RESTART_GRACE: Duration = Duration::from_secs(10);

/// How long a match's clock stands still when it is known again what is stored: whoever was told to send the same
/// again has waited [`RETRY_AFTER_MS`] by then, and its answer has come.
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

/// HTTP/2 streams open at once on one connection, unless configured; h2 has no limit of its own. A bot needs one, a
/// dashboard of unary calls a hundred. Clients queue what is beyond.
pub const DEFAULT_MAX_STREAMS_PER_CONNECTION: u32 = 256;

/// HTTP/2 streams open at once on all connections, unless configured: some 16 KiB each.
pub const DEFAULT_MAX_STREAMS: u32 = 16_384;

/// Those from one address, unless configured: four for each of a thousand matches.
pub const DEFAULT_MAX_STREAMS_PER_ADDRESS: u32 = 4_096;

/// Of all streams one part in so many is kept for calls and streams of `PlayService`: spectators and lists may fill the rest alone.
pub const PART_OF_STREAMS_FOR_PLAY: usize = 8;

/// Questions about the server's health that are answered at once when there is no room for another call, so that whoever
/// watches over it does not give up a server that is full.
pub const MAX_HEALTH_CHECKS: usize = 256;

/// Those from one address.
pub const MAX_HEALTH_CHECKS_PER_ADDRESS: usize = 16;

/// Questions for the page of metrics that wait for it at once. They have this room alone, so that who watches over the server sees how
/// full it is. An answer that is made is one call among the others; while these have no more room it keeps its place here until it is
/// read.
pub const MAX_METRICS_PAGES: usize = 256;

/// Those from one address.
pub const MAX_METRICS_PAGES_PER_ADDRESS: usize = 16;

/// Of these places as many may be taken by all: the others are kept for the machine's own loopback address, where `zetema status` and
/// many a Prometheus ask.
pub const METRICS_PAGES_FOR_ALL: usize = MAX_METRICS_PAGES - 2 * MAX_METRICS_PAGES_PER_ADDRESS;

/// Pages of metrics in a second for one address: a page is some hundred kilobytes to send, and is made anew twice a second at most.
pub const METRICS_PAGES_PER_SECOND: NonZeroU32 = NonZeroU32::new(100).unwrap();

/// Those that an address may have at once after a pause.
pub const METRICS_PAGES_BURST: NonZeroU32 = NonZeroU32::new(400).unwrap();

/// How long the page of metrics that was made last is given to all who ask for it: making one takes some milliseconds of a processor.
/// What is read is never older than this and the time that its making took.
pub const METRICS_PAGE_KEPT: Duration = Duration::from_millis(500);

/// How long the message of a request, or the hello of a Play stream, may take to come, unless configured, in milliseconds.
pub const DEFAULT_REQUEST_TIMEOUT_MS: u32 = 10_000;

/// Calls of one connection that are worked on at once, until the first piece of their answer is made. The others wait.
pub const MAX_CALLS_AT_WORK: usize = 64;

/// Lists and records that are made at once for one address, which are much work. The others wait for their turn.
pub const LISTS_AT_WORK_PER_ADDRESS: usize = 4;

/// Those that are made at once for all addresses. Each may take [`MAX_RESPONSE_BYTES`] until what is sent of it is counted.
pub const LISTS_AT_WORK: usize = 8;

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
/// longest ([`MAX_MATCH_ENTRIES`]) takes 50. Where there are fewer, of its address or of all, it takes all of them.
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

/// Running matches that a list looks at in one go: then others have their turn.
pub const LIVE_MATCHES_VISITED: usize = 1_024;

/// Bytes that a client has to take at least within the write-stall time, while something waits for it: one that takes fewer takes
/// nothing to speak of, and may mean to keep the room.
pub const LEAST_BYTES_TAKEN: u64 = 1024;

/// Of what waits for it one part in so many, if that is more: of a whole [`DEFAULT_MAX_QUEUED_BYTES_PER_CONNECTION`] 32 KiB.
pub const PART_OF_QUEUED_BYTES_TAKEN: u64 = 32;

/// How long a client may take nothing when half of the bytes wait that may: then those that don't read are the first to go.
pub const WRITE_STALL_WHEN_FULL: Duration = Duration::from_secs(1);

/// Bytes of answers that are handed to a connection and not sent yet, unless configured. What is beyond waits where it is
/// made.
pub const DEFAULT_MAX_QUEUED_BYTES_PER_CONNECTION: usize = 1024 * 1024;

/// The same of all connections together, unless configured: what a flood of readers that don't read can cost.
pub const DEFAULT_MAX_QUEUED_BYTES: usize = 256 * 1024 * 1024;

/// The same of those from one address, unless configured: a quarter of all, so that nobody can keep the others out alone.
pub const DEFAULT_MAX_QUEUED_BYTES_PER_ADDRESS: usize = 64 * 1024 * 1024;

/// Bytes that a client may have in flight on one HTTP/2 stream: every message but a large batch fits in.
pub const HTTP2_STREAM_WINDOW_BYTES: u32 = 128 * 1024;

/// Bytes that a client may have in flight on one connection at least: as many as [`HTTP2_WINDOW_BYTES_PER_STREAM`] makes of the
/// streams that it may have unless configured.
pub const HTTP2_CONNECTION_WINDOW_BYTES: u32 = 256 * 1024;

/// The same for each stream that a connection may have. Half of the window is what small messages may take that nobody has read yet,
/// 256 bytes each: h2 takes who sends more for a flood and ends the connection. So all streams may send two at once.
pub const HTTP2_WINDOW_BYTES_PER_STREAM: u32 = 1024;

/// Bytes of one request that are taken whatever the others are: most are smaller.
pub const SMALL_REQUEST_BYTES: usize = 16 * 1024;

/// Bytes of requests beyond that, of all connections together, whose messages are not whole yet. What is beyond waits.
pub const LARGE_REQUESTS_BYTES: u64 = 128 * 1024 * 1024;

/// One address has one part in so many of it: sixteen of the largest requests at once.
pub const PART_OF_LARGE_REQUESTS: u64 = 8;

/// How often a request that waits for that asks again.
pub const LARGE_REQUEST_RETRY: Duration = Duration::from_millis(100);

/// Bytes of one HTTP/2 frame, the least that the protocol allows as a maximum.
pub const HTTP2_MAX_FRAME_BYTES: u32 = 16 * 1024;

/// Bytes of a frame's payload that are read along, of those of which it matters: no more than a frame may have. What is longer is none
/// that h2 takes. They are kept until the next frame.
pub const HTTP2_KEPT_PAYLOAD_BYTES: usize = HTTP2_MAX_FRAME_BYTES as usize;

/// Bytes of all headers of one request, unless configured: a bearer token and a few fields of tracing.
pub const DEFAULT_MAX_HEADER_LIST_BYTES: u32 = 16 * 1024;

/// Headers of one HTTP/1 request.
pub const HTTP1_MAX_HEADERS: usize = 64;

/// Bytes that HTTP/1 buffers of one connection.
pub const HTTP1_MAX_BUFFER_BYTES: usize = 64 * 1024;

/// Bytes that are buffered of one HTTP/2 stream's answer before its producer is held up.
pub const HTTP2_MAX_SEND_BUFFER_BYTES: usize = 16 * 1024;

/// Streams that a client opened and reset before the server looked at them (rapid reset, CVE-2023-44487).
pub const HTTP2_MAX_PENDING_RESETS: usize = 64;

/// Streams that the server reset for a client's faults, after which the connection is closed; h2's builder has no
/// limit unless told.
pub const HTTP2_MAX_LOCAL_ERROR_RESETS: usize = 256;

/// How long a new connection may take to say a whole HTTP/2 preface or HTTP/1 request line, unless configured, in
/// milliseconds: nothing else closes one that never does.
pub const DEFAULT_PREFACE_TIMEOUT_MS: u32 = 5_000;

/// How long the TLS handshake of a new connection may take, before the time for the preface begins, unless configured, in
/// milliseconds.
pub const DEFAULT_TLS_HANDSHAKE_TIMEOUT_MS: u32 = 5_000;

/// How long a connection may be open without a call or a stream, unless configured, in milliseconds. It is closed in order,
/// so a client that comes back connects again and notices nothing.
pub const DEFAULT_IDLE_TIMEOUT_MS: u32 = 30_000;

/// How long a client may take nothing of what it is sent, unless configured, in milliseconds: long enough for a network
/// that is gone for a moment.
pub const DEFAULT_WRITE_STALL_TIMEOUT_MS: u32 = 10_000;

/// Calls and Play messages in a second by one token or from one address, unless configured: more than a small machine can
/// do, so that a load test from one place meets the machine and not this bound. It is there to stop a flood.
pub const DEFAULT_REQUESTS_PER_SECOND: u32 = 20_000;

/// Those that may come at once after a pause, unless configured.
pub const DEFAULT_REQUEST_BURST: u32 = 40_000;

/// Matches created in a second by one token or from one address, unless configured.
pub const DEFAULT_CREATES_PER_SECOND: u32 = 1_000;

/// Those that may be created at once after a pause, unless configured: ten whole batches.
pub const DEFAULT_CREATE_BURST: u32 = 10_000;

/// Bytes that TLS keeps of one connection until the system takes them: a whole record.
pub const TLS_BUFFER_BYTES: usize = 16 * 1024;

/// How long a connection whose TLS handshake failed is kept for its client to read why: closed at once, what the
/// client was still sending would make its system throw the answer away.
pub const TLS_ALERT_TIMEOUT: Duration = Duration::from_secs(1);

/// How long an HTTP/1 connection may take for the headers of its next request, the time between two requests counted in; less where a
/// connection may be idle for less.
pub const HTTP1_HEADER_TIMEOUT: Duration = Duration::from_secs(10);

/// How long accepting rests after the system refused a new connection, such as for want of file descriptors.
pub const ACCEPT_RETRY_PAUSE: Duration = Duration::from_millis(100);

/// How long after a line of the log about what strangers can bring about as often as they like, such as connections that can't be
/// accepted, the next one comes. It says how often it was.
pub const LOG_PAUSE: Duration = Duration::from_secs(1);

/// Slots that the causes of faults of the server fall into: each has a line of the log in a [`LOG_PAUSE`].
pub const TOLD_CAUSES: usize = 16;

/// Connections that wait to be accepted, in the system.
pub const LISTEN_BACKLOG: u32 = 1_024;

/// How long nothing comes from a peer until the system asks whether it is still there: over HTTP/1, where nothing is pinged, nobody
/// else does.
pub const TCP_KEEPALIVE_AFTER: Duration = Duration::from_secs(30);

/// How often it asks then.
pub const TCP_KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);

/// Questions without an answer after which the connection is closed.
pub const TCP_KEEPALIVE_PROBES: u32 = 3;

/// How long what is sent may wait until the peer's system has it: as long as the keepalive takes, or the write-stall time if
/// that is longer, since a peer's system takes nothing either for a client that does not read.
pub const TCP_UNACKNOWLEDGED: Duration = Duration::from_mins(1);

/// Bytes that the system is asked to buffer of one connection in each direction. Linux takes double for its own books, and
/// would by itself let it grow to megabytes.
pub const SOCKET_BUFFER_BYTES: u32 = 128 * 1024;

/// HTTP/2 frames that carry nothing (pings, settings, windows, resets, priorities, small pieces of messages) that a connection
/// may send at once: h2 answers them without end.
pub const EMPTY_FRAMES_BURST: u64 = 4_000;

/// Those that it may send in a second.
pub const EMPTY_FRAMES_PER_SECOND: u64 = 200;

/// Those that it may send besides for each request and each Play message: its pieces, its end, its reset, windows.
pub const EMPTY_FRAMES_PER_REQUEST: u64 = 4;

/// Bytes of answers for which it may send one more: the windows that it opens by reading them.
pub const BYTES_PER_EMPTY_FRAME: u64 = 64;

/// Bytes of a frame that counts as carrying something.
pub const LARGE_FRAME_BYTES: usize = 1_024;

/// How often a Play stream is pinged, unless configured, in milliseconds.
pub const DEFAULT_PING_INTERVAL_MS: u32 = 10_000;

/// How long a server that is told to stop lets its matches go on, unless configured, in milliseconds: with [`CLOSING_TIMEOUT`] and
/// [`TRACES_STOP_TIMEOUT`] after it less than the 30 seconds that Kubernetes gives a container, and the 90 of systemd.
pub const DEFAULT_DRAIN_TIMEOUT_MS: u32 = 20_000;

/// How long a server that drains is still there when its last match is over: those who played it read its record.
pub const DRAIN_LINGER: Duration = Duration::from_millis(500);

/// How long streams and calls get to end by themselves when the server closes.
pub const CLOSING_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a client is told to wait before it connects again to a server that stops, in milliseconds.
pub const RECONNECT_AFTER_MS: u32 = 1_000;

/// How long a client is told to wait before it sends again what was refused for want of room, in milliseconds.
pub const RETRY_AFTER_MS: u32 = 1_000;

/// Slots that tokens and addresses fall into, by a hash that nobody can foresee, when their requests are counted: some 40
/// bytes each in memory.
pub const RATE_SLOTS: u64 = 128 * 1024;

/// How often those are forgotten that may send a whole burst again.
pub const RATES_TIDY_INTERVAL: Duration = Duration::from_secs(30);

/// Spans that wait to be sent to a collector of traces: more are dropped. Each takes less than 1 KiB.
pub const TRACES_QUEUED_SPANS: usize = 8_192;

/// Spans that are sent to it at once.
pub const TRACES_BATCH_SPANS: usize = 512;

/// How often what waits is sent to it.
pub const TRACES_INTERVAL: Duration = Duration::from_secs(1);

/// How long it may take to answer.
pub const TRACES_TIMEOUT: Duration = Duration::from_secs(3);

/// How long a server that stops waits until the last spans are sent: longer than one answer may take.
pub const TRACES_STOP_TIMEOUT: Duration = Duration::from_secs(4);

/// Of a million commands so many are traced, unless configured.
pub const DEFAULT_OTLP_SAMPLED_PER_MILLION: u32 = 10_000;

/// How often the histograms of the metrics are tidied.
pub const METRICS_UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// A Play stream without a sign of life for so many ping intervals is cut, as the wire tells clients to do too, and so is
/// an HTTP/2 connection that does not answer the pings of HTTP/2.
pub const SILENT_PING_INTERVALS: u32 = 3;

/// Answers that a Play stream buffers before its session waits for the reader.
pub const PLAY_BUFFERED_ANSWERS: usize = 16;

/// Bearer tokens that are kept, void ones too, some 400 bytes each in memory. The oldest void ones make room for new
/// ones, but for the last of each owner and bot, so there are never more names than this either.
pub const MAX_TOKENS: usize = 10_000;

/// Places of these that rotations leave: when there are no more, a rotation voids the old token at once.
pub const TOKENS_LEFT_BY_ROTATIONS: usize = 1_000;

/// How long a bot's token plays on, when the bot got another, the seats that the bot had: longer than any match of a ladder takes.
pub const ROTATED_TOKEN_PLAYS_ON: Duration = Duration::from_hours(24);

/// Matches that are made so soon after a rotation count as made before it: a ladder may have paired the bot already while the rotation
/// was on its way to the disk. Who has the new token has hardly connected by then.
pub const ROTATION_SETTLES: Duration = Duration::from_millis(200);

/// Bytes of a token's label, as the wire promises.
pub const MAX_TOKEN_LABEL_BYTES: usize = 64;

/// Characters of an owner's or a bot's name, as the wire promises.
pub const MAX_ACCOUNT_NAME_CHARS: usize = 64;

/// Bytes of what a bot's owner says of it, as the wire promises.
pub const MAX_BOT_DESCRIPTION_BYTES: usize = 256;

/// Bytes of a bot's version, as the wire promises.
pub const MAX_BOT_VERSION_BYTES: usize = 64;

/// Bytes of whom to tell of a bot's faults, as the wire promises.
pub const MAX_FAULT_CONTACT_BYTES: usize = 256;

/// Bots that were ever registered, some KiB each in memory and on the disk. Their owners get one valid token for each and its last
/// is kept when it is void, so that the bots and the owners that register themselves leave 3,000 of [`MAX_TOKENS`] to the admin at least.
pub const MAX_BOTS: usize = 6_000;

/// Bots that one owner may ever register, retired ones too: their names are kept, so who registers and retires without end would use
/// up [`MAX_BOTS`] alone.
pub const MAX_BOTS_EVER_PER_OWNER: usize = 200;

/// Bots of one owner that are not retired, unless configured.
pub const DEFAULT_MAX_BOTS_PER_OWNER: u32 = 20;

/// Owners that may register themselves where that is open, unless configured, each with a token. The admin is not bound by it.
pub const DEFAULT_MAX_REGISTERED_OWNERS: u32 = 200;

/// Matches that a bot may be paired for at once, unless configured.
pub const DEFAULT_BOT_MATCHES_AT_ONCE: u32 = 4;

/// Matches that a bot may be paired for in any 24 hours, unless configured: half of them at any pace, and then one each nine seconds. Of
/// `sackson` for two they are some 200 MB of journal a day for two bots that play all they can.
pub const DEFAULT_BOT_MATCHES_A_DAY: u32 = 20_000;

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

/// Faults that are remembered of one seat, some 300 bytes each: enough to see how it began to go wrong.
pub const FAULTS_PER_SEAT: usize = 16;

/// Seats of which faults are remembered. When there are more, whoever has the most has its oldest forgotten, so that nobody can have
/// those of others forgotten who have less: among a hundred bots with faults each has a hundred seats at least.
pub const MAX_SEATS_WITH_FAULTS: usize = 10_000;

/// Those of one bot, and the others in the matches of one owner. The others of the admin have no such limit. A bot that has a fault in
/// every match, of [`DEFAULT_BOT_MATCHES_A_DAY`], has those of half a day: twice as long as the longest of the usual benches.
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

/// Streams of whose cut the next stream with the same token is told, some 400 bytes each.
pub const MAX_REMEMBERED_CUTS: usize = 10_000;

/// Those of one bot, or of one owner and the seats of its matches, so that nobody can have those of others forgotten. The admin and
/// the seats of its matches have no such limit.
pub const MAX_REMEMBERED_CUTS_PER_OWNER: usize = 1_000;

/// Seats of such a stream whose cursors are remembered with it, some 80 bytes each.
pub const MAX_REMEMBERED_CURSORS: usize = 32;

/// Round trips of a Play stream that are remembered: the smallest counts.
pub const ROUND_TRIPS_KEPT: usize = 8;

/// Ladders of one server.
pub const MAX_LADDERS: usize = 64;

/// Bytes of what a ladder is, for people.
pub const MAX_LADDER_DESCRIPTION_BYTES: usize = 256;

/// Results of one ladder that are looked up in memory, some 500 bytes each with their luck; older ones are in files. Ratings and
/// head-to-heads are of all results.
pub const MAX_LADDER_RESULTS: usize = 200_000;

/// Results in one file of a ladder, which is read and written whole: some 150 bytes each of two players.
pub const LADDER_BLOCK_RESULTS: usize = 4_096;

/// More results of one ladder in memory while others are written to a file, or can't be. Of more, the oldest can't be looked up until the next start.
pub const UNWRITTEN_LADDER_RESULTS: usize = 4 * LADDER_BLOCK_RESULTS;

/// Those of all ladders of a server together, in equal parts: 1 KiB each where six play.
pub const MAX_RESULTS_OF_ALL_LADDERS: usize = 400_000;
/// The latest results of a server, when it starts, of which the luck of the cards is known or computed. What is known is on the disk, in
/// files of [`LUCK_BLOCK_RESULTS`], of 130 bytes each result: 136 MB at most.
pub const LUCK_RESULTS: u64 = 256 * LUCK_BLOCK_RESULTS;

/// Results of the server whose luck is in one file, and in memory while it is written.
pub const LUCK_BLOCK_RESULTS: u64 = 4_096;

/// Results whose luck was computed and is not on the disk yet: after a crash it is computed anew, some 30 milliseconds each.
pub const LUCK_UNSAVED_RESULTS: usize = 256;

/// How long computed luck is not on the disk at most.
pub const LUCK_SAVED_EVERY: Duration = Duration::from_mins(1);

/// How often whoever follows standings is told of luck that was computed since, where no rating changes.
pub const LUCK_TOLD_EVERY: Duration = Duration::from_secs(1);

/// What places at a table are usually worth by other rules: so many are kept, on the disk and in memory, 100 bytes each.
pub const MAX_LUCK_BASELINES: usize = 2 * MAX_LADDERS;

/// For how long luck is computed until it is looked whether the server has more pressing things to do.
pub const LUCK_CHUNK: Duration = Duration::from_millis(10);

/// How long what nobody waits for is left alone when the server has.
pub const IDLE_PAUSE: Duration = Duration::from_millis(250);

/// Results of one season that is looked at for the admin, the latest of a ladder.
pub const SEASON_RESULTS: usize = 30_000;

/// Bytes of what seats did in one season until it has no more results, of one season at a time: 2 for each decision, and 4 for each other card
/// that could have been discarded. A match of two by the default preset takes some 3,000, one by `quick` half of that, so that [`SEASON_RESULTS`] of these have room.
pub const SEASON_BYTES: usize = 64 * 1024 * 1024;

/// How long a season that was looked at is shown until it is looked at anew.
pub const SEASON_KEPT: Duration = Duration::from_mins(10);

/// Seasons that are looked at or wait for that, of all ladders and times: one at a time.
pub const MAX_SEASONS_UNDER_WAY: usize = 4;

/// Seasons that are remembered, of all ladders and times, until there are more.
pub const MAX_SEASONS: usize = MAX_LADDERS;

/// How long whoever asks waits for a season that is looked at, before being told to ask again.
pub const SEASON_WAITED_FOR: Duration = Duration::from_secs(10);

/// Suspicions that are remembered of one season, some 2 kB each.
pub const MAX_SUSPICIONS: usize = 1_000;

/// Results that one suspicion names.
pub const MAX_CITED_RESULTS: usize = 50;

/// Results that one answer looks at.
pub const LADDER_RESULTS_LOOKED_AT: usize = 5_000;

/// How often the bots that wait on ladders are paired, and what is shown of ladders is made anew.
pub const PAIRING_INTERVAL: Duration = Duration::from_secs(1);

/// Words of ladders to one bot's author that wait to be read. What has no room is said when the bot is there by something else.
pub const LADDER_WORDS: usize = 64;

/// Words of ladders to one bot's author that are kept for when it is there again, some 200 bytes each: the latest.
pub const LADDER_WORDS_KEPT: usize = 8;

/// For how long they are.
pub const LADDER_WORDS_KEPT_FOR: Duration = Duration::from_hours(24);

/// What a bot was told so long before its stream ended it may not have read, and is told again: longer than a stream of a program that has
/// died is left open by [`DEFAULT_PING_INTERVAL_MS`].
pub const LADDER_WORDS_UNREAD: Duration = Duration::from_mins(1);

/// Results that wait for the task of the ladders to count them.
pub const UNCOUNTED_RESULTS: usize = 64;

/// What owners ask of the ladders and their task has not looked at. Whoever asks more waits.
pub const LADDER_COMMANDS: usize = 64;

/// How often the ratings of ladders that have changed are stored, unless configured, in milliseconds.
pub const DEFAULT_LADDER_RATINGS_STORED_EVERY_MS: u32 = 5_000;

/// How long a server that stops waits until they are stored once more.
pub const LADDER_RATINGS_STORED_LAST: Duration = Duration::from_secs(2);

/// Bots of one ladder that the log names when their stored ratings are not those of the results; of more it has the number.
pub const LADDER_DIFFERENCES_LOGGED: usize = 100;

/// How long after a fault of theirs the ladders begin anew.
pub const LADDERS_BREAK: Duration = Duration::from_secs(1);

/// How long a call waits until the results of before the start are counted.
pub const CATCHING_UP_WAITED_FOR: Duration = Duration::from_secs(10);

/// When whoever can't wait on ladders that stand still asks again.
pub const STAND_STILL_ASKED_AGAIN: Duration = Duration::from_mins(1);

/// Ladders that one bot waits on by one stream.
pub const MAX_QUEUES_PER_STREAM: usize = MAX_LADDERS;

/// How long a bot waits on ladders and for challenges without a stream, until it says so again.
pub const QUEUE_LEASE: Duration = Duration::from_mins(1);

/// Matches of one ladder that a bot may want at once by one stream.
pub const MAX_PLACES_PER_QUEUE: u16 = 1_000;

/// Challenges that a bot may accept at once by one stream.
pub const MAX_CHALLENGES_PER_STREAM: u16 = 1_000;

/// How long a challenge's seats may have to join. A bot's places are few, and whoever challenges it has them until then at least.
pub const MAX_CHALLENGE_JOIN_TIMEOUT: Duration = Duration::from_mins(1);

/// How long a bot takes no challenge of an owner whose challenges have held its places for [`MAX_CHALLENGE_JOIN_TIMEOUT`] in all without
/// being played. It doubles each time, until [`IDLE_CHALLENGES_LONGEST_COOL_DOWN`], and is halved by each that is played.
pub const IDLE_CHALLENGES_COOL_DOWN: Duration = Duration::from_secs(30);

/// The longest of these: then whoever never plays has a place for a minute of an hour.
pub const IDLE_CHALLENGES_LONGEST_COOL_DOWN: Duration = Duration::from_hours(1);

/// How long after the last challenge that was not played that is forgotten.
pub const IDLE_CHALLENGES_LAST: Duration = Duration::from_hours(24);

/// Owners of whom that is remembered for one bot, some 100 bytes each: whoever did it longest ago is forgotten first.
pub const MAX_IDLE_CHALLENGERS: usize = 1_000;

/// How long a challenge's clock may be: each of its budgets, its bank and its increment.
pub const MAX_CHALLENGE_CLOCK: Duration = Duration::from_mins(10);

/// `WatchStandings` streams open at once.
pub const MAX_STANDINGS_STREAMS: usize = 1_000;

/// Those of one address, so that nobody can keep the others out.
pub const MAX_STANDINGS_STREAMS_PER_ADDRESS: usize = 50;

/// Standings in one message of such a stream.
pub const MAX_STANDINGS_IN_MESSAGE: usize = 1_000;
