//! Seats of bots that are named wrongly, or by whom they are not, in the single calls of `PlayService`.

use zetema_proto::v1;
use zetema_proto::v1::ErrorReason::{NotFound, Unauthenticated};
use zetema_proto::v1::act::Choice;

use super::case::{Caller, Case, Expected};
use super::scene::{Scene, act};

/// What a seat is named by, and what that must get.
struct Named {
    name: &'static str,
    seat_token: String,
    assigned: v1::AssignedSeat,
    caller: Caller,
    expected: Expected,
    /// The same in a list of seats.
    in_list: Expected,
}

/// `stray` is the token of a bot that has no seat.
pub(crate) fn cases(scene: &Scene, stray: &str) -> Vec<Case> {
    let match_id = || scene.playing.created.id().to_owned();
    let seat = |match_id, seat| v1::AssignedSeat { match_id, seat };
    let bot = || Caller::Token(stray.to_owned());
    let by = |name, assigned, caller, expected: Expected, in_list: Expected| Named {
        name,
        seat_token: String::new(),
        assigned,
        caller,
        expected,
        in_list,
    };
    let both =
        |name, assigned, caller, expected: Expected| by(name, assigned, caller, expected.clone(), expected);
    let fields = |one, of_list| (Expected::field(one), Expected::field(of_list));
    let (not_a_bots, of_list) = fields("assigned", "seats[0].assigned");
    let (no_match, no_match_of_list) = fields("assigned.match_id", "seats[0].assigned.match_id");
    let (no_seat, no_seat_of_list) = fields("assigned.seat", "seats[0].assigned.seat");
    let rows = [
        Named {
            seat_token: scene.playing.actor().to_owned(),
            ..by("a seat by a token too", seat(match_id(), 0), bot(), not_a_bots.clone(), of_list.clone())
        },
        by(
            "a bot's seat by nobody",
            seat(match_id(), 0),
            Caller::Nobody,
            not_a_bots.clone(),
            of_list.clone(),
        ),
        by("a bot's seat by the admin", seat(match_id(), 0), Caller::Admin, not_a_bots, of_list),
        both(
            "a bot's seat by a token of nobody's",
            seat(match_id(), 0),
            Caller::Token("nobody's".to_owned()),
            Expected::reason(Unauthenticated),
        ),
        both("a seat that is no bot's", seat(match_id(), 0), bot(), Expected::reason(NotFound)),
        both("a bot's seat of no match", seat("no id".to_owned(), 0), bot(), Expected::reason(NotFound)),
        by("a bot's seat without a match", seat(String::new(), 0), bot(), no_match, no_match_of_list),
        by("a bot's seat that there is not", seat(match_id(), 6), bot(), no_seat, no_seat_of_list),
    ];
    rows.into_iter().flat_map(of_every_call).collect()
}

fn of_every_call(named: Named) -> [Case; 5] {
    let Named { name, seat_token, assigned, caller, expected, in_list } = named;
    let (token, assigned) = (|| seat_token.clone(), Some(assigned));
    let join =
        v1::JoinSeatRequest { seat_token: token(), nonce_hash: Vec::new(), assigned: assigned.clone() };
    let nonce = v1::SendNonceRequest { seat_token: token(), nonce: vec![1], assigned: assigned.clone() };
    let act = Some(act(1, Choice::LegalIndex(0)));
    let act = v1::ActRequest { seat_token: token(), act, assigned: assigned.clone() };
    let resign = v1::ResignRequest { seat_token: token(), panic: None, assigned: assigned.clone() };
    let seat = v1::ObserveSeat { seat_token: token(), assigned, ..v1::ObserveSeat::default() };
    let observe = v1::ObserveRequest { seats: vec![seat] };
    [
        Case::new("PlayService/JoinSeat", name, &join, expected.clone()),
        Case::new("PlayService/SendNonce", name, &nonce, expected.clone()),
        Case::new("PlayService/Act", name, &act, expected.clone()),
        Case::new("PlayService/Resign", name, &resign, expected),
        Case::new("PlayService/Observe", name, &observe, in_list),
    ]
    .map(|case| case.by(caller.clone()))
}
