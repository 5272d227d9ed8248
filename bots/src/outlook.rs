//! What a deal that was played out is worth.

use zetema_sdk::rules::{Game, MatchResult, Rules, Seat, Side};

/// How the lead after a deal turns into odds of the match: a lead of so many points makes them about
/// three to one.
const LEAD: f64 = 60.0;
/// How much of the worth of a match that is over is by how many points it was won.
const MARGIN: f64 = 0.6;

/// What the end of a playout is worth to each side, from 0 to 1: the odds that it wins the match, and something for
/// the points, so that a match that is decided is still played well.
pub(crate) fn worths(game: &Game) -> [f64; Seat::MAX] {
    let mut worths = [0.0; Seat::MAX];
    for side in (0..game.rules().sides()).filter_map(Side::new) {
        worths[side.index()] = worth(game, side);
    }
    worths
}

fn worth(game: &Game, side: Side) -> f64 {
    let (rules, public) = (game.rules(), game.public());
    let lead = lead(rules, &public.totals, side);
    let by_points = 0.5 + 0.5 * lead / (LEAD + lead.abs());
    match public.result {
        Some(result) => MARGIN * by_points + (1.0 - MARGIN) * share(rules, &result, side),
        None => by_points,
    }
}

/// The points that a side is ahead of the best of the others.
fn lead(rules: &Rules, totals: &[u16], side: Side) -> f64 {
    let others = (0..rules.sides()).filter(|&other| other != side.index()).map(|other| totals[other]);
    f64::from(totals[side.index()]) - f64::from(others.max().unwrap_or(0))
}

/// The share of the first rank that a side has.
pub(crate) fn share(rules: &Rules, result: &MatchResult, side: Side) -> f64 {
    if result.ranks[side.index()] != 1 {
        return 0.0;
    }
    let firsts =
        result.ranks[..rules.sides()].iter().filter(|&&rank| rank == 1).fold(0.0, |sum, _| sum + 1.0);
    1.0 / firsts
}
