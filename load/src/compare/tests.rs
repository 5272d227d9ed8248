//! What is told apart, and what is not.

use std::collections::BTreeMap;

use super::*;
use crate::outcome::sample::{self, noisy};

fn findings(before: &Outcome, after: &Outcome) -> BTreeMap<String, Finding> {
    Comparison::new(before, after).rows.into_iter().map(|row| (row.what, row.finding)).collect()
}

#[test]
fn a_run_does_not_differ_from_itself() {
    let run = sample::run(300, 1_500.0);
    let comparison = Comparison::new(&run, &run);
    assert!(!comparison.is_worse() && comparison.unlike.is_empty(), "{comparison:?}");
    for Row { what, before, after, change, finding } in comparison.rows {
        assert_eq!(before, after, "{what}");
        assert!(change.is_some_and(|change| change.measured.abs() < 1e-12), "{what}");
        // 5,400 creates leave 54 beyond p99, and 5 beyond p99.9.
        let few = what == "create.p99.9";
        let expected = if few { Finding::TooLittle } else { Finding::Noise };
        assert_eq!(finding, expected, "{what}");
    }
}

#[test]
fn what_is_slower_is_worse_and_what_is_faster_better() {
    let (fast, slow) = (noisy(90, 1_500.0, 1), noisy(90, 1_650.0, 2));
    for (before, after, expected) in [(&fast, &slow, Finding::Worse), (&slow, &fast, Finding::Better)] {
        let findings = findings(before, after);
        for what in ["receipt.p50", "receipt.p90", "receipt.p99"] {
            assert_eq!(findings[what], expected, "{what}");
        }
        assert_eq!(findings["throughput"], Finding::Noise);
    }
    assert!(Comparison::new(&fast, &slow).is_worse());
}

/// Of so many pairs of equal runs, whose seconds keep so much of what the one before was off by: in how many p50, p99 or the throughput
/// are told apart, and in how many anything is told to be worse.
fn told_apart(pairs: u64, seconds: u32, kept: f64) -> [usize; 4] {
    let mut told = [0; 4];
    for pair in 0..pairs {
        let [one, other] = [0, 1].map(|of| sample::drifting(seconds, 1_500.0, kept, 2 * pair + of));
        let comparison = Comparison::new(&one, &other);
        let is_apart = |what| {
            let row = comparison.rows.iter().find(|row| row.what == what).unwrap();
            matches!(row.finding, Finding::Better | Finding::Worse)
        };
        let apart =
            [is_apart("receipt.p50"), is_apart("receipt.p99"), is_apart("throughput"), comparison.is_worse()];
        for (told, apart) in told.iter_mut().zip(apart) {
            *told += usize::from(apart);
        }
    }
    told
}

/// Of 1,000 pairs each: docs/load-report.md.
#[test]
fn runs_that_differ_by_noise_alone_are_seldom_told_apart() {
    for (seconds, kept) in [(30, 0.0), (60, 0.5), (60, 0.8)] {
        let told = told_apart(25, seconds, kept);
        assert!(told.iter().all(|told| *told <= 1), "{told:?} of 25 for {seconds} s that keep {kept}");
    }
}

#[test]
fn what_phases_differ_in_is_no_noise() {
    let two_phases =
        |first_us, then_us, seed| sample::then(noisy(60, first_us, seed), noisy(60, then_us, seed + 1));
    let before = two_phases(1_500.0, 15_000.0, 1);
    let after = two_phases(1_650.0, 16_500.0, 3);
    assert_eq!(findings(&before, &after)["receipt.p90"], Finding::Worse);
}

#[test]
fn of_too_little_nothing_is_told() {
    let check = |before: &Outcome, after: &Outcome| {
        let comparison = Comparison::new(before, after);
        assert!(comparison.rows.iter().all(|row| row.finding == Finding::TooLittle), "{comparison:?}");
    };
    let check_row = |before: &Outcome, after: &Outcome| {
        assert_eq!(findings(before, after)["receipt.p50"], Finding::TooLittle);
    };
    check(&sample::run(29, 1_500.0), &sample::run(120, 9_000.0));
    check(&sample::run(120, 1_500.0), &sample::run(0, 1_500.0));
    // Its seconds hang together: a hundred of them are as good as ten.
    check_row(&sample::drifting(100, 1_500.0, 0.9, 1), &sample::drifting(100, 3_000.0, 0.9, 2));
    assert!(Comparison::new(&sample::run(0, 1.0), &sample::run(0, 1.0)).rows.is_empty());
}

#[test]
fn what_was_not_the_same_is_told() {
    let run = sample::run(10, 1_500.0);
    let other = sample::named(sample::run(12, 1_500.0), "\u{1b}other");
    let unlike = Comparison::new(&run, &other).unlike;
    assert!(unlike.iter().any(|line| line == "measured for: 10 s before, 12 s now"), "{unlike:?}");
    assert!(
        unlike.iter().any(|line| line.contains("sackson") && line.contains("\\u{1b}other")),
        "{unlike:?}"
    );
    assert!(unlike.contains(&"the scenario is another".to_owned()), "{unlike:?}");
}

#[test]
fn every_setting_that_is_another_is_told() {
    let run = |settings: &[(&str, &str)]| {
        let pairs = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        sample::with_settings(sample::run(10, 1_500.0), pairs.collect())
    };
    let before = run(&[("seed", "0"), ("stages.0.spectators", "3"), ("rules", "x")]);
    let long = "y".repeat(LONG + 1);
    let after =
        run(&[("seed", "0"), ("stages.0.spectators", "4"), ("stages.0.drop_every", "2"), ("rules", &long)]);
    let expected = [
        "the rules is another",
        "stages.0.drop_every: none before, 2 now",
        "stages.0.spectators: 3 before, 4 now",
    ];
    assert_eq!(Comparison::new(&before, &after).unlike, expected);
    // Of an earlier version nothing is known.
    assert!(Comparison::new(&sample::run(10, 1_500.0), &after).unlike.is_empty());
}

#[test]
fn a_change_of_errors_is_a_difference() {
    let (mut none, some) = (noisy(60, 1_500.0, 1), noisy(60, 1_500.0, 2));
    sample::without_errors(&mut none);
    let comparison = Comparison::new(&none, &some);
    let row = comparison.rows.iter().find(|row| row.what == "errors").unwrap();
    assert_eq!((row.before.as_str(), row.finding), ("0 %", Finding::Worse), "{row:?}");
}
