//! Metrics, traces and the log.

use std::num::NonZeroU32;
use std::time::Duration;

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

/// How long after a line of the log about what strangers can bring about as often as they like, such as connections that can't be
/// accepted, the next one comes. It says how often it was.
pub const LOG_PAUSE: Duration = Duration::from_secs(1);

/// Slots that the causes of faults of the server fall into: each has a line of the log in a [`LOG_PAUSE`].
pub const TOLD_CAUSES: usize = 16;

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

/// How often what waits and what is left of the disk is measured, and the histograms of the metrics are tidied at the latest.
pub const METRICS_UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// How often it is looked whether the histograms have to be tidied before.
pub const METRICS_LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Records of the journal after which they have to be. What is measured of each action waits for that in memory, some 64 bytes: with
/// five seconds of a busy server, other threads of its core would stand still for 12 ms.
pub const METRICS_UPKEEP_RECORDS: u64 = 4096;
