//! What a run would have come out as, had other of its seconds come.

use std::collections::BTreeMap;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{Kind, LEAST_BEYOND};
use crate::amount;
use crate::outcome::{Count, Measure, Outcome, Second};

/// Percentiles that are compared, by the share that is within.
pub(super) const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];
/// How often seconds are drawn.
pub(super) const DRAWS: usize = 1_000;
/// The same two files always give the same intervals.
const SEED: u64 = 7;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Statistic {
    Throughput,
    Matches,
    Errors,
    Latency(Measure, f64),
}

/// The measured seconds of a run, as they are drawn.
pub(super) struct Run {
    seconds: Vec<Drawn>,
    latencies: BTreeMap<Measure, Times>,
}

#[derive(Clone, Copy)]
struct Drawn {
    lasted: f64,
    actions: u64,
    matches: u64,
    done: u64,
    errors: u64,
}

/// The times of a measure: all that occur, and of each second which of them, how often.
struct Times {
    values: Vec<u64>,
    seconds: Vec<Vec<(usize, u64)>>,
}

/// What each statistic comes to. `None`: nothing was measured.
pub(super) type Values = Vec<Option<f64>>;

impl Statistic {
    /// As an SLO names it.
    pub(super) fn name(self) -> String {
        match self {
            Self::Throughput => "throughput".to_owned(),
            Self::Matches => "matches".to_owned(),
            Self::Errors => "errors".to_owned(),
            Self::Latency(measure, quantile) => {
                // To three digits behind the point: 99.9 is not quite 100 times 0.999.
                format!("{}.p{}", measure.name(), (quantile * 1e5).round() / 1e3)
            }
        }
    }

    pub(super) const fn more_is_better(self) -> bool {
        matches!(self, Self::Throughput | Self::Matches)
    }

    pub(super) fn show(self, value: f64) -> String {
        match self {
            Self::Throughput | Self::Matches => amount::rate(value),
            Self::Errors => amount::share(value),
            Self::Latency(..) => amount::time(std::time::Duration::from_secs_f64(value / 1e6)),
        }
    }

    pub(super) const fn kind(self) -> Kind {
        match self {
            // There may have been none before.
            Self::Errors => Kind::Difference,
            Self::Throughput | Self::Matches | Self::Latency(..) => Kind::Quotient,
        }
    }

    /// By how much it has changed. `None` from nothing.
    pub(super) fn change(self, before: f64, after: f64) -> Option<f64> {
        match self.kind() {
            Kind::Difference => Some(after - before),
            Kind::Quotient => (before > 0.0).then(|| after / before - 1.0),
        }
    }
}

impl Run {
    pub(super) fn of(outcome: &Outcome) -> Self {
        let seconds: Vec<_> = outcome.measured().collect();
        let drawn = |second: &&Second| Drawn {
            lasted: second.lasted().as_secs_f64(),
            actions: second.counts().of(Count::ActionAcknowledged),
            matches: second.counts().of(Count::MatchFinished),
            done: second.counts().of(Count::ActionAcknowledged) + second.counts().of(Count::MatchCreated),
            errors: second.failures().all(),
        };
        let times = |measure| {
            let mut values: Vec<u64> =
                seconds.iter().flat_map(|second| second.times(measure)).map(|(value, _)| *value).collect();
            values.sort_unstable();
            values.dedup();
            let place = |value: &u64| values.partition_point(|known| known < value);
            let second = |second: &&Second| {
                second.times(measure).iter().map(|(value, count)| (place(value), *count)).collect()
            };
            let seconds = seconds.iter().map(second).collect();
            Some((measure, Times { values, seconds })).filter(|(_, times)| !times.values.is_empty())
        };
        Self {
            seconds: seconds.iter().map(drawn).collect(),
            latencies: Measure::ALL.into_iter().filter_map(times).collect(),
        }
    }

    pub(super) const fn seconds(&self) -> usize {
        self.seconds.len()
    }

    /// Whether there is enough of what it is about.
    #[expect(clippy::cast_precision_loss, reason = "a count of samples")]
    pub(super) fn is_enough(&self, statistic: Statistic) -> bool {
        let Statistic::Latency(measure, quantile) = statistic else { return true };
        let all = |times: &Times| times.seconds.iter().flatten().map(|(_, count)| count).sum::<u64>();
        self.latencies.get(&measure).is_some_and(|times| all(times) as f64 * (1.0 - quantile) >= LEAST_BEYOND)
    }

    /// What was measured.
    pub(super) fn observed(&self, statistics: &[Statistic]) -> Values {
        self.values(statistics, &vec![1; self.seconds.len()])
    }

    /// Seconds drawn in blocks: how often each.
    fn draw(&self, random: &mut StdRng) -> Vec<u64> {
        let all = self.seconds.len();
        let mut times = vec![0; all];
        let block = block(all);
        let mut left = all;
        while left > 0 {
            let first = random.random_range(0..all);
            for place in 0..block.min(left) {
                times[(first + place) % all] += 1;
            }
            left -= block.min(left);
        }
        times
    }

    /// What the statistics come to if each second had come so often.
    #[expect(clippy::cast_precision_loss, reason = "counts of a run")]
    fn values(&self, statistics: &[Statistic], times: &[u64]) -> Values {
        let sum = |of: &dyn Fn(&Drawn) -> u64| {
            self.seconds.iter().zip(times).map(|(second, times)| of(second) * times).sum::<u64>() as f64
        };
        let lasted: f64 =
            self.seconds.iter().zip(times).map(|(second, times)| second.lasted * *times as f64).sum();
        let merged: BTreeMap<Measure, Vec<u64>> =
            self.latencies.iter().map(|(measure, latencies)| (*measure, latencies.merged(times))).collect();
        let value = |statistic: &Statistic| match *statistic {
            Statistic::Throughput => (lasted > 0.0).then(|| sum(&|second| second.actions) / lasted),
            Statistic::Matches => (lasted > 0.0).then(|| sum(&|second| second.matches) / lasted),
            Statistic::Errors => {
                let errors = sum(&|second| second.errors);
                let all = errors + sum(&|second| second.done);
                (all > 0.0).then(|| errors / all)
            }
            Statistic::Latency(measure, quantile) => {
                self.latencies.get(&measure)?.quantile(merged.get(&measure)?, quantile)
            }
        };
        statistics.iter().map(value).collect()
    }
}

impl Times {
    /// How often each time if each second had come so often.
    fn merged(&self, times: &[u64]) -> Vec<u64> {
        let mut merged = vec![0; self.values.len()];
        for (second, times) in self.seconds.iter().zip(times).filter(|(_, times)| **times > 0) {
            for (place, count) in second {
                merged[*place] += count * times;
            }
        }
        merged
    }

    /// A percentile of them, in microseconds.
    #[expect(clippy::cast_precision_loss, reason = "counts of a run, in microseconds of ten minutes")]
    fn quantile(&self, merged: &[u64], quantile: f64) -> Option<f64> {
        let all: u64 = merged.iter().sum();
        let wanted = (quantile * all as f64).ceil().max(1.0);
        let mut within = 0;
        let found = merged.iter().zip(&self.values).find(|(count, _)| {
            within += **count;
            within as f64 >= wanted
        });
        found.map(|(_, value)| *value as f64)
    }
}

/// Seconds of a block: they grow as the cube root of all.
fn block(seconds: usize) -> usize {
    (1..seconds).find(|length| length.pow(3) >= seconds).unwrap_or(1)
}

/// What the statistics of both runs come to in each draw. None if there is nothing to draw from.
pub(super) fn draws(before: &Run, after: &Run, statistics: &[Statistic]) -> Vec<[Values; 2]> {
    if before.seconds.is_empty() || after.seconds.is_empty() {
        return Vec::new();
    }
    let mut random = StdRng::seed_from_u64(SEED);
    let mut draw = || [before, after].map(|run| run.values(statistics, &run.draw(&mut random)));
    std::iter::repeat_with(&mut draw).take(DRAWS).collect()
}
