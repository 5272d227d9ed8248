//! One second of a run.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Counts, Failures, Measure, Packed};

/// What was seen in one second of a phase. The last one of a phase is from half a second to one and a half long.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Second {
    /// The number of its phase.
    pub(super) phase: usize,
    /// Its number in the phase.
    pub(super) number: u32,
    pub(super) lasted_us: u64,
    #[serde(default)]
    pub(super) counts: Counts,
    #[serde(default)]
    pub(super) failures: Failures,
    #[serde(default)]
    pub(super) latencies: BTreeMap<Measure, Packed>,
}

impl Second {
    /// The number of its phase in the [phases](super::Outcome::phases), 0-based.
    pub const fn phase(&self) -> usize {
        self.phase
    }

    /// Its number in its phase, 0-based.
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// How long it was.
    pub const fn lasted(&self) -> Duration {
        Duration::from_micros(self.lasted_us)
    }

    /// What was counted.
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }

    /// What went wrong.
    pub const fn failures(&self) -> &Failures {
        &self.failures
    }

    /// How long something took. `None` if nothing came to its end.
    pub fn latencies(&self, measure: Measure) -> Option<&Packed> {
        self.latencies.get(&measure)
    }

    /// Times in microseconds, each with how often it was measured, in rising order.
    pub fn times(&self, measure: Measure) -> &[(u64, u64)] {
        self.latencies.get(&measure).map_or(&[], Packed::values)
    }

    /// Adds what was seen elsewhere in the same second, which may have been longer there.
    pub(super) fn merge(&mut self, other: &Self) {
        self.lasted_us = self.lasted_us.max(other.lasted_us);
        self.add(other);
    }

    /// Adds what was seen elsewhere in this time.
    pub(crate) fn add(&mut self, other: &Self) {
        self.counts.merge(&other.counts);
        self.failures.merge(&other.failures);
        for (measure, packed) in &other.latencies {
            self.latencies.entry(*measure).or_default().merge(packed);
        }
    }
}
