#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use zetema_proto::v1::{play_request, play_service_client::PlayServiceClient};

use super::*;
use crate::{config::Config, planted::plant, server::Server};

/// There are thousands of these. What each has of memory that is seldom used lies between what each message touches.
#[test]
fn the_task_of_a_stream_has_room_for_its_session_once() {
    const fn size<F>(_: fn(Session, Streaming<v1::PlayRequest>, Outbox<Outgoing>, Validity) -> F) -> usize {
        size_of::<F>()
    }
    let bytes = size(Session::run);
    assert!(bytes <= 2_400, "{bytes}");
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
