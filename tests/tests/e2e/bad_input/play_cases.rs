//! Inputs of `PlayService`, but for Play streams that go on, that must be refused.

use prost::Message;
use zetema_proto::v1::ErrorReason::{
    CursorAhead, DecisionAhead, DecisionOver, IllegalAction, MatchNotStarted, MatchOver, MessageTooLarge,
    NonceFixed, NonceMismatch, NonceNotWanted, NotFound, NotYourTurn, SeatForfeited, Unauthenticated,
    Undecodable,
};
use zetema_proto::v1::act::Choice;
use zetema_proto::v1::play_request::Kind as Ask;
use zetema_proto::v1::{action, declaration};
use zetema_proto::{PROTOCOL_REVISION, Wire, v1};
use zetema_rules::Action;
use zetema_service::limits;

use super::case::{Caller, Case, Expected};
use super::scene::{Scene, act, discard, nonce};

const UNKNOWN: i32 = 99;
const PLAY: &str = "PlayService/Play";
const JOIN: &str = "PlayService/JoinSeat";
const NONCE: &str = "PlayService/SendNonce";
const OBSERVE: &str = "PlayService/Observe";
const ACT: &str = "PlayService/Act";
const RESIGN: &str = "PlayService/Resign";
const FAULTS: &str = "PlayService/ListFaults";

pub(crate) fn cases(scene: &Scene) -> Vec<Case> {
    [
        tokens(scene),
        joins(scene),
        nonces(scene),
        observations(scene),
        acts(scene),
        resignations(scene),
        faults(scene),
        streams(),
    ]
    .concat()
}

/// Seat tokens that are none.
fn tokens(scene: &Scene) -> Vec<Case> {
    let unknown = || Expected::reason(Unauthenticated);
    let of_other_match = format!("{}x", scene.playing.actor());
    let rows = [
        ("no seat token", "", Expected::field("seat_token")),
        ("a seat token of nobody's", "nobody's", unknown()),
        ("a seat token with a character more", &of_other_match, unknown()),
        ("a seat token that was replaced", &scene.replaced_token, unknown()),
        ("the admin's token as a seat's", scene.clients.admin_token(), unknown()),
    ];
    let row = |(name, token, expected): (&'static str, &str, Expected)| {
        let seat_token = token.to_owned();
        let act = Some(act(1, Choice::LegalIndex(0)));
        let seat =
            v1::ObserveSeat { seat_token: seat_token.clone(), after_seq: None, views: None, assigned: None };
        let of_seat = Expected {
            fields: expected.fields.iter().map(|_| "seats[0].seat_token").collect(),
            ..expected.clone()
        };
        let nonce_hash = Vec::new();
        [
            Case::new(
                JOIN,
                name,
                &v1::JoinSeatRequest { seat_token: seat_token.clone(), nonce_hash, assigned: None },
                expected.clone(),
            ),
            Case::new(
                NONCE,
                name,
                &v1::SendNonceRequest { seat_token: seat_token.clone(), nonce: vec![1], assigned: None },
                expected.clone(),
            ),
            Case::new(
                ACT,
                name,
                &v1::ActRequest { seat_token: seat_token.clone(), act, assigned: None },
                expected.clone(),
            ),
            Case::new(
                RESIGN,
                name,
                &v1::ResignRequest { seat_token: seat_token.clone(), panic: None, assigned: None },
                expected.clone(),
            ),
            Case::new(FAULTS, name, &v1::ListFaultsRequest { seat_token, ..Default::default() }, expected),
            Case::new(OBSERVE, name, &v1::ObserveRequest { seats: vec![seat] }, of_seat),
        ]
    };
    rows.into_iter().flat_map(row).map(|case| case.by(Caller::Nobody)).collect()
}

fn joins(scene: &Scene) -> Vec<Case> {
    let join = |nonce_hash: Vec<u8>| v1::JoinSeatRequest {
        seat_token: scene.joining.tokens[0].clone(),
        nonce_hash,
        assigned: None,
    };
    let another = Some(nonce(5).hash()).to_wire();
    vec![
        Case::new(JOIN, "a hash of 31 bytes", &join(vec![1; 31]), Expected::field("nonce_hash")),
        Case::new(JOIN, "a hash of 33 bytes", &join(vec![1; 33]), Expected::field("nonce_hash")),
        Case::new(JOIN, "another hash", &join(another), Expected::reason(NonceFixed)),
    ]
}

fn nonces(scene: &Scene) -> Vec<Case> {
    let send = |token: &String, nonce: Vec<u8>| v1::SendNonceRequest {
        seat_token: token.clone(),
        nonce,
        assigned: None,
    };
    let [first, missing, without] = &scene.nonces.tokens[..] else { unreachable!("three seats") };
    let other = || nonce(5).to_wire();
    vec![
        Case::new(NONCE, "too long a nonce", &send(missing, vec![1; 33]), Expected::field("nonce")),
        Case::new(
            NONCE,
            "a nonce that is not its hash's",
            &send(missing, other()),
            Expected::reason(NonceMismatch),
        ),
        Case::new(NONCE, "another nonce", &send(first, other()), Expected::reason(NonceFixed)),
        Case::new(NONCE, "a nonce without a hash", &send(without, other()), Expected::reason(NonceNotWanted)),
        Case::new(
            NONCE,
            "a nonce too early",
            &send(&scene.joining.tokens[0], nonce(0).to_wire()),
            Expected::reason(NonceNotWanted),
        ),
        Case::new(
            NONCE,
            "another nonce when the match is over",
            &send(&scene.over.tokens[0], other()),
            Expected::reason(NonceFixed),
        ),
    ]
}

fn faults(scene: &Scene) -> Vec<Case> {
    let seat_token = scene.playing.actor().to_owned();
    let list = || v1::ListFaultsRequest { seat_token: seat_token.clone(), ..Default::default() };
    let match_id = v1::ListFaultsRequest { match_id: "no id".to_owned(), ..list() };
    let row = |name, page_token: &str| {
        let request = v1::ListFaultsRequest { page_token: page_token.to_owned(), ..list() };
        Case::new(FAULTS, name, &request, Expected::field("page_token"))
    };
    vec![
        Case::new(FAULTS, "what is no match's id", &match_id, Expected::reason(NotFound)),
        row("a page token of another list", "o"),
        row("a page token with a sign", "f+1"),
    ]
}

fn observations(scene: &Scene) -> Vec<Case> {
    let seat = |after_seq, views| v1::ObserveSeat {
        seat_token: scene.playing.actor().to_owned(),
        after_seq,
        views,
        assigned: None,
    };
    let whole = seat(None, None);
    let observe = |seats: Vec<v1::ObserveSeat>| v1::ObserveRequest { seats };
    let second = |after_seq, views| {
        let first = v1::ObserveSeat {
            seat_token: scene.playing.other().to_owned(),
            after_seq: None,
            views: None,
            assigned: None,
        };
        observe(vec![first, seat(after_seq, views)])
    };
    let many = vec![whole.clone(); limits::MAX_SEATS_PER_STREAM + 1];
    vec![
        Case::new(OBSERVE, "no seat", &observe(vec![]), Expected::field("seats")),
        Case::new(OBSERVE, "too many seats", &observe(many), Expected::field("seats")),
        Case::new(
            OBSERVE,
            "a seat twice",
            &observe(vec![whole.clone(), whole]),
            Expected::field("seats[1].seat_token"),
        ),
        Case::new(OBSERVE, "a cursor ahead", &second(Some(1_000_000), None), Expected::reason(CursorAhead)),
        Case::new(OBSERVE, "views unspecified", &second(None, Some(0)), Expected::field("seats[1].views")),
        Case::new(OBSERVE, "views unknown", &second(None, Some(UNKNOWN)), Expected::field("seats[1].views")),
    ]
}

/// An answer to a decision that must be refused: for `Act` here, and on a stream in `stream_cases`.
pub(crate) struct BadAct {
    pub(crate) name: &'static str,
    pub(crate) seat: usize,
    pub(crate) act: v1::Act,
    pub(crate) expected: Expected,
}

/// Answers of the seats of the match that is in play.
pub(crate) fn bad_acts(
    open: &zetema_tests::harness::Open,
    other: usize,
    not_held: zetema_rules::Card,
) -> Vec<BadAct> {
    let number = open.number;
    let legal = open.legal.get(0).expect("a decision has a legal action");
    let action = |action: Action| Choice::Action(action.to_wire());
    let raw = |kind| Choice::Action(v1::Action { kind });
    let declare = |kind| raw(Some(action::Kind::Declare(v1::Declaration { kind })));
    let list = |cards: Vec<i32>| v1::CardList { cards };
    let king = v1::Card::Ks.into();
    let at = Expected::at;
    let rows = [
        (
            "no choice",
            open.seat,
            v1::Act { decision_number: number, choice: None },
            Expected::field("act.choice"),
        ),
        ("no decision number", open.seat, act(0, action(legal)), Expected::field("act.decision_number")),
        ("out of turn", other, discard(number, not_held), at(NotYourTurn, number)),
        ("out of turn, by index", other, act(number, Choice::LegalIndex(0)), at(NotYourTurn, number)),
        ("a card that is not held", open.seat, discard(number, not_held), at(IllegalAction, number)),
        ("no such index", open.seat, act(number, Choice::LegalIndex(u32::MAX)), at(IllegalAction, number)),
        (
            "stale, answered by the other",
            other,
            act(number - 1, Choice::LegalIndex(9_999)),
            at(DecisionOver, number),
        ),
        (
            "stale, answered by the seat",
            open.seat,
            act(number - 1, Choice::LegalIndex(9_999)),
            at(DecisionOver, number),
        ),
        ("for a decision to come", open.seat, act(number + 1, action(legal)), at(DecisionAhead, number)),
        ("no kind of action", open.seat, act(number, raw(None)), Expected::field("act.action.kind")),
        (
            "a card unspecified",
            open.seat,
            act(number, raw(Some(action::Kind::Discard(0)))),
            Expected::field("act.action.discard"),
        ),
        (
            "a card that does not exist",
            open.seat,
            act(number, raw(Some(action::Kind::Discard(UNKNOWN)))),
            Expected::field("act.action.discard"),
        ),
        (
            "no kind of declaration",
            open.seat,
            act(number, declare(None)),
            Expected::field("act.action.declare.kind"),
        ),
        (
            "a rank that does not exist",
            open.seat,
            act(number, declare(Some(declaration::Kind::Assembly(UNKNOWN)))),
            Expected::field("act.action.declare.assembly"),
        ),
        (
            "a sequence with a card that does not exist",
            open.seat,
            act(number, declare(Some(declaration::Kind::Sequence(list(vec![king, UNKNOWN]))))),
            Expected::field("act.action.declare.sequence.cards[1]"),
        ),
        (
            "a flush with three of a face",
            open.seat,
            act(number, declare(Some(declaration::Kind::Flush(list(vec![king; 3]))))),
            Expected::field("act.action.declare.flush.cards[2]"),
        ),
        (
            "an empty sequence",
            open.seat,
            act(number, declare(Some(declaration::Kind::Sequence(list(vec![]))))),
            at(IllegalAction, number),
        ),
    ];
    rows.map(|(name, seat, act, expected)| BadAct { name, seat, act, expected }).into()
}

fn acts(scene: &Scene) -> Vec<Case> {
    let case = |name, token: &str, act: v1::Act, expected: Expected| {
        let request = v1::ActRequest { seat_token: token.to_owned(), act: Some(act), assigned: None };
        Case::new(ACT, name, &request, expected).by(Caller::Nobody)
    };
    let playing = &scene.playing;
    let not_held = playing.not_held(playing.open.seat);
    let of_match = bad_acts(&playing.open, playing.other_seat(), not_held).into_iter().map(|bad| {
        let BadAct { name, seat, act, expected } = bad;
        case(name, &playing.created.tokens[seat], act, expected)
    });
    let faults = &scene.faults;
    let forfeited = &scene.forfeited;
    let any = |number| act(number, Choice::LegalIndex(0));
    let nothing = v1::ActRequest { seat_token: playing.actor().to_owned(), act: None, assigned: None };
    let others = [
        Case::new(ACT, "nothing", &nothing, Expected::field("act")),
        case(
            "a fault with a card that is not held",
            faults.other(),
            discard(faults.open.number, faults.not_held(faults.other_seat())),
            Expected::at(IllegalAction, faults.open.number),
        ),
        case(
            "an action of another match",
            faults.actor(),
            any(playing.open.number),
            Expected::at(DecisionAhead, faults.open.number),
        ),
        case(
            "by a seat that has forfeited",
            &forfeited.created.tokens[2],
            any(forfeited.open.number),
            Expected::reason(SeatForfeited),
        ),
        case(
            "before every seat has joined",
            &scene.joining.tokens[0],
            any(1),
            Expected::reason(MatchNotStarted),
        ),
        case("before every nonce is in", &scene.nonces.tokens[0], any(1), Expected::reason(MatchNotStarted)),
        case("after the match", &scene.over.tokens[0], any(1_000_000), Expected::reason(MatchOver)),
        case(
            "in a match that was cancelled",
            &scene.cancelled.tokens[0],
            any(1),
            Expected::reason(MatchOver),
        ),
    ];
    of_match.chain(others).collect()
}

fn resignations(scene: &Scene) -> Vec<Case> {
    let resign =
        |token: &String| v1::ResignRequest { seat_token: token.clone(), panic: None, assigned: None };
    vec![
        Case::new(
            RESIGN,
            "before the deal",
            &resign(&scene.nonces.tokens[0]),
            Expected::reason(MatchNotStarted),
        ),
        Case::new(
            RESIGN,
            "with too much of a panic",
            &v1::ResignRequest {
                panic: Some(v1::BotPanic { message: "x".repeat(257) }),
                ..resign(&scene.nonces.tokens[0])
            },
            Expected::field("panic.message"),
        ),
        Case::new(RESIGN, "after the match", &resign(&scene.over.tokens[0]), Expected::reason(MatchOver)),
        Case::new(
            RESIGN,
            "from a match that was cancelled",
            &resign(&scene.cancelled.tokens[0]),
            Expected::reason(MatchOver),
        ),
    ]
}

/// Play streams that end.
fn streams() -> Vec<Case> {
    let hello = v1::Hello { protocol_revision: PROTOCOL_REVISION, ..v1::Hello::default() };
    let message = |kind: Ask| v1::PlayRequest { tag: 0, handle: 0, kind: Some(kind) }.encode_to_vec();
    let hello = message(Ask::Hello(hello));
    let garbage = vec![0xff; 16];
    let long = vec![0; limits::MAX_PLAY_MESSAGE_BYTES + 1];
    let rows = [
        ("what is no message, after hello", vec![hello.clone(), garbage], Expected::reason(Undecodable)),
        ("too large a message, after hello", vec![hello, long], Expected::reason(MessageTooLarge)),
    ];
    rows.map(|(name, bodies, expected)| Case { name, method: PLAY, caller: Caller::Nobody, bodies, expected })
        .into()
}
