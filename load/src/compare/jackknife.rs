//! How much a run would have come out otherwise by chance, as it says itself.

use std::collections::BTreeMap;

use super::{Kind, LEAST_BEYOND, LEAST_SECONDS};
use crate::amount;
use crate::outcome::{Count, Measure, Outcome, Second};

/// Percentiles that are compared, by the share that is within.
pub(super) const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];
/// Blocks of a run: few, so that each is longer than what slows one second after the other.
const BLOCKS: usize = 8;
/// Seconds that know nothing of each other, at least, or the blocks do.
const LEAST_INDEPENDENT: f64 = 15.0;
/// Student's t of 7 to 14 degrees of freedom that is exceeded once in 1,000.
const T: [f64; 8] = [4.785, 4.501, 4.297, 4.144, 4.025, 3.930, 3.852, 3.787];

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Statistic {
    Throughput,
    Matches,
    Errors,
    Latency(Measure, f64),
}

/// The measured seconds of a run.
pub(super) struct Run<'a> {
    /// In order of time, each with its phase.
    seconds: Vec<&'a Second>,
    whole: Sum,
    /// What the blocks come to. Each has its part of every phase: what phases differ in is meant, and no noise.
    blocks: [Sum; BLOCKS],
    latencies: BTreeMap<Measure, Times>,
}

/// What some seconds come to.
#[derive(Clone, Copy, Default)]
struct Sum {
    lasted: f64,
    actions: u64,
    matches: u64,
    done: u64,
    errors: u64,
}

/// The times of a measure: all that occur in rising order, and how often.
struct Times {
    values: Vec<u64>,
    whole: Vec<u64>,
    blocks: [Vec<u64>; BLOCKS],
}

/// What a statistic of a run comes to.
#[derive(Clone, Copy)]
pub(super) struct Estimate {
    pub(super) observed: f64,
    /// Its variance, on the scale on which it is compared. `None`: nothing can be said of it.
    variance: Option<f64>,
}

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

    /// The scale on which changes add up.
    fn scaled(self, value: f64) -> Option<f64> {
        match self.kind() {
            Kind::Difference => Some(value),
            Kind::Quotient => (value > 0.0).then(|| value.ln()),
        }
    }

    /// What the change is between, 998 times of 1,000: many rows are looked at. `None`: there is too little to tell.
    pub(super) fn interval(self, before: Estimate, after: Estimate) -> Option<(f64, f64)> {
        let change = self.scaled(after.observed)? - self.scaled(before.observed)?;
        let (one, other) = (before.variance?, after.variance?);
        let within = t(one, other) * (one + other).sqrt();
        let shown = |change: f64| match self.kind() {
            Kind::Difference => change,
            Kind::Quotient => change.exp_m1(),
        };
        Some((shown(change - within), shown(change + within)))
    }
}

/// Student's t for the sum of two variances, each of its own blocks, after Welch and Satterthwaite.
fn t(one: f64, other: f64) -> f64 {
    let (least, most) = (7.0, 14.0);
    let squares = one.powi(2) + other.powi(2);
    let freedom = if squares > 0.0 { least * (one + other).powi(2) / squares } else { most };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 7")]
    let place = (freedom.clamp(least, most) - least) as usize;
    T[place]
}

impl<'a> Run<'a> {
    pub(super) fn of(outcome: &'a Outcome) -> Self {
        let seconds: Vec<&Second> = outcome.measured().collect();
        let blocks_of = blocks_of(&seconds);
        let (mut whole, mut blocks) = (Sum::default(), [Sum::default(); BLOCKS]);
        for (second, block) in seconds.iter().zip(&blocks_of) {
            let sum = Sum::of(second);
            whole = whole.with(sum);
            blocks[*block] = blocks[*block].with(sum);
        }
        let times = |measure| Some((measure, Times::of(measure, &seconds, &blocks_of)?));
        let latencies = Measure::ALL.into_iter().filter_map(times).collect();
        Self { seconds, whole, blocks, latencies }
    }

    pub(super) const fn seconds(&self) -> usize {
        self.seconds.len()
    }

    /// Whether there is enough of what it is about.
    #[expect(clippy::cast_precision_loss, reason = "a count of samples")]
    fn is_enough(&self, statistic: Statistic) -> bool {
        let Statistic::Latency(measure, quantile) = statistic else { return true };
        let all = |times: &Times| times.whole.iter().sum::<u64>();
        self.latencies.get(&measure).is_some_and(|times| all(times) as f64 * (1.0 - quantile) >= LEAST_BEYOND)
    }

    /// What it comes to, and how sure that is: by all seconds but those of one block, of each block in turn. `None`: nothing was measured.
    pub(super) fn estimate(&self, statistic: Statistic) -> Option<Estimate> {
        let observed = self.without(statistic, None)?;
        let is_enough = self.seconds() >= LEAST_SECONDS
            && self.is_enough(statistic)
            && self.independent(statistic) >= LEAST_INDEPENDENT;
        let variance = is_enough.then(|| self.variance(statistic)).flatten();
        Some(Estimate { observed, variance })
    }

    #[expect(clippy::cast_precision_loss, reason = "eight blocks")]
    fn variance(&self, statistic: Statistic) -> Option<f64> {
        let left_out = |block| statistic.scaled(self.without(statistic, Some(block))?);
        let values: Vec<f64> = (0..BLOCKS).map(left_out).collect::<Option<_>>()?;
        let blocks = BLOCKS as f64;
        let mean = values.iter().sum::<f64>() / blocks;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(squares * (blocks - 1.0) / blocks)
    }

    /// What it comes to without one of the blocks, or of all.
    fn without(&self, statistic: Statistic, block: Option<usize>) -> Option<f64> {
        let Statistic::Latency(measure, wanted) = statistic else {
            let left_out = block.map_or_else(Sum::default, |block| self.blocks[block]);
            return self.whole.less(left_out).value(statistic);
        };
        let Times { values, whole, blocks } = self.latencies.get(&measure)?;
        let none = &Vec::new();
        let left_out = block.map_or(none, |block| &blocks[block]);
        let counts = whole.iter().zip(left_out.iter().chain(std::iter::repeat(&0)));
        quantile(values.iter().copied().zip(counts.map(|(all, out)| all.saturating_sub(*out))), wanted)
    }

    /// As many seconds that know nothing of each other would tell as much: n (1 - r) / (1 + r), where r is by how much the one after the other
    /// is like it (the first autocorrelation within the phases, less its bias in a short run).
    #[expect(clippy::cast_precision_loss, reason = "seconds of a run")]
    fn independent(&self, statistic: Statistic) -> f64 {
        let of = |second: &&Second| Some((second.phase(), value_of(second, statistic)?));
        let values: Vec<(usize, f64)> = self.seconds.iter().filter_map(of).collect();
        let mut means: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for (phase, value) in &values {
            let (sum, count) = means.entry(*phase).or_default();
            (*sum, *count) = (*sum + value, *count + 1.0);
        }
        let off: Vec<(usize, f64)> =
            values.iter().map(|(phase, value)| (*phase, value - means[phase].0 / means[phase].1)).collect();
        let all: f64 = off.iter().map(|(_, off)| off.powi(2)).sum();
        let next_to = |pair: &&[(usize, f64)]| pair[0].0 == pair[1].0;
        let together: f64 = off.windows(2).filter(next_to).map(|pair| pair[0].1 * pair[1].1).sum();
        let count = off.len() as f64;
        if all <= 0.0 || count < 4.0 {
            return count;
        }
        let like = ((count * together / all + 1.0) / (count - 3.0)).clamp(0.0, 1.0);
        count * (1.0 - like) / (1.0 + like)
    }
}

/// The block of each second.
fn blocks_of(seconds: &[&Second]) -> Vec<usize> {
    let phases = seconds.chunk_by(|one, next| one.phase() == next.phase());
    phases.flat_map(|phase| (0..phase.len()).map(|place| place * BLOCKS / phase.len())).collect()
}

/// What a second by itself comes to.
fn value_of(second: &Second, statistic: Statistic) -> Option<f64> {
    match statistic {
        Statistic::Latency(measure, wanted) => quantile(second.times(measure).iter().copied(), wanted),
        _ => Sum::of(second).value(statistic),
    }
}

impl Sum {
    fn of(second: &Second) -> Self {
        let count = |count| second.counts().of(count);
        Self {
            lasted: second.lasted().as_secs_f64(),
            actions: count(Count::ActionAcknowledged),
            matches: count(Count::MatchFinished),
            done: count(Count::ActionAcknowledged).saturating_add(count(Count::MatchCreated)),
            errors: second.failures().all(),
        }
    }

    fn with(self, other: Self) -> Self {
        Self {
            lasted: self.lasted + other.lasted,
            actions: self.actions.saturating_add(other.actions),
            matches: self.matches.saturating_add(other.matches),
            done: self.done.saturating_add(other.done),
            errors: self.errors.saturating_add(other.errors),
        }
    }

    fn less(self, other: Self) -> Self {
        Self {
            lasted: self.lasted - other.lasted,
            actions: self.actions.saturating_sub(other.actions),
            matches: self.matches.saturating_sub(other.matches),
            done: self.done.saturating_sub(other.done),
            errors: self.errors.saturating_sub(other.errors),
        }
    }

    /// `None`: nothing was measured.
    #[expect(clippy::cast_precision_loss, reason = "counts of a run")]
    fn value(self, statistic: Statistic) -> Option<f64> {
        let Self { lasted, actions, matches, done, errors } = self;
        let per_second = |count: u64| (lasted > 0.0).then(|| count as f64 / lasted);
        match statistic {
            Statistic::Throughput => per_second(actions),
            Statistic::Matches => per_second(matches),
            Statistic::Errors => {
                let all = errors as f64 + done as f64;
                (all > 0.0).then(|| errors as f64 / all)
            }
            Statistic::Latency(..) => None,
        }
    }
}

impl Times {
    /// `None`: there are none.
    fn of(measure: Measure, seconds: &[&Second], blocks_of: &[usize]) -> Option<Self> {
        let mut values: Vec<u64> =
            seconds.iter().flat_map(|second| second.times(measure)).map(|(value, _)| *value).collect();
        values.sort_unstable();
        values.dedup();
        if values.is_empty() {
            return None;
        }
        let mut blocks: [Vec<u64>; BLOCKS] = std::array::from_fn(|_| vec![0; values.len()]);
        for (second, block) in seconds.iter().zip(blocks_of) {
            for (value, count) in second.times(measure) {
                let place = values.partition_point(|known| known < value);
                blocks[*block][place] = blocks[*block][place].saturating_add(*count);
            }
        }
        let sum = |place| blocks.iter().fold(0, |sum: u64, block| sum.saturating_add(block[place]));
        let whole = (0..values.len()).map(sum).collect();
        Some(Self { values, whole, blocks })
    }
}

/// A percentile of times in microseconds, in rising order, each with how often it came. `None` of none.
#[expect(clippy::cast_precision_loss, reason = "counts of a run, in microseconds of ten minutes")]
fn quantile(times: impl Iterator<Item = (u64, u64)> + Clone, quantile: f64) -> Option<f64> {
    let all = times.clone().fold(0_u64, |all, (_, count)| all.saturating_add(count));
    let wanted = (quantile * all as f64).ceil().max(1.0);
    let mut within = 0_u64;
    let found = times.into_iter().find(|(_, count)| {
        within = within.saturating_add(*count);
        within as f64 >= wanted
    });
    found.map(|(value, _)| value as f64)
}
