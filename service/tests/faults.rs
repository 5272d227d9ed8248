//! What went wrong for a player, as its author hears of it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod common;

use std::time::Duration;

use tokio::sync::mpsc;
use tokio_stream::{StreamExt, wrappers::ReceiverStream};
use tonic::{
    Streaming,
    transport::{Channel, Endpoint},
};
use zetema_proto::v1::{
    self, ErrorReason, act, join, match_service_client::MatchServiceClient, play_request, play_response,
    play_service_client::PlayServiceClient, player_fault::Kind,
};
use zetema_service::{
    config::{Config, Number},
    server::Server,
};

use common::{as_admin, channel, spec, start};

type Requests = mpsc::Sender<v1::PlayRequest>;
type Answers = Streaming<v1::PlayResponse>;

async fn create(server: &Server) -> (String, Vec<String>) {
    let mut client = MatchServiceClient::new(channel(server).await);
    let spec = spec(2, v1::Visibility::Private);
    let request = v1::CreateMatchRequest { request_id: String::new(), r#match: Some(spec) };
    let created = client.create_match(as_admin(server, request)).await.unwrap().into_inner();
    let tokens = created.seat_tokens.into_iter().map(|token| token.token).collect();
    (created.r#match.unwrap().match_id, tokens)
}

/// Takes a seat before a stream does, so that the stream waits for no disk when it joins.
async fn take(server: &Server, seat_token: &str) {
    let join =
        v1::JoinSeatRequest { seat_token: seat_token.to_owned(), nonce_hash: Vec::new(), assigned: None };
    PlayServiceClient::new(channel(server).await).join_seat(join).await.unwrap();
}

async fn say(requests: &Requests, handle: u32, kind: play_request::Kind) {
    requests.send(v1::PlayRequest { tag: 1, handle, kind: Some(kind) }).await.unwrap();
}

/// The next answer of a kind, past all others.
async fn find<T>(answers: &mut Answers, wanted: impl Fn(play_response::Kind) -> Option<T>) -> T {
    loop {
        let answer = answers.message().await.unwrap().unwrap();
        if let Some(found) = wanted(answer.kind.unwrap()) {
            return found;
        }
    }
}

/// A stream that has joined a seat, as handle 1.
async fn joined(channel: Channel, seat_token: &str) -> (Requests, Answers) {
    let (requests, sent) = mpsc::channel(64);
    let mut answers =
        PlayServiceClient::new(channel).play(ReceiverStream::new(sent)).await.unwrap().into_inner();
    let hello = v1::Hello { protocol_revision: 1, ..v1::Hello::default() };
    say(&requests, 0, play_request::Kind::Hello(hello)).await;
    let by = Some(join::By::SeatToken(seat_token.to_owned()));
    say(&requests, 0, play_request::Kind::Join(v1::Join { by, ..v1::Join::default() })).await;
    find(&mut answers, |kind| matches!(kind, play_response::Kind::Joined(_)).then_some(())).await;
    (requests, answers)
}

async fn faults(server: &Server, seat_token: &str) -> Vec<v1::PlayerFault> {
    let request = v1::ListFaultsRequest { seat_token: seat_token.to_owned(), ..Default::default() };
    PlayServiceClient::new(channel(server).await).list_faults(request).await.unwrap().into_inner().faults
}

/// Waits for the number of faults that is expected: a server may notice a lost connection a moment later.
async fn faults_once_there(server: &Server, seat_token: &str, count: usize) -> Vec<Kind> {
    let there = async {
        loop {
            let faults = faults(server, seat_token).await;
            if faults.len() >= count {
                return faults.into_iter().map(|fault| fault.kind.unwrap()).collect::<Vec<_>>();
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), there).await.unwrap()
}

fn cut_reason(kind: &Kind) -> ErrorReason {
    let Kind::Cut(cut) = kind else { panic!("{kind:?} is no cut") };
    assert!(cut.time.is_some() && !cut.message.is_empty());
    cut.reason()
}

#[tokio::test]
async fn what_is_refused_is_listed_for_its_seat_alone_whichever_way_it_came() {
    let (_folder, server) = start().await;
    let (match_id, tokens) = create(&server).await;
    let (requests, mut answers) = joined(channel(&server).await, &tokens[0]).await;
    let act = v1::Act { decision_number: 7, choice: Some(act::Choice::LegalIndex(0)) };
    say(&requests, 1, play_request::Kind::Act(act.clone())).await;
    find(&mut answers, |kind| matches!(kind, play_response::Kind::Rejection(_)).then_some(())).await;
    let request = v1::ActRequest { seat_token: tokens[0].clone(), act: Some(act), assigned: None };
    let mut client = PlayServiceClient::new(channel(&server).await);
    client.act(request).await.unwrap_err();
    let nonce = v1::SendNonceRequest { seat_token: tokens[0].clone(), nonce: vec![1], assigned: None };
    client.send_nonce(nonce).await.unwrap_err();

    let listed = faults(&server, &tokens[0]).await;
    let reasons: Vec<(ErrorReason, u32)> = listed
        .iter()
        .map(|fault| {
            assert_eq!((fault.match_id.as_str(), fault.seat), (match_id.as_str(), 0));
            assert!(fault.time.is_some());
            let Some(Kind::Rejection(error)) = &fault.kind else { panic!("{fault:?}") };
            (error.reason(), fault.count)
        })
        .collect();
    let expected = [(ErrorReason::NonceNotWanted, 1), (ErrorReason::MatchNotStarted, 2)];
    assert_eq!(reasons, expected, "the latest first, and the same again counted");
    assert_eq!(faults(&server, &tokens[1]).await, []);
    let told = format!("{listed:?}");
    assert!(!tokens.iter().any(|token| told.contains(token.as_str())), "{told}");
    server.shutdown().await;
}

#[tokio::test]
async fn a_seat_that_is_taken_or_lost_says_so_to_its_author() {
    let (_folder, server) = start().await;
    let (_, tokens) = create(&server).await;
    let (first, mut answers) = joined(channel(&server).await, &tokens[0]).await;
    let second = joined(channel(&server).await, &tokens[0]).await;
    find(&mut answers, |kind| matches!(kind, play_response::Kind::Superseded(_)).then_some(())).await;
    let kinds = faults_once_there(&server, &tokens[0], 1).await;
    assert_eq!(kinds.iter().map(cut_reason).collect::<Vec<_>>(), [ErrorReason::Superseded]);

    // The one that has lost the seat loses nothing more.
    drop((first, answers));
    drop(second);
    let kinds = faults_once_there(&server, &tokens[0], 2).await;
    assert_eq!(kinds.len(), 2);
    assert_eq!(kinds[0], Kind::Lost(v1::ConnectionLost {}));
    server.shutdown().await;
}

#[tokio::test]
async fn a_silent_client_is_cut_after_three_ping_intervals_and_its_next_stream_is_told_why() {
    let folder = tempfile::tempdir().unwrap();
    let interval = Duration::from_millis(100);
    let millis = interval.as_millis().try_into().unwrap();
    let config = Config::embedded(folder.path().join("data")).with(Number::PingIntervalMs, millis).unwrap();
    let server = Server::start(config).await.unwrap();
    let (match_id, tokens) = create(&server).await;
    take(&server, &tokens[0]).await;
    let with_token = |requests| {
        let mut request = tonic::Request::new(ReceiverStream::new(requests).chain(tokio_stream::pending()));
        request.metadata_mut().insert("authorization", format!("Bearer {}", tokens[0]).parse().unwrap());
        request
    };
    let mut client = PlayServiceClient::new(channel(&server).await);
    for previous in [None, Some(ErrorReason::SlowReader)] {
        let (requests, sent) = mpsc::channel(64);
        let mut answers = client.play(with_token(sent)).await.unwrap().into_inner();
        let hello = v1::Hello { protocol_revision: 1, ..v1::Hello::default() };
        say(&requests, 0, play_request::Kind::Hello(hello)).await;
        let welcome = find(&mut answers, |kind| match kind {
            play_response::Kind::Welcome(welcome) => Some(welcome),
            _ => None,
        })
        .await;
        assert_eq!(welcome.previous_cut.map(|cut| cut.reason()), previous);
        let [own] = welcome.live_seats.as_slice() else { panic!("{:?}", welcome.live_seats) };
        assert_eq!((own.match_id.as_str(), own.seat, welcome.live_seat_count), (match_id.as_str(), 0, 1));
        let by = Some(join::By::SeatToken(tokens[0].clone()));
        say(&requests, 0, play_request::Kind::Join(v1::Join { by, ..v1::Join::default() })).await;
        let said = std::time::Instant::now();
        let error = loop {
            match answers.message().await {
                Ok(message) => assert!(message.is_some(), "it ended without a reason"),
                Err(error) => break error,
            }
        };
        let error = v1::Error::from_status(&error).unwrap();
        assert_eq!(error.reason(), ErrorReason::SlowReader);
        assert!(said.elapsed() >= interval * 2, "{:?}", said.elapsed());
    }
    let kinds = faults_once_there(&server, &tokens[0], 2).await;
    let reasons: Vec<ErrorReason> = kinds.iter().map(cut_reason).collect();
    assert_eq!(reasons, [ErrorReason::SlowReader; 2]);
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_sends_and_reads_nothing_is_cut_and_its_author_is_told_why() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config::embedded(folder.path().join("data")).with(Number::PingIntervalMs, 100).unwrap();
    let server = Server::start(config).await.unwrap();
    let (_, tokens) = create(&server).await;
    take(&server, &tokens[0]).await;
    let endpoint = Endpoint::from_shared(server.url()).unwrap().initial_stream_window_size(1_024);
    let (requests, answers) = joined(endpoint.connect().await.unwrap(), &tokens[0]).await;
    // Each is answered by a rejection, until there is no room for another; from then on they wait, until the stream ends.
    let sending = async {
        let kind = Some(play_request::Kind::Resign(v1::Resign::default()));
        while requests.send(v1::PlayRequest { tag: 1, handle: 999, kind: kind.clone() }).await.is_ok() {}
        std::future::pending::<()>().await;
    };
    let told = faults_once_there(&server, &tokens[0], 1);
    let kinds = tokio::select! {
        kinds = told => kinds,
        () = sending => panic!("it never ends"),
    };
    assert_eq!(kinds.iter().map(cut_reason).collect::<Vec<_>>(), [ErrorReason::SlowReader]);
    drop((requests, answers));
    server.shutdown().await;
}
