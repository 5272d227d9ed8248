//! Seasons of bots whose strength is known: whether the standings find it, and whether what the ratings predict comes true.
//! `docs/ladder.md` has the figures, which `cargo test -p zetema-ladder --test calibration -- --nocapture` prints.
//!
//! A match is won by points: a side's are the strength of its members and their luck, which is normal. So it is another model than that
//! of the ratings.
#![allow(clippy::expect_used, clippy::print_stdout)]

mod fit;
mod season;
#[path = "../suite/support.rs"]
mod support;

use zetema_ladder::{Certainty, RatingOptions, RatingSettings};
use zetema_rules::{Players, Teams};

use season::{MATCHES, Paired, Plan, Prediction, Season};

/// How many seasons of a plan, unless there are more.
const SEASONS: u64 = 10;

#[allow(clippy::cast_precision_loss)]
pub(crate) fn whole(number: usize) -> f64 {
    number as f64
}

/// One tenth of the chances: 0 to 10 %, and so on.
struct Decile {
    pairs: usize,
    predicted: f64,
    observed: f64,
}

impl Decile {
    fn off(&self) -> f64 {
        (self.predicted - self.observed).abs()
    }
}

fn deciles(predictions: &[Prediction]) -> Vec<Decile> {
    let in_decile = |decile: usize| {
        let (least, most) = (whole(decile) / 10.0, whole(decile + 1) / 10.0);
        let is_of = |one: &&Prediction| one.chance >= least && one.chance < most;
        let of: Vec<_> = predictions.iter().filter(is_of).collect();
        let mean =
            |of_one: fn(&Prediction) -> f64| of.iter().map(|one| of_one(one)).sum::<f64>() / whole(of.len());
        Decile { pairs: of.len(), predicted: mean(|one| one.chance), observed: mean(|one| one.came) }
    };
    (0..10).map(in_decile).collect()
}

/// The farthest that what came is off what was predicted, in a decile with at least 2,000 pairs: fewer are off by more than 0.01 by
/// chance alone.
fn farthest_off(deciles: &[Decile]) -> f64 {
    let counted: Vec<&Decile> = deciles.iter().filter(|decile| decile.pairs >= 2_000).collect();
    assert!(!counted.is_empty(), "no tenth of the chances has 2,000 pairs");
    counted.iter().map(|decile| decile.off()).fold(0.0, f64::max)
}

/// The same of all deciles, beyond the three standard errors by which one of few pairs may be off by chance.
fn farthest_beyond_chance(deciles: &[Decile]) -> f64 {
    let beyond_chance = |decile: &Decile| {
        let error = (decile.predicted * (1.0 - decile.predicted) / whole(decile.pairs)).sqrt();
        decile.off() - 3.0 * error
    };
    deciles.iter().filter(|decile| decile.pairs > 0).map(beyond_chance).fold(0.0, f64::max)
}

/// By how much the log odds that are predicted would have to be multiplied to fit best what came: under 1 the ratings predict too much,
/// over 1 too little. Found by logistic regression, with Newton's steps.
fn slope(predictions: &[Prediction]) -> f64 {
    let mut slope = 1.0;
    for _ in 0..10 {
        let (mut gradient, mut curvature) = (0.0, 0.0);
        for Prediction { chance, came, .. } in predictions {
            let odds = (chance / (1.0 - chance)).ln();
            let fitted = 1.0 / (1.0 + (-slope * odds).exp());
            gradient += (came - fitted) * odds;
            curvature += fitted * (1.0 - fitted) * odds * odds;
        }
        slope += gradient / curvature;
    }
    slope
}

/// The least rank correlation in the mean of all seasons.
const CORRELATION: f64 = 0.95;

/// How much less the mean of all seasons may have than that of the orders that fit their results best.
const BELOW_FITTED: f64 = 0.02;

/// What is to come of a plan's seasons.
struct Bounds {
    /// The least rank correlation of each season. Where luck all but hides the differences there is none, as a season's differs by chance.
    correlation: Option<f64>,
    /// The most that a decile of many pairs is off.
    off: f64,
    /// The most that any decile is off beyond chance.
    beyond_chance: f64,
    /// The slope over the whole season: at least and at most.
    slope: [f64; 2],
}

/// What a ladder is held to.
const CALIBRATED: Bounds =
    Bounds { correlation: Some(0.97), off: 0.02, beyond_chance: 0.01, slope: [0.87, 1.05] };

fn seasons(plan: &Plan, count: u64) -> Vec<Season> {
    (1..=count).map(|seed| Season::play(plan, seed)).collect()
}

/// What is predicted of established bots.
fn established(seasons: &[Season]) -> Vec<Prediction> {
    let all = seasons.iter().flat_map(|season| season.predictions.iter().copied());
    all.filter(|one| one.certainty == Certainty::Established).collect()
}

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / whole(of.len())
}

/// Checks how well the standings find the order.
fn check_order(name: &str, seasons: &[Season], bounds: &Bounds) {
    let found: Vec<f64> = seasons.iter().map(Season::rank_correlation).collect();
    let fitted: Vec<f64> = seasons.iter().map(Season::fitted_rank_correlation).collect();
    let least = |of: &[f64]| of.iter().copied().fold(1.0, f64::min);
    println!(
        "{name}: rank correlation {:.3} at least, {:.3} in the mean; fitted {:.3} at least, {:.3} in the mean",
        least(&found),
        mean(&found),
        least(&fitted),
        mean(&fitted)
    );
    for (season, (found, fitted)) in (1..).zip(found.iter().zip(&fitted)) {
        let holds = bounds.correlation.is_none_or(|least| *found >= least);
        assert!(holds, "{name}, season {season}: rank correlation {found}, fitted {fitted}");
    }
    let (found, fitted) = (mean(&found), mean(&fitted));
    assert!(found >= CORRELATION, "{name}: rank correlation {found} in the mean");
    assert!(found >= fitted - BELOW_FITTED, "{name}: rank correlation {found} in the mean, fitted {fitted}");
    assert!(fitted >= found, "{name}: fitted {fitted} in the mean, and the standings {found}");
}

/// Checks whether what is predicted comes true.
fn check_chances(name: &str, seasons: &[Season], bounds: &Bounds) {
    let established = established(seasons);
    let late: Vec<Prediction> =
        established.iter().copied().filter(|one| one.after >= MATCHES * 2 / 3).collect();
    let deciles = deciles(&established);
    let (off, beyond_chance) = (farthest_off(&deciles), farthest_beyond_chance(&deciles));
    let (whole_season, last_third) = (slope(&established), slope(&late));
    println!(
        "{name}: at most {off:.3} off, {beyond_chance:.3} beyond chance; slope {whole_season:.2}, in the last third {last_third:.2}"
    );
    for Decile { pairs, predicted, observed } in &deciles {
        println!("    {pairs:6} pairs: predicted {predicted:.3}, observed {observed:.3}");
    }
    assert!(off <= bounds.off, "{name}: {off} off");
    assert!(beyond_chance <= bounds.beyond_chance, "{name}: {beyond_chance} off beyond chance");
    let [from, to] = bounds.slope;
    assert!((from..=to).contains(&whole_season), "{name}: slope {whole_season}");
}

fn check(name: &str, count: u64, plan: &Plan, bounds: &Bounds) {
    let seasons = seasons(plan, count);
    let name = format!("{name}, spread {}", plan.spread);
    check_order(&name, &seasons, bounds);
    check_chances(&name, &seasons, bounds);
}

/// How far bots are apart: the one that is a spread above the middle wins so many of 100 against it.
const WINS_61: f64 = 0.4;
const WINS_71: f64 = 0.8;
const WINS_87: f64 = 1.6;

/// With the usual settings.
fn plan(paired: Paired, players: usize, teams: Teams, spread: f64) -> Plan {
    let players = Players::new(players).expect("players");
    let settings = RatingSettings::new(RatingOptions::usual(players, teams)).expect("in range");
    Plan { paired, players, teams, spread, settings }
}

/// Bots nearer to one another than the usual settings take them to be, and further apart. A slope under 1 where luck all but hides the
/// differences, and over 1 where it hides little, are what the documentation says of them: so the bounds are on both sides.
fn check_nearer_and_further(name: &str, paired: Paired, players: usize, teams: Teams, bounds: [Bounds; 2]) {
    for (spread, bounds) in [WINS_61, WINS_87].into_iter().zip(bounds) {
        check(name, SEASONS, &plan(paired, players, teams, spread), &bounds);
    }
}

/// The rank correlation is that of each season, and what is predicted is held against what came in all.
#[test]
fn after_ten_thousand_matches_fifty_bots_are_in_order_and_win_as_predicted_in_forty_seasons() {
    let held_to = Bounds { correlation: Some(CORRELATION), ..CALIBRATED };
    for (name, players, teams) in [
        ("two by the ladder", 2, Teams::Individual),
        ("two pairs by the ladder", 4, Teams::Pairs),
        ("two trios by the ladder", 6, Teams::Trios),
    ] {
        check(name, 40, &plan(Paired::ByTheLadder, players, teams, WINS_71), &held_to);
    }
}

#[test]
fn two_players_nearer_and_further_as_the_ladder_pairs_them() {
    let nearer = Bounds { correlation: None, off: 0.06, beyond_chance: 0.06, slope: [0.60, 0.78] };
    let further = Bounds { correlation: Some(0.97), off: 0.075, beyond_chance: 0.06, slope: [1.20, 1.40] };
    let bounds = [nearer, further];
    check_nearer_and_further("two by the ladder", Paired::ByTheLadder, 2, Teams::Individual, bounds);
}

#[test]
fn pairs_nearer_and_further_as_the_ladder_pairs_them() {
    let nearer = Bounds { correlation: None, off: 0.06, beyond_chance: 0.08, slope: [0.58, 0.74] };
    let further = Bounds { correlation: Some(0.97), off: 0.095, beyond_chance: 0.07, slope: [1.22, 1.44] };
    let bounds = [nearer, further];
    check_nearer_and_further("two pairs by the ladder", Paired::ByTheLadder, 4, Teams::Pairs, bounds);
}

#[test]
fn four_players_nearer_and_further_as_the_ladder_pairs_them() {
    let nearer = Bounds { correlation: None, off: 0.075, beyond_chance: 0.05, slope: [0.70, 0.84] };
    let further = Bounds { correlation: Some(0.97), off: 0.035, beyond_chance: 0.03, slope: [1.05, 1.19] };
    let bounds = [nearer, further];
    check_nearer_and_further("four by the ladder", Paired::ByTheLadder, 4, Teams::Individual, bounds);
}

#[test]
fn three_players_nearer_and_further_by_chance() {
    let nearer = Bounds { correlation: None, off: 0.05, beyond_chance: 0.035, slope: [0.76, 0.90] };
    let further = Bounds { correlation: Some(0.97), off: 0.045, beyond_chance: 0.035, slope: [1.08, 1.22] };
    let bounds = [nearer, further];
    check_nearer_and_further("three by chance", Paired::ByChance, 3, Teams::Individual, bounds);
}

#[test]
fn each_other_form_as_the_ladder_pairs_it() {
    for (name, players, teams) in [
        ("three by the ladder", 3, Teams::Individual),
        ("four by the ladder", 4, Teams::Individual),
        ("five by the ladder", 5, Teams::Individual),
        ("six by the ladder", 6, Teams::Individual),
        ("three pairs by the ladder", 6, Teams::Pairs),
    ] {
        check(name, SEASONS, &plan(Paired::ByTheLadder, players, teams, WINS_71), &CALIBRATED);
    }
}

/// As no ladder pairs.
#[test]
fn three_players_by_chance() {
    let plan = plan(Paired::ByChance, 3, Teams::Individual, WINS_71);
    check("three by chance", SEASONS, &plan, &Bounds { off: 0.03, ..CALIBRATED });
}

/// Pairs by the β of two: their slope is 0.84.
#[test]
fn luck_that_does_not_grow_with_the_side_is_found_out() {
    let settings = RatingSettings::default();
    let plan = Plan { settings, ..plan(Paired::ByTheLadder, 4, Teams::Pairs, WINS_71) };
    let predictions = established(&seasons(&plan, SEASONS));
    assert!(farthest_off(&deciles(&predictions)) > CALIBRATED.off);
    assert!(slope(&predictions) < CALIBRATED.slope[0]);
}

/// What the tests above would miss if they could not fail.
#[test]
fn a_ladder_that_takes_luck_for_strength_is_found_out() {
    let wrong = RatingOptions { tau: 3.0, sigma: 8.0, provisional_sigma: 8.0, ..RatingOptions::default() };
    let settings = RatingSettings::new(RatingOptions { beta: 0.5, ..wrong }).expect("in range");
    let plan = Plan { settings, ..plan(Paired::ByChance, 3, Teams::Individual, WINS_71) };
    let season = Season::play(&plan, 1);
    assert!(farthest_off(&deciles(&season.predictions)) > 0.10);
    assert!(slope(&season.predictions) < 0.5);
}
