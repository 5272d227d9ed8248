//! What the server told of itself.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What the server's page of metrics told while the run went on. Empty if it could not be read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Server {
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What it told, in order of time.
    pub readings: Vec<Reading>,
}

/// What it told at one moment. What it did not tell is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// When, in microseconds since the run began.
    pub at_us: u64,
    /// Its memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// For how long the oldest request for the journal's writer has waited, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal_lag_us: Option<u64>,
    /// Seconds that it has kept a processor busy, since it was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor_seconds: Option<f64>,
    /// Matches that are not over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_matches: Option<u64>,
}

impl Reading {
    /// When, since the run began.
    pub const fn at(&self) -> Duration {
        Duration::from_micros(self.at_us)
    }
}

/// What all readings come to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Glance {
    /// At first, at last, at most.
    pub(crate) memory_bytes: Option<(u64, u64, u64)>,
    /// By how many bytes a minute it grows, of all readings.
    pub(crate) growth: Option<f64>,
    /// At most.
    pub(crate) journal_lag: Option<Duration>,
    /// How many were busy.
    pub(crate) processors: Option<f64>,
}

impl Server {
    /// What all readings come to. `None` if there is none.
    pub(crate) fn glance(&self) -> Option<Glance> {
        let memory = || self.readings.iter().filter_map(|reading| reading.memory_bytes);
        let busy: Vec<_> = self
            .readings
            .iter()
            .filter_map(|reading| Some((reading.at(), reading.processor_seconds?)))
            .collect();
        let processors = match busy.as_slice() {
            [(begin, before), .., (end, after)] => {
                Some((after - before) / end.saturating_sub(*begin).as_secs_f64())
            }
            _ => None,
        };
        let lag = self.readings.iter().filter_map(|reading| reading.journal_lag_us).max();
        let glance = Glance {
            memory_bytes: memory()
                .next()
                .zip(memory().next_back())
                .zip(memory().max())
                .map(|((first, last), most)| (first, last, most)),
            growth: self.growth(Duration::ZERO, Duration::MAX),
            journal_lag: lag.map(Duration::from_micros),
            // A server that was started anew counts from 0.
            processors: processors.filter(|busy| *busy >= 0.0 && busy.is_finite()),
        };
        (!self.readings.is_empty()).then_some(glance)
    }

    /// By how many bytes a minute the memory grows between two times since the run began: the slope of the line that is nearest to the
    /// readings (least squares). `None` of one reading.
    #[expect(clippy::cast_precision_loss, reason = "a size is shown to three digits")]
    pub(super) fn growth(&self, from: Duration, to: Duration) -> Option<f64> {
        let readings = self.readings.iter().filter(|reading| (from..=to).contains(&reading.at()));
        let of = |reading: &Reading| Some((reading.at().as_secs_f64() / 60.0, reading.memory_bytes? as f64));
        let points: Vec<(f64, f64)> = readings.filter_map(of).collect();
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
        let (at, bytes) = (mean(&|point| point.0), mean(&|point| point.1));
        let spread = mean(&|point| (point.0 - at).powi(2));
        (spread > 0.0).then(|| mean(&|point| (point.0 - at) * (point.1 - bytes)) / spread)
    }

    /// Takes what another generator has read where there is nothing yet: it may have read another server, and what two tell is no series.
    pub(super) fn merge(&mut self, other: Self) {
        self.version = self.version.take().or(other.version);
        if self.readings.is_empty() {
            self.readings = other.readings;
        }
    }
}
