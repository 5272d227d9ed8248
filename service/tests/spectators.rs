//! Many who watch one match, over real connections.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod common;

use tonic::{Streaming, transport::Channel};
use zetema_proto::v1::{self, match_service_client::MatchServiceClient, watch_match_response::Kind};

use common::{channel, create, play_to_the_end, spec, start};

/// Those of one connection, less than it may have streams.
const SPECTATORS: usize = 100;
const CONNECTIONS: usize = 3;

async fn watch(
    channel: &Channel,
    id: &str,
    after_seq: Option<u64>,
    views: v1::Views,
) -> Streaming<v1::WatchMatchResponse> {
    let request = v1::WatchMatchRequest { match_id: id.to_owned(), after_seq, views: Some(views.into()) };
    MatchServiceClient::new(channel.clone()).watch_match(request).await.unwrap().into_inner()
}

/// All that comes until the match is over.
async fn read(mut watched: Streaming<v1::WatchMatchResponse>) -> Vec<v1::Observation> {
    let mut all = Vec::new();
    let Kind::Start(_) = watched.message().await.unwrap().unwrap().kind.unwrap() else {
        panic!("it does not begin with a start")
    };
    loop {
        match watched.message().await.unwrap().unwrap().kind.unwrap() {
            Kind::Observation(observation) => all.push(observation),
            Kind::End(_) => break,
            Kind::Start(_) | Kind::Draining(_) => panic!("neither was due"),
        }
    }
    assert!(watched.message().await.unwrap().is_none());
    all
}

#[tokio::test]
async fn each_of_many_spectators_is_shown_all_of_a_match() {
    let (_folder, server) = start().await;
    let (id, tokens) = create(&server, spec(2, v1::Visibility::Public)).await;
    let mut readers = Vec::new();
    let mut connections = Vec::new();
    for _ in 0..CONNECTIONS {
        let connection = channel(&server).await;
        for number in 0..SPECTATORS {
            let views = [v1::Views::EveryDecision, v1::Views::SnapshotsOnly][number % 2];
            let watched = watch(&connection, &id, None, views).await;
            readers.push((views, tokio::spawn(read(watched))));
        }
        connections.push(connection);
    }
    play_to_the_end(channel(&server).await, &tokens).await;

    // What the record of the match gives, to whom it is shown alone.
    let whole = read(watch(&connections[0], &id, Some(0), v1::Views::EveryDecision).await).await;
    assert!(whole.len() > 20 && (1..).zip(&whole).all(|(seq, observation)| observation.seq == seq));
    let bare: Vec<_> =
        whole.iter().cloned().map(|observation| v1::Observation { view: None, ..observation }).collect();
    assert!(bare != whole);
    for (views, reader) in readers {
        let seen = reader.await.unwrap();
        assert!(seen == if views == v1::Views::SnapshotsOnly { bare.clone() } else { whole.clone() });
    }
    let half = whole.len() / 2;
    let rest = read(watch(&connections[0], &id, Some(half as u64), v1::Views::EveryDecision).await).await;
    assert!(rest == whole[half..]);
    server.shutdown().await;
}
