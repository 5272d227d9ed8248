//! Matches as their adjusted scores rank them, and ratings by that.

use proptest::prelude::*;
use zetema_ladder::{
    AdjustedScore, Counted, Ladder, LadderResult, Played, RatingSettings, ResultNumber, ScoresMissing,
};
use zetema_rules::{EndReason, MatchResult, Seat, Seats, Side, Teams};

/// A match of sides with these points, each a bot by its number, some of which forfeited.
fn played(points: &[u16], forfeited: Seats) -> Played<usize> {
    let standing = |side: usize| (!forfeited.contains(seat(side)), points[side]);
    let (mut ranks, mut totals) = ([0; Seat::MAX], [0; Seat::MAX]);
    for side in 0..points.len() {
        let ahead = (0..points.len()).filter(|&other| standing(other) > standing(side)).count();
        ranks[side] = u8::try_from(ahead + 1).expect("six sides at most");
        totals[side] = points[side];
    }
    let result = MatchResult { reason: EndReason::DealOver, ranks, totals };
    Played::new((0..points.len()).collect(), Teams::Individual, result, forfeited).expect("a match")
}

fn seat(at: usize) -> Seat {
    Seat::new(at).expect("a seat")
}

/// The scores of sides with these points and this luck.
fn scores(points: &[u16], luck: &[f64]) -> Vec<AdjustedScore> {
    let sum: f64 = points.iter().map(|&points| f64::from(points)).sum();
    let score = |(&own, &luck): (&u16, &f64)| {
        let own = f64::from(own);
        AdjustedScore { raw: own - (sum - own) / (points.len() as f64 - 1.0), luck }
    };
    points.iter().zip(luck).map(score).collect()
}

fn ranks(played: &Played<usize>) -> Vec<u8> {
    played.sides().map(|side| played.rank(side)).collect()
}

#[test]
fn sides_are_ranked_by_what_they_scored_without_luck_and_those_with_a_forfeit_are_below() {
    let (points, luck) = ([200, 150, 100], [90.0, -30.0, -60.0]);
    // Without luck: 75 − 90, 0 + 30 and −75 + 60.
    let ranked =
        |forfeited| ranks(&played(&points, forfeited).ranked_by(&scores(&points, &luck)).expect("each"));
    assert_eq!(ranked(Seats::EMPTY), [2, 1, 2]);
    assert_eq!(ranked(Seats::EMPTY.with(seat(1))), [1, 3, 1]);
    assert_eq!(ranked(Seats::EMPTY.with(seat(1)).with(seat(0))), [3, 2, 1]);
    let refused = played(&points, Seats::EMPTY).ranked_by(&scores(&points, &luck)[..2]).unwrap_err();
    assert_eq!(refused, ScoresMissing { given: 2, sides: 3 });
}

#[test]
fn scores_that_differ_by_rounding_alone_are_level() {
    let of = |apart: f64| {
        let scores = [apart, 0.0].map(|luck| AdjustedScore { raw: 1.0 / 3.0, luck });
        ranks(&played(&[10, 10], Seats::EMPTY).ranked_by(&scores).expect("each"))
    };
    assert_eq!([of(0.0), of(1e-9), of(6e-6), of(-6e-6)], [[1, 1], [1, 1], [2, 1], [1, 2]]);
}

fn season() -> impl Strategy<Value = Vec<(Vec<u16>, Vec<f64>)>> {
    let one = (2..=6_usize).prop_flat_map(|sides| {
        (prop::collection::vec(0..400_u16, sides), prop::collection::vec(-200.0..200.0, sides))
    });
    prop::collection::vec(one, 1..20)
}

/// The ratings of a season of which the luck of each match comes when it does: it waits for that of those before, as results are counted in
/// the order of their numbers.
fn rated(season: &[(Vec<u16>, Vec<f64>)], comes: &[usize]) -> Ladder<usize> {
    let mut ladder = Ladder::new(RatingSettings::default());
    let mut there = vec![false; season.len()];
    let mut next = 0;
    for &at in comes {
        there[at] = true;
        while next < season.len() && there[next] {
            let (points, luck) = &season[next];
            let ranked = played(points, Seats::EMPTY).ranked_by(&scores(points, luck)).expect("each");
            next += 1;
            let (number, counted) = (ResultNumber::new(next as u64), Counted::Rated(ranked));
            ladder.count(&LadderResult { number, counted }).expect("in order");
        }
    }
    ladder
}

proptest! {
    #[test]
    fn where_there_is_no_luck_the_ranks_are_those_of_the_result(
        points in prop::collection::vec(0..50_u16, 2..=6), forfeited in prop::collection::vec(any::<bool>(), 6)
    ) {
        let of_seats = (0..points.len()).filter(|&at| forfeited[at]).map(seat);
        let played = played(&points, of_seats.fold(Seats::EMPTY, Seats::with));
        let ranked = played.ranked_by(&scores(&points, &vec![0.0; points.len()])).expect("each");
        prop_assert_eq!(ranked, played);
    }

    #[test]
    fn the_order_of_the_sides_has_no_say_in_their_ranks(
        points in prop::collection::vec(0..50_u16, 2..=6), luck in prop::collection::vec(-30.0..30.0, 6)
    ) {
        let luck = &luck[..points.len()];
        let ranked = ranks(&played(&points, Seats::EMPTY).ranked_by(&scores(&points, luck)).expect("each"));
        let back = |of: &[f64]| of.iter().rev().copied().collect::<Vec<_>>();
        let points: Vec<u16> = points.iter().rev().copied().collect();
        let turned = played(&points, Seats::EMPTY).ranked_by(&scores(&points, &back(luck))).expect("each");
        prop_assert!(turned.sides().eq((0..points.len()).filter_map(Side::new)));
        prop_assert_eq!(ranks(&turned).into_iter().rev().collect::<Vec<_>>(), ranked);
    }

    #[test]
    fn the_order_in_which_luck_comes_changes_no_bit_of_a_rating(
        (season, comes) in season().prop_flat_map(|season| {
            let comes = Just((0..season.len()).collect::<Vec<_>>()).prop_shuffle();
            (Just(season), comes)
        })
    ) {
        let in_order: Vec<usize> = (0..season.len()).collect();
        prop_assert_eq!(rated(&season, &comes), rated(&season, &in_order));
    }
}
