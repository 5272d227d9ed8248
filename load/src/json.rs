//! A report for programs.
//!
//! One object, whose schema docs/load-report.md describes. `schema` is its version: what is added later does not change it, and who
//! reads it ignores what it does not know. All of it but `summary` and `comparison` can be [read] again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::compare::Comparison;
use crate::outcome::{Count, Counts, Failures, Latencies, Measure, Outcome, Totals};
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
    let Read { verdict, search, outcome } = serde_json::from_str(text)?;
    Ok(Report { outcome, verdict, search, comparison: None })
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
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::outcome::sample;
    use crate::report::Step;
    use crate::slo::Slo;

    fn sample() -> Report {
        let slo: Slo = "p99<20ms,errors<0.1%,reconnect.max<1s".parse().unwrap();
        let outcome = sample::with_faults(sample::run(2, 1_500.0));
        let step = Step::new(2_000.0, &outcome, &slo);
        Report::new(outcome, Some(&slo)).with_search(Search {
            steps: vec![step],
            limit: None,
            is_found: false,
        })
    }

    /// How a histogram is deflated is up to the library.
    fn without_histograms(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (name, field) in fields {
                    if name == "hdr" { *field = "…".into() } else { without_histograms(field) }
                }
            }
            Value::Array(values) => values.iter_mut().for_each(without_histograms),
            _ => {}
        }
    }

    #[test]
    fn a_report_is_written_as_the_schema_says() {
        let mut value: Value = serde_json::from_str(&write(&sample()).unwrap()).unwrap();
        without_histograms(&mut value);
        insta::assert_snapshot!(serde_json::to_string_pretty(&value).unwrap());
    }

    #[test]
    fn the_memory_of_a_run_on_a_ladder_is_told_of_the_whole_run_and_of_its_last_third() {
        let report = Report::new(sample::on_ladder(sample::run(10, 1_500.0)), None);
        let value: Value = serde_json::from_str(&write(&report).unwrap()).unwrap();
        let memory = &value["summary"]["ladder"]["server_memory"];
        assert_eq!(memory["first_bytes"], 80_000_000);
        assert_eq!(memory["last_bytes"], 10_000_000);
        assert_eq!(memory["most_bytes"], 82_000_000);
        assert!(memory["growth_bytes_per_minute"].as_f64().unwrap() < -7e7, "{memory}");
        assert_eq!(memory["late_growth_bytes_per_minute"], 0.0);
    }

    #[test]
    fn a_report_is_read_again() {
        let report = sample();
        assert_eq!(read(&write(&report).unwrap()).unwrap(), report);
    }

    /// Without the condition that nobody has given.
    fn without_unanswered(value: &mut Value) {
        match value {
            Value::Object(fields) => fields.values_mut().for_each(without_unanswered),
            Value::Array(values) => {
                values.retain(|value| value["condition"] != "unanswered<5%");
                values.iter_mut().for_each(without_unanswered);
            }
            _ => {}
        }
    }

    /// A file that the first version wrote. It stays as it is.
    #[test]
    fn reports_of_earlier_versions_are_read() {
        let mut now: Value = serde_json::from_str(&write(&sample()).unwrap()).unwrap();
        without_unanswered(&mut now);
        let expected = read(&now.to_string()).unwrap();
        assert_eq!(read(include_str!("../golden/report-1.json")).unwrap(), expected);
    }

    #[test]
    fn what_is_no_report_is_said_so() {
        let check = |text: &str, expected: &str| {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        };
        check("", "it is no report of a load run: EOF");
        check("[]", "it is no report of a load run: invalid");
        check("{}", "missing field `schema`");
        check("{\"schema\":1}", "missing field `outcome`");
        check("{\"schema\":2}", "its schema is version 2, and this program reads version 1");
    }
}
