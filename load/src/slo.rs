//! What a run is held to: `p99<20ms,errors<0.1%`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::amount;
use crate::outcome::{Count, LONGEST, Measure, Outcome, Totals};

/// The share of what was due that may have no answer unless something else is said.
const UNANSWERED: f64 = 0.05;

/// Conditions, all of which must hold.
///
/// ```
/// use zetema_load::slo::Slo;
///
/// let slo: Slo = "p99<20ms, create.p50<100ms, errors<0.1%, throughput>5000".parse()?;
/// assert_eq!(slo.to_string(), "receipt.p99<20ms,create.p50<100ms,errors<0.1%,throughput>5000");
///
/// let wrong = "p99<20".parse::<Slo>().unwrap_err();
/// assert_eq!(wrong.to_string(), "p99<20: 20 is no time: give one like 500us, 20ms or 1.5s");
/// # Ok::<(), zetema_load::slo::SloError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Slo(Vec<Condition>);

/// One condition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Condition {
    /// A latency is below a time.
    Latency {
        /// What is timed.
        measure: Measure,
        /// Which of all times.
        statistic: Statistic,
        /// What it must be below.
        below: Duration,
    },
    /// The share of errors is below this one, from 0 to 1.
    Errors {
        /// What it must be below.
        below: f64,
    },
    /// The share of that which was due by a schedule, and had no answer when the schedule was over, is below this one, from 0 to 1.
    Unanswered {
        /// What it must be below.
        below: f64,
    },
    /// So many a second come about.
    Rate {
        /// Of what.
        rate: Rate,
        /// What it must be above.
        above: f64,
    },
    /// By so many bytes a minute the server's memory grows.
    MemoryGrowth {
        /// Over what time.
        over: Span,
        /// What it must be below.
        below: f64,
    },
    /// So many notices a ladder has for bots of the run.
    Notices {
        /// What it must be below.
        below: u64,
    },
}

/// Which of all times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    /// What so many of a hundred took at most.
    Percentile(f64),
    /// The mean.
    Mean,
    /// The longest.
    Max,
}

/// What comes about in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rate {
    /// Actions that are acknowledged.
    Throughput,
    /// Matches that are played to their end.
    Matches,
}

/// Over what time the memory grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span {
    /// The whole run.
    Run,
    /// The last third of what was measured.
    LastThird,
}

/// What came of an [`Slo`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// What came of each condition.
    pub findings: Vec<Finding>,
}

/// What came of one condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The condition, as it is written.
    pub condition: String,
    /// What was measured, for people. Absent: nothing was, so that the condition does not hold.
    pub value: Option<String>,
    /// Whether it holds.
    pub held: bool,
}

/// Why a text says no conditions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SloError {
    /// There is none.
    #[error("there is no condition: give some, like p99<20ms,errors<0.1%")]
    Empty,
    /// It compares nothing.
    #[error("{condition}: nothing is compared: write it like p99<20ms or throughput>5000")]
    NoComparison {
        /// The condition.
        condition: String,
    },
    /// What is compared is nothing that is measured.
    #[error(
        "{condition}: {subject:?} is not measured: it is p50, p99.9, mean or max, with receipt., observation., create., wait. or \
         reconnect. before it (receipt. if none is); or errors, unanswered (of what was due by a schedule), throughput (actions a second), matches (a second), memory.growth or \
         memory.late_growth (of the server, a minute; late in the last third of what was measured) or notices (of a ladder)"
    )]
    Subject {
        /// The condition.
        condition: String,
        /// What stands to the left.
        subject: String,
    },
    /// It asks for more where less is better, or the other way round.
    #[error("{condition}: write {subject}{expected}, as {better} is better")]
    Direction {
        /// The condition.
        condition: String,
        /// What stands to the left.
        subject: String,
        /// `<` or `>`.
        expected: char,
        /// Less or more.
        better: &'static str,
    },
    /// What it is compared with can't be.
    #[error("{condition}: {bound} is no {what}: give one like {example}")]
    Bound {
        /// The condition.
        condition: String,
        /// What stands to the right.
        bound: String,
        /// What should.
        what: &'static str,
        /// Some that can.
        example: &'static str,
    },
}

impl Slo {
    /// Its conditions.
    pub fn conditions(&self) -> &[Condition] {
        &self.0
    }

    /// Whether they hold. A latency of which nothing was measured holds no bound, nor do errors where nothing was done, the memory of
    /// a server that does not tell it, or the notices of a run that had no seat on a ladder.
    ///
    /// Where something was due by a schedule, less than 5 % of it may have no answer, if nothing else is said: what a server does not
    /// do has no errors.
    pub fn judge(&self, outcome: &Outcome) -> Verdict {
        let totals = outcome.totals();
        let is_said = self.0.iter().any(|condition| matches!(condition, Condition::Unanswered { .. }));
        let is_wanted = !is_said && totals.unanswered_share().is_some();
        let more = is_wanted.then_some(Condition::Unanswered { below: UNANSWERED });
        let conditions = self.0.iter().chain(&more);
        Verdict { findings: conditions.map(|condition| condition.judge(outcome, &totals)).collect() }
    }
}

impl Verdict {
    /// Whether all hold.
    pub fn held(&self) -> bool {
        self.findings.iter().all(|finding| finding.held)
    }
}

impl Condition {
    fn judge(&self, outcome: &Outcome, totals: &Totals) -> Finding {
        let (value, held) = match *self {
            Self::Latency { measure, statistic, below } => {
                let value = totals.latencies(measure).map(|latencies| match statistic {
                    Statistic::Percentile(percent) => latencies.quantile(percent / 100.0),
                    Statistic::Mean => latencies.mean(),
                    Statistic::Max => latencies.max(),
                });
                (value.map(amount::time), value.is_some_and(|value| value < below))
            }
            Self::Errors { below } => {
                let value = totals.error_share();
                (value.map(amount::share), value.is_some_and(|value| value < below))
            }
            Self::Unanswered { below } => {
                let value = totals.unanswered_share();
                (value.map(amount::share), value.is_some_and(|value| value < below))
            }
            Self::Rate { rate, above } => {
                let value = totals.per_second(rate.count());
                (Some(amount::rate(value)), value > above)
            }
            Self::MemoryGrowth { over, below } => {
                let value = match over {
                    Span::Run => outcome.server().glance().and_then(|glance| glance.growth),
                    Span::LastThird => outcome.late_memory_growth(),
                };
                (value.map(amount::a_minute), value.is_some_and(|value| value < below))
            }
            Self::Notices { below } => {
                let value = outcome.notices();
                (value.map(amount::count), value.is_some_and(|value| value < below))
            }
        };
        Finding { condition: self.to_string(), value, held }
    }
}

impl Rate {
    const fn count(self) -> Count {
        match self {
            Self::Throughput => Count::ActionAcknowledged,
            Self::Matches => Count::MatchFinished,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Matches => "matches",
        }
    }
}

impl Span {
    /// What grows over it.
    const fn memory(self) -> &'static str {
        match self {
            Self::Run => "memory.growth",
            Self::LastThird => "memory.late_growth",
        }
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Percentile(percent) => write!(f, "p{percent}"),
            Self::Mean => f.write_str("mean"),
            Self::Max => f.write_str("max"),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Latency { measure, statistic, below } => {
                let us = below.as_micros();
                write!(f, "{}.{statistic}<", measure.name())?;
                if us.is_multiple_of(1_000) { write!(f, "{}ms", us / 1_000) } else { write!(f, "{us}us") }
            }
            Self::Errors { below } => write!(f, "errors<{}%", percent(below)),
            Self::Unanswered { below } => write!(f, "unanswered<{}%", percent(below)),
            Self::Rate { rate, above } => write!(f, "{}>{above}", rate.name()),
            Self::MemoryGrowth { over, below } => {
                let is_whole = |unit: &&(&str, f64)| (below / unit.1).fract() == 0.0;
                let (unit, bytes) = SIZES.iter().find(is_whole).copied().unwrap_or(("B", 1.0));
                write!(f, "{}<{}{unit}", over.memory(), below / bytes)
            }
            Self::Notices { below } => write!(f, "notices<{below}"),
        }
    }
}

impl fmt::Display for Slo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, condition) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma}{condition}")?;
        }
        Ok(())
    }
}

impl From<Slo> for String {
    fn from(slo: Slo) -> Self {
        slo.to_string()
    }
}

impl TryFrom<String> for Slo {
    type Error = SloError;

    fn try_from(text: String) -> Result<Self, SloError> {
        text.parse()
    }
}

impl FromStr for Slo {
    type Err = SloError;

    fn from_str(text: &str) -> Result<Self, SloError> {
        if text.trim().is_empty() {
            return Err(SloError::Empty);
        }
        text.split(',').map(|condition| condition.trim().parse()).collect::<Result<_, _>>().map(Self)
    }
}

impl FromStr for Condition {
    type Err = SloError;

    fn from_str(text: &str) -> Result<Self, SloError> {
        let condition = || text.to_owned();
        let Some(place) = text.find(['<', '>']) else {
            return Err(SloError::NoComparison { condition: condition() });
        };
        let (subject, bound) = (text[..place].trim(), text[place + 1..].trim());
        let less_is_better = text[place..].starts_with('<');
        let directed = |wanted: bool| {
            if less_is_better == wanted {
                return Ok(());
            }
            let (expected, better) = if wanted { ('<', "less") } else { ('>', "more") };
            Err(SloError::Direction { condition: condition(), subject: subject.to_owned(), expected, better })
        };
        let no = |what, example| SloError::Bound {
            condition: condition(),
            bound: bound.to_owned(),
            what,
            example,
        };
        let rate = |rate| {
            directed(false)?;
            let above = number(bound).ok_or_else(|| no("number a second", "5000"))?;
            Ok(Self::Rate { rate, above })
        };
        let growth = |over| {
            directed(true)?;
            let below = size(bound).ok_or_else(|| no("size", "500B, 200kB or 1MB"))?;
            Ok(Self::MemoryGrowth { over, below })
        };
        let share = || {
            directed(true)?;
            let percent = bound.strip_suffix('%').and_then(number).filter(|percent| *percent <= 100.0);
            Ok(percent.ok_or_else(|| no("percentage", "0.1%"))? / 100.0)
        };
        match subject {
            "errors" => Ok(Self::Errors { below: share()? }),
            "unanswered" => Ok(Self::Unanswered { below: share()? }),
            "throughput" => rate(Rate::Throughput),
            "matches" => rate(Rate::Matches),
            "memory.growth" => growth(Span::Run),
            "memory.late_growth" => growth(Span::LastThird),
            "notices" => {
                directed(true)?;
                let digits = bound.bytes().all(|byte| byte.is_ascii_digit());
                let whole: Option<u64> = if digits { bound.parse().ok() } else { None };
                let below = whole.filter(|below| *below > 0).ok_or_else(|| no("number above 0", "1"))?;
                Ok(Self::Notices { below })
            }
            _ => {
                let (measure, statistic) = latency(subject).ok_or_else(|| SloError::Subject {
                    condition: condition(),
                    subject: subject.to_owned(),
                })?;
                directed(true)?;
                let below = time(bound).ok_or_else(|| no("time", "500us, 20ms or 1.5s"))?;
                if below > LONGEST {
                    return Err(no("time that is told apart, of ten minutes at most", "500us, 20ms or 1.5s"));
                }
                Ok(Self::Latency { measure, statistic, below })
            }
        }
    }
}

/// `p99`, `create.max`.
fn latency(subject: &str) -> Option<(Measure, Statistic)> {
    let (measure, statistic) = match subject.split_once('.') {
        Some((name, rest)) if !name.starts_with('p') => (Measure::from_name(name)?, rest),
        _ => (Measure::ActionToReceipt, subject),
    };
    let statistic = match statistic {
        "mean" => Statistic::Mean,
        "max" => Statistic::Max,
        percentile => {
            let percent = percentile.strip_prefix('p').and_then(number)?;
            Statistic::Percentile(Some(percent).filter(|percent| *percent > 0.0 && *percent < 100.0)?)
        }
    };
    Some((measure, statistic))
}

/// A share, a hundred of which are the whole.
fn percent(share: f64) -> f64 {
    // 0.1 % is 0.001, and 100 times that is not quite 0.1.
    (share * 1e11).round() / 1e9
}

/// A number without sign, exponent or names.
fn number(text: &str) -> Option<f64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if digits { text.parse().ok() } else { None }
}

/// `500us`, `20ms`, `1.5s`.
fn time(text: &str) -> Option<Duration> {
    let units = [("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)];
    let (amount, unit) = units.iter().find_map(|(unit, s)| Some((text.strip_suffix(unit)?, s)))?;
    // To whole microseconds, as it is written and measured.
    let us = (number(amount.trim_end())? * unit * 1e6).round();
    Duration::try_from_secs_f64(us / 1e6).ok().filter(|time| !time.is_zero())
}

/// Units of a size, in bytes, as they are shown.
const SIZES: [(&str, f64); 4] = [("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0)];

/// `500B`, `200kB`, `1.5MB`: in bytes.
fn size(text: &str) -> Option<f64> {
    let (amount, unit) = SIZES.iter().find_map(|(unit, bytes)| Some((text.strip_suffix(unit)?, bytes)))?;
    // To whole bytes, as it is written.
    let bytes = (number(amount.trim_end())? * unit).round();
    Some(bytes).filter(|bytes| *bytes > 0.0 && bytes.is_finite())
}

#[cfg(test)]
mod tests;
