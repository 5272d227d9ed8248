//! A report for programs.
//!
//! One object, whose schema docs/load-report.md describes. `schema` is its version: what is added later does not change it, and who
//! reads it ignores what it does not know. All of it but `summary` and `comparison` can be [read] again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::compare::Comparison;
use crate::outcome::{Count, Counts, Damage, Failures, Latencies, Measure, Outcome, Totals};
use crate::report::{Report, Search};
use crate::slo::Verdict;
use crate::table::OfLadder;

/// The version of the schema.
pub const SCHEMA: u32 = 1;

/// What is written.
#[derive(Serialize)]
struct Written<'a> {
    schema: u32,
    passed: bool,
    summary: Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'a Verdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<&'a Search>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<&'a Comparison>,
    outcome: &'a Outcome,
}

/// What is read.
#[derive(Deserialize)]
struct Read {
    #[serde(default)]
    summary: Value,
    verdict: Option<Verdict>,
    search: Option<Search>,
    outcome: Outcome,
}

/// What is read first.
#[derive(Deserialize)]
struct Version {
    schema: u32,
}

/// What follows from the seconds, for those who don't want to add them up.
#[derive(Serialize)]
struct Summary {
    measured_s: f64,
    counts: Counts,
    per_second: BTreeMap<Count, f64>,
    errors: Failures,
    error_share: Option<f64>,
    latencies: BTreeMap<Measure, Times>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ladder: Option<Ladder>,
}

/// What came of a run on a ladder.
#[derive(Serialize)]
struct Ladder {
    matches_per_hour: f64,
    rated_results: u64,
    /// Of the whole run.
    notices: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    server_memory: Option<Memory>,
}

/// The server's memory over the whole run.
#[derive(Serialize)]
struct Memory {
    first_bytes: u64,
    last_bytes: u64,
    most_bytes: u64,
    /// The slope of the line that is nearest to all readings.
    #[serde(skip_serializing_if = "Option::is_none")]
    growth_bytes_per_minute: Option<f64>,
    /// The same over the last third of what was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    late_growth_bytes_per_minute: Option<f64>,
}

/// Times in milliseconds.
#[derive(Serialize)]
struct Times {
    count: u64,
    beyond: u64,
    mean_ms: f64,
    p50_ms: f64,
    p90_ms: f64,
    p99_ms: f64,
    p99_9_ms: f64,
    max_ms: f64,
}

/// Why a text is no report.
#[derive(Debug, thiserror::Error)]
pub enum NoReport {
    /// It is none at all.
    #[error("it is no report of a load run: {0}")]
    Json(#[from] serde_json::Error),
    /// It is one of another version.
    #[error(
        "its schema is version {found}, and this program reads version {SCHEMA}: read it with the version of zetema that wrote it"
    )]
    Schema {
        /// The version.
        found: u32,
    },
    /// What stands in it was not measured by any run.
    #[error("it is damaged: {0}: take another copy of it, or measure again")]
    Damaged(#[from] Damage),
}

/// Writes a report.
///
/// # Errors
/// If a number of it can't be written.
pub fn write(report: &Report) -> Result<String, serde_json::Error> {
    let Report { outcome, verdict, search, comparison } = report;
    let mut text = serde_json::to_string_pretty(&Written {
        schema: SCHEMA,
        passed: report.passed(),
        summary: Summary::of(outcome, &outcome.totals()),
        verdict: verdict.as_ref(),
        search: search.as_ref(),
        comparison: comparison.as_ref(),
        outcome,
    })?;
    // Nothing can go wrong with a text in memory.
    let _ = writeln!(text);
    Ok(text)
}

/// Reads a report again.
///
/// ```
/// use zetema_load::json;
///
/// let report = json::read(&std::fs::read_to_string("golden/report-1.json")?)?;
/// assert_eq!(report.outcome.seconds().len(), 4);
/// assert_eq!(json::read("{\"schema\":2}").unwrap_err().to_string().split(':').next(), Some("its schema is version 2, and this program reads version 1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`NoReport`] if the text is none.
pub fn read(text: &str) -> Result<Report, NoReport> {
    let Version { schema } = serde_json::from_str(text)?;
    if schema != SCHEMA {
        return Err(NoReport::Schema { found: schema });
    }
    let Read { summary, verdict, search, outcome } = serde_json::from_str(text)?;
    outcome.check()?;
    search.as_ref().map_or(Ok(()), Search::check)?;
    let computed = serde_json::to_value(Summary::of(&outcome, &outcome.totals()))?;
    same("summary", &summary, &computed)?;
    Ok(Report { outcome, verdict, search, comparison: None })
}

/// What follows from the seconds is what stands in the report beside them, as far as this program knows both: what is damaged in the one is
/// not in the other.
fn same(field: &str, written: &Value, computed: &Value) -> Result<(), Damage> {
    match (written, computed) {
        (Value::Object(written), Value::Object(computed)) => {
            let both = computed.iter().filter_map(|(name, of)| Some((name, written.get(name)?, of)));
            both.into_iter().try_for_each(|(name, one, other)| same(&format!("{field}.{name}"), one, other))
        }
        // Its field was not there yet when it was written.
        (Value::Null, _) => Ok(()),
        (one, other) if is_near(one, other) => Ok(()),
        (one, other) => Err(Damage::new(field, one, format!("what it follows from gives {other}"))),
    }
}

/// Numbers that are the same but for how they were added up.
fn is_near(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => (one - other).abs() <= 1e-9 * one.abs().max(other.abs()),
        _ => one == other,
    }
}

impl Summary {
    fn of(outcome: &Outcome, totals: &Totals) -> Self {
        let counted = Count::ALL.into_iter().filter(|count| totals.counts().of(*count) > 0);
        let known = |measure| Some((measure, Times::of(totals.latencies(measure)?)));
        Self {
            measured_s: totals.lasted().as_secs_f64(),
            counts: *totals.counts(),
            per_second: counted.map(|count| (count, totals.per_second(count))).collect(),
            errors: totals.failures().clone(),
            error_share: totals.error_share(),
            latencies: Measure::ALL.into_iter().filter_map(known).collect(),
            ladder: outcome.description().ladder.as_ref().map(|_| Ladder::of(outcome, totals)),
        }
    }
}

impl Ladder {
    fn of(outcome: &Outcome, totals: &Totals) -> Self {
        let OfLadder { matches_per_hour, rated_results, notices, growth, late_growth } =
            OfLadder::of(outcome, totals);
        let read = outcome.server().glance().and_then(|glance| glance.memory_bytes);
        let memory = |(first_bytes, last_bytes, most_bytes)| Memory {
            first_bytes,
            last_bytes,
            most_bytes,
            growth_bytes_per_minute: growth,
            late_growth_bytes_per_minute: late_growth,
        };
        Self { matches_per_hour, rated_results, notices, server_memory: read.map(memory) }
    }
}

impl Times {
    fn of(latencies: &Latencies) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "microseconds of ten minutes")]
        let ms = |time: Duration| time.as_micros() as f64 / 1e3;
        let quantile = |wanted| ms(latencies.quantile(wanted));
        Self {
            count: latencies.len(),
            beyond: latencies.beyond(),
            mean_ms: ms(latencies.mean()),
            p50_ms: quantile(0.5),
            p90_ms: quantile(0.9),
            p99_ms: quantile(0.99),
            p99_9_ms: quantile(0.999),
            max_ms: ms(latencies.max()),
        }
    }
}

#[cfg(test)]
mod tests;
