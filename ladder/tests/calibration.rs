//! Seasons of bots whose strength is known: whether the standings find it, and whether what the ratings predict comes true.
//!
//! A match is won by points: a bot's strength and its luck, which is normal. So it is another model than that of the ratings,
//! and the unit of strength here is the luck of one bot in one match.
#![allow(clippy::expect_used, clippy::print_stdout)]

#[path = "suite/support.rs"]
mod support;

use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom, index};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Normal};
use zetema_ladder::{Certainty, Counted, Ladder, LadderResult, RatingOptions, RatingSettings, ResultNumber};
use zetema_rules::Teams;

use support::played;

const BOTS: usize = 50;
const MATCHES: u64 = 10_000;

/// How strong bots are, as their number says.
type Bot = usize;

struct Season {
    strengths: Vec<f64>,
    ladder: Ladder<Bot>,
    predictions: Vec<Prediction>,
}

/// Of two bots of one match, before it.
struct Prediction {
    /// How likely the one is ahead of the other.
    chance: f64,
    /// 1 if it was, 0.5 if they were level.
    came: f64,
    /// That of the less sure of the two.
    certainty: Certainty,
}

/// 10,000 matches of two to four bots: every other one of bots that are near in the standings, the rest of any.
fn season(seed: u64, spread: f64, settings: RatingSettings) -> Season {
    let mut dice = StdRng::seed_from_u64(seed);
    let strength = Normal::new(0.0, spread).expect("a spread");
    let luck = Normal::new(0.0, 1.0).expect("a spread");
    let strengths: Vec<f64> = (0..BOTS).map(|_| strength.sample(&mut dice)).collect();
    let mut ladder = Ladder::new(settings);
    let mut predictions = Vec::new();
    for number in 1..=MATCHES {
        let bots = seats(&mut dice, &ladder);
        let points: Vec<u16> =
            bots.iter().map(|&bot| points(strengths[bot] + luck.sample(&mut dice))).collect();
        for (one, other) in (0..bots.len()).flat_map(|one| (0..one).map(move |other| (one, other))) {
            let [rating, met] = [bots[one], bots[other]].map(|bot| ladder.entry(&bot).rating);
            let unsure = if rating.sigma > met.sigma { rating } else { met };
            predictions.push(Prediction {
                chance: settings.win_chance(rating, met),
                came: match points[one].cmp(&points[other]) {
                    std::cmp::Ordering::Less => 0.0,
                    std::cmp::Ordering::Equal => 0.5,
                    std::cmp::Ordering::Greater => 1.0,
                },
                certainty: settings.certainty(unsure),
            });
        }
        let counted = Counted::Rated(played(bots, Teams::Individual, &points));
        ladder.count(&LadderResult { number: ResultNumber::new(number), counted }).expect("in order");
    }
    Season { strengths, ladder, predictions }
}

fn seats(dice: &mut StdRng, ladder: &Ladder<Bot>) -> Vec<Bot> {
    let players = dice.random_range(2..=4);
    let standings = ladder.standings();
    let mut bots: Vec<Bot> = if standings.len() == BOTS && dice.random_bool(0.5) {
        let near = 10;
        let from = dice.random_range(0..=BOTS - near);
        let near: Vec<Bot> = standings[from..from + near].iter().map(|standing| *standing.bot).collect();
        near.sample(dice, players).copied().collect()
    } else {
        index::sample(dice, BOTS, players).into_vec()
    };
    bots.shuffle(dice);
    bots
}

/// In fives, as points are, so that some are level.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn points(performance: f64) -> u16 {
    5 * (100.0 + 12.0 * performance).round().clamp(0.0, 1_000.0) as u16
}

/// Spearman's: how well the order of the standings is that of the strengths, 1 for the same.
fn rank_correlation(season: &Season) -> f64 {
    let mut true_order: Vec<Bot> = (0..BOTS).collect();
    true_order.sort_by(|&one, &other| season.strengths[other].total_cmp(&season.strengths[one]));
    let standings = season.ladder.standings();
    assert_eq!(standings.len(), BOTS, "all have played");
    let squares = standings.iter().enumerate().map(|(place, standing)| {
        let true_place =
            true_order.iter().position(|bot| bot == standing.bot).expect("every bot has a place");
        whole(place.abs_diff(true_place)).powi(2)
    });
    let bots = whole(BOTS);
    1.0 - 6.0 * squares.sum::<f64>() / (bots * (bots.powi(2) - 1.0))
}

#[allow(clippy::cast_precision_loss)]
fn whole(number: usize) -> f64 {
    number as f64
}

/// One tenth of the chances: 0 to 10 %, and so on.
struct Decile {
    pairs: usize,
    predicted: f64,
    observed: f64,
}

fn deciles(seasons: &[Season]) -> Vec<Decile> {
    let in_decile = |decile: usize| {
        let (least, most) = (whole(decile) / 10.0, whole(decile + 1) / 10.0);
        let of: Vec<_> = seasons
            .iter()
            .flat_map(|season| &season.predictions)
            .filter(|prediction| prediction.certainty == Certainty::Established)
            .filter(|prediction| prediction.chance >= least && prediction.chance < most)
            .collect();
        let mean =
            |of_one: fn(&Prediction) -> f64| of.iter().map(|one| of_one(one)).sum::<f64>() / whole(of.len());
        Decile { pairs: of.len(), predicted: mean(|one| one.chance), observed: mean(|one| one.came) }
    };
    (0..10).map(in_decile).collect()
}

/// The farthest that what came is off what was predicted, in a decile with at least 500 pairs: fewer say little.
fn farthest_off(deciles: &[Decile]) -> f64 {
    let counted = deciles.iter().filter(|decile| decile.pairs >= 500);
    counted.map(|decile| (decile.predicted - decile.observed).abs()).fold(0.0, f64::max)
}

/// Plays three seasons, prints what came of them, and holds each against the least rank correlation and all together against the
/// most that a decile may be off.
fn check(spread: f64, least: f64, most: f64) {
    let seasons = [1, 2, 3].map(|seed| season(seed, spread, RatingSettings::default()));
    let deciles = deciles(&seasons);
    let off = farthest_off(&deciles);
    println!("strengths spread by {spread}: at most {off:.3} off");
    for season in &seasons {
        let standings = season.ladder.standings();
        let established = standings.iter().filter(|one| one.certainty == Certainty::Established).count();
        println!("    rank correlation {:.4}, {established} established", rank_correlation(season));
    }
    for Decile { pairs, predicted, observed } in &deciles {
        println!("    {pairs:6} pairs: predicted {predicted:.3}, observed {observed:.3}");
    }
    for season in &seasons {
        assert!(
            rank_correlation(season) >= least,
            "spread {spread}: rank correlation {}",
            rank_correlation(season)
        );
    }
    assert!(off <= most, "spread {spread}: {off} off");
}

/// One spread is 71 wins of 100 against a bot of the middle.
#[test]
fn standings_find_the_strengths_and_predictions_come_true() {
    check(0.8, 0.95, 0.04);
}

/// One spread is 87 wins of 100.
#[test]
fn bots_that_are_far_apart_are_rated_as_well() {
    check(1.6, 0.95, 0.02);
}

/// One spread is 61 wins of 100.
#[test]
fn bots_that_luck_all_but_hides_are_found_less_surely() {
    check(0.4, 0.95, 0.08);
}

/// What the test above would miss if it could not fail.
#[test]
fn a_ladder_that_takes_luck_for_strength_is_found_out() {
    let wrong = RatingOptions { tau: 3.0, sigma: 8.0, provisional_sigma: 8.0, ..RatingOptions::default() };
    let wrong = RatingSettings::new(RatingOptions { beta: 0.5, ..wrong }).expect("in range");
    assert!(farthest_off(&deciles(&[season(1, 0.8, wrong)])) > 0.10);
}
