//! What an SLO may say, and what comes of it.

use tonic::Code;

use super::*;
use crate::outcome::{Description, Phase, Recorder, sample};

#[test]
fn conditions_are_read_and_written() {
    let check = |text: &str, expected: &str| {
        let slo: Slo = text.parse().unwrap();
        assert_eq!(slo.to_string(), expected);
        assert_eq!(expected.parse::<Slo>().unwrap(), slo, "{expected}");
    };
    check("p99<20ms", "receipt.p99<20ms");
    check(" p99.9 < 1.5s , errors < 0.1% ", "receipt.p99.9<1500ms,errors<0.1%");
    check("receipt.p50<500us", "receipt.p50<500us");
    check("observation.max<1500µs", "observation.max<1500us");
    check("create.mean<1s,reconnect.p99.99<2s", "create.mean<1000ms,reconnect.p99.99<2000ms");
    check("max<20 ms", "receipt.max<20ms");
    check("errors<33.3%", "errors<33.3%");
    check("throughput>5000,matches>12.5", "throughput>5000,matches>12.5");
    check("wait.p99 < 30s, notices < 1", "wait.p99<30000ms,notices<1");
    check("memory.growth<200kB,memory.growth<1.5 MB", "memory.growth<200kB,memory.growth<1500kB");
    check(
        "memory.late_growth<500kB,memory.late_growth < 0.5MB",
        "memory.late_growth<500kB,memory.late_growth<500kB",
    );
    check("memory.growth<2000000B,memory.growth<1001B", "memory.growth<2MB,memory.growth<1001B");
}

#[test]
fn what_is_no_condition_is_told_with_what_is_allowed() {
    let check =
        |text: &str, expected: &str| assert_eq!(text.parse::<Slo>().unwrap_err().to_string(), expected);
    check("", "there is no condition: give some, like p99<20ms,errors<0.1%");
    check("p99<20ms,", ": nothing is compared: write it like p99<20ms or throughput>5000");
    check("p99=20ms", "p99=20ms: nothing is compared: write it like p99<20ms or throughput>5000");
    check("p99>20ms", "p99>20ms: write p99<, as less is better");
    check("errors>1%", "errors>1%: write errors<, as less is better");
    check("throughput<10", "throughput<10: write throughput>, as more is better");
    check("errors<0.1", "errors<0.1: 0.1 is no percentage: give one like 0.1%");
    check("errors<101%", "errors<101%: 101% is no percentage: give one like 0.1%");
    check("notices>1", "notices>1: write notices<, as less is better");
    for bound in ["", "0", "-1", "1.5", "none", "99999999999999999999"] {
        let text = format!("notices<{bound}");
        check(&text, &format!("{text}: {bound} is no number above 0: give one like 1"));
    }
    check("memory.growth>1kB", "memory.growth>1kB: write memory.growth<, as less is better");
    check("memory.late_growth>1kB", "memory.late_growth>1kB: write memory.late_growth<, as less is better");
    for bound in ["", "1", "0kB", "-1kB", "0.1B", "1KiB", "infB", "kB"] {
        for subject in ["memory.growth", "memory.late_growth"] {
            let text = format!("{subject}<{bound}");
            check(&text, &format!("{text}: {bound} is no size: give one like 500B, 200kB or 1MB"));
        }
    }
    check("throughput>-1", "throughput>-1: -1 is no number a second: give one like 5000");
    for bound in [
        "",
        "20",
        "ms",
        "0ms",
        "-1ms",
        "1e3ms",
        "inf s",
        "NaNms",
        "<20ms",
        "=20ms",
        "99999999999999999999999s",
    ] {
        let text = format!("p99<{bound}");
        check(&text, &format!("{text}: {bound} is no time: give one like 500us, 20ms or 1.5s"));
    }
    for subject in [
        "latency",
        "p",
        "p0",
        "p100",
        "p-5",
        "pNaN",
        "nothing.p99",
        "receipt.",
        "receipt.median",
        "P99",
        "",
        "p99.9.9",
        "memory",
        "memory.late",
        "memory.p99",
    ] {
        let error = format!("{subject}<20ms").parse::<Slo>().unwrap_err();
        assert!(matches!(error, SloError::Subject { .. }), "{error}");
        assert!(error.to_string().contains("it is p50, p99.9, mean or max, with receipt."), "{error}");
    }
}

/// A second in which 1,000 actions took 1 ms to 1 s, 10 of all answers errors.
async fn outcome() -> Outcome {
    let recorder = Recorder::start(Description::default(), Phase::measured("steady"));
    for ms in 1..=1000 {
        recorder.took(Measure::ActionToReceipt, Duration::from_millis(ms));
    }
    recorder.count_many(Count::ActionAcknowledged, 990);
    recorder.count_many(Count::MatchFinished, 3);
    for _ in 0..10 {
        recorder.failed(Code::Unavailable, "gone");
    }
    tokio::time::advance(Duration::from_secs(1)).await;
    recorder.finish()
}

#[tokio::test(start_paused = true)]
async fn conditions_hold_or_not_by_what_was_measured() {
    let outcome = outcome().await;
    let check = |text: &str, value: Option<&str>, held| {
        let verdict = text.parse::<Slo>().unwrap().judge(&outcome);
        let [finding] = verdict.findings.as_slice() else { panic!("{verdict:?}") };
        assert_eq!((finding.value.as_deref(), finding.held, verdict.held()), (value, held, held), "{text}");
    };
    check("p50<501ms", Some("500 ms"), true);
    check("p50<500ms", Some("500 ms"), false);
    check("max<2s", Some("1.00 s"), true);
    check("mean<500ms", Some("501 ms"), false);
    check("errors<1.1%", Some("1.00 %"), true);
    check("errors<1%", Some("1.00 %"), false);
    check("throughput>989", Some("990/s"), true);
    check("throughput>990", Some("990/s"), false);
    check("matches>2", Some("3.00/s"), true);
    check("create.p99<1s", None, false);
    let both: Slo = "p50<501ms,errors<1%".parse().unwrap();
    assert!(!both.judge(&outcome).held());
}

#[tokio::test(start_paused = true)]
async fn a_run_in_which_nothing_was_done_holds_nothing() {
    let outcome = Recorder::start(Description::default(), Phase::measured("steady")).finish();
    for text in [
        "p99<1s",
        "errors<100%",
        "throughput>0",
        "memory.growth<1GB",
        "memory.late_growth<1GB",
        "notices<1000",
    ] {
        assert!(!text.parse::<Slo>().unwrap().judge(&outcome).held(), "{text}");
    }
}

#[test]
fn the_growth_of_the_memory_is_held_to_a_bound() {
    let check = |outcome: &Outcome, text: &str, value: Option<&str>, held| {
        let verdict = text.parse::<Slo>().unwrap().judge(outcome);
        let finding = verdict.findings.first().unwrap();
        assert_eq!((finding.value.as_deref(), finding.held), (value, held), "{text}");
    };
    // It grows by 250 kB a second.
    let grows = sample::run(10, 1_500.0);
    for subject in ["memory.growth", "memory.late_growth"] {
        check(&grows, &format!("{subject}<15100kB"), Some("15.0 MB a minute"), true);
        check(&grows, &format!("{subject}<14.9MB"), Some("15.0 MB a minute"), false);
    }
    // It grows no more when the last third begins, and what comes after it is not in it.
    let settled = sample::on_ladder(grows);
    check(&settled, "memory.growth<1MB", Some("-73.6 MB a minute"), true);
    check(&settled, "memory.late_growth<1B", Some("0 B a minute"), true);
    // One of a second has one reading in its last third.
    check(&sample::run(1, 1_500.0), "memory.late_growth<1GB", None, false);
}

#[tokio::test(start_paused = true)]
async fn notices_of_all_phases_are_held_to_a_bound_on_a_ladder() {
    let run = async |ladder: Option<&str>| {
        let description = Description { ladder: ladder.map(Into::into), ..Description::default() };
        let recorder = Recorder::start(description, Phase::warm_up());
        for phase in [Phase::measured("steady"), Phase::drain()] {
            recorder.count(Count::LadderNotice);
            tokio::time::advance(Duration::from_secs(1)).await;
            recorder.enter(phase);
        }
        recorder.count(Count::LadderNotice);
        tokio::time::advance(Duration::from_secs(1)).await;
        recorder.finish()
    };
    let on_ladder = run(Some("quick-2")).await;
    let check = |text: &str, outcome: &Outcome, value: Option<&str>, held| {
        let verdict = text.parse::<Slo>().unwrap().judge(outcome);
        let [finding] = verdict.findings.as_slice() else { panic!("{verdict:?}") };
        assert_eq!((finding.value.as_deref(), finding.held), (value, held), "{text}");
    };
    check("notices<4", &on_ladder, Some("3"), true);
    check("notices<3", &on_ladder, Some("3"), false);
    check("notices<4", &run(None).await, None, false);
}

#[tokio::test(start_paused = true)]
async fn what_was_due_and_has_no_answer_is_held_to_a_bound_said_or_not() {
    let run = |offered, unanswered| {
        let recorder = Recorder::start(Description::default(), Phase::measured("open"));
        recorder.count_many(Count::Offered, offered);
        recorder.count_many(Count::Unanswered, unanswered);
        recorder.count(Count::ActionAcknowledged);
        recorder.finish()
    };
    let check = |outcome: &Outcome, text: &str, last: &str, held| {
        let verdict = text.parse::<Slo>().unwrap().judge(outcome);
        let found = verdict.findings.last().unwrap();
        assert_eq!((found.condition.as_str(), found.held, verdict.held()), (last, held, held), "{text}");
    };
    check(&run(1_000, 49), "errors<1%", "unanswered<5%", true);
    check(&run(1_000, 50), "errors<1%", "unanswered<5%", false);
    check(&run(1_000, 50), "unanswered<5.1%", "unanswered<5.1%", true);
    check(&run(1_000, 1), "unanswered<0.1%", "unanswered<0.1%", false);
    // In a closed loop nothing is due.
    check(&run(0, 0), "errors<1%", "errors<1%", true);
    // Of what was due before it was measured some may be left too.
    let verdict = "errors<1%".parse::<Slo>().unwrap().judge(&run(100, 250));
    assert_eq!(verdict.findings[1].value.as_deref(), Some("100 %"));
    check(&run(0, 0), "unanswered<100%", "unanswered<100%", false);
}
