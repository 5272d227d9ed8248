//! What the server told of itself.

use std::fmt;
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
    /// Seconds that it has kept a processor busy, since it was started. Its page counts whole ones.
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
    /// How many were busy, if that can be told.
    pub(crate) processors: Option<Busy>,
}

/// How many processors were busy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Busy {
    pub(crate) processors: f64,
    /// By how many it may be off either way, as both readings were rounded.
    pub(crate) within: f64,
}

/// Where it may be off by more than so many, nothing is told.
const MOST_OFF: f64 = 0.5;

impl Busy {
    /// From what was told at first and at last, each with its time. A page that tells nothing but whole seconds has left out the rest of each:
    /// counters are whole numbers. Others tell what the system counts.
    fn between(readings: &[(Duration, f64)]) -> Option<Self> {
        const SYSTEM_STEP_SECONDS: f64 = 0.01;
        let [(begin, before), .., (end, after)] = readings else { return None };
        let is_whole = readings.iter().all(|(_, seconds)| seconds.fract() == 0.0);
        let step = if is_whole { 1.0 } else { SYSTEM_STEP_SECONDS };
        let elapsed = end.saturating_sub(*begin).as_secs_f64();
        let busy = Self { processors: (after - before) / elapsed, within: step / elapsed };
        // A server that was started anew counts from 0.
        (busy.processors >= 0.0 && busy.within <= MOST_OFF).then_some(busy)
    }
}

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { processors, within } = self;
        // What two decimals say is right to half of the last one.
        if *within <= 0.005 {
            write!(f, "{processors:.2} processors busy")
        } else if processors < within {
            write!(f, "less than {:.2} processors busy", processors + within)
        } else {
            write!(f, "{processors:.2} processors busy, to within {within:.2}")
        }
    }
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
        let lag = self.readings.iter().filter_map(|reading| reading.journal_lag_us).max();
        let glance = Glance {
            memory_bytes: memory()
                .next()
                .zip(memory().next_back())
                .zip(memory().max())
                .map(|((first, last), most)| (first, last, most)),
            growth: self.growth(Duration::ZERO, Duration::MAX),
            journal_lag: lag.map(Duration::from_micros),
            processors: Busy::between(&busy),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told of these readings, one each second.
    fn told(seconds: impl IntoIterator<Item = f64>) -> Option<String> {
        let reading = |(at, seconds)| Reading {
            at_us: at * 1_000_000,
            processor_seconds: Some(seconds),
            ..Reading::default()
        };
        let readings = (0_u64..).zip(seconds).map(reading).collect();
        let glance = Server { version: None, readings }.glance();
        glance.and_then(|glance| glance.processors).map(|busy| busy.to_string())
    }

    #[test]
    fn processors_are_told_as_exactly_as_they_are_known() {
        let check =
            |seconds: &[f64], expected: Option<&str>| assert_eq!(told(seconds.to_vec()).as_deref(), expected);
        check(&[3.0; 7], Some("less than 0.17 processors busy"));
        check(&[3.0, 3.0, 4.0, 4.0, 5.0], Some("0.50 processors busy, to within 0.25"));
        check(&[0.02, 0.48, 0.96, 1.5], Some("0.49 processors busy"));
        check(&[0.0, 1.0], None);
        check(&[0.0], None);
        check(&[5.0, 6.0, 0.0, 1.0, 2.0], None);
        assert_eq!(told((0..=200).map(f64::from)).as_deref(), Some("1.00 processors busy"));
    }
}
