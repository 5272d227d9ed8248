//! Matches on simulated time, network and disk. That planted bugs are caught, the service's own tests show:
//! `service/src/matches/tests/simulation.rs`.

use zetema_tests::simulation::{Lines, Tally, faults_of, run};

/// How many seeds are run.
const SEEDS: u64 = 200;

#[test]
fn whatever_goes_wrong_what_was_told_holds() {
    let mut sum = Tally::default();
    for seed in 0..SEEDS {
        let run = run(seed, &faults_of(seed), Lines::Hashed);
        let again = format!("cargo run -p zetema-tests --bin simulate -- --seeds 1 --first {seed} --trace");
        assert_eq!(run.problem, None, "{again}");
        sum += run.tally;
    }
    assert!(sum.faults.len() > 20 && sum.results > 0 && sum.restarts > SEEDS && sum.timeouts > 0, "{sum:?}");
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
