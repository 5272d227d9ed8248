//! Records that are fetched when a match is over, and refused.

use zetema_proto::v1::ErrorReason;
use zetema_rules::Seat;

use super::server::Server;
use super::world::World;
use super::{check_whole, played};
use crate::claim::Claim;
use crate::fault::Fault;
use crate::token::SeatToken;

fn claim(seat: usize) -> Claim {
    SeatToken::from(Server::token(Seat::new(seat).unwrap())).into()
}

/// The reasons for which each seat was refused its record.
fn refused(world: &World) -> Vec<Vec<ErrorReason>> {
    let reason = |fault: &Fault| match fault {
        Fault::Refused { asked: "show the record", refusal } => refusal.reason,
        fault => panic!("{fault}"),
    };
    world.outcomes.values().map(|outcome| outcome.faults.iter().map(reason).collect()).collect()
}

#[test]
fn the_record_of_a_match_is_fetched_once_for_all_its_seats() {
    let world = played(3, |_| {});
    check_whole(&world);
    assert_eq!(world.fetched_as, [claim(0)]);
    assert_eq!(refused(&world), [vec![], vec![], vec![]]);
}

#[test]
fn a_record_that_is_refused_to_the_token_of_one_seat_is_fetched_with_that_of_the_next_for_all_the_others() {
    for reason in [ErrorReason::Unauthenticated, ErrorReason::TokenRotated, ErrorReason::NotFound] {
        let world = played(3, |world| world.refuse_records.push_back(reason));
        check_whole(&world);
        assert_eq!(world.fetched_as, [claim(0), claim(1)]);
        assert_eq!(refused(&world), [vec![reason], vec![], vec![]]);
    }
}

#[test]
fn a_record_that_is_refused_to_the_token_of_each_seat_is_missed_by_each() {
    let reason = ErrorReason::Unauthenticated;
    let world = played(3, |world| world.refuse_records.extend([reason; 3]));
    check_whole(&world);
    assert_eq!(world.fetched_as, [claim(0), claim(1), claim(2)]);
    assert_eq!(refused(&world), [[reason]; 3]);
}

#[test]
fn a_record_that_is_refused_whoever_asks_is_not_asked_for_again() {
    let reason = ErrorReason::Internal;
    let world = played(3, |world| world.refuse_records.push_back(reason));
    check_whole(&world);
    assert_eq!(world.fetched_as, [claim(0)]);
    assert_eq!(refused(&world), [[reason]; 3]);
}
