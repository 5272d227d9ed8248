//! Whatever happens to the file of a report: it is refused, or it can be compared.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::LazyLock;
use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;
use zetema_load::compare::Comparison;
use zetema_load::json;
use zetema_load::outcome::{Count, Description, Measure, Phase, Recorder};
use zetema_load::report::Report;

/// A report of 40 seconds, enough to tell something.
static REPORT: LazyLock<Value> = LazyLock::new(|| {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let outcome = runtime.block_on(async {
        let recorder = Recorder::start(Description::default(), Phase::measured("steady"));
        for second in 0..40 {
            for action in 0..60 {
                recorder.count(Count::ActionAcknowledged);
                let us = 1_000 + 7 * action + 131 * (second * second % 5);
                recorder.took(Measure::ActionToReceipt, Duration::from_micros(us));
            }
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        recorder.finish()
    });
    serde_json::from_str(&json::write(&Report::new(outcome, None)).unwrap()).unwrap()
});

/// What happens to a value.
#[derive(Clone, Debug)]
enum Harm {
    Is(Value),
    IsGone,
    IsThereTwice,
}

fn harm() -> impl Strategy<Value = Harm> {
    let numbers = prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (0_u64..100).prop_map(Value::from),
    ];
    let others = prop_oneof![
        Just(Value::Null),
        Just(true.into()),
        ".{0,9}".prop_map(Value::from),
        Just(Value::Array(Vec::new()))
    ];
    prop_oneof![
        numbers.prop_map(Harm::Is),
        others.prop_map(Harm::Is),
        Just(Harm::IsGone),
        Just(Harm::IsThereTwice)
    ]
}

/// The paths of all values below this one.
fn paths(value: &Value, path: &str, all: &mut Vec<String>) {
    let mut below = |name: &str, value: &Value| {
        let path = format!("{path}/{name}");
        all.push(path.clone());
        paths(value, &path, all);
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| below(name, value)),
        Value::Array(values) => {
            values.iter().enumerate().for_each(|(at, value)| below(&at.to_string(), value));
        }
        _ => {}
    }
}

fn harmed(mut report: Value, at: Index, harm: Harm) -> Value {
    let mut all = Vec::new();
    paths(&report, "", &mut all);
    let Some((parent, name)) = all.get(at.index(all.len().max(1))).and_then(|path| path.rsplit_once('/'))
    else {
        return report;
    };
    match (report.pointer_mut(parent).unwrap(), harm) {
        (Value::Object(fields), Harm::Is(value)) => drop(fields.insert(name.to_owned(), value)),
        (Value::Object(fields), Harm::IsGone) => drop(fields.remove(name)),
        (Value::Array(values), harm) => {
            let at: usize = name.parse().unwrap();
            match harm {
                Harm::Is(value) => values[at] = value,
                Harm::IsGone => drop(values.remove(at)),
                Harm::IsThereTwice => values.insert(at, values[at].clone()),
            }
        }
        // An object has no name twice here.
        _ => {}
    }
    report
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn a_report_that_was_harmed_is_refused_or_can_be_compared(
        harms in prop::collection::vec((any::<Index>(), harm()), 1..4),
    ) {
        let report =
            harms.into_iter().fold(REPORT.clone(), |report, (at, harm)| harmed(report, at, harm));
        let sound = json::read(&REPORT.to_string()).unwrap();
        if let Ok(read) = json::read(&report.to_string()) {
            for (before, after) in [(&read, &sound), (&sound, &read)] {
                let comparison = Comparison::new(&before.outcome, &after.outcome);
                for row in &comparison.rows {
                    let change = row.change.iter();
                    let numbers = change.flat_map(|change| [Some(change.measured), change.low, change.high]);
                    prop_assert!(numbers.flatten().all(f64::is_finite), "{row:?}");
                    prop_assert!(!row.before.contains("NaN") && !row.after.contains("NaN"), "{row:?}");
                }
            }
            prop_assert_eq!(json::read(&json::write(&read).unwrap()).unwrap().outcome, read.outcome);
        }
    }
}

#[test]
fn the_report_that_is_harmed_tells_something() {
    let report = json::read(&REPORT.to_string()).unwrap();
    let comparison = Comparison::new(&report.outcome, &report.outcome);
    assert!(comparison.rows.iter().any(|row| row.change.is_some_and(|change| change.low.is_some())));
}

/// Of the harms of numbers that anything follows from most are found: else the property above would say little.
#[test]
fn a_number_of_a_second_that_is_another_is_found() {
    for second in 0..40 {
        let mut report = REPORT.clone();
        report["outcome"]["seconds"][second]["counts"]["action_acknowledged"] = 61.into();
        let error = json::read(&report.to_string()).unwrap_err().to_string();
        assert!(error.contains("summary.counts.action_acknowledged is 2400"), "{error}");
    }
}
