//! The simulation finds what it is there to find: bugs that are planted in this crate's own code.

use std::thread;

use crate::planted::{Bug, plant};
use crate::simulation::{Lines, Run, faults_of, run, shrink};

/// Within how many seeds each bug must be caught.
const SEEDS: u64 = 1_000;

/// The first seed with which a bug is caught.
fn catch(bug: Bug) -> Run {
    plant(bug);
    let runs = (0..SEEDS).map(|seed| run(seed, &faults_of(seed), Lines::Hashed));
    let caught = runs.into_iter().find(|run| run.problem.is_some());
    caught.unwrap_or_else(|| panic!("{bug:?} is not caught within {SEEDS} seeds"))
}

#[test]
fn each_planted_bug_is_caught() {
    let cases = [
        (Bug::ApplyBeforeDurable, "(I1)"),
        (Bug::NoDedupAfterRestart, "(I2)"),
        (Bug::ClockRunsInOutage, "at most can be charged"),
        (Bug::SnapshotMissesLast, "(I3, I4)"),
        (Bug::NonceTwice, "two nonces"),
    ];
    thread::scope(|scope| {
        for (bug, problem) in cases {
            scope.spawn(move || {
                let Run { seed, problem: found, .. } = catch(bug);
                let found = found.unwrap_or_default();
                println!("{bug:?} is caught with seed {seed}: {found}");
                assert!(found.contains(problem), "{bug:?}: {found}");
            });
        }
    });
}

#[test]
fn a_failing_seed_is_shrunk() {
    let Run { seed, problem, .. } = catch(Bug::NoDedupAfterRestart);
    let faults = faults_of(seed);
    let (smallest, fewest) = shrink(seed, faults.clone());
    assert!(smallest.problem.is_some(), "{problem:?}");
    assert!(fewest.len() < faults.len() && fewest.iter().all(|fault| faults.contains(fault)), "{fewest:?}");
    for left_out in 0..fewest.len() {
        let mut fewer = fewest.clone();
        fewer.remove(left_out);
        assert_eq!(run(seed, &fewer, Lines::Hashed).problem, None, "without {}", fewest[left_out]);
    }
}
