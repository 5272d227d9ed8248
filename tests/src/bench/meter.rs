//! What clients count.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hdrhistogram::Histogram;
use tokio::sync::Notify;

/// The longest time that is told from longer ones.
const LONGEST_NS: u64 = 60_000_000_000;

/// What clients count, from any number of tasks.
#[derive(Default)]
pub(super) struct Meter {
    counts: Counters,
    /// Whether times are taken.
    measures: AtomicBool,
    answers: Mutex<Times>,
    decisions: Mutex<Times>,
    problem: Mutex<Option<String>>,
    changed: Notify,
    /// How many are to be done until that is told.
    awaited: AtomicU64,
}

#[derive(Default)]
struct Counters {
    done: AtomicU64,
    streams: AtomicU64,
    seats: AtomicU64,
    matches: AtomicU64,
    ended: AtomicU64,
    sent: AtomicU64,
    sent_bytes: AtomicU64,
    received: AtomicU64,
    received_bytes: AtomicU64,
    crossed_bytes: AtomicU64,
}

/// What was counted until now.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Actions, calls or answers.
    pub(super) done: u64,
    /// Streams that the server has welcomed.
    pub(super) streams: u64,
    /// Seats that were taken.
    pub(super) seats: u64,
    /// Matches that are as far as they are to be played.
    pub(super) matches: u64,
    /// Matches that have come to their end, of those on Play streams.
    pub(super) ended: u64,
    pub(super) sent: u64,
    pub(super) sent_bytes: u64,
    pub(super) received: u64,
    pub(super) received_bytes: u64,
    /// Bytes of all connections, both ways.
    pub(super) crossed_bytes: u64,
}

struct Times(Histogram<u64>);

impl Default for Times {
    #[expect(clippy::expect_used, reason = "these bounds are those of a histogram")]
    fn default() -> Self {
        Self(Histogram::new_with_max(LONGEST_NS, 3).expect("a histogram may have these bounds"))
    }
}

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timed {
    /// From an action, call or write to its answer.
    Answer,
    /// From an action to the next observation with a decision.
    Decision,
}

impl Meter {
    /// An action was acknowledged, or whatever is counted was done.
    pub(super) fn done(&self, took: Duration) {
        let before = self.counts.done.fetch_add(1, Relaxed);
        if before + 1 == self.awaited.load(Relaxed) {
            self.changed.notify_one();
        }
        self.took(Timed::Answer, took);
    }

    /// Something took so long.
    pub(super) fn took(&self, what: Timed, time: Duration) {
        if self.measures.load(Relaxed) {
            let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            self.times(what).0.saturating_record(ns);
        }
    }

    /// The server has welcomed a stream.
    pub(super) fn stream_opened(&self) {
        self.counts.streams.fetch_add(1, Relaxed);
        self.changed.notify_one();
    }

    /// A seat was taken.
    pub(super) fn seat_taken(&self) {
        self.counts.seats.fetch_add(1, Relaxed);
        self.changed.notify_one();
    }

    /// A match is as far as it is to be played.
    pub(super) fn match_halted(&self) {
        self.counts.matches.fetch_add(1, Relaxed);
        self.changed.notify_one();
    }

    /// Waits until so many were done.
    ///
    /// # Errors
    /// If something has failed before.
    pub(super) async fn until_done(&self, many: u64) -> anyhow::Result<()> {
        self.awaited.store(many, Relaxed);
        self.until(|counts| counts.done >= many).await
    }

    /// Waits until it has counted this: not what was done, of which it is told for itself.
    ///
    /// # Errors
    /// If something has failed before.
    pub(super) async fn until(&self, counted: impl Fn(Counts) -> bool) -> anyhow::Result<()> {
        while !counted(self.counts()) {
            if let Some(problem) = self.problem() {
                return Err(problem);
            }
            self.changed.notified().await;
        }
        Ok(())
    }

    /// A match has come to its end.
    pub(super) fn match_ended(&self) {
        self.counts.ended.fetch_add(1, Relaxed);
        self.changed.notify_one();
    }

    /// A message was sent.
    pub(super) fn sent(&self, bytes: usize) {
        self.counts.sent.fetch_add(1, Relaxed);
        self.counts.sent_bytes.fetch_add(bytes as u64, Relaxed);
    }

    /// A message was received.
    pub(super) fn received(&self, bytes: usize) {
        self.counts.received.fetch_add(1, Relaxed);
        self.counts.received_bytes.fetch_add(bytes as u64, Relaxed);
    }

    /// Bytes were read from a connection, or written to it.
    pub(super) fn crossed(&self, bytes: usize) {
        self.counts.crossed_bytes.fetch_add(bytes as u64, Relaxed);
    }

    /// Something came that should not have, or did not come. The first of these ends what is measured.
    pub(super) fn fail(&self, problem: &(impl Display + ?Sized)) {
        self.problem
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert_with(|| problem.to_string());
        self.changed.notify_one();
    }

    /// Waits until something has failed.
    pub(super) async fn failed(&self) -> anyhow::Error {
        loop {
            if let Some(problem) = self.problem() {
                return problem;
            }
            self.changed.notified().await;
        }
    }

    fn problem(&self) -> Option<anyhow::Error> {
        let problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
        problem.as_ref().map(|problem| anyhow::anyhow!("{problem}"))
    }

    /// Takes times from now on, or no longer.
    pub(super) fn measure(&self, measures: bool) {
        self.measures.store(measures, Relaxed);
    }

    /// What was counted until now.
    pub(super) fn counts(&self) -> Counts {
        let Counters {
            done,
            streams,
            seats,
            matches,
            ended,
            sent,
            sent_bytes,
            received,
            received_bytes,
            crossed_bytes,
        } = &self.counts;
        let of = |counter: &AtomicU64| counter.load(Relaxed);
        Counts {
            done: of(done),
            streams: of(streams),
            seats: of(seats),
            matches: of(matches),
            ended: of(ended),
            sent: of(sent),
            sent_bytes: of(sent_bytes),
            received: of(received),
            received_bytes: of(received_bytes),
            crossed_bytes: of(crossed_bytes),
        }
    }

    /// The time within which this part of all came, in microseconds. `None` if nothing was timed.
    pub(super) fn quantile_us(&self, what: Timed, quantile: f64) -> Option<f64> {
        let times = self.times(what);
        #[expect(clippy::cast_precision_loss, reason = "a minute has fewer nanoseconds")]
        let us = times.0.value_at_quantile(quantile) as f64 / 1e3;
        (!times.0.is_empty()).then_some(us)
    }

    fn times(&self, what: Timed) -> MutexGuard<'_, Times> {
        let times = match what {
            Timed::Answer => &self.answers,
            Timed::Decision => &self.decisions,
        };
        times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
