//! What the server counts, under which names, and the page that Prometheus reads.
//!
//! No label grows with users, matches or requests: a label's values are those of an enum here or on the wire.

use std::sync::OnceLock;

use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge};
use metrics_exporter_prometheus::{
    BuildError, Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder,
};

/// Matches that are not over (gauge).
pub const LIVE_MATCHES: &str = "zetema_live_matches";
/// Connections that are open (gauge).
pub const CONNECTIONS: &str = "zetema_connections";
/// Connections that were closed as soon as they came, by `reason`: `all` (too many are open), `address` (too many of one
/// address), `descriptors` (the system has no more) (counter).
pub const REFUSED_CONNECTIONS: &str = "zetema_refused_connections_total";
/// Connections that the server closed, by `reason`: `preface` (not finished in time), `silent`, `idle`, `stalled` (the client
/// takes nothing), `flooding` (frames that carry nothing, or requests in spite of refusals) (counter).
pub const CLOSED_CONNECTIONS: &str = "zetema_closed_connections_total";
/// What was asked too fast, by `what` (`request`, `message`, `create`) and by whose share was used up (`token`, `address`):
/// requests and creates are refused, messages on a Play stream wait (counter).
pub const THROTTLED: &str = "zetema_throttled_total";
/// What was refused because the server was late, by `work` (`create`, `watch`, `join`) (counter).
pub const SHED: &str = "zetema_shed_total";
/// How late the server was with what was due last, in seconds (gauge).
pub const LATE: &str = "zetema_late_seconds";
/// TLS handshakes that failed or took too long (counter).
pub const TLS_FAILURES: &str = "zetema_tls_failures_total";
/// Streams that are open, by `rpc` (gauge).
pub const STREAMS: &str = "zetema_streams";
/// Stalls of the server, whose time is charged to nobody (counter).
pub const STALLS: &str = "zetema_stalls_total";
/// Actions and faults that were acknowledged by a receipt, repeated ones included (counter).
pub const ACTIONS: &str = "zetema_actions_total";
/// Requests that were refused, by `reason` (counter).
pub const REJECTIONS: &str = "zetema_rejections_total";
/// Matches that were created (counter).
pub const MATCHES_CREATED: &str = "zetema_matches_created_total";
/// Streams that were cut because their reader fell behind (counter).
pub const SLOW_READERS: &str = "zetema_slow_readers_total";
/// Cursors of results beyond the last result, each a sign that results were lost (counter).
pub const RESULT_CURSORS_AHEAD: &str = "zetema_result_cursors_ahead_total";
/// How long an action took from its arrival to its receipt, in seconds (histogram).
pub const ACTION_SECONDS: &str = "zetema_action_seconds";
/// Commits of the journal that are durable (counter).
pub const JOURNAL_COMMITS: &str = "zetema_journal_commits_total";
/// Commits of the journal that did not go through (counter).
pub const JOURNAL_FAILED_COMMITS: &str = "zetema_journal_failed_commits_total";
/// Records that those commits added (counter): divided by the commits it is the size of a batch.
pub const JOURNAL_RECORDS: &str = "zetema_journal_records_total";

/// Upper bounds of the buckets for times, in seconds.
const SECONDS_BUCKETS: [f64; 10] = [0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1.0];

/// The page of this process's metrics. `None` when the program that embeds the server has installed a recorder
/// of its own: then that one has them.
///
/// Metrics are of the process: several servers in one count into the same.
pub fn page() -> Option<&'static PrometheusHandle> {
    static PAGE: OnceLock<Option<PrometheusHandle>> = OnceLock::new();
    PAGE.get_or_init(install).as_ref()
}

fn install() -> Option<PrometheusHandle> {
    let recorder =
        recorder().inspect_err(|error| tracing::error!(%error, "the metrics can't be set up")).ok()?;
    let page = recorder.handle();
    if metrics::set_global_recorder(recorder).is_err() {
        tracing::info!("metrics go to the recorder that is already installed");
        return None;
    }
    Some(page)
}

/// A recorder of these metrics, each described and at 0.
///
/// # Errors
/// [`BuildError`] if the exporter does not take the buckets.
pub fn recorder() -> Result<PrometheusRecorder, BuildError> {
    let recorder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS_BUCKETS)?
        .build_recorder();
    metrics::with_local_recorder(&recorder, describe);
    Ok(recorder)
}

fn describe() {
    describe_gauge!(LIVE_MATCHES, "Matches that are not over.");
    describe_gauge!(CONNECTIONS, "Connections that are open.");
    describe_gauge!(STREAMS, "Streams that are open.");
    describe_counter!(REFUSED_CONNECTIONS, "Connections that were closed as soon as they came.");
    describe_counter!(CLOSED_CONNECTIONS, "Connections that the server closed.");
    describe_counter!(THROTTLED, "What was asked too fast.");
    describe_counter!(SHED, "What was refused because the server was late.");
    describe_gauge!(LATE, Unit::Seconds, "How late the server was with what was due last.");
    describe_counter!(TLS_FAILURES, "TLS handshakes that failed or took too long.");
    describe_counter!(STALLS, "Stalls of the server, whose time is charged to nobody.");
    describe_counter!(ACTIONS, "Actions and faults that were acknowledged.");
    describe_counter!(REJECTIONS, "Requests that were refused.");
    describe_counter!(MATCHES_CREATED, "Matches that were created.");
    describe_counter!(SLOW_READERS, "Streams that were cut because their reader fell behind.");
    describe_counter!(RESULT_CURSORS_AHEAD, "Cursors beyond the last result: a sign of lost results.");
    describe_counter!(JOURNAL_COMMITS, "Commits of the journal that are durable.");
    describe_counter!(JOURNAL_FAILED_COMMITS, "Commits of the journal that did not go through.");
    describe_counter!(JOURNAL_RECORDS, "Records that the journal's commits added.");
    describe_histogram!(ACTION_SECONDS, Unit::Seconds, "From an action's arrival to its receipt.");
    for gauge in [LIVE_MATCHES, CONNECTIONS, LATE] {
        gauge!(gauge).set(0.0);
    }
    for counter in [
        TLS_FAILURES,
        STALLS,
        ACTIONS,
        MATCHES_CREATED,
        SLOW_READERS,
        RESULT_CURSORS_AHEAD,
        JOURNAL_COMMITS,
        JOURNAL_FAILED_COMMITS,
        JOURNAL_RECORDS,
    ] {
        counter!(counter).absolute(0);
    }
}

/// Why a connection is closed as soon as it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    All,
    Address,
    Descriptors,
}

/// Counts a connection that is closed as soon as it comes.
pub(crate) fn refused(why: Refused) {
    let reason = match why {
        Refused::All => "all",
        Refused::Address => "address",
        Refused::Descriptors => "descriptors",
    };
    counter!(REFUSED_CONNECTIONS, "reason" => reason).increment(1);
}

/// Why the server closes a connection that was open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closed {
    Preface,
    Silent,
    Idle,
    Stalled,
    Flooding,
}

/// Counts a connection that the server closes.
pub(crate) fn closed(why: Closed) {
    let reason = match why {
        Closed::Preface => "preface",
        Closed::Silent => "silent",
        Closed::Idle => "idle",
        Closed::Stalled => "stalled",
        Closed::Flooding => "flooding",
    };
    counter!(CLOSED_CONNECTIONS, "reason" => reason).increment(1);
}

/// One more of a gauge, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Open(metrics::Gauge);

impl Open {
    /// A connection.
    pub(crate) fn connection() -> Self {
        Self::of(gauge!(CONNECTIONS))
    }

    /// A stream of this RPC.
    pub(crate) fn stream(rpc: StreamRpc) -> Self {
        Self::of(gauge!(STREAMS, "rpc" => rpc.name()))
    }

    fn of(gauge: metrics::Gauge) -> Self {
        gauge.increment(1.0);
        Self(gauge)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}

/// The RPCs whose streams are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamRpc {
    Play,
    Observe,
    WatchMatch,
    WatchResults,
}

impl StreamRpc {
    const fn name(self) -> &'static str {
        match self {
            Self::Play => "Play",
            Self::Observe => "Observe",
            Self::WatchMatch => "WatchMatch",
            Self::WatchResults => "WatchResults",
        }
    }
}
