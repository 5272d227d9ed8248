#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::{
    future::pending,
    iter,
    net::IpAddr,
    ops::Range,
    task::{Context, Poll, Waker},
};

use http::HeaderMap;
use prost::Message;
use tonic::body::Body;
use zetema_proto::v1::{play_request, play_service_client::PlayServiceClient};
use zetema_rules::Seat;

use super::*;
use crate::{
    admission::{Address, Bounds, Origin, Rates, Traffic},
    config::{Config, Number, Numbers},
    grpc::{
        lists::tests::World,
        play::{handles::Held, seats::Told},
    },
    journal::MatchId,
    matches::{Hold, Way},
    planted::{Bug, plant},
    server::Server,
    table::SeatAccess,
};

/// There are thousands of these. What each has of memory that is seldom used lies between what each message touches, as what it has for
/// its first seat, some 500 bytes, does.
#[test]
fn the_task_of_a_stream_has_room_for_its_session_once() {
    const fn size<F>(_: fn(Session, Requests, Outbox, Validity) -> F) -> usize {
        size_of::<F>()
    }
    let bytes = size(Session::run);
    assert!(bytes <= 2_900, "{bytes}");
}

/// A seat of a match, of which no table is needed.
fn held(match_id: MatchId) -> Held {
    let access = SeatAccess { seat: Seat::new(0).unwrap(), generation: 1 };
    Held {
        match_id,
        way: Way::nowhere(),
        access,
        hold: Hold::FIRST,
        start: 0,
        shown: 0,
        owed: Vec::new(),
        unanswered: 0,
        before: None,
        lost: false,
        _occupied: None,
    }
}

/// A stream that has said hello, opened with nothing.
struct Stream {
    session: Session,
    seats: Seats,
}

impl Stream {
    fn open(backend: &Arc<Backend>, capacity: usize, share: Option<Share>) -> Self {
        let post = Arc::<Post>::default();
        let seats = Seats::new(Arc::clone(backend), Arc::clone(&post));
        let (backend, cuts) = (Arc::clone(backend), Arc::default());
        let mut session = Session::new(backend, cuts, Opener::Nobody, None, post, share);
        session.capacity = Some(capacity);
        Self { session, seats }
    }

    /// The tags of all that is told now.
    fn told(&mut self) -> Vec<u64> {
        let context = Context::from_waker(Waker::noop());
        let tag = |told| match told {
            Poll::Ready(Told::Message(response)) => Some(response.tag),
            Poll::Ready(Told::Observation { .. }) | Poll::Pending => None,
        };
        iter::from_fn(|| tag(self.seats.poll_next(&context))).collect()
    }
}

#[tokio::test]
async fn an_action_waits_behind_a_call_of_its_own_match_and_of_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let backend = World::open(folder.path()).await.backend;
    let Stream { mut session, mut seats } = Stream::open(&backend, 2, None);
    let [joining, played] = [1, 2].map(|number| MatchId::from_bytes([number; 16]));
    let handles = [joining, played].map(|match_id| seats.handles.put(held(match_id)).0);
    session.asked.push(Some(joining), pending());
    session.asked.push(None, pending());
    for handle in handles {
        let act = v1::Act { decision_number: 1, choice: Some(v1::act::Choice::LegalIndex(0)) };
        let act = v1::PlayRequest { tag: 1, handle, kind: Some(play_request::Kind::Act(act)) };
        session.hear(&mut seats, act);
        assert_eq!(seats.said(), 0, "nothing is refused");
    }
    assert_eq!(
        (session.asked.len(), seats.unanswered()),
        (3, 1),
        "that of the match that is played is asked at once"
    );
}

/// A stream by which these have come, and its end.
fn came(requests: impl IntoIterator<Item = v1::PlayRequest>) -> Requests {
    let frame = |request: v1::PlayRequest| {
        let message = request.encode_to_vec();
        [&[0, 0, 0, 0, u8::try_from(message.len()).unwrap()], &message[..]].concat()
    };
    let body = String::from_utf8(requests.into_iter().flat_map(frame).collect()).unwrap();
    Requests::new(Body::new(body), limits::MAX_PLAY_MESSAGE_BYTES)
}

/// Requests that are refused, with these tags.
fn leaves(tags: Range<u64>) -> Requests {
    let leave = || Some(play_request::Kind::Leave(v1::Leave {}));
    came(tags.map(|tag| v1::PlayRequest { tag, handle: 9, kind: leave() }))
}

/// Has a session hear what has come, as when it looks for a message: how many it took in at once, or the end.
async fn hear(
    Stream { session, seats }: &mut Stream,
    requests: &mut Requests,
) -> Result<usize, Option<ErrorReason>> {
    let first = requests.message().await;
    let unanswered = session.asked.len() + seats.unanswered();
    let said = session.with_those_behind(first, requests, prefetch::AT_ONCE, unanswered);
    let heard = said.and_then(|said| session.hear_all(seats, said));
    heard.map_err(|status| status.map(|status| v1::Error::from_status(&status).unwrap().reason()))
}

#[tokio::test]
async fn messages_that_are_there_are_taken_in_some_at_a_time_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let backend = World::open(folder.path()).await.backend;
    let mut stream = Stream::open(&backend, 1, None);
    let mut requests = leaves(0..40);
    let mut heard = Vec::new();
    let end = loop {
        match hear(&mut stream, &mut requests).await {
            Ok(some) => heard.push(some),
            Err(end) => break end,
        }
    };
    assert_eq!((heard, end), (vec![16, 16], None), "the end comes with the last eight");
    assert_eq!(stream.told(), (0..40).collect::<Vec<_>>());
}

#[tokio::test]
async fn no_more_is_taken_in_at_once_than_may_be_unanswered() {
    let folder = tempfile::tempdir().unwrap();
    let backend = World::open(folder.path()).await.backend;
    for room in [1, 2, 15, 16, 17] {
        let mut stream = Stream::open(&backend, 1, None);
        let waiting = limits::MAX_REQUESTS_IN_FLIGHT - room;
        (0..waiting).for_each(|_| stream.seats.say(v1::PlayResponse::default()));
        assert_eq!(hear(&mut stream, &mut leaves(0..40)).await, Ok(room.min(16)));
        assert_eq!(stream.seats.said(), waiting + room.min(16));
    }
}

#[tokio::test]
async fn what_comes_at_once_is_counted_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let backend = World::open(folder.path()).await.backend;
    let numbers = Numbers::default().with(Number::RequestsPerSecondPerAddress, 1).unwrap();
    let numbers = numbers.with(Number::RequestBurstPerAddress, 5).unwrap();
    let address = Address::from(IpAddr::from([192, 0, 2, 1]));
    let traffic = Traffic::new(&Bounds::new(&numbers), address);
    let origin = Origin { address, traffic, crowded: false };
    let share = Share::new(Rates::new(&numbers), Some(origin), &HeaderMap::new());
    let mut stream = Stream::open(&backend, 1, Some(share));
    // Nothing more is allowed by the time that the test takes.
    tokio::time::pause();
    // The last of them is what is owed.
    assert_eq!(hear(&mut stream, &mut leaves(0..40)).await, Ok(6));
    assert!(!stream.session.intake.is_open(0));
}

#[tokio::test]
async fn what_comes_at_once_overtakes_nothing_of_the_same_match() {
    let folder = tempfile::tempdir().unwrap();
    let backend = World::open(folder.path()).await.backend;
    let mut stream = Stream::open(&backend, 1, None);
    // Of a match that takes nothing now: the first is asked again by a call that waits, and the others go behind it.
    let handle = stream.seats.handles.put(held(MatchId::from_bytes([1; 16]))).0;
    let act = v1::Act { decision_number: 1, choice: Some(v1::act::Choice::LegalIndex(0)) };
    let act = |tag| v1::PlayRequest { tag, handle, kind: Some(play_request::Kind::Act(act.clone())) };
    assert_eq!(hear(&mut stream, &mut came((1..=3).map(act))).await, Err(None));
    // The last is asked again when the seats are looked at next.
    stream.session.ask_again(&mut stream.seats);
    assert_eq!((stream.session.asked.len(), stream.seats.unanswered()), (3, 0));
}

/// A stream that panics by this bug ends as a fault of the server.
async fn check_panic(bug: Bug) {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(Config::embedded(folder.path().join("data"))).await.unwrap();
    let mut client = PlayServiceClient::connect(format!("http://{}", server.local_addr())).await.unwrap();
    plant(bug);
    let kind = Some(play_request::Kind::Hello(v1::Hello::default()));
    let said = stream::iter([v1::PlayRequest { tag: 0, handle: 0, kind }]).chain(stream::pending());
    let mut heard = client.play(said).await.unwrap().into_inner();
    let end = loop {
        match heard.message().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("it ends as if all was well"),
            Err(status) => break status,
        }
    };
    assert_eq!(v1::Error::from_status(&end).unwrap().reason(), ErrorReason::Internal, "{end:?}");
    server.shutdown().await;
}

#[tokio::test]
async fn a_stream_whose_session_panics_ends_as_a_fault_of_the_server() {
    check_panic(Bug::StreamPanics).await;
}

#[tokio::test]
async fn a_stream_that_panics_when_something_is_told_ends_as_a_fault_of_the_server() {
    check_panic(Bug::TellingPanics).await;
}
