//! Connections, their streams, and what HTTP/2 and TCP keep for them.

use std::time::Duration;

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

/// Connections that wait to be accepted, in the system, which may allow fewer (Linux: `net.core.somaxconn`, 4,096 unless set). One
/// beyond that is dropped without a word, and its client tries again only after 1, 3, 7 … seconds: so as many as may come at once after
/// a restart, or while somebody opens a thousand, have to fit.
pub const LISTEN_BACKLOG: u32 = 4_096;

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

/// How long a server that is told to stop lets its matches go on, unless configured, in milliseconds: with [`CLOSING_TIMEOUT`] and
/// [`TRACES_STOP_TIMEOUT`](super::TRACES_STOP_TIMEOUT) after it less than the 30 seconds that Kubernetes gives a container, and the 90 of systemd.
pub const DEFAULT_DRAIN_TIMEOUT_MS: u32 = 20_000;

/// How long a server that drains is still there when its last match is over: those who played it read its record.
pub const DRAIN_LINGER: Duration = Duration::from_millis(500);

/// How long streams and calls get to end by themselves when the server closes.
pub const CLOSING_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a client is told to wait before it connects again to a server that stops, in milliseconds.
pub const RECONNECT_AFTER_MS: u32 = 1_000;
