//! Messages on Play streams that must be rejected, while the stream goes on.

use zetema_proto::v1::ErrorReason::{
    CursorAhead, HelloExpected, LimitExceeded, MatchNotStarted, NonceFixed, NonceMismatch, NonceNotWanted,
    ProtocolRevision, Unauthenticated, UnknownHandle,
};
use zetema_proto::v1::act::Choice;
use zetema_proto::v1::play_request::Kind as Ask;
use zetema_proto::{PROTOCOL_REVISION, Wire, v1};

use super::case::{Expected, StreamCase};
use super::play_cases::BadAct;
use super::scene::{Scene, act, nonce};

const UNKNOWN: i32 = 99;

/// Seats that a stream has joined, by handle.
pub(crate) struct Handles {
    /// The seats of the match that is in play.
    pub(crate) playing: Vec<u32>,
    /// The seats of the match that waits for the nonce of seat 1.
    pub(crate) nonces: Vec<u32>,
    /// Seat 0 of the match that waits for seat 1.
    pub(crate) joining: u32,
    /// A handle whose seat the stream has left.
    pub(crate) left: u32,
}

fn case(name: &'static str, handle: u32, ask: Ask, expected: Expected) -> StreamCase {
    StreamCase { name, handle, ask: Some(ask), expected }
}

fn hello(revision: u32) -> v1::Hello {
    v1::Hello { protocol_revision: revision, ..v1::Hello::default() }
}

/// What is rejected on a stream that has said hello and joined.
pub(crate) fn cases(scene: &Scene, handles: &Handles, bad_acts: Vec<BadAct>) -> Vec<StreamCase> {
    let acts = bad_acts.into_iter().map(|bad| {
        let BadAct { name, seat, act, expected } = bad;
        case(name, handles.playing[seat], Ask::Act(act), expected)
    });
    [joins(scene), nonces(handles), about_handles(handles)].into_iter().flatten().chain(acts).collect()
}

fn joins(scene: &Scene) -> Vec<StreamCase> {
    let token =
        |token: &str| v1::Join { by: Some(v1::join::By::SeatToken(token.to_owned())), ..v1::Join::default() };
    let join = || token(&scene.joining.tokens[0]);
    let unknown = || Expected::reason(Unauthenticated);
    let seat = v1::AssignedSeat { match_id: scene.joining.id().to_owned(), seat: 0 };
    let assigned = v1::Join { by: Some(v1::join::By::Assigned(seat)), ..v1::Join::default() };
    let rows = [
        ("join: no seat token", token(""), Expected::field("join.seat_token")),
        ("join: a token of nobody's", token("nobody's"), unknown()),
        ("join: a token that was replaced", token(&scene.replaced_token), unknown()),
        ("join: nothing to go by", v1::Join::default(), Expected::field("join.by")),
        ("join: a bot's seat without a bot's token", assigned, Expected::field("join.assigned")),
        (
            "join: a hash of 31 bytes",
            v1::Join { nonce_hash: vec![1; 31], ..join() },
            Expected::field("join.nonce_hash"),
        ),
        (
            "join: another hash",
            v1::Join { nonce_hash: Some(nonce(5).hash()).to_wire(), ..join() },
            Expected::reason(NonceFixed),
        ),
        (
            "join: a cursor ahead",
            v1::Join { after_seq: Some(1_000_000), ..join() },
            Expected::reason(CursorAhead),
        ),
        ("join: views unspecified", v1::Join { views: Some(0), ..join() }, Expected::field("join.views")),
        ("join: views unknown", v1::Join { views: Some(UNKNOWN), ..join() }, Expected::field("join.views")),
    ];
    let about_a_handle = case("join: about a handle", 1, Ask::Join(join()), Expected::field("handle"));
    let joins = rows.map(|(name, join, expected)| case(name, 0, Ask::Join(join), expected));
    joins.into_iter().chain([about_a_handle]).collect()
}

fn nonces(handles: &Handles) -> Vec<StreamCase> {
    let give = |nonce: Vec<u8>| Ask::Nonce(v1::GiveNonce { nonce });
    let other = || give(nonce(5).to_wire());
    vec![
        case("nonce: too long", handles.nonces[1], give(vec![1; 33]), Expected::field("nonce.nonce")),
        case("nonce: not its hash's", handles.nonces[1], other(), Expected::reason(NonceMismatch)),
        case("nonce: another", handles.nonces[0], other(), Expected::reason(NonceFixed)),
        case("nonce: without a hash", handles.nonces[2], other(), Expected::reason(NonceNotWanted)),
        case("nonce: too early", handles.joining, give(nonce(0).to_wire()), Expected::reason(NonceNotWanted)),
        case("nonce: another, in play", handles.playing[0], other(), Expected::reason(NonceFixed)),
    ]
}

fn about_handles(handles: &Handles) -> Vec<StreamCase> {
    let any = || Ask::Act(act(1, Choice::LegalIndex(0)));
    let unknown = || Expected::reason(UnknownHandle);
    vec![
        StreamCase { name: "nothing", handle: 0, ask: None, expected: Expected::field("kind") },
        case("hello again", 0, Ask::Hello(hello(PROTOCOL_REVISION)), Expected::reason(HelloExpected)),
        case("pong about a handle", 1, Ask::Pong(v1::Pong { number: 1 }), Expected::field("handle")),
        case("act on no handle", 0, any(), unknown()),
        case("act on an unknown handle", 999, any(), unknown()),
        case("act on a handle that was left", handles.left, any(), unknown()),
        case("nonce on an unknown handle", 999, Ask::Nonce(v1::GiveNonce { nonce: vec![1] }), unknown()),
        case("resign on an unknown handle", 999, Ask::Resign(v1::Resign::default()), unknown()),
        case("leave an unknown handle", 999, Ask::Leave(v1::Leave {}), unknown()),
        case("leave a handle that was left", handles.left, Ask::Leave(v1::Leave {}), unknown()),
        case("act before the deal", handles.nonces[1], any(), Expected::reason(MatchNotStarted)),
        case(
            "resign with too much of a panic",
            handles.nonces[1],
            Ask::Resign(v1::Resign { panic: Some(v1::BotPanic { message: "x".repeat(257) }) }),
            Expected::field("resign.panic.message"),
        ),
        case(
            "resign before the deal",
            handles.nonces[1],
            Ask::Resign(v1::Resign::default()),
            Expected::reason(MatchNotStarted),
        ),
    ]
}

/// What is rejected on a stream that has not said hello.
pub(crate) fn first_messages(scene: &Scene) -> Vec<StreamCase> {
    let join = v1::Join {
        by: Some(v1::join::By::SeatToken(scene.playing.actor().to_owned())),
        ..v1::Join::default()
    };
    let name = v1::Hello { client_name: "x".repeat(65), ..hello(PROTOCOL_REVISION) };
    let capacity = v1::Hello { capacity: Some(0), ..hello(PROTOCOL_REVISION) };
    let seats = v1::Hello { live_seats_token: "b".to_owned(), ..hello(PROTOCOL_REVISION) };
    let revision = || Expected::reason(ProtocolRevision);
    vec![
        StreamCase { name: "first: nothing", handle: 0, ask: None, expected: Expected::field("kind") },
        case("first: a join", 0, Ask::Join(join), Expected::reason(HelloExpected)),
        case("first: an act", 1, Ask::Act(act(1, Choice::LegalIndex(0))), Expected::reason(HelloExpected)),
        case("hello: no revision", 0, Ask::Hello(hello(0)), revision()),
        case("hello: an unknown revision", 0, Ask::Hello(hello(PROTOCOL_REVISION + 1)), revision()),
        case("hello: too long a name", 0, Ask::Hello(name), Expected::field("hello.client_name")),
        case("hello: no capacity", 0, Ask::Hello(capacity), Expected::field("hello.capacity")),
        case("hello: seats of no welcome", 0, Ask::Hello(seats), Expected::field("hello.live_seats_token")),
        case("hello: about a handle", 1, Ask::Hello(hello(PROTOCOL_REVISION)), Expected::field("handle")),
    ]
}

/// What is rejected on a stream that a bot's token opened, and that has not said hello.
pub(crate) fn first_messages_of_a_bot() -> Vec<StreamCase> {
    let of = |live_seats_token: &str| {
        Ask::Hello(v1::Hello { live_seats_token: live_seats_token.to_owned(), ..hello(PROTOCOL_REVISION) })
    };
    let wrong = || Expected::field("hello.live_seats_token");
    vec![
        case("hello of a bot: seats of no welcome", 0, of("b"), wrong()),
        case("hello of a bot: too long a token of seats", 0, of(&"1".repeat(65)), wrong()),
    ]
}

/// What is rejected on a stream that has one seat, and said in hello that it wants no more.
pub(crate) fn beyond_the_capacity(scene: &Scene) -> StreamCase {
    let join =
        v1::Join { by: Some(v1::join::By::SeatToken(scene.nonces.tokens[0].clone())), ..v1::Join::default() };
    case("join: beyond the capacity", 0, Ask::Join(join), Expected::reason(LimitExceeded))
}
