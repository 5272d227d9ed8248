#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::future::pending;

use zetema_proto::v1::{play_request, play_service_client::PlayServiceClient};
use zetema_rules::Seat;

use super::*;
use crate::{
    config::Config,
    grpc::{lists::tests::World, play::handles::Held},
    journal::MatchId,
    matches::Hold,
    planted::plant,
    server::Server,
    table::SeatAccess,
};

/// There are thousands of these. What each has of memory that is seldom used lies between what each message touches.
#[test]
fn the_task_of_a_stream_has_room_for_its_session_once() {
    const fn size<F>(_: fn(Session, Streaming<v1::PlayRequest>, Outbox<Outgoing>, Validity) -> F) -> usize {
        size_of::<F>()
    }
    let bytes = size(Session::run);
    assert!(bytes <= 2_400, "{bytes}");
}

/// A seat of a match, of which no table is needed.
fn held(match_id: MatchId) -> Held {
    let access = SeatAccess { seat: Seat::new(0).unwrap(), generation: 1 };
    Held {
        match_id,
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

#[tokio::test]
async fn an_action_waits_behind_a_call_of_its_own_match_and_of_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let backend = World::open(folder.path()).await.backend;
    let mut session = Session::new(backend, Arc::default(), Opener::Nobody, None, None);
    session.capacity = Some(2);
    let [joining, played] = [1, 2].map(|number| MatchId::from_bytes([number; 16]));
    let handles = [joining, played].map(|match_id| session.handles.put(held(match_id)).0);
    session.asked.push(Some(joining), pending());
    session.asked.push(None, pending());
    for handle in handles {
        let act = v1::Act { decision_number: 1, choice: Some(v1::act::Choice::LegalIndex(0)) };
        session.hear(v1::PlayRequest { tag: 1, handle, kind: Some(play_request::Kind::Act(act)) });
        assert_eq!(session.said, [], "nothing is refused");
    }
    assert_eq!(
        (session.asked.len(), session.awaited),
        (3, 1),
        "that of the match that is played is asked at once"
    );
}

#[tokio::test]
async fn a_stream_whose_session_panics_ends_as_a_fault_of_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(Config::embedded(folder.path().join("data"))).await.unwrap();
    let mut client = PlayServiceClient::connect(format!("http://{}", server.local_addr())).await.unwrap();
    plant(Bug::StreamPanics);
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
