//! What came of the measured seconds together.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Count, Counts, Failures, Latencies, Measure, Second};

/// What came of some seconds together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Totals {
    lasted: Duration,
    counts: Counts,
    failures: Failures,
    latencies: BTreeMap<Measure, Latencies>,
}

impl Totals {
    /// For how long it was measured.
    pub const fn lasted(&self) -> Duration {
        self.lasted
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
    pub fn latencies(&self, measure: Measure) -> Option<&Latencies> {
        self.latencies.get(&measure)
    }

    /// How many a second. 0 of no time.
    #[expect(clippy::cast_precision_loss, reason = "a rate is shown to a few digits")]
    pub fn per_second(&self, count: Count) -> f64 {
        if self.lasted.is_zero() { 0.0 } else { self.counts.of(count) as f64 / self.lasted.as_secs_f64() }
    }

    /// What share of that which was due by a schedule had no answer when the schedule was over, from 0 to 1. `None` if nothing was due.
    /// What was due before it was measured may be among that which has no answer.
    #[expect(clippy::cast_precision_loss, reason = "a share is shown to a few digits")]
    pub fn unanswered_share(&self) -> Option<f64> {
        let [offered, unanswered] = [Count::Offered, Count::Unanswered].map(|count| self.counts.of(count));
        let due = offered.max(unanswered);
        if due == 0 { None } else { Some(unanswered as f64 / due as f64) }
    }

    /// What share of all answers were errors, from 0 to 1: errors ÷ (errors + acknowledged actions + created matches). `None` of
    /// no answers.
    #[expect(clippy::cast_precision_loss, reason = "a share is shown to a few digits")]
    pub fn error_share(&self) -> Option<f64> {
        let failed = self.failures.all();
        let done = self.counts.of(Count::ActionAcknowledged) + self.counts.of(Count::MatchCreated);
        if failed + done == 0 { None } else { Some(failed as f64 / (failed + done) as f64) }
    }
}

impl Totals {
    /// The same as if it had been one second.
    pub(crate) fn as_second(&self) -> Second {
        Second {
            lasted_us: u64::try_from(self.lasted.as_micros()).unwrap_or(u64::MAX),
            counts: self.counts,
            failures: self.failures.clone(),
            latencies: self
                .latencies
                .iter()
                .map(|(measure, latencies)| (*measure, latencies.pack()))
                .collect(),
            ..Second::default()
        }
    }
}

impl<'a> FromIterator<&'a Second> for Totals {
    fn from_iter<T: IntoIterator<Item = &'a Second>>(seconds: T) -> Self {
        let mut totals = Self::default();
        for second in seconds {
            totals.lasted += second.lasted();
            totals.counts.merge(&second.counts);
            totals.failures.merge(&second.failures);
            for (measure, packed) in &second.latencies {
                packed.add_to(totals.latencies.entry(*measure).or_default());
            }
        }
        totals
    }
}
