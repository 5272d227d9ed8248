//! What the server counts, and the page that Prometheus reads.

mod catalogue;
mod rpcs;
mod tables;

use std::{
    sync::OnceLock,
    time::{SystemTime, UNIX_EPOCH},
};

use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{
    BuildError, Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder,
};
use zetema_proto::v1::ErrorReason;

pub use catalogue::*;

pub(crate) use rpcs::{Call, GivenUp, Messages, Rpcs};
pub(crate) use tables::TableMeasures;

/// Upper bounds of the buckets for times, in seconds: from what a stage takes on an idle server to what a client waits
/// for at most.
pub const SECONDS_BUCKETS: [f64; 17] = [
    0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    5.0, 10.0,
];

/// The highest number that a reason of the wire may have here.
const MOST_REASONS: i32 = 255;

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

/// A recorder of these metrics, each described, and at 0 where its labels are known.
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
    for &Metric { name, kind, labels, what } in ALL {
        match kind {
            Kind::Counter => describe_counter!(name, what),
            Kind::Gauge => describe_gauge!(name, what),
            Kind::Histogram => describe_histogram!(name, Unit::Seconds, what),
        }
        // What appears for the first time with a value is no rise to Prometheus: so it is there from the start.
        if labels.is_empty() {
            match kind {
                Kind::Counter => counter!(name).absolute(0),
                Kind::Gauge => gauge!(name).set(0.0),
                Kind::Histogram => drop(histogram!(name)),
            }
        }
    }
    for reason in Refused::ALL.map(Refused::name) {
        counter!(REFUSED_CONNECTIONS, "reason" => reason).absolute(0);
    }
    for reason in Closed::ALL.map(Closed::name) {
        counter!(CLOSED_CONNECTIONS, "reason" => reason).absolute(0);
    }
    for work in ["create", "watch", "join"] {
        counter!(SHED, "work" => work).absolute(0);
    }
    for by in CursorBy::ALL.map(CursorBy::name) {
        counter!(RESULT_CURSORS_AHEAD, "by" => by).absolute(0);
    }
    for outcome in WebhookAttempt::ALL.map(WebhookAttempt::name) {
        counter!(WEBHOOK_ATTEMPTS, "outcome" => outcome).absolute(0);
    }
    for what in ["request", "message", "create"] {
        for by in ["token", "address"] {
            counter!(THROTTLED, "what" => what, "by" => by).absolute(0);
        }
    }
    counter!(THROTTLED, "what" => "create", "by" => "disk").absolute(0);
    for reason in (1..=MOST_REASONS).filter_map(|number| ErrorReason::try_from(number).ok()) {
        counter!(REJECTIONS, "reason" => reason.name()).absolute(0);
    }
    gauge!(BUILD_INFO, "version" => env!("CARGO_PKG_VERSION")).set(1.0);
}

/// Notes that a server starts. The process does not tell it on every system: a hardened unit hides what it is reckoned by.
pub(crate) fn starts() {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    gauge!(START_TIME).set(since.as_secs_f64());
}

/// Notes how many lines of its log a program has dropped since it was started, for who has a log of its own.
pub fn log_lines_dropped(lines: u64) {
    counter!(LOG_LINES_DROPPED).absolute(lines);
}

/// Why a connection is closed as soon as it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    All,
    Address,
    Rate,
    Descriptors,
}

impl Refused {
    const ALL: [Self; 4] = [Self::All, Self::Address, Self::Rate, Self::Descriptors];

    const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Address => "address",
            Self::Rate => "rate",
            Self::Descriptors => "descriptors",
        }
    }
}

/// Counts a connection that is closed as soon as it comes.
pub(crate) fn refused(why: Refused) {
    counter!(REFUSED_CONNECTIONS, "reason" => why.name()).increment(1);
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

impl Closed {
    const ALL: [Self; 5] = [Self::Preface, Self::Silent, Self::Idle, Self::Stalled, Self::Flooding];

    const fn name(self) -> &'static str {
        match self {
            Self::Preface => "preface",
            Self::Silent => "silent",
            Self::Idle => "idle",
            Self::Stalled => "stalled",
            Self::Flooding => "flooding",
        }
    }
}

/// Counts a connection that the server closes.
pub(crate) fn closed(why: Closed) {
    counter!(CLOSED_CONNECTIONS, "reason" => why.name()).increment(1);
}

/// Whose token a cursor of results came with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CursorBy {
    Admin,
    Owner,
}

impl CursorBy {
    const ALL: [Self; 2] = [Self::Admin, Self::Owner];

    const fn name(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Owner => "owner",
        }
    }
}

/// Counts a cursor of results beyond the last result.
pub(crate) fn cursor_ahead(by: CursorBy) {
    counter!(RESULT_CURSORS_AHEAD, "by" => by.name()).increment(1);
}

/// What came of an attempt to deliver a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WebhookAttempt {
    Taken,
    Refused,
    Unavailable,
}

impl WebhookAttempt {
    const ALL: [Self; 3] = [Self::Taken, Self::Refused, Self::Unavailable];

    const fn name(self) -> &'static str {
        match self {
            Self::Taken => "taken",
            Self::Refused => "refused",
            Self::Unavailable => "unavailable",
        }
    }
}

/// Counts an attempt to deliver a result.
pub(crate) fn webhook_attempt(outcome: WebhookAttempt) {
    counter!(WEBHOOK_ATTEMPTS, "outcome" => outcome.name()).increment(1);
}

/// One more of a gauge, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Open(metrics::Gauge);

impl Open {
    /// A connection.
    pub(crate) fn connection() -> Self {
        Self::of(gauge!(CONNECTIONS))
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
