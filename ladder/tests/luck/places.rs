//! Bots that play several matches at once: of which matches a match's share of luck is.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand_distr::{Distribution, StandardNormal};
use zetema_ladder::{AdjustedScore, MatchTimes, PointsPerMatch};

/// The times of a match that begins when the one before is over.
pub(crate) fn one_by_one(number: u64) -> MatchTimes {
    MatchTimes { created_ms: 1_000 * number, ended_ms: 1_000 * number + 900 }
}

/// A score of which all is luck, now good and now bad.
fn lucky(number: u64) -> AdjustedScore {
    let points = if number.is_multiple_of(2) { 40.0 } else { -40.0 };
    AdjustedScore { raw: points, luck: points }
}

#[test]
fn luck_is_taken_off_from_the_first_match_on_that_was_created_after_the_thirtieth_was_over() {
    let after = |matches: u64, times: MatchTimes| {
        let mut points = PointsPerMatch::default();
        (0..matches).for_each(|number| points.count(lucky(number), one_by_one(number)));
        let before = points.adjusted().mean * matches as f64;
        points.count(AdjustedScore { raw: 100.0, luck: 10.0 }, times);
        points.adjusted().mean * (matches + 1) as f64 - before
    };
    let long_ago = MatchTimes { created_ms: 0, ended_ms: 1_000_000 };
    let as_it_ended = MatchTimes { created_ms: one_by_one(29).ended_ms, ended_ms: 1_000_000 };
    for (name, matches, times, expected) in [
        ("the thirtieth", 29, one_by_one(29), 100.0),
        ("the next", 30, one_by_one(30), 90.0),
        ("one that ran beside all of them", 30, long_ago, 100.0),
        ("one that was created in the millisecond in which the thirtieth ended", 30, as_it_ended, 100.0),
        ("one that was created then and is counted later", 59, as_it_ended, 100.0),
        ("the sixty-first", 60, one_by_one(60), 90.0),
    ] {
        let counted = after(matches, times);
        assert!((counted - expected).abs() < 1e-6, "{name}: {counted}, not {expected}");
    }
}

#[test]
fn a_share_holds_until_there_are_twice_as_many_matches() {
    let mut points = PointsPerMatch::default();
    let mut shares = Vec::new();
    for number in 0..130 {
        // The more matches, the less of the luck it makes into points.
        let AdjustedScore { raw, luck } = lucky(number);
        points.count(AdjustedScore { raw: raw / (1.0 + number as f64), luck }, one_by_one(number));
        if shares.last().is_none_or(|&(_, share): &(u64, f64)| (share - points.share()).abs() > 1e-9) {
            shares.push((points.matches(), points.share()));
        }
    }
    let at: Vec<u64> = shares.iter().map(|&(matches, _)| matches).collect();
    assert_eq!(at, [1, 30, 60, 120], "{shares:?}");
}

#[test]
fn a_clock_that_is_set_back_makes_no_share_known_too_early() {
    let mut points = PointsPerMatch::default();
    for number in 0..30 {
        // Set back by a day before the last.
        let MatchTimes { created_ms, ended_ms } = one_by_one(number);
        let back = if number < 29 { 86_400_000 } else { 0 };
        let times = MatchTimes { created_ms: created_ms + back, ended_ms: ended_ms + back };
        points.count(lucky(number), times);
    }
    let before = points.adjusted().mean * 30.0;
    let times = MatchTimes { created_ms: 86_400_000, ended_ms: 86_500_000 };
    points.count(AdjustedScore { raw: 100.0, luck: 10.0 }, times);
    assert!((points.adjusted().mean * 31.0 - before - 100.0).abs() < 1e-6, "it ran beside the first ones");
}

const PLACES: usize = 4;

/// A match that runs: when it ends, and which it is.
type Running = Reverse<(u64, usize)>;

/// A bot that fills its places again as soon as a match is over, until so many results are there; those that run then are
/// played to their ends. Luck ends matches sooner: that is what a fold in the order of results may trip over.
struct Season {
    /// In the order of their ends.
    matches: Vec<(AdjustedScore, MatchTimes)>,
    /// How many of them were over when no more began.
    results: usize,
}

const WORTH: f64 = 5.0;

fn season(dice: &mut StdRng, results: usize) -> Season {
    let mut running: BinaryHeap<Running> = BinaryHeap::new();
    let mut begun: Vec<(AdjustedScore, MatchTimes)> = Vec::new();
    let mut deal = |now_ms: u64, running: &mut BinaryHeap<Running>, begun: &mut Vec<_>| {
        let mut normal = |spread: f64| -> f64 {
            let drawn: f64 = StandardNormal.sample(dice);
            spread * drawn
        };
        let luck = normal(40.0);
        let raw = WORTH + 0.8 * luck + normal(60.0);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // positive, and far below u64::MAX
        let takes_ms = (100_000.0 * (-luck / 80.0).exp()) as u64;
        let times = MatchTimes { created_ms: now_ms, ended_ms: now_ms + takes_ms + 1 };
        running.push(Reverse((times.ended_ms, begun.len())));
        begun.push((AdjustedScore { raw, luck }, times));
    };
    (0..PLACES).for_each(|_| deal(1, &mut running, &mut begun));
    let mut order = Vec::new();
    while let Some(Reverse((ended_ms, number))) = running.pop() {
        order.push(number);
        if order.len() < results {
            deal(ended_ms + 1_000, &mut running, &mut begun);
        }
    }
    let matches = order.iter().map(|&number| begun[number]).collect();
    Season { matches, results }
}

/// The mean of many numbers, and its standard error.
fn mean(numbers: &[f64]) -> (f64, f64) {
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let variance = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

/// What is taken off a bot's points in all.
fn taken_off<'a>(matches: impl Iterator<Item = &'a (AdjustedScore, MatchTimes)>) -> f64 {
    let mut points = PointsPerMatch::default();
    matches.for_each(|&(score, times)| points.count(score, times));
    (points.raw().mean - points.adjusted().mean) * points.matches() as f64
}

#[test]
fn what_is_taken_off_has_a_mean_of_zero_however_many_matches_run_at_once() {
    let mut dice = StdRng::seed_from_u64(1);
    let (mut taken, mut by_order) = (Vec::new(), Vec::new());
    for _ in 0..4_000 {
        let Season { matches, .. } = season(&mut dice, 60);
        taken.push(taken_off(matches.iter()));
        // As if each had begun when the one before was over: so the share was told of matches that ran beside it.
        let told: Vec<_> =
            (0..).zip(&matches).map(|(number, &(score, _))| (score, one_by_one(number))).collect();
        by_order.push(taken_off(told.iter()));
    }
    let ((off, error), (wrong, wrong_error)) = (mean(&taken), mean(&by_order));
    println!("in all {off:.1} ± {error:.1}; in the order of results alone {wrong:.1} ± {wrong_error:.1}");
    assert!(off.abs() < 4.0 * error, "{off} ± {error}");
    assert!(wrong.abs() > 6.0 * wrong_error, "this season would not show it: {wrong} ± {wrong_error}");
}

#[test]
fn what_runs_still_is_in_no_mean_and_matters_as_many_times_as_it_is_in_the_results() {
    let mut dice = StdRng::seed_from_u64(2);
    for (results, seasons) in [(40, 6_000), (100, 3_000), (400, 1_500)] {
        let (mut raw, mut adjusted) = (Vec::new(), Vec::new());
        for _ in 0..seasons {
            let season = season(&mut dice, results);
            let mut points = PointsPerMatch::default();
            season.matches[..season.results].iter().for_each(|&(score, times)| points.count(score, times));
            raw.push(points.raw().mean - WORTH);
            adjusted.push(points.adjusted().mean - WORTH);
        }
        let (raw, adjusted) = (mean(&raw), mean(&adjusted));
        println!(
            "{results} results, {PLACES} places: raw off by {:.2} ± {:.2}, adjusted by {:.2} ± {:.2}",
            raw.0, raw.1, adjusted.0, adjusted.1
        );
        // What a match's luck spreads by, of as many matches as run.
        let most = 40.0 * PLACES as f64 / results as f64;
        for (off, error) in [raw, adjusted] {
            assert!(off.abs() < most + 3.0 * error, "{results} results: {off} ± {error}, not within {most}");
        }
    }
}
