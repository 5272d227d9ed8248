//! What a recorder makes of what it is told.

use std::thread;
use std::time::Duration;

use tokio::time::advance;
use tonic::Code;
use zetema_proto::v1::ErrorReason;

use super::*;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Two measured seconds, in each so many actions of so many milliseconds.
async fn two_seconds(actions: u64, took_ms: u64) -> Outcome {
    let recorder = Recorder::start(Description::default(), Phase::measured("steady"));
    for _ in 0..2 {
        for _ in 0..actions {
            recorder.took(Measure::ActionToReceipt, ms(took_ms));
            recorder.count(Count::ActionAcknowledged);
        }
        advance(ms(1000)).await;
    }
    recorder.finish()
}

#[tokio::test(start_paused = true)]
async fn a_second_without_anything_is_a_second() {
    let recorder = Recorder::start(Description::default(), Phase::measured("steady"));
    recorder.count(Count::ActionAcknowledged);
    advance(ms(3500)).await;
    let last = recorder.tick().unwrap();
    assert_eq!((last.number(), last.counts().of(Count::ActionAcknowledged)), (2, 0));
    recorder.count(Count::ActionAcknowledged);
    advance(ms(600)).await;
    let outcome = recorder.finish();
    let seen: Vec<_> = outcome
        .seconds()
        .iter()
        .map(|second| (second.number(), second.lasted(), second.counts().of(Count::ActionAcknowledged)))
        .collect();
    assert_eq!(seen, [(0, ms(1000), 1), (1, ms(1000), 0), (2, ms(1000), 0), (3, ms(1100), 1)]);
}

#[tokio::test(start_paused = true)]
async fn phases_are_told_apart_and_only_what_is_measured_counts() {
    let recorder = Recorder::start(Description::default(), Phase::warm_up());
    let phases = [(700, 1), (2400, 10), (1600, 100), (300, 1000)];
    let after = [Phase::measured("steady"), Phase::measured("more"), Phase::drain()];
    for ((lasts, count), next) in phases.into_iter().zip(after.into_iter().map(Some).chain([None])) {
        recorder.count_many(Count::Observation, count);
        recorder.took(Measure::CreateToDecision, ms(count));
        advance(ms(lasts)).await;
        recorder.tick();
        recorder.count_many(Count::Observation, count);
        if let Some(next) = next {
            recorder.enter(next);
        }
    }
    let outcome = recorder.finish();
    recorder.count(Count::Observation);
    assert_eq!(recorder.tick(), None, "it is over");
    let of_phases: Vec<_> = (0..4)
        .map(|phase| {
            (
                outcome.phase_totals(phase).lasted(),
                outcome.phase_totals(phase).counts().of(Count::Observation),
            )
        })
        .collect();
    assert_eq!(of_phases, [(ms(700), 2), (ms(2400), 20), (ms(1600), 200), (ms(300), 2000)]);
    assert_eq!(outcome.phases()[2].began(), ms(3100));
    let totals = outcome.totals();
    assert_eq!((totals.lasted(), totals.counts().of(Count::Observation)), (ms(4000), 220));
    assert_eq!(totals.latencies(Measure::CreateToDecision).unwrap().len(), 2);
    assert_eq!(totals.latencies(Measure::ActionToReceipt), None);
}

#[test]
fn many_threads_lose_nothing() {
    const THREADS: u64 = 100;
    const EACH: u64 = 200;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let _in_it = runtime.enter();
    let recorder = Recorder::start(Description::default(), Phase::measured("steady"));
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for us in 0..EACH {
                    recorder.took(Measure::ActionToReceipt, Duration::from_micros(us));
                    recorder.failed(Code::Unavailable, "gone");
                    recorder.tick();
                }
            });
        }
    });
    let totals = recorder.finish().totals();
    assert_eq!(totals.latencies(Measure::ActionToReceipt).unwrap().len(), THREADS * EACH);
    assert_eq!(totals.failures().all(), THREADS * EACH);
}

#[tokio::test(start_paused = true)]
async fn what_took_longer_than_can_be_told_is_counted() {
    let recorder = Recorder::start(Description::default(), Phase::measured("steady"));
    for time in [Duration::ZERO, LONGEST, LONGEST + ms(1), Duration::MAX] {
        recorder.took(Measure::ReconnectToSnapshot, time);
    }
    let totals = recorder.finish().totals();
    let latencies = totals.latencies(Measure::ReconnectToSnapshot).unwrap();
    assert_eq!((latencies.len(), latencies.beyond()), (4, 2));
    assert!(latencies.max() >= LONGEST);
}

#[tokio::test(start_paused = true)]
async fn errors_are_counted_by_reason_with_the_first_of_each_shown() {
    let recorder = Recorder::start(Description::default(), Phase::measured("steady"));
    recorder.count_many(Count::ActionAcknowledged, 7);
    recorder.failed(ErrorReason::Overloaded, "try again in 2 s");
    recorder.failed(ErrorReason::Overloaded, "try again in 3 s");
    recorder.failed(Code::Unavailable, "connection reset");
    let outcome = recorder.finish();
    let totals = outcome.totals();
    assert_eq!((totals.failures().all(), totals.failures().shed()), (3, 2));
    assert!((totals.error_share().unwrap() - 0.3).abs() < 1e-9);
    assert_eq!(outcome.example(ErrorReason::Overloaded.into()), Some("try again in 2 s"));
    assert_eq!(outcome.example(Code::Unavailable.into()), Some("connection reset"));
    assert_eq!(outcome.example(Code::Internal.into()), None);
}

#[tokio::test(start_paused = true)]
async fn generators_of_one_run_are_added_up_second_by_second() {
    let mut both = two_seconds(90, 1).await;
    let mut other = two_seconds(10, 5).await;
    other.faults.add(Check::Sequence, "seat 0: 4 came after 2");
    both.merge(other).unwrap();
    assert_eq!((both.machines().len(), both.seconds().len(), both.faults().all()), (2, 2, 1));
    assert_eq!(both.description().generators, 2);
    let totals = both.totals();
    assert!((totals.per_second(Count::ActionAcknowledged) - 100.0).abs() < 1e-9);
    let receipts = totals.latencies(Measure::ActionToReceipt).unwrap();
    assert_eq!([0.5, 0.9, 0.91].map(|q| receipts.quantile(q).as_millis()), [1, 1, 5]);

    let recorder = Recorder::start(Description::default(), Phase::measured("another"));
    let error = both.merge(recorder.finish()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "these generators were not in one run: the phases of one are steady, of another another"
    );
}

#[tokio::test(start_paused = true)]
async fn each_generator_s_part_of_a_run_is_told() {
    let (one, mut other) = (two_seconds(90, 1).await, two_seconds(10, 5).await);
    other.faults.add(Check::Sequence, "seat 0: 4 came after 2");
    let parts = vec![("first".to_owned(), one), ("second".to_owned(), other)];
    let whole = Outcome::of_generators(parts).unwrap();
    let told = whole.generators().iter().map(|part| {
        let actions = part.totals().counts().of(Count::ActionAcknowledged);
        (part.name(), actions, part.faults())
    });
    assert_eq!(told.collect::<Vec<_>>(), [("first", 180, 0), ("second", 20, 1)]);
    assert_eq!(whole.totals().counts().of(Count::ActionAcknowledged), 200);
    let text = serde_json::to_string(&whole).unwrap();
    assert_eq!(serde_json::from_str::<Outcome>(&text).unwrap(), whole);
}

/// A run of these phases, each with one action and so many milliseconds long.
async fn phases(lasts_ms: &[(Phase, u64)]) -> Outcome {
    let recorder = Recorder::start(Description::default(), lasts_ms[0].0.clone());
    for (number, (phase, lasts)) in lasts_ms.iter().enumerate() {
        if number > 0 {
            recorder.enter(phase.clone());
        }
        recorder.count(Count::ActionAcknowledged);
        advance(ms(*lasts)).await;
        recorder.count(Count::ActionAcknowledged);
    }
    recorder.finish()
}

#[tokio::test(start_paused = true)]
async fn generators_that_were_stopped_before_all_phases_began_are_added_up() {
    let long = [(Phase::warm_up(), 1000), (Phase::measured("a"), 2000), (Phase::drain(), 100)];
    let short = [(Phase::warm_up(), 990), (Phase::drain(), 3000)];
    for (one, other) in [(&long[..], &short[..]), (&short, &long)] {
        let mut both = phases(one).await;
        both.merge(phases(other).await).unwrap();
        let names: Vec<&str> = both.phases().iter().map(|run| run.phase().name()).collect();
        assert_eq!(names, ["warm-up", "a", "drain"]);
        let actions = [0, 1, 2].map(|phase| both.phase_totals(phase).counts().of(Count::ActionAcknowledged));
        assert_eq!(actions, [4, 2, 4]);
        assert_eq!(both.phase_totals(1).lasted(), ms(2000));
    }
}

#[tokio::test(start_paused = true)]
async fn clocks_that_differ_a_little_make_a_run_no_longer() {
    // By the one clock it has two seconds, by the other three.
    let mut both = phases(&[(Phase::measured("a"), 2499)]).await;
    both.merge(phases(&[(Phase::measured("a"), 2501)]).await).unwrap();
    assert_eq!((both.totals().lasted(), both.seconds().len()), (ms(2499), 2));
    assert_eq!(both.totals().counts().of(Count::ActionAcknowledged), 4);
}

proptest::proptest! {
    #[test]
    fn merged_percentiles_are_those_of_all_times_in_one_histogram(
        times in proptest::collection::vec((0_u64..700_000_000, 0_usize..4, 0_usize..3), 1..300),
    ) {
        let mut whole = Latencies::default();
        let mut parts = vec![Latencies::default(); 12];
        for (us, generator, second) in times {
            let time = Duration::from_micros(us);
            whole.record(time);
            parts[3 * generator + second].record(time);
        }
        let mut merged = Packed::default();
        for part in &parts {
            // As it goes from one generator to another.
            let text = serde_json::to_string(&part.pack()).unwrap();
            merged.merge(&serde_json::from_str(&text).unwrap());
        }
        let merged = merged.unpack();
        for quantile in [0.0, 0.5, 0.9, 0.99, 0.999, 1.0] {
            proptest::prop_assert_eq!(merged.quantile(quantile), whole.quantile(quantile));
        }
        proptest::prop_assert_eq!((merged.len(), merged.beyond()), (whole.len(), whole.beyond()));
    }
}

#[test]
fn a_histogram_that_says_it_is_huge_takes_no_room() {
    use base64::Engine;
    use std::io::Write;
    let check = |inner: &[u8], expected: &str| {
        let mut deflated = vec![0x1c, 0x84, 0x93, 0x14, 0, 0, 0, 0];
        let mut encoder = flate2::write::ZlibEncoder::new(&mut deflated, flate2::Compression::best());
        encoder.write_all(inner).unwrap();
        encoder.finish().unwrap();
        let text = format!("{{\"hdr\":\"{}\"}}", base64::prelude::BASE64_STANDARD.encode(deflated));
        let error = serde_json::from_str::<Packed>(&text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(&[0x1c, 0x84, 0x93, 0x13, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0], "longer than any");
    // One in another, and many bytes that say nothing.
    check(&[0x1c, 0x84, 0x93, 0x14, 0, 0, 0, 9], "another kind");
    check(&vec![0; 100_000_000], "another kind");
    check(&[0x1c, 0x84, 0x93, 0x13], "too short");
}

#[tokio::test(start_paused = true)]
async fn an_outcome_comes_back_from_its_text() {
    let recorder = Recorder::start(
        Description {
            arrivals: Arrivals::Open { per_second: 2000.0, of: Work::Actions },
            warm_up: ms(5000),
            ..Description::default()
        },
        Phase::warm_up(),
    );
    recorder.enter(Phase::measured("steady"));
    recorder.took(Measure::ActionToReceipt, ms(3));
    recorder.took(Measure::CreateToDecision, Duration::MAX);
    recorder.count(Count::MatchFinished);
    recorder.failed(ErrorReason::Overloaded, "try again");
    recorder.failed(Code::Unavailable, "reset");
    recorder.fault(Check::Score, "12 in the record, 13 on the wire");
    recorder.server_version("0.1.0");
    recorder.server_reading(Reading { memory_bytes: Some(1 << 30), ..Reading::default() });
    advance(ms(1000)).await;
    let outcome = recorder.finish();
    let text = serde_json::to_string(&outcome).unwrap();
    assert_eq!(serde_json::from_str::<Outcome>(&text).unwrap(), outcome);
}

#[test]
fn what_is_no_outcome_is_said_so() {
    let check = |text: &str, expected: &str| {
        let error = serde_json::from_str::<Packed>(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    };
    check("{\"hdr\":\"!\"}", "Invalid symbol");
    check("{\"hdr\":\"AAAA\"}", "hdr is no histogram in the format V2");
    let other = {
        use base64::Engine;
        use hdrhistogram::serialization::Serializer;
        let mut bytes = Vec::new();
        let histogram = hdrhistogram::Histogram::<u64>::new_with_bounds(1, 1000, 2).unwrap();
        hdrhistogram::serialization::V2Serializer::new().serialize(&histogram, &mut bytes).unwrap();
        base64::prelude::BASE64_STANDARD.encode(bytes)
    };
    check(&format!("{{\"hdr\":\"{other}\"}}"), "up to 1000 with 2 digits");
    for name in ["OVERLOADEDER", "transport GONE", ""] {
        let error = Failure::try_from(name.to_owned()).unwrap_err().to_string();
        assert!(error.contains("names no error"), "{error}");
    }
}
