//! Runs that never were, always the same: for tests of what is shown of them.

use std::f64::consts::TAU;
use std::time::Duration;

use tonic::Code;
use zetema_proto::v1::ErrorReason;

use super::{
    Arrivals, Check, Count, Description, Latencies, Machine, Measure, Outcome, Phase, PhaseRun, Reading,
    Second, Server, Work,
};

/// A warm-up of 2 s and a measured phase of so many, in which actions took about so long.
pub(crate) fn run(seconds: u32, receipt_us: f64) -> Outcome {
    let us = |seconds: u32| u64::from(seconds) * 1_000_000;
    let warm_up = (0..2).map(|number| second(0, number, 8.0 * receipt_us));
    let steady = (0..seconds).map(|number| second(1, number, receipt_us));
    let reading = |at: u32| Reading {
        at_us: us(at),
        memory_bytes: Some(80_000_000 + 250_000 * u64::from(at)),
        journal_lag_us: Some(if at.is_multiple_of(5) { 4_200 } else { 0 }),
        processor_seconds: Some(0.93 * f64::from(at)),
        live_matches: Some(1_000),
    };
    Outcome {
        description: Description {
            server: "http://127.0.0.1:4680".to_owned(),
            arrivals: Arrivals::Open { per_second: 2_000.0, of: Work::Actions },
            preset: "sackson".to_owned(),
            players: 2,
            think: "exponential 20ms".to_owned(),
            connections: 4,
            generators: 1,
            warm_up: Duration::from_secs(2),
            duration: Duration::from_secs(seconds.into()),
            ..Description::default()
        },
        started_ms: 1_800_000_000_000,
        machines: vec![Machine {
            processors: 2,
            model: Some("A processor <of the tests>".to_owned()),
            memory_bytes: Some(8_000_000_000),
            system: "linux x86_64".to_owned(),
            kernel: Some("6.1.0".to_owned()),
        }],
        generators: Vec::new(),
        phases: vec![
            PhaseRun::new(Phase::warm_up(), 0, us(2)),
            PhaseRun::new(Phase::measured("steady"), us(2), us(seconds)),
        ],
        seconds: warm_up.chain(steady).collect(),
        examples: [
            (ErrorReason::Overloaded.into(), "the server is late: try again in 2 s".to_owned()),
            (Code::Unavailable.into(), "connection <reset> by peer".to_owned()),
        ]
        .into(),
        faults: super::Faults::default(),
        server: Server {
            version: Some("0.1.0".to_owned()),
            readings: (0..=seconds + 2).map(reading).collect(),
        },
        is_stopped: false,
    }
}

/// The same with faults.
pub(crate) fn with_faults(outcome: Outcome) -> Outcome {
    (0..30).fold(outcome, |outcome, seq| {
        with_fault(outcome, &format!("seat 0 of <match>: {} came after {seq}", seq + 2))
    })
}

/// The same with this fault.
pub(crate) fn with_fault(mut outcome: Outcome, text: &str) -> Outcome {
    outcome.faults.add(Check::Sequence, text);
    outcome
}

/// The same with these settings.
pub(crate) fn with_settings(
    mut outcome: Outcome,
    settings: std::collections::BTreeMap<String, String>,
) -> Outcome {
    outcome.description.settings = settings;
    outcome
}

/// The same, stopped before its time.
pub(crate) fn stopped(mut outcome: Outcome) -> Outcome {
    outcome.is_stopped = true;
    outcome
}

/// The same on a ladder, with a memory that grows for eight seconds alone, and is given back when nothing is measured any more.
pub(crate) fn on_ladder(mut outcome: Outcome) -> Outcome {
    outcome.description.ladder = Some("quick-2".to_owned());
    for reading in &mut outcome.server.readings {
        reading.memory_bytes = reading.memory_bytes.map(|bytes| bytes.min(82_000_000));
    }
    let after = Reading { at_us: 60_000_000, memory_bytes: Some(10_000_000), ..Reading::default() };
    outcome.server.readings.push(after);
    outcome
}

/// The same with this for every name that somebody else has chosen.
pub(crate) fn named(mut outcome: Outcome, name: &str) -> Outcome {
    outcome.description.server = name.to_owned();
    outcome.description.preset = name.to_owned();
    outcome.description.scenario = Some(name.to_owned());
    outcome.server.version = Some(name.to_owned());
    outcome.machines[0].kernel = Some(name.to_owned());
    outcome.examples = outcome.examples.into_keys().map(|failure| (failure, name.to_owned())).collect();
    outcome
}

fn second(phase: usize, number: u32, receipt_us: f64) -> Second {
    let wave = (f64::from(number) / 7.0 * TAU).sin();
    let actions = 1_000 + number % 3 * 10;
    let mut second = Second { phase, number, lasted_us: 1_000_000, ..Second::default() };
    let counts = [
        (Count::Offered, actions + 5),
        (Count::MatchAsked, 20),
        (Count::MatchCreated, 18),
        (Count::MatchFinished, 17),
        (Count::ActionSent, actions + 5),
        (Count::ActionAcknowledged, actions),
        (Count::Observation, 2 * actions),
    ];
    for (count, many) in counts {
        second.counts.add(count, many.into());
    }
    second.failures.add(ErrorReason::Overloaded.into(), 2);
    if number == 3 {
        second.failures.add(Code::Unavailable.into(), 3);
    }
    let about = receipt_us * (1.0 + 0.15 * wave);
    for (measure, factor, many) in [
        (Measure::ActionToReceipt, 1.0, actions),
        (Measure::ActionToObservation, 1.2, actions),
        (Measure::CreateToDecision, 6.0, 18),
    ] {
        second.latencies.insert(measure, spread(about * factor, many).pack());
    }
    second
}

/// Half of them below this and half above, with a tail that grows as the root of its rareness.
fn spread(middle_us: f64, many: u32) -> Latencies {
    let mut latencies = Latencies::default();
    for place in 0..many {
        let rareness = f64::from(many) / f64::from(many - place);
        latencies.record(Duration::from_secs_f64(middle_us * (0.5 + 0.354 * rareness.sqrt()) / 1e6));
    }
    latencies
}

/// The same with seconds that differ by chance, each from the one before less than from others.
pub(crate) fn noisy(seconds: u32, receipt_us: f64, seed: u64) -> Outcome {
    drifting(seconds, receipt_us, 0.5, seed)
}

/// The same with seconds that differ by chance, each of which keeps so much of what the one before was off by: from 0 to 1.
pub(crate) fn drifting(seconds: u32, receipt_us: f64, kept: f64, seed: u64) -> Outcome {
    use rand::{RngExt, SeedableRng};

    let mut random = rand::rngs::StdRng::seed_from_u64(seed);
    let mut drift = 0.0;
    let mut outcome = run(seconds, receipt_us);
    let steady = outcome.seconds.iter_mut().filter(|second| second.phase == 1);
    for known in steady {
        drift = kept * drift + random.random_range(-0.05..0.05);
        // A slow second takes less as well, and the wave of the others is not in it.
        let wave = 1.0 + 0.15 * (f64::from(known.number) / 7.0 * TAU).sin();
        *known = second(1, known.number, receipt_us * (1.0 + drift) / wave);
        let actions = 1_000.0 * (1.0 - drift);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "about a thousand")]
        known.counts.add(Count::ActionAcknowledged, actions as u64);
    }
    outcome
}

/// The same without errors.
pub(crate) fn without_errors(outcome: &mut Outcome) {
    for second in &mut outcome.seconds {
        second.failures = super::Failures::default();
    }
}

/// A run with another measured phase, that of another.
pub(crate) fn then(mut first: Outcome, second: Outcome) -> Outcome {
    let began_us =
        first.phases.iter().map(|run| u64::try_from(run.lasted().as_micros()).unwrap_or_default()).sum();
    let lasted_us =
        second.phases.last().map_or(0, |run| u64::try_from(run.lasted().as_micros()).unwrap_or_default());
    first.phases.push(PhaseRun::new(Phase::measured("then"), began_us, lasted_us));
    let seconds = second.seconds.into_iter().filter(|second| second.phase == 1);
    first.seconds.extend(seconds.map(|second| Second { phase: 2, ..second }));
    first
}
