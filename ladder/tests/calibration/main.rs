//! Seasons of bots whose strength is known: whether the standings find it, and whether what the ratings predict comes true.
//! `docs/ladder.md` has the figures, which `cargo test -p zetema-ladder --test calibration -- --nocapture` prints.
//!
//! A match is won by points: a side's are the strength of its members and their luck, which is normal. So it is another model than that
//! of the ratings.
#![allow(clippy::expect_used, clippy::print_stdout)]

mod season;
#[path = "../suite/support.rs"]
mod support;

use zetema_ladder::{Certainty, RatingOptions, RatingSettings};
use zetema_rules::Teams;

use season::{MATCHES, Paired, Plan, Prediction, Season};

/// How many seasons of each plan.
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

/// What is to come of a plan's seasons.
struct Bounds {
    /// The least rank correlation of a season.
    correlation: f64,
    /// The most that a decile of many pairs is off.
    off: f64,
    /// The most that any decile is off beyond chance.
    beyond_chance: f64,
    /// The slope over the whole season: at least and at most.
    slope: [f64; 2],
}

/// Plays the seasons, and prints what came of them.
fn check(name: &str, plan: &Plan, bounds: &Bounds) {
    let seasons: Vec<Season> = (1..=SEASONS).map(|seed| Season::play(plan, seed)).collect();
    let established = seasons.iter().flat_map(|season| season.predictions.iter().copied());
    let established: Vec<Prediction> =
        established.filter(|one| one.certainty == Certainty::Established).collect();
    let late: Vec<Prediction> =
        established.iter().copied().filter(|one| one.after >= MATCHES * 2 / 3).collect();
    let correlations: Vec<f64> = seasons.iter().map(Season::rank_correlation).collect();
    let lowest = correlations.iter().copied().fold(1.0, f64::min);
    let mean = correlations.iter().sum::<f64>() / whole(correlations.len());
    let deciles = deciles(&established);
    let (off, beyond_chance) = (farthest_off(&deciles), farthest_beyond_chance(&deciles));
    let (whole_season, last_third) = (slope(&established), slope(&late));
    println!(
        "{name}, spread {}: rank correlation {lowest:.3} at least, {mean:.3} in the mean; at most {off:.3} off, {beyond_chance:.3} beyond chance; slope {whole_season:.2}, in \
         the last third {last_third:.2}",
        plan.spread
    );
    for Decile { pairs, predicted, observed } in &deciles {
        println!("    {pairs:6} pairs: predicted {predicted:.3}, observed {observed:.3}");
    }
    assert!(lowest >= bounds.correlation, "{name}, spread {}: rank correlation {lowest}", plan.spread);
    assert!(mean >= 0.95, "{name}, spread {}: rank correlation {mean} in the mean", plan.spread);
    assert!(off <= bounds.off, "{name}, spread {}: {off} off", plan.spread);
    assert!(
        beyond_chance <= bounds.beyond_chance,
        "{name}, spread {}: {beyond_chance} off beyond chance",
        plan.spread
    );
    let [from, to] = bounds.slope;
    assert!((from..=to).contains(&whole_season), "{name}, spread {}: slope {whole_season}", plan.spread);
}

/// How far bots are apart: the one that is a spread above the middle wins so many of 100 against it.
const WINS_61: f64 = 0.4;
const WINS_71: f64 = 0.8;
const WINS_87: f64 = 1.6;

/// Plays with the usual settings, however far the bots are apart. A slope under 1 where luck all but hides the differences, and over 1
/// where it hides little, are what the documentation says of them: so the bounds are on both sides.
fn check_usual(name: &str, paired: &Paired, rows: [(f64, Bounds); 3]) {
    for (spread, bounds) in rows {
        let plan = Plan { paired: paired.clone(), spread, settings: RatingSettings::default() };
        check(name, &plan, &bounds);
    }
}

#[test]
fn any_number_of_players_by_chance() {
    check_usual(
        "two to four by chance",
        &Paired::ByChance(2..=4),
        [
            (WINS_61, Bounds { correlation: 0.94, off: 0.075, beyond_chance: 0.055, slope: [0.70, 0.84] }),
            (WINS_71, Bounds { correlation: 0.975, off: 0.04, beyond_chance: 0.03, slope: [0.84, 0.96] }),
            (WINS_87, Bounds { correlation: 0.985, off: 0.025, beyond_chance: 0.02, slope: [1.00, 1.14] }),
        ],
    );
}

#[test]
fn two_players_as_the_ladder_pairs_them() {
    check_usual(
        "two by the ladder",
        &Paired::ByTheLadder(2, Teams::Individual),
        [
            (WINS_61, Bounds { correlation: 0.93, off: 0.06, beyond_chance: 0.06, slope: [0.60, 0.78] }),
            (WINS_71, Bounds { correlation: 0.97, off: 0.02, beyond_chance: 0.01, slope: [0.87, 1.01] }),
            (WINS_87, Bounds { correlation: 0.97, off: 0.075, beyond_chance: 0.06, slope: [1.30, 1.50] }),
        ],
    );
}

#[test]
fn pairs_as_the_ladder_pairs_them() {
    check_usual(
        "two pairs by the ladder",
        &Paired::ByTheLadder(4, Teams::Pairs),
        [
            (WINS_61, Bounds { correlation: 0.93, off: 0.08, beyond_chance: 0.14, slope: [0.47, 0.63] }),
            (WINS_71, Bounds { correlation: 0.97, off: 0.055, beyond_chance: 0.03, slope: [0.77, 0.91] }),
            (WINS_87, Bounds { correlation: 0.98, off: 0.065, beyond_chance: 0.045, slope: [1.17, 1.33] }),
        ],
    );
}

#[test]
fn four_players_as_the_ladder_pairs_them() {
    check_usual(
        "four by the ladder",
        &Paired::ByTheLadder(4, Teams::Individual),
        [
            (WINS_61, Bounds { correlation: 0.95, off: 0.10, beyond_chance: 0.08, slope: [0.60, 0.76] }),
            (WINS_71, Bounds { correlation: 0.985, off: 0.04, beyond_chance: 0.03, slope: [0.82, 0.94] }),
            (WINS_87, Bounds { correlation: 0.985, off: 0.03, beyond_chance: 0.02, slope: [1.02, 1.14] }),
        ],
    );
}

/// What the tests above would miss if they could not fail.
#[test]
fn a_ladder_that_takes_luck_for_strength_is_found_out() {
    let wrong = RatingOptions { tau: 3.0, sigma: 8.0, provisional_sigma: 8.0, ..RatingOptions::default() };
    let settings = RatingSettings::new(RatingOptions { beta: 0.5, ..wrong }).expect("in range");
    let season = Season::play(&Plan { paired: Paired::ByChance(2..=4), spread: WINS_71, settings }, 1);
    assert!(farthest_off(&deciles(&season.predictions)) > 0.10);
    assert!(slope(&season.predictions) < 0.5);
}
