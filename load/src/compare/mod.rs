//! Two runs side by side.

mod jackknife;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::Serialize;

use crate::amount;
use crate::outcome::{Description, Machine, Measure, Outcome};
use jackknife::{Run, Statistic};

/// Seconds that a run must have measured, or nothing is known of its noise.
pub const LEAST_SECONDS: usize = 30;
/// Times that must have been longer than a percentile, or nothing is known of its noise.
pub const LEAST_BEYOND: f64 = 50.0;
/// Changes below this are within what three digits tell.
const RESOLUTION: f64 = 0.002;
/// What is longer than so many characters is not shown.
const LONG: usize = 200;

/// Two runs side by side, with what their noise leaves open.
///
/// ```
/// use zetema_load::{compare::Comparison, json};
///
/// let report = json::read(&std::fs::read_to_string("golden/report-1.json")?)?;
/// let comparison = Comparison::new(&report.outcome, &report.outcome);
/// assert!(!comparison.is_worse(), "no run is worse than itself");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// How much a run would have come out otherwise by chance is estimated from itself, by a jackknife: every phase is cut into eight parts,
/// and all is computed again without the first of each, without the second, and so on. From how much these differ follows the variance (of
/// quotients on a scale of logarithms), and from both variances, by Student's t, an interval that holds the change 998 times of 1,000, as many rows are looked at at once. Parts of
/// a phase are long, as what slows one second slows the next; where it slows so many that a run has less than 15 seconds' worth of
/// news, nothing is told. What differs between days or machines is in neither run, and so not in the interval.
///
/// *Quenouille (1956) and Tukey (1958)*; for percentiles, leaving out much at once, *Shao and Wu (1989), A general theory for jackknife
/// variance estimation*; degrees of freedom after *Welch (1947)*; the bias of an autocorrelation after *Kendall (1954)*.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// What is compared.
    pub rows: Vec<Row>,
    /// What was not the same in both, so that a change may come of it.
    pub unlike: Vec<String>,
}

/// One thing that was measured in both.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// What it is: `receipt.p99`, as in an SLO.
    pub what: String,
    /// What it was before, for people.
    pub before: String,
    /// What it is now, for people.
    pub after: String,
    /// By how much it has changed. Absent: it was not measured in both.
    pub change: Option<Change>,
    /// What that means.
    pub finding: Finding,
}

/// By how much something has changed, and between what bounds it did with 99.8 % confidence. Absent bounds: there is too little to
/// tell.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Change {
    /// What the numbers are.
    pub kind: Kind,
    /// As measured.
    pub measured: f64,
    /// At least.
    pub low: Option<f64>,
    /// At most.
    pub high: Option<f64>,
}

/// What the numbers of a change are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The quotient less 1: 0.05 is 5 % more.
    Quotient,
    /// The difference of two shares: 0.05 is five points more.
    Difference,
}

/// What a change means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// It is better now.
    Better,
    /// It is worse now.
    Worse,
    /// There is no difference beyond noise.
    Noise,
    /// There is too little to tell.
    TooLittle,
}

impl Finding {
    /// In words.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "WORSE",
            Self::Noise => "no difference beyond noise",
            Self::TooLittle => "too little was measured to tell",
        }
    }
}

impl Comparison {
    /// Compares a run with one before.
    pub fn new(before: &Outcome, after: &Outcome) -> Self {
        let runs = [before, after].map(Run::of);
        let rows = statistics().into_iter().filter_map(|statistic| {
            let [earlier, later] = runs.each_ref().map(|run| run.estimate(statistic));
            let [before, after] = [earlier, later].map(|estimate| estimate.map(|of| of.observed));
            // What was measured in neither is no row.
            before.or(after)?;
            let interval = earlier.zip(later).and_then(|(one, other)| statistic.interval(one, other));
            let measured = before.zip(after).and_then(|(before, after)| statistic.change(before, after));
            let change = measured.map(|measured| Change {
                kind: statistic.kind(),
                measured,
                low: interval.map(|(low, _)| low),
                high: interval.map(|(_, high)| high),
            });
            let shown = |value: Option<f64>| value.map_or("-".to_owned(), |value| statistic.show(value));
            Some(Row {
                what: statistic.name(),
                before: shown(before),
                after: shown(after),
                change,
                finding: finding(statistic, interval),
            })
        });
        Self { rows: rows.collect(), unlike: unlike(before, after) }
    }

    /// Whether anything is worse, beyond noise.
    pub fn is_worse(&self) -> bool {
        self.rows.iter().any(|row| row.finding == Finding::Worse)
    }
}

impl Row {
    /// The change for people: `+3.1 %`.
    pub(crate) fn shown_change(&self) -> String {
        self.change.map_or("-".to_owned(), |change| change.shown(change.measured))
    }

    /// The interval for people: `-1.0 % to +7.2 %`.
    pub(crate) fn shown_interval(&self) -> String {
        let bounds = |change: Change| {
            let (low, high) = change.low.zip(change.high)?;
            Some(format!("{} to {}", change.shown(low), change.shown(high)))
        };
        self.change.and_then(bounds).unwrap_or_else(|| "-".to_owned())
    }
}

/// What is compared, in this order.
fn statistics() -> Vec<Statistic> {
    let of = |measure| jackknife::QUANTILES.map(|quantile| Statistic::Latency(measure, quantile));
    let mut statistics = vec![Statistic::Throughput, Statistic::Matches, Statistic::Errors];
    statistics.extend(Measure::ALL.into_iter().flat_map(of));
    statistics
}

fn finding(statistic: Statistic, interval: Option<(f64, f64)>) -> Finding {
    let resolution = match statistic.kind() {
        Kind::Quotient => RESOLUTION,
        Kind::Difference => 0.0,
    };
    match interval {
        None => Finding::TooLittle,
        Some((low, high)) if low <= resolution && high >= -resolution => Finding::Noise,
        Some((low, _)) if (low > 0.0) == statistic.more_is_better() => Finding::Better,
        Some(_) => Finding::Worse,
    }
}

impl Change {
    fn shown(self, number: f64) -> String {
        let sign = if number < 0.0 { "-" } else { "+" };
        let percent = 100.0 * number.abs();
        match self.kind {
            Kind::Quotient => format!("{sign}{} %", amount::digits(percent)),
            Kind::Difference => format!("{sign}{percent:.3} points"),
        }
    }
}

/// The settings of both plans, by their names. Nothing of a report that has none: it is of an earlier version.
fn settings(one: &Description, other: &Description) -> Vec<(String, String, String)> {
    if one.settings.is_empty() || other.settings.is_empty() {
        return Vec::new();
    }
    let names: BTreeSet<&String> = one.settings.keys().chain(other.settings.keys()).collect();
    let of = |description: &Description, name: &String| {
        description.settings.get(name).cloned().unwrap_or_else(|| "none".to_owned())
    };
    names.into_iter().map(|name| (name.clone(), of(one, name), of(other, name))).collect()
}

/// What was not the same in both, in words.
fn unlike(before: &Outcome, after: &Outcome) -> Vec<String> {
    let (one, other) = (before.description(), after.description());
    let machine = |outcome: &Outcome| {
        let shown = |machine: &Machine| {
            let model = machine.model.as_deref().unwrap_or("a processor");
            format!("{} × {model}", machine.processors)
        };
        outcome.machines().iter().map(shown).collect::<Vec<_>>().join(" and ")
    };
    let version =
        |outcome: &Outcome| outcome.server().version.clone().unwrap_or_else(|| "unknown".to_owned());
    let measured = |outcome: &Outcome| format!("{:.0} s", outcome.totals().lasted().as_secs_f64());
    let told = [
        ("what was asked", crate::table::asked(one), crate::table::asked(other)),
        ("server", one.server.clone(), other.server.clone()),
        ("the server's version", version(before), version(after)),
        ("ramp", amount::time(one.ramp), amount::time(other.ramp)),
        ("measured for", measured(before), measured(after)),
        ("generators", machine(before), machine(after)),
        ("scenario", one.scenario.clone().unwrap_or_default(), other.scenario.clone().unwrap_or_default()),
    ];
    let of_plan = settings(one, other);
    let told = told.into_iter().map(|(what, before, after)| (what.to_owned(), before, after));
    let differ = told.chain(of_plan).filter(|(_, before, after)| before != after);
    let line = |(what, before, after): (String, String, String)| match what.as_str() {
        what if before.len().max(after.len()) > LONG || what == "scenario" => {
            amount::plain(&format!("the {what} is another"))
        }
        what => amount::plain(&format!("{what}: {before} before, {after} now")),
    };
    differ.map(line).collect()
}
