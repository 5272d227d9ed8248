//! Matches on simulated time, network and disk. That planted bugs are caught, the service's own tests show:
//! `service/src/matches/tests/simulation.rs`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::thread;

use zetema_tests::simulation::{Lines, Tally, faults_of, run};

/// How many seeds are run.
const SEEDS: u64 = 200;

/// The sum of what the runs of every fourth seed did, each of which must find nothing wrong.
fn check(first: u64) -> Tally {
    let mut sum = Tally::default();
    for seed in (first..SEEDS).step_by(4) {
        let run = run(seed, &faults_of(seed), Lines::Hashed);
        let again = format!("cargo run --release -p zetema-tests --bin simulate -- --seeds 1 --first {seed}");
        assert_eq!(run.problem, None, "{again}");
        sum += run.tally;
    }
    sum
}

#[test]
fn whatever_goes_wrong_what_was_told_holds() {
    let mut sum = Tally::default();
    thread::scope(|scope| {
        for part in [0, 1, 2, 3].map(|first| scope.spawn(move || check(first))) {
            sum += part.join().unwrap();
        }
    });
    assert!(sum.packs_counted > sum.actions / 2, "{sum:?}");
    for name in ["creation fails", "creation unknown, stored", "creation unknown, lost"] {
        assert!(sum.faults.contains_key(name), "{name}: {sum:?}");
    }
    assert!(
        sum.faults.len() > 20 && sum.results > 0 && sum.restarts > SEEDS / 2 && sum.timeouts > 0,
        "{sum:?}"
    );
}

#[test]
fn a_seed_comes_again_exactly() {
    for seed in 0..20 {
        let once = run(seed, &faults_of(seed), Lines::Kept);
        let again = run(seed, &faults_of(seed), Lines::Kept);
        for (line, other) in once.lines.iter().zip(&again.lines) {
            assert_eq!(line, other, "seed {seed}");
        }
        assert_eq!(once, again, "seed {seed}");
    }
}
