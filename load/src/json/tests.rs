//! What is written, and what is read again.

use serde_json::Value;

use super::*;
use crate::outcome::{Description, Phase, Recorder, sample};
use crate::report::Step;
use crate::slo::Slo;

/// A file that the first version wrote. It stays as it is.
const GOLDEN: &str = include_str!("../../golden/report-1.json");

fn sample() -> Report {
    let slo: Slo = "p99<20ms,errors<0.1%,reconnect.max<1s".parse().unwrap();
    let outcome = sample::with_faults(sample::run(2, 1_500.0));
    let step = Step::new(2_000.0, &outcome, &slo);
    Report::new(outcome, Some(&slo)).with_search(Search { steps: vec![step], limit: None, is_found: false })
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

#[test]
fn reports_of_earlier_versions_are_read() {
    let mut now: Value = serde_json::from_str(&write(&sample()).unwrap()).unwrap();
    without_unanswered(&mut now);
    let expected = read(&now.to_string()).unwrap();
    assert_eq!(read(GOLDEN).unwrap(), expected);
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

#[test]
fn a_report_of_each_kind_is_read_again() {
    let run = || sample::run(3, 1_500.0);
    let several = vec![("one".to_owned(), run()), ("another".to_owned(), run())];
    let kinds = [
        run(),
        sample::stopped(run()),
        sample::on_ladder(run()),
        sample::with_faults(run()),
        Outcome::of_generators(several).unwrap(),
        Recorder::start(Description::default(), Phase::measured("steady")).finish(),
    ];
    for outcome in kinds {
        let report = Report::new(outcome, None);
        assert_eq!(read(&write(&report).unwrap()).unwrap(), report);
    }
}

#[test]
fn what_no_run_has_measured_is_told_with_its_field() {
    let check = |field: &str, value: Value, expected: &str| {
        let mut report: Value = serde_json::from_str(GOLDEN).unwrap();
        *report.pointer_mut(field).unwrap() = value;
        let error = read(&report.to_string()).unwrap_err().to_string();
        assert!(error.contains(expected), "{field}: {error}");
    };
    check(
        "/outcome/description/arrivals/open/per_second",
        (-3.0).into(),
        "arrivals.open.per_second is -3, and a rate is more than 0",
    );
    check(
        "/outcome/phases/1/began_us",
        7.into(),
        "outcome.phases[1].began_us is 7, and it began when the one before was over, at 2000000",
    );
    check(
        "/outcome/phases/1/lasted_us",
        u64::MAX.into(),
        "outcome.phases[1].lasted_us is 18446744073709551615, and no run is longer",
    );
    check(
        "/outcome/phases/1/lasted_us",
        3_000_000.into(),
        "outcome.seconds is 4 seconds, and second 2 of phase 1 is not there",
    );
    check("/outcome/phases/1/part", "warm_up".into(), "summary.");
    check(
        "/outcome/seconds/2/number",
        1.into(),
        "outcome.seconds[2] is number 1 of phase 1, and number 0 of phase 1 is next",
    );
    check(
        "/outcome/seconds/3/phase",
        9.into(),
        "outcome.seconds[3] is number 1 of phase 9, and number 1 of phase 1 is next",
    );
    check(
        "/outcome/seconds/1/lasted_us",
        5.into(),
        "outcome.seconds[1].lasted_us is 5, and by its phase it was 1000000 long",
    );
    check(
        "/outcome/seconds/2/counts/offered",
        5.into(),
        "summary.counts.offered is 2020, and what it follows from gives 1020",
    );
    check("/outcome/seconds/2/failures/OVERLOADED", 7.into(), "summary.error_share is 0.00195121951219512");
    check(
        "/summary/latencies/action_to_receipt/p99_ms",
        1.into(),
        "summary.latencies.action_to_receipt.p99_ms is 1, and what it follows from gives 6.283",
    );
    check("/outcome/faults/all", 3.into(), "outcome.faults.all is 3, and 20 of them are there");
    check(
        "/outcome/server/readings/1/at_us",
        9_000_000.into(),
        "outcome.server.readings[2].at_us is 2000000, and the one before it is of 9000000",
    );
    check("/outcome/server/readings/1/processor_seconds", (-1.0).into(), "processor_seconds is -1");
    check(
        "/search/steps/0/offered_per_second",
        0.into(),
        "search.steps[0].offered_per_second is 0, and a rate is more than 0",
    );
    check("/outcome/seconds/2/counts/offered", (-1).into(), "it is no report of a load run: invalid value");
    let beyond = serde_json::json!(4);
    let mut report: Value = serde_json::from_str(GOLDEN).unwrap();
    report["outcome"]["seconds"][0]["latencies"]["action_to_receipt"]["beyond"] = beyond;
    let error = read(&report.to_string()).unwrap_err().to_string();
    assert!(
        error.contains(
            "outcome.seconds[0].latencies.receipt.beyond is 4, and 0 of its times are as long as that"
        ),
        "{error}"
    );
    let found = GOLDEN.replace("\"search\": {", "\"search\": { \"limit\": 7.5,");
    let error = read(&found).unwrap_err().to_string();
    assert!(
        error.contains("search.limit is 7.5, and no step of the search kept its SLO at that rate"),
        "{error}"
    );
}
