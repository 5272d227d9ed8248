//! Matches from the points of their sides.

use zetema_ladder::Played;
use zetema_rules::{EndReason, MatchResult, Seat, Seats, Teams};

/// A match of these bots, seat 0 first, whose sides have these points, side 0 first, and the ranks that follow.
pub(crate) fn played<B: Ord>(bots: Vec<B>, teams: Teams, points: &[u16]) -> Played<B> {
    let mut ranks = [0; Seat::MAX];
    let mut totals = [0; Seat::MAX];
    for (side, &own) in points.iter().enumerate() {
        let ahead = points.iter().filter(|&&other| other > own).count();
        ranks[side] = u8::try_from(ahead + 1).expect("six sides at most");
        totals[side] = own;
    }
    let result = MatchResult { reason: EndReason::DealOver, ranks, totals };
    Played::new(bots, teams, result, Seats::EMPTY).expect("a match")
}
