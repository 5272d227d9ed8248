//! What a ladder counts, in which order, and whether it gives the same when it is calculated anew.

use std::collections::BTreeMap;

use zetema_ladder::{
    Counted, Deviation, Entry, Ladder, LadderResult, Mu, Played, PlayedError, RatingOptions, RatingSettings,
    ResultNumber, Tally, Unrated, differences,
};
use zetema_rules::{AbortReason, EndReason, MatchResult, Players, Seat, Seats, Side, Teams};

use crate::support::played;

type Name = &'static str;

fn rated(number: u64, bots: Vec<Name>, points: &[u16]) -> LadderResult<Name> {
    let counted = Counted::Rated(played(bots, Teams::Individual, points));
    LadderResult { number: ResultNumber::new(number), counted }
}

fn unrated(number: u64, why: Unrated) -> LadderResult<Name> {
    LadderResult { number: ResultNumber::new(number), counted: Counted::Unrated(why) }
}

fn season() -> Vec<LadderResult<Name>> {
    vec![
        rated(2, vec!["ada", "bob"], &[300, 250]),
        rated(3, vec!["bob", "eve", "ada"], &[310, 310, 120]),
        rated(9, vec!["eve", "dan", "bob", "ada"], &[90, 320, 200, 200]),
    ]
}

fn ladder(results: Vec<LadderResult<Name>>) -> Ladder<Name> {
    Ladder::from_results(RatingSettings::default(), results).expect("results in order")
}

fn seat(index: usize) -> Seat {
    Seat::new(index).expect("a seat")
}

#[test]
fn a_result_counts_once_and_in_order() {
    let mut ladder = ladder(season());
    let before = ladder.clone();
    for number in [9, 8, 3, 0] {
        let error = ladder.count(&rated(number, vec!["ada", "bob"], &[1, 0])).expect_err("it is not new");
        assert_eq!((error.given.get(), error.last.get()), (number, 9));
        assert!(
            error.to_string().starts_with(&format!("result {number} does not come after result 9")),
            "{error}"
        );
    }
    assert_eq!(ladder, before, "what is refused changes nothing");
}

#[test]
fn results_of_other_ladders_leave_no_gap() {
    let close: Vec<_> = season()
        .into_iter()
        .zip(1..)
        .map(|(result, number)| LadderResult { number: ResultNumber::new(number), ..result })
        .collect();
    assert_eq!(ladder(close).bots(), ladder(season()).bots());
}

#[test]
fn what_is_not_rated_changes_its_number_alone() {
    let reasons = [
        AbortReason::NoShow,
        AbortReason::NonceMissing,
        AbortReason::Idle,
        AbortReason::Cancelled,
        AbortReason::Restored,
        AbortReason::TooLong,
    ];
    for why in reasons.map(Unrated::Aborted).into_iter().chain([Unrated::FixedDeals, Unrated::UnratedLadder])
    {
        let mut passed = ladder(season());
        assert_eq!(passed.count(&unrated(12, why)).expect("it is new"), []);
        assert_eq!(passed.last(), ResultNumber::new(12));
        assert_eq!(passed.bots(), ladder(season()).bots());
    }
}

#[test]
fn a_ladder_that_goes_on_from_storage_has_the_same_bits() {
    let whole = ladder(season());
    for cut in 0..=season().len() {
        let mut first = season();
        let rest = first.split_off(cut);
        let first = ladder(first);
        let mut resumed = Ladder::resume(*first.settings(), first.last(), stored(first.bots()));
        for result in rest {
            resumed.count(&result).expect("results in order");
        }
        assert_eq!(resumed, whole, "cut after {cut}");
    }
}

/// As a row of a database would have it.
fn stored(bots: &BTreeMap<Name, Entry>) -> BTreeMap<Name, Entry> {
    let through_bits = |(&bot, &entry): (&Name, &Entry)| {
        let mu = Mu::from_bits(entry.rating.mu.to_bits()).expect("a mu");
        let sigma = zetema_ladder::Sigma::from_bits(entry.rating.sigma.to_bits()).expect("a sigma");
        (bot, Entry { rating: zetema_ladder::Rating { mu, sigma }, tally: entry.tally })
    };
    bots.iter().map(through_bits).collect()
}

#[test]
fn each_change_has_what_was_and_what_is() {
    let mut ladder = ladder(season());
    let before = ladder.clone();
    let changes = ladder.count(&rated(10, vec!["eve", "fay", "ada"], &[100, 200, 100])).expect("it is new");
    let bots: Vec<_> = changes.iter().map(|change| (change.seat.index(), change.bot)).collect();
    assert_eq!(bots, [(0, "eve"), (1, "fay"), (2, "ada")]);
    for change in changes {
        assert_eq!(change.before, before.entry(&change.bot));
        assert_eq!(change.after, ladder.entry(&change.bot));
        assert_eq!(change.after.tally.matches, change.before.tally.matches + 1);
    }
}

#[test]
fn every_member_of_a_team_is_rated() {
    let played = played(vec!["ada", "bob", "eve", "dan"], Teams::Pairs, &[400, 300]);
    let result = LadderResult { number: ResultNumber::new(1), counted: Counted::Rated(played) };
    let ladder = ladder(vec![result]);
    let mu = |bot| ladder.entry(&bot).rating.mu;
    assert!(mu("ada") > ladder.settings().first().mu);
    assert_eq!((mu("ada"), mu("bob")), (mu("eve"), mu("dan")), "seats 0 and 2 are partners");
    assert!(mu("bob") < ladder.settings().first().mu);
    let tally = Tally { matches: 1, wins: 1, opponents: 1, margin: 100, ..Tally::default() };
    assert_eq!(ladder.entry(&"eve").tally, tally);
}

#[test]
fn counts_are_kept_beside_the_ratings() {
    let ladder = ladder(season());
    let tally = |matches, wins, draws, opponents, margin| Tally {
        matches,
        wins,
        draws,
        forfeits: 0,
        opponents,
        margin,
    };
    let counted: Vec<_> = ladder.bots().iter().map(|(&bot, entry)| (bot, entry.tally)).collect();
    // In the last match ada and bob have 200, eve 90 and dan 320.
    assert_eq!(
        counted,
        [
            ("ada", tally(3, 1, 0, 6, 50 - 380 - 10)),
            ("bob", tally(3, 0, 1, 6, -50 + 190 - 10)),
            ("dan", tally(1, 1, 0, 3, 470)),
            ("eve", tally(2, 0, 1, 5, 190 - 450)),
        ]
    );
    assert_eq!(counted.iter().map(|(_, tally)| tally.margin).sum::<i64>(), 0);
}

#[test]
fn who_forfeits_is_behind_whatever_it_scored() {
    let mut ladder = Ladder::new(RatingSettings::default());
    let result =
        MatchResult { reason: EndReason::Forfeit, ranks: [2, 1, 0, 0, 0, 0], totals: [250, 40, 0, 0, 0, 0] };
    let forfeited = Seats::EMPTY.with(seat(0));
    let played = Played::new(vec!["ada", "bob"], Teams::Individual, result, forfeited).expect("a match");
    let result = LadderResult { number: ResultNumber::new(1), counted: Counted::Rated(played) };
    ladder.count(&result).expect("the first");
    assert!(ladder.entry(&"ada").rating.mu < ladder.entry(&"bob").rating.mu);
    let tally = Tally { matches: 1, forfeits: 1, opponents: 1, margin: 210, ..Tally::default() };
    assert_eq!(ladder.entry(&"ada").tally, tally);
}

#[test]
fn equal_ladders_have_no_differences() {
    assert_eq!(differences(&ladder(season()), &ladder(season())), []);
}

#[test]
fn every_difference_is_reported_with_both_values() {
    let recomputed = ladder(season());
    let moved = |by: f64| {
        let mut bots = recomputed.bots().clone();
        let rating = &mut bots.get_mut("bob").expect("bob played").rating;
        rating.mu = Mu::new(rating.mu.get() + by).expect("a mu");
        Ladder::resume(RatingSettings::default(), recomputed.last(), bots)
    };
    for (by, deviation) in
        [(1e-13, Deviation::Rounding), (9e-10, Deviation::Rounding), (2e-9, Deviation::Beyond)]
    {
        let stored = moved(by);
        let found = differences(&stored, &recomputed);
        assert_eq!(found.len(), 1, "moved by {by}");
        assert_eq!((found[0].bot, found[0].deviation), ("bob", deviation), "moved by {by}");
        assert_eq!(found[0].stored, Some(stored.entry(&"bob")));
        assert_eq!(found[0].recomputed, Some(recomputed.entry(&"bob")));
    }
}

#[test]
fn a_result_that_was_lost_is_a_difference_of_all_who_played_it() {
    let mut short = season();
    short.pop();
    let found = differences(&ladder(short), &ladder(season()));
    let bots: Vec<_> = found.iter().map(|difference| (difference.bot, difference.deviation)).collect();
    assert_eq!(bots, ["ada", "bob", "dan", "eve"].map(|bot| (bot, Deviation::Beyond)));
    assert_eq!(found[2].stored, None, "dan played no other match");
}

#[test]
fn counts_that_differ_are_no_rounding() {
    let recomputed = ladder(season());
    let mut bots = recomputed.bots().clone();
    bots.get_mut("eve").expect("eve played").tally.wins += 1;
    let stored = Ladder::resume(RatingSettings::default(), recomputed.last(), bots);
    let found = differences(&stored, &recomputed);
    assert_eq!((found.len(), found[0].bot, found[0].deviation), (1, "eve", Deviation::Beyond));
}

#[test]
fn bots_and_results_that_dont_go_together_are_refused() {
    let result = |ranks| MatchResult { reason: EndReason::Target, ranks, totals: [0; Seat::MAX] };
    let level = result([1; Seat::MAX]);
    let three = Players::new(3).expect("players");
    let side = |index| Side::new(index).expect("a side");
    let cases: [(Vec<Name>, Teams, MatchResult, Seats, PlayedError); 6] = [
        (vec!["ada"], Teams::Individual, level, Seats::EMPTY, PlayedError::Players { given: 1 }),
        (vec!["ada"; 7], Teams::Individual, level, Seats::EMPTY, PlayedError::Players { given: 7 }),
        (
            vec!["ada", "bob", "eve"],
            Teams::Pairs,
            level,
            Seats::EMPTY,
            PlayedError::Teams { players: three, teams: Teams::Pairs },
        ),
        (
            vec!["ada", "bob", "ada"],
            Teams::Individual,
            level,
            Seats::EMPTY,
            PlayedError::BotTwice { first: seat(0), second: seat(2) },
        ),
        (
            vec!["ada", "bob", "eve"],
            Teams::Individual,
            result([1, 1, 2, 0, 0, 0]),
            Seats::EMPTY,
            PlayedError::Rank { side: side(2), given: 2, ahead: 2 },
        ),
        (
            vec!["ada", "bob", "eve"],
            Teams::Individual,
            level,
            Seats::EMPTY.with(seat(3)),
            PlayedError::Forfeited { seat: seat(3), players: three },
        ),
    ];
    for (bots, teams, result, forfeited, expected) in cases {
        assert_eq!(Played::new(bots, teams, result, forfeited), Err(expected));
    }
}

#[test]
fn settings_out_of_range_are_named() {
    let usual = RatingOptions::default();
    let cases = [
        ("mu", RatingOptions { mu: 1e9, ..usual }),
        ("mu", RatingOptions { mu: f64::NEG_INFINITY, ..usual }),
        ("sigma", RatingOptions { sigma: 0.0, ..usual }),
        ("sigma", RatingOptions { sigma: -1.0, ..usual }),
        ("beta", RatingOptions { beta: 0.0, ..usual }),
        ("beta", RatingOptions { beta: f64::NAN, ..usual }),
        ("kappa", RatingOptions { kappa: 0.0, ..usual }),
        ("tau", RatingOptions { tau: -0.1, ..usual }),
        ("tau", RatingOptions { tau: 9.0, ..usual }),
        ("provisional_sigma", RatingOptions { provisional_sigma: 10.0, ..usual }),
    ];
    for (field, options) in cases {
        let error = RatingSettings::new(options).expect_err("out of range");
        assert_eq!(error.field, field, "{error}");
    }
    assert_eq!(RatingSettings::new(usual), Ok(RatingSettings::default()), "the defaults are in range");
}
