//! What one thread has seen since it was last looked at.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use super::{Counts, Failures, Latencies, Measure, Packed};

/// A second of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) phase: usize,
    pub(super) second: u32,
}

/// What was seen in it.
#[derive(Debug, Default)]
pub(super) struct Slice {
    pub(super) counts: Counts,
    pub(super) failures: Failures,
    latencies: [Option<Box<Latencies>>; Measure::ALL.len()],
}

impl Slice {
    pub(super) fn took(&mut self, measure: Measure, time: Duration) {
        self.latencies[measure.index()].get_or_insert_default().record(time);
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.counts.merge(&other.counts);
        self.failures.merge(&other.failures);
        for (known, more) in self.latencies.iter_mut().zip(other.latencies) {
            match (known, more) {
                (Some(known), Some(more)) => known.merge(&more),
                (known @ None, more) => *known = more,
                (Some(_), None) => {}
            }
        }
    }

    pub(super) fn packed(&self) -> BTreeMap<Measure, Packed> {
        let known = |measure: Measure| Some((measure, self.latencies[measure.index()].as_ref()?.pack()));
        Measure::ALL.into_iter().filter_map(known).collect()
    }
}

/// What one thread has seen. On cache lines of its own, so that threads do not slow each other down.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Shard(pub(super) Mutex<Slices>);

/// The second that goes on, and those that were not taken yet.
#[derive(Debug, Default)]
pub(super) struct Slices(Vec<(Place, Slice)>);

impl Slices {
    /// Where to write. The place that goes on is the last one.
    pub(super) fn at(&mut self, place: Place) -> &mut Slice {
        let known = self.0.iter().rposition(|(known, _)| *known == place);
        let found = known.unwrap_or_else(|| {
            self.0.push((place, Slice::default()));
            self.0.len() - 1
        });
        &mut self.0[found].1
    }

    /// Takes what comes before this place.
    pub(super) fn take_before(&mut self, end: Place) -> Vec<(Place, Slice)> {
        self.0.extract_if(.., |(place, _)| *place < end).collect()
    }
}
