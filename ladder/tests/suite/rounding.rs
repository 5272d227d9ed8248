//! That ratings bear the arithmetic of another build or platform: what it rounds otherwise stays far below what is told as a difference.

use std::ops::RangeInclusive;

use rand::rngs::StdRng;
use rand::seq::index;
use rand::{RngExt, SeedableRng};
use zetema_ladder::{
    Counted, Deviation, Ladder, LadderResult, Mu, Rating, RatingSettings, ResultNumber, Sigma, differences,
};
use zetema_rules::Teams;

use crate::support::played;

const BOTS: usize = 50;
const MATCHES: u64 = 10_000;

/// In units of the last place, after each match.
const OFF: i32 = 2;

/// How each number is rounded otherwise.
#[derive(Clone, Copy, Debug)]
enum Otherwise {
    /// Up or down, by chance.
    ByChance,
    /// Always up, so that nothing cancels out.
    Up,
}

/// A season of so many players at a table. The higher a bot's number, the better it plays.
fn season(players: &RangeInclusive<usize>) -> Vec<LadderResult<usize>> {
    let mut dice = StdRng::seed_from_u64(7);
    let result = |number| {
        let players = dice.random_range(players.clone());
        let bots = index::sample(&mut dice, BOTS, players).into_vec();
        let points: Vec<u16> = bots
            .iter()
            .map(|&bot| u16::try_from(4 * bot).expect("a few points") + dice.random_range(0..300))
            .collect();
        let counted = Counted::Rated(played(bots, Teams::Individual, &points));
        LadderResult { number: ResultNumber::new(number), counted }
    };
    (1..=MATCHES).map(result).collect()
}

/// The ratings of a season, each of which is a little off after each match.
fn rounded(season: &[LadderResult<usize>], how: Otherwise) -> Ladder<usize> {
    let mut dice = StdRng::seed_from_u64(8);
    let settings = RatingSettings::default();
    let mut ladder = Ladder::new(settings);
    for result in season {
        let changes = ladder.count(result).expect("in order");
        let mut bots = ladder.bots().clone();
        for change in changes {
            let Rating { mu, sigma } = change.after.rating;
            let mut off = |number: f64, size: f64| {
                let places = match how {
                    Otherwise::ByChance => dice.random_range(-OFF..=OFF),
                    Otherwise::Up => OFF,
                };
                number + f64::from(places) * f64::EPSILON * size
            };
            // What a strength is made of is as large as one usually is, also where it comes to nearly nothing itself.
            let mu = Mu::new(off(mu.get(), mu.get().abs().max(16.0))).expect("a mu");
            let sigma = Sigma::new(off(sigma.get(), sigma.get())).expect("a sigma");
            bots.get_mut(&change.bot).expect("it has played").rating = Rating { mu, sigma };
        }
        ladder = Ladder::resume(settings, ladder.last(), bots);
    }
    ladder
}

#[test]
fn a_season_that_is_rounded_otherwise_has_the_same_ratings_to_within_what_is_told_as_rounding() {
    for players in [2..=2, 2..=6] {
        let season = season(&players);
        let here = Ladder::from_results(RatingSettings::default(), season.clone()).expect("in order");
        for how in [Otherwise::ByChance, Otherwise::Up] {
            let elsewhere = rounded(&season, how);
            let mut farthest = 0.0_f64;
            for (bot, here) in here.bots() {
                let (one, other) = (here.rating, elsewhere.entry(bot).rating);
                let by = [one.mu.get() - other.mu.get(), one.sigma.get() - other.sigma.get()];
                farthest = by.iter().fold(farthest, |farthest, by| farthest.max(by.abs()));
            }
            println!("{players:?} players, {how:?}: {farthest:e} rating points off at most");
            assert!(farthest > 0.0 && farthest < Deviation::ROUNDING, "{players:?} {how:?}: {farthest:e}");
            let told = differences(&elsewhere, &here);
            assert!(!told.is_empty() && told.iter().all(|told| told.deviation == Deviation::Rounding));
        }
    }
}
