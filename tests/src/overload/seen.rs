//! What clients have seen.

use std::fmt::Display;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hdrhistogram::Histogram;

/// The longest time that is told apart, in microseconds.
const LONGEST_US: u64 = 60_000_000;

/// What clients have seen since it was last taken.
pub struct Seen {
    waits: Mutex<Histogram<u64>>,
    asked: AtomicU64,
    created: AtomicU64,
    shed: AtomicU64,
    joins_shed: AtomicU64,
    finished: AtomicU64,
    broken: AtomicU64,
    problem: Mutex<Option<String>>,
}

/// The same, taken.
#[derive(Clone, Debug)]
pub struct Figures {
    /// From each action to its receipt, in microseconds.
    pub waits: Histogram<u64>,
    /// Matches that were asked for.
    pub asked: u64,
    /// Those that were created.
    pub created: u64,
    /// Those that were refused because the server was late.
    pub shed: u64,
    /// Joins that were refused because of that. They were sent again.
    pub joins_shed: u64,
    /// Matches that were played to their end.
    pub finished: u64,
    /// Matches that were broken off.
    pub broken: u64,
    /// Why one of them was.
    pub problem: Option<String>,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            waits: Mutex::new(histogram()),
            asked: AtomicU64::new(0),
            created: AtomicU64::new(0),
            shed: AtomicU64::new(0),
            joins_shed: AtomicU64::new(0),
            finished: AtomicU64::new(0),
            broken: AtomicU64::new(0),
            problem: Mutex::new(None),
        }
    }
}

impl Seen {
    /// What was seen since it was last taken.
    pub fn take(&self) -> Figures {
        let taken = |counter: &AtomicU64| counter.swap(0, Ordering::Relaxed);
        Figures {
            waits: std::mem::replace(&mut *self.waits.lock().unwrap(), histogram()),
            asked: taken(&self.asked),
            created: taken(&self.created),
            shed: taken(&self.shed),
            joins_shed: taken(&self.joins_shed),
            finished: taken(&self.finished),
            broken: taken(&self.broken),
            problem: self.problem.lock().unwrap().take(),
        }
    }

    pub(super) fn asked(&self) {
        count(&self.asked);
    }

    pub(super) fn created(&self) {
        count(&self.created);
    }

    pub(super) fn shed(&self) {
        count(&self.shed);
    }

    pub(super) fn join_shed(&self) {
        count(&self.joins_shed);
    }

    pub(super) fn finished(&self) {
        count(&self.finished);
    }

    pub(super) fn broken(&self, why: &dyn Display) {
        count(&self.broken);
        self.problem.lock().unwrap().get_or_insert_with(|| why.to_string());
    }

    pub(super) fn waited(&self, time: Duration) {
        let time = u64::try_from(time.as_micros()).unwrap_or(LONGEST_US);
        self.waits.lock().unwrap().saturating_record(time);
    }
}

impl Figures {
    /// A percentile of the waits, in milliseconds.
    pub fn wait_ms(&self, quantile: f64) -> f64 {
        Duration::from_micros(self.waits.value_at_quantile(quantile)).as_secs_f64() * 1000.0
    }
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST_US, 3).unwrap()
}
