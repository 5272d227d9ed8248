//! What ends a stream, and how it goes on: faults in the bytes, slow readers, a server that stops.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod common;

use std::time::{Duration, Instant};

use prost::Message;
use tokio::sync::mpsc;
use tokio_stream::{StreamExt, wrappers::ReceiverStream};
use tonic::{
    Request, Status, Streaming, client::Grpc, codegen::http::uri::PathAndQuery, transport::Endpoint,
};
use zetema_proto::v1::{
    self, ErrorReason, match_service_client::MatchServiceClient, observe_response, play_request,
    play_response, play_service_client::PlayServiceClient, watch_match_response,
};
use zetema_service::{
    config::{Config, Number},
    limits,
    server::Server,
};

use common::{BytesCodec, channel, create, long, play_to_the_end, spec, start};

fn reason(error: &Status) -> ErrorReason {
    v1::Error::from_status(error).unwrap().reason()
}

/// A server that leaves a client that does not read alone, so that it falls behind instead.
async fn start_patient() -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let config = Config::embedded(folder.path().join("data"));
    let config = config.with(Number::WriteStallTimeoutMs, 600_000).unwrap();
    (folder, Server::start(config).await.unwrap())
}

#[tokio::test]
async fn bytes_that_are_no_message_end_a_play_stream_with_a_reason() {
    let (_folder, server) = start().await;
    let cases =
        [(vec![0xff; 4], ErrorReason::Undecodable), (vec![0; 1024 * 1024], ErrorReason::MessageTooLarge)];
    for (bytes, expected) in cases {
        let mut client = Grpc::new(channel(&server).await);
        client.ready().await.unwrap();
        let path = PathAndQuery::from_static("/zetema.v1.PlayService/Play");
        let request = Request::new(tokio_stream::iter([bytes]).chain(tokio_stream::pending()));
        let answers: tonic::Response<Streaming<Vec<u8>>> =
            client.streaming(request, path, BytesCodec).await.unwrap();
        let error = answers.into_inner().message().await.unwrap_err();
        assert_eq!(reason(&error), expected, "{error:?}");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn all_that_comes_before_the_end_of_a_play_stream_is_answered_in_order() {
    let (_folder, server) = start().await;
    let said = |tag, kind| v1::PlayRequest { tag, handle: 0, kind: Some(kind) }.encode_to_vec();
    let hello = v1::Hello { protocol_revision: zetema_proto::PROTOCOL_REVISION, ..v1::Hello::default() };
    let hello = said(0, play_request::Kind::Hello(hello));
    for garbage in [None, Some(vec![0xff; 4])] {
        for tags in [1..=1, 1..=15, 1..=16, 1..=17, 1..=100] {
            // Each is refused, with its tag: nothing was joined.
            let leaves = tags.clone().map(|tag| said(tag, play_request::Kind::Leave(v1::Leave {})));
            let all: Vec<Vec<u8>> =
                [hello.clone()].into_iter().chain(leaves).chain(garbage.clone()).collect();
            let mut client = Grpc::new(channel(&server).await);
            client.ready().await.unwrap();
            let path = PathAndQuery::from_static("/zetema.v1.PlayService/Play");
            let request = Request::new(tokio_stream::iter(all));
            let mut answers: Streaming<Vec<u8>> =
                client.streaming(request, path, BytesCodec).await.unwrap().into_inner();
            let mut answered = Vec::new();
            let end = loop {
                match answers.message().await {
                    Ok(Some(bytes)) => {
                        let answer = v1::PlayResponse::decode(&bytes[..]).unwrap();
                        if matches!(answer.kind, Some(play_response::Kind::Rejection(_))) {
                            answered.push(answer.tag);
                        }
                    }
                    Ok(None) => break None,
                    Err(error) => break Some(reason(&error)),
                }
            };
            assert_eq!(end, garbage.as_ref().map(|_| ErrorReason::Undecodable));
            assert_eq!(answered, tags.collect::<Vec<u64>>());
        }
    }
    server.shutdown().await;
}

#[tokio::test]
async fn a_server_that_stops_does_not_wait_for_readers() {
    let (_folder, server) = start().await;
    let (match_id, tokens) = create(&server, spec(2, v1::Visibility::Public)).await;
    let connection = channel(&server).await;
    let seat =
        v1::ObserveSeat { seat_token: tokens[0].clone(), after_seq: None, views: None, assigned: None };
    let mut play = PlayServiceClient::new(connection.clone());
    let mut observed = play.observe(v1::ObserveRequest { seats: vec![seat] }).await.unwrap().into_inner();
    let watch = v1::WatchMatchRequest { match_id, after_seq: None, views: None };
    let mut watched = MatchServiceClient::new(connection).watch_match(watch).await.unwrap().into_inner();
    let begun = Instant::now();
    server.shutdown().await;
    assert!(begun.elapsed() < limits::CLOSING_TIMEOUT, "{:?}", begun.elapsed());

    let kinds = [observed.message().await.unwrap().unwrap(), observed.message().await.unwrap().unwrap()];
    assert!(matches!(kinds[0].kind, Some(observe_response::Kind::Start(_))));
    assert!(matches!(kinds[1].kind, Some(observe_response::Kind::Draining(_))));
    assert_eq!(reason(&observed.message().await.unwrap_err()), ErrorReason::Draining);
    assert!(matches!(
        watched.message().await.unwrap().unwrap().kind,
        Some(watch_match_response::Kind::Start(_))
    ));
    let told = watched.message().await.unwrap().unwrap();
    assert!(matches!(told.kind, Some(watch_match_response::Kind::Draining(_))), "{told:?}");
    assert_eq!(reason(&watched.message().await.unwrap_err()), ErrorReason::Draining);
}

#[tokio::test]
async fn a_server_that_is_dropped_gives_its_data_free() {
    let (folder, server) = start().await;
    create(&server, spec(2, v1::Visibility::Public)).await;
    drop(server);
    let again = async {
        loop {
            match Server::start(Config::embedded(folder.path().join("data"))).await {
                Ok(server) => break server,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), again).await.unwrap().shutdown().await;
}

#[tokio::test]
async fn a_reader_that_falls_behind_is_cut_and_resumes_without_a_gap() {
    let (_folder, server) = start_patient().await;
    let (match_id, tokens) = create(&server, long(&server).await).await;

    // A small window, so that little is under way: one of a byte would be opened byte by byte, which is a flood.
    let endpoint = Endpoint::from_shared(format!("http://{}", server.local_addr())).unwrap();
    let narrow = endpoint.initial_stream_window_size(1024).connect().await.unwrap();
    let mut client = MatchServiceClient::new(narrow);
    let watch = |after_seq| v1::WatchMatchRequest { match_id: match_id.clone(), after_seq, views: None };
    let mut watched = client.watch_match(watch(None)).await.unwrap().into_inner();
    play_to_the_end(channel(&server).await, &tokens).await;

    let mut seq = 0;
    let error = loop {
        match watched.message().await {
            Ok(Some(v1::WatchMatchResponse {
                kind: Some(watch_match_response::Kind::Observation(observation)),
            })) => {
                seq += 1;
                assert_eq!(observation.seq, seq);
            }
            Ok(Some(_)) => {}
            Ok(None) => panic!("the reader kept up: {seq}"),
            Err(error) => break error,
        }
    };
    assert_eq!(reason(&error), ErrorReason::SlowReader);

    let mut client = MatchServiceClient::new(channel(&server).await);
    let mut rest = client.watch_match(watch(Some(seq))).await.unwrap().into_inner();
    let cut_at = seq;
    let mut ended = false;
    while let Some(v1::WatchMatchResponse { kind }) = rest.message().await.unwrap() {
        match kind.unwrap() {
            watch_match_response::Kind::Observation(observation) => {
                seq += 1;
                assert_eq!(observation.seq, seq);
            }
            watch_match_response::Kind::End(_) => ended = true,
            watch_match_response::Kind::Start(_) | watch_match_response::Kind::Draining(_) => {}
        }
    }
    assert!(ended && seq > cut_at + 256, "cut at {cut_at}, in all {seq}");
    server.shutdown().await;
}

#[tokio::test]
async fn a_client_that_answers_no_ping_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config::embedded(folder.path().join("data")).with(Number::PingIntervalMs, 500).unwrap();
    let server = Server::start(config).await.unwrap();
    let hello = v1::Hello { protocol_revision: 1, ..v1::Hello::default() };
    let hello = v1::PlayRequest { tag: 0, handle: 0, kind: Some(play_request::Kind::Hello(hello)) };
    let said = tokio_stream::iter([hello]).chain(tokio_stream::pending());
    let mut answers = PlayServiceClient::new(channel(&server).await).play(said).await.unwrap().into_inner();
    let mut pings = 0;
    let error = loop {
        match answers.message().await {
            Ok(Some(answer)) => {
                pings += usize::from(matches!(answer.kind, Some(play_response::Kind::Ping(_))));
            }
            Ok(None) => panic!("it ended without a reason"),
            Err(error) => break error,
        }
    };
    assert!(pings >= 2, "{pings}");
    assert_eq!(reason(&error), ErrorReason::SlowReader);
    assert!(error.message().contains("answer every ping"), "{error:?}");
    server.shutdown().await;
}

/// A Play stream that has said hello and reads nothing, by a window of so few bytes that little is under way.
async fn unread_stream(server: &Server) -> (mpsc::Sender<v1::PlayRequest>, Streaming<v1::PlayResponse>) {
    let endpoint = Endpoint::from_shared(format!("http://{}", server.local_addr())).unwrap();
    let narrow = endpoint.initial_stream_window_size(1).connect().await.unwrap();
    let (requests, sent) = mpsc::channel(1);
    let answers = PlayServiceClient::new(narrow).play(ReceiverStream::new(sent)).await.unwrap().into_inner();
    let hello = v1::Hello { protocol_revision: 1, ..v1::Hello::default() };
    requests.send(ask(0, 0, play_request::Kind::Hello(hello))).await.unwrap();
    (requests, answers)
}

fn ask(tag: u64, handle: u32, kind: play_request::Kind) -> v1::PlayRequest {
    v1::PlayRequest { tag, handle, kind: Some(kind) }
}

/// A join that is refused, of some kilobytes.
fn large_join(tag: u64) -> v1::PlayRequest {
    let by = Some(v1::join::By::SeatToken("x".repeat(10 * 1024)));
    ask(tag, 0, play_request::Kind::Join(v1::Join { by, ..v1::Join::default() }))
}

/// What may be under way of requests of some kilobytes beside what the server has taken: the windows of HTTP/2 and the
/// client's buffers.
const UNDER_WAY: u64 = 500;

/// As long as this nothing is taken from a client that is read no further. Until it may be, a busy machine has time.
fn held_up(sent: u64, limit: u64) -> Duration {
    if sent < limit { Duration::from_mins(1) } else { Duration::from_secs(3) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_asks_and_reads_nothing_is_read_no_further_than_the_limit() {
    let (_folder, server) = start_patient().await;
    let (requests, mut answers) = unread_stream(&server).await;
    let limit = u64::try_from(limits::MAX_REQUESTS_IN_FLIGHT).unwrap();
    let mut sent = 0;
    while sent < 2 * limit {
        match tokio::time::timeout(held_up(sent, limit), requests.send(large_join(sent + 1))).await {
            Ok(taken) => taken.unwrap(),
            Err(_) => break,
        }
        sent += 1;
    }
    assert!((limit..limit + UNDER_WAY).contains(&sent), "{sent} requests were taken");

    // What was taken is answered, in order, as far as this narrow window lets a test read.
    let mut refused = 0;
    while refused < 20 {
        let v1::PlayResponse { tag, kind, .. } = answers.message().await.unwrap().unwrap();
        if let Some(play_response::Kind::Rejection(_)) = kind {
            refused += 1;
            assert_eq!(tag, refused);
        }
    }
    server.shutdown().await;
}

/// Whether a message asks its seat for a decision.
fn decides(kind: &play_response::Kind) -> bool {
    match kind {
        play_response::Kind::Observation(observation) => observation.decision.is_some(),
        play_response::Kind::Joined(start) => match &start.kind {
            Some(v1::subscription_start::Kind::Snapshot(snapshot)) => snapshot.decision.is_some(),
            _ => false,
        },
        _ => false,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_action_is_played_though_its_sender_reads_nothing() {
    let (_folder, server) = start().await;
    let (_, tokens) = create(&server, spec(2, v1::Visibility::Public)).await;
    let (requests, mut answers) = unread_stream(&server).await;
    for token in &tokens {
        let by = Some(v1::join::By::SeatToken(token.clone()));
        requests
            .send(ask(0, 0, play_request::Kind::Join(v1::Join { by, ..v1::Join::default() })))
            .await
            .unwrap();
    }
    let handle = loop {
        let v1::PlayResponse { handle, kind, .. } = answers.message().await.unwrap().unwrap();
        if decides(&kind.unwrap()) {
            break handle;
        }
    };
    // From here on nothing is read, and more is answered than the stream has room for.
    let unknown_handle = || ask(1, 999, play_request::Kind::Resign(v1::Resign::default()));
    for _ in 0..200 {
        requests.send(unknown_handle()).await.unwrap();
    }
    let choice = Some(v1::act::Choice::LegalIndex(0));
    let act = play_request::Kind::Act(v1::Act { decision_number: 1, choice });
    requests.send(ask(2, handle, act)).await.unwrap();

    let seats = tokens.iter().map(|token| v1::ObserveSeat {
        seat_token: token.clone(),
        after_seq: None,
        views: None,
        assigned: None,
    });
    let mut client = PlayServiceClient::new(channel(&server).await);
    let mut observed =
        client.observe(v1::ObserveRequest { seats: seats.collect() }).await.unwrap().into_inner();
    let played = async {
        loop {
            let number = match observed.message().await.unwrap().unwrap().kind.unwrap() {
                observe_response::Kind::Observation(observation) => observation.decision_number,
                observe_response::Kind::Start(start) => match start.kind {
                    Some(v1::subscription_start::Kind::Snapshot(snapshot)) => snapshot.decision_number,
                    _ => None,
                },
                _ => None,
            };
            if number.is_some_and(|number| number > 1) {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), played).await.expect("the action is played");
    drop((requests, answers));
    server.shutdown().await;
}

/// A message with a field of so many bytes behind it that nobody knows.
fn padded(request: &v1::PlayRequest, bytes: usize) -> Vec<u8> {
    let mut message = request.encode_to_vec();
    prost::encoding::bytes::encode(1_000, &vec![0; bytes], &mut message);
    message
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_action_that_is_sent_again_and_again_is_read_no_further_than_the_limit() {
    let (_folder, server) = start_patient().await;
    let (_, tokens) = create(&server, spec(2, v1::Visibility::Public)).await;
    let endpoint = Endpoint::from_shared(format!("http://{}", server.local_addr())).unwrap();
    let mut client = Grpc::new(endpoint.initial_stream_window_size(1).connect().await.unwrap());
    client.ready().await.unwrap();
    let (requests, sent) = mpsc::channel::<Vec<u8>>(1);
    let path = PathAndQuery::from_static("/zetema.v1.PlayService/Play");
    let opened = client.streaming(Request::new(ReceiverStream::new(sent)), path, BytesCodec).await.unwrap();
    let mut answers: Streaming<Vec<u8>> = opened.into_inner();
    let hello = v1::Hello { protocol_revision: 1, ..v1::Hello::default() };
    requests.send(ask(0, 0, play_request::Kind::Hello(hello)).encode_to_vec()).await.unwrap();
    for token in &tokens {
        let join = v1::Join { by: Some(v1::join::By::SeatToken(token.clone())), ..v1::Join::default() };
        requests.send(ask(0, 0, play_request::Kind::Join(join)).encode_to_vec()).await.unwrap();
    }
    let handle = loop {
        let answer = answers.message().await.unwrap().unwrap();
        let v1::PlayResponse { handle, kind, .. } = v1::PlayResponse::decode(answer.as_slice()).unwrap();
        if decides(kind.as_ref().unwrap()) {
            break handle;
        }
    };
    // From here on nothing is read: what tells of the action stays behind these answers.
    for _ in 0..200 {
        let unknown_handle = ask(1, 999, play_request::Kind::Resign(v1::Resign::default()));
        requests.send(unknown_handle.encode_to_vec()).await.unwrap();
    }
    let choice = Some(v1::act::Choice::LegalIndex(0));
    let act = ask(2, handle, play_request::Kind::Act(v1::Act { decision_number: 1, choice }));
    let act = padded(&act, 10 * 1024);
    let limit = u64::try_from(limits::MAX_REQUESTS_IN_FLIGHT).unwrap();
    let mut sent = 0;
    while sent < 2 * limit {
        match tokio::time::timeout(held_up(sent, limit - 200), requests.send(act.clone())).await {
            Ok(taken) => taken.unwrap(),
            Err(_) => break,
        }
        sent += 1;
    }
    assert!((limit - 200..limit + UNDER_WAY).contains(&sent), "{sent} requests were taken");
    drop((requests, answers));
    server.shutdown().await;
}
