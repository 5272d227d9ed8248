//! Which results a filter wants.

use super::*;
use zetema_rules::Side;

/// When the result ended that is looked at.
const ENDED_AT: u64 = 5_000;

/// A match of ann and bob against cyd and dan.
fn result(reason: Reason) -> LoggedResult {
    let seat = |(name, side): (&str, usize)| LoggedSeat {
        bot: bot(name),
        side: Side::new(side).unwrap(),
        rank: 1,
        total: 0,
        end: SeatEnd::Played,
        rating: None,
    };
    LoggedResult {
        number: ResultNumber::new(1),
        match_id: MatchId::from_bytes([0; 16]),
        ended_at: UnixMillis::new(ENDED_AT),
        reason,
        seats: [("ann", 0), ("cyd", 1), ("bob", 0), ("dan", 1)].map(seat).into(),
    }
}

fn of(name: &str) -> ResultsFilter {
    ResultsFilter { bot: Some(bot(name)), ..ResultsFilter::default() }
}

fn between(name: &str, opponent: &str) -> ResultsFilter {
    ResultsFilter { opponent: Some(bot(opponent)), ..of(name) }
}

fn since(time: u64) -> ResultsFilter {
    ResultsFilter { since: Some(UnixMillis::new(time)), ..ResultsFilter::default() }
}

fn before(time: u64) -> ResultsFilter {
    ResultsFilter { before: Some(UnixMillis::new(time)), ..ResultsFilter::default() }
}

fn check(filter: &ResultsFilter, wanted: bool) {
    assert_eq!(filter.wants(&result(Reason::Target)), wanted, "{filter:?}");
}

#[test]
fn a_result_is_wanted_that_meets_each_condition_alone() {
    for (filter, wanted) in [
        (ResultsFilter::default(), true),
        (of("ann"), true),
        (of("dan"), true),
        (of("eve"), false),
        (between("ann", "cyd"), true),
        (between("dan", "bob"), true),
        // A partner is no opponent, nor is a bot its own.
        (between("ann", "bob"), false),
        (between("cyd", "dan"), false),
        (between("ann", "ann"), false),
        (between("ann", "eve"), false),
        (between("eve", "ann"), false),
        // From then on, and before: the moment itself is in the first alone.
        (since(ENDED_AT - 1), true),
        (since(ENDED_AT), true),
        (since(ENDED_AT + 1), false),
        (before(ENDED_AT - 1), false),
        (before(ENDED_AT), false),
        (before(ENDED_AT + 1), true),
    ] {
        check(&filter, wanted);
    }
}

#[test]
fn of_all_reasons_those_are_wanted_that_are_named() {
    const ALL: [Reason; 4] = [Reason::Target, Reason::DealOver, Reason::Forfeit, Reason::Aborted];
    let filter = |reasons: &[Reason]| ResultsFilter { reasons: reasons.to_vec(), ..ResultsFilter::default() };
    for is in ALL {
        assert!(filter(&[]).wants(&result(is)), "{is:?}");
        assert!(filter(&ALL).wants(&result(is)), "{is:?}");
        for one in ALL {
            assert_eq!(filter(&[one]).wants(&result(is)), one == is, "{is:?} by {one:?}");
            let others: Vec<Reason> = ALL.into_iter().filter(|&other| other != one).collect();
            assert_eq!(filter(&others).wants(&result(is)), one != is, "{is:?} by all but {one:?}");
        }
    }
}

#[test]
fn one_condition_that_is_not_met_is_enough() {
    let all = ResultsFilter {
        since: Some(UnixMillis::new(ENDED_AT)),
        before: Some(UnixMillis::new(ENDED_AT + 1)),
        reasons: vec![Reason::Forfeit, Reason::Target],
        ..between("ann", "cyd")
    };
    check(&all, true);
    for but_for in [
        ResultsFilter { bot: Some(bot("eve")), ..all.clone() },
        ResultsFilter { opponent: Some(bot("bob")), ..all.clone() },
        ResultsFilter { since: Some(UnixMillis::new(ENDED_AT + 1)), ..all.clone() },
        ResultsFilter { before: Some(UnixMillis::new(ENDED_AT)), ..all.clone() },
        ResultsFilter { reasons: vec![Reason::Forfeit], ..all.clone() },
    ] {
        check(&but_for, false);
    }
}
