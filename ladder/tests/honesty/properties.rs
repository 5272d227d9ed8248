//! What changes nothing.

use proptest::prelude::*;
use zetema_ladder::{
    Cause, Departure, Ending, FinishedMatch, FinishedSeat, HonestyOptions, HonestySettings, Ladder, Lead,
    Played, RatingSettings, ResultNumber, SeatDecision, Suspicion, Taken, suspicions,
};
use zetema_rules::{EndReason, MatchResult, Seats, Teams};

/// A bot's name and its owner's.
type Name = (u32, &'static str);

type Finished = FinishedMatch<Name, u32>;

const BOTS: usize = 6;

/// Few bots that do much that is suspicious, so that something is listed of each kind.
fn finished(number: usize, order: &[usize], points: &[u16], names: &[u32], teams: Teams) -> Finished {
    let bots: Vec<Name> = order.iter().map(|&bot| (names[bot], "bot")).collect();
    let mut totals = [0; 6];
    let mut ranks = [0; 6];
    for (side, &own) in points.iter().enumerate() {
        totals[side] = own;
        ranks[side] = 1 + points.iter().filter(|&&other| other > own).count() as u8;
    }
    let result = MatchResult { reason: EndReason::DealOver, ranks, totals };
    let mut forfeited = Seats::EMPTY;
    let mut seats = Vec::new();
    for (seat, &bot) in order.iter().enumerate() {
        let standing = if number % 3 == bot % 3 { Lead::Behind } else { Lead::Ahead };
        let leaves = bot == 0 && number.is_multiple_of(4);
        let times_out = bot == 1 && standing == Lead::Behind;
        let ending = if leaves || times_out {
            forfeited = forfeited.with(zetema_rules::Seat::new(seat).expect("a seat"));
            let cause = if leaves { Cause::Resigned } else { Cause::OutOfTime };
            Ending::Forfeited(Departure { cause, lead: -5, decisions_left: None })
        } else {
            Ending::PlayedOn
        };
        let taken = if times_out { Taken::OutOfTime } else { Taken::Answered };
        let decisions = vec![SeatDecision { standing, taken }];
        seats.push(FinishedSeat { ending, decisions, ..FinishedSeat::played_on(names[bot]) });
    }
    let played = Played::new(bots, teams, result, forfeited).expect("a match");
    FinishedMatch::new(ResultNumber::new(number as u64 + 1), 0, played, seats).expect("a match")
}

/// Matches of two without teams, or of two and two.
fn results(drawn: &[(Vec<usize>, [u16; 2])], names: &[u32], teams: Teams) -> Vec<Finished> {
    let seats = if teams == Teams::Individual { 2 } else { 4 };
    let one = |(number, (order, points)): (usize, &(Vec<usize>, [u16; 2]))| {
        let order = &order[..seats];
        // The first bot never wins anything.
        let points = match order.iter().position(|&bot| bot == 0) {
            Some(seat) if seat % 2 == 0 => [0, points[1] + 100],
            Some(_) => [points[0] + 100, 0],
            None => *points,
        };
        finished(number, order, &points, names, teams)
    };
    drawn.iter().enumerate().map(one).collect()
}

fn found(results: &[Finished]) -> Vec<Suspicion<Name>> {
    let options = HonestyOptions { false_alarms: 0.5, win_allowance: 0.0, ..HonestyOptions::default() };
    let settings = HonestySettings::new(options).expect("in range");
    suspicions(Ladder::new(RatingSettings::default()), results, &settings).expect("each result once").listed
}

/// Without the names, bits and all.
fn unnamed(found: &[Suspicion<Name>], names: &[u32]) -> Vec<String> {
    let place = |name: u32| names.iter().position(|&other| other == name).expect("a bot");
    let number = |one: &Suspicion<Name>| {
        let mut text = format!("{one:?}");
        for &name in names {
            text = text.replace(&format!("({name}, \"bot\")"), &format!("bot {}", place(name)));
        }
        text
    };
    found.iter().map(number).collect()
}

fn season() -> impl Strategy<Value = Vec<(Vec<usize>, [u16; 2])>> {
    let order = Just((0..BOTS).collect::<Vec<_>>()).prop_shuffle();
    let points = prop::array::uniform2((0..60_u16).prop_map(|fives| fives * 5));
    prop::collection::vec((order, points), 400)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn other_names_change_nothing_but_names(
        drawn in season(),
        renamed in Just((100..100 + BOTS as u32).collect::<Vec<_>>()).prop_shuffle(),
        teams in prop::sample::select(vec![Teams::Individual, Teams::Pairs]),
    ) {
        let names: Vec<u32> = (100..100 + BOTS as u32).collect();
        let before = found(&results(&drawn, &names, teams));
        prop_assert!(before.len() >= 2, "something is listed");
        let after = found(&results(&drawn, &renamed, teams));
        prop_assert_eq!(unnamed(&before, &names), unnamed(&after, &renamed));
    }

    #[test]
    fn the_order_in_which_results_are_given_changes_nothing(
        (drawn, order) in season().prop_flat_map(|drawn| {
            let order = Just((0..drawn.len()).collect::<Vec<_>>()).prop_shuffle();
            (Just(drawn), order)
        }),
        teams in prop::sample::select(vec![Teams::Individual, Teams::Pairs]),
    ) {
        let names: Vec<u32> = (0..BOTS as u32).collect();
        let results = results(&drawn, &names, teams);
        let shuffled: Vec<_> = order.iter().map(|&place| results[place].clone()).collect();
        prop_assert_eq!(found(&results), found(&shuffled));
    }
}

#[test]
fn a_result_that_is_there_twice_is_named() {
    let names: Vec<u32> = (0..BOTS as u32).collect();
    let drawn = vec![((0..BOTS).collect(), [10, 5]); 3];
    let mut results = results(&drawn, &names, Teams::Individual);
    results.push(results[1].clone());
    let error = suspicions(Ladder::new(RatingSettings::default()), &results, &HonestySettings::default())
        .expect_err("the second is there twice");
    assert_eq!((error.given.get(), error.last.get()), (2, 2));
}
