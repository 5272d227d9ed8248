//! Whole matches over a real socket: by Play, by single calls, and across a restart of the server.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod common;

use std::collections::HashMap;

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Streaming, transport::Channel};
use zetema_proto::{
    Wire,
    v1::{
        self, ErrorReason, SubscriptionStart, act, match_service_client::MatchServiceClient,
        observe_response, outcome, play_request, play_response, play_service_client::PlayServiceClient,
        subscription_start, watch_match_response,
    },
};
use zetema_rules::fair::Nonce;
use zetema_service::server::Server;

use common::{as_admin, channel, restart, spec, start};

type Requests = mpsc::Sender<v1::PlayRequest>;

async fn create(server: &Server, seats: usize) -> (String, Vec<String>) {
    let mut client = MatchServiceClient::new(channel(server).await);
    let request = v1::CreateMatchRequest {
        request_id: String::new(),
        r#match: Some(spec(seats, v1::Visibility::Public)),
    };
    let created = client.create_match(as_admin(server, request)).await.unwrap().into_inner();
    let tokens = created.seat_tokens.into_iter().map(|token| token.token).collect();
    (created.r#match.unwrap().match_id, tokens)
}

async fn open(server: &Server) -> (Requests, Streaming<v1::PlayResponse>) {
    let (requests, sent) = mpsc::channel(64);
    let mut client = PlayServiceClient::new(channel(server).await);
    let answers = client.play(ReceiverStream::new(sent)).await.unwrap().into_inner();
    say(
        &requests,
        1,
        0,
        play_request::Kind::Hello(v1::Hello {
            client_name: "smoke".to_owned(),
            protocol_revision: 1,
            ..v1::Hello::default()
        }),
    )
    .await;
    (requests, answers)
}

async fn say(requests: &Requests, tag: u64, handle: u32, kind: play_request::Kind) {
    requests.send(v1::PlayRequest { tag, handle, kind: Some(kind) }).await.unwrap();
}

fn join(seat_token: &str, nonce_hash: Vec<u8>, after_seq: Option<u64>) -> play_request::Kind {
    play_request::Kind::Join(v1::Join {
        by: Some(v1::join::By::SeatToken(seat_token.to_owned())),
        nonce_hash,
        after_seq,
        views: None,
    })
}

/// A client that plays the legal action of an index that the decision's number gives.
#[derive(Default)]
struct Player {
    nonces: HashMap<u32, Vec<u8>>,
    seqs: HashMap<u32, u64>,
    acted: usize,
    receipts: usize,
}

impl Player {
    fn choose(decision: &v1::Decision, number: u32) -> v1::Act {
        let legal = decision.legal_actions.as_ref().unwrap();
        let count = legal.discards.len() + legal.declarations.len();
        assert!(count > 0);
        let index = usize::try_from(number).unwrap() * 7 % count;
        v1::Act {
            decision_number: number,
            choice: Some(act::Choice::LegalIndex(u32::try_from(index).unwrap())),
        }
    }

    /// What a start makes the client do: what an observation would, if it came before.
    fn start(&mut self, handle: u32, start: &SubscriptionStart) -> Option<play_request::Kind> {
        match start.kind.as_ref().unwrap() {
            subscription_start::Kind::Snapshot(snapshot) => {
                self.seqs.insert(handle, snapshot.seq);
                if snapshot.setup.as_ref().unwrap().stage() == v1::SetupStage::WaitingForNonces {
                    let nonce = self.nonces.get(&handle)?.clone();
                    return Some(play_request::Kind::Nonce(v1::GiveNonce { nonce }));
                }
                let decision = snapshot.decision.as_ref()?;
                self.acted += 1;
                Some(play_request::Kind::Act(Self::choose(decision, snapshot.decision_number.unwrap())))
            }
            subscription_start::Kind::Resumed(resumed) => {
                self.seqs.insert(handle, resumed.after_seq);
                None
            }
        }
    }

    /// What an observation makes the client do: send its nonce, or act.
    fn observe(&mut self, handle: u32, observation: &v1::Observation) -> Option<play_request::Kind> {
        let seq = self.seqs.get_mut(&handle).unwrap();
        assert_eq!(observation.seq, *seq + 1, "no gap");
        *seq = observation.seq;
        self.receipts += usize::from(observation.answered_decision_number.is_some());
        if let Some(decision) = &observation.decision {
            self.acted += 1;
            return Some(play_request::Kind::Act(Self::choose(
                decision,
                observation.decision_number.unwrap(),
            )));
        }
        let wanted = |event: &v1::Event| matches!(event.kind, Some(v1::event::Kind::NoncesWanted(_)));
        if observation.events.iter().any(wanted) {
            let nonce = self.nonces.get(&handle)?.clone();
            return Some(play_request::Kind::Nonce(v1::GiveNonce { nonce }));
        }
        None
    }
}

#[tokio::test]
async fn a_match_is_played_on_one_stream() {
    let (_folder, server) = start().await;
    let (match_id, tokens) = create(&server, 3).await;
    let (requests, mut answers) = open(&server).await;
    let mut player = Player::default();
    let mut ended = 0;
    while ended < 3 {
        let v1::PlayResponse { tag, handle, kind } = answers.message().await.unwrap().unwrap();
        match kind.unwrap() {
            play_response::Kind::Welcome(welcome) => {
                assert_eq!(tag, 1);
                assert_eq!(welcome.protocol_revision, 1);
                for (token, tag) in tokens.iter().zip(10..) {
                    let nonce = Nonce::new(token.as_bytes()[..20].to_vec().as_slice()).unwrap();
                    say(&requests, tag, 0, join(token, nonce.hash().to_wire(), None)).await;
                }
            }
            play_response::Kind::Joined(start) => {
                let seat = usize::try_from(start.seat.unwrap()).unwrap();
                assert_eq!(tag, 10 + u64::try_from(seat).unwrap());
                player.nonces.insert(handle, tokens[seat].as_bytes()[..20].to_vec());
                if let Some(kind) = player.start(handle, &start) {
                    say(&requests, 0, handle, kind).await;
                }
            }
            play_response::Kind::Observation(observation) => {
                if let Some(kind) = player.observe(handle, &observation) {
                    say(&requests, 0, handle, kind).await;
                }
            }
            play_response::Kind::End(end) => {
                assert!(matches!(end.outcome.unwrap().kind, Some(outcome::Kind::Result(_))));
                ended += 1;
            }
            play_response::Kind::Acknowledgement(_) | play_response::Kind::Ping(_) => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(player.acted > 20);
    assert_eq!(player.receipts, player.acted, "each action's own observation is its receipt");

    let mut client = MatchServiceClient::new(channel(&server).await);
    let request = v1::GetRecordRequest { match_id: match_id.clone() };
    let record = client.get_record(request).await.unwrap().into_inner().record.unwrap();
    let (record, _) = zetema_proto::record_from_wire(&record).unwrap();
    record.verify().unwrap();
    server.shutdown().await;
}

/// Plays a seat by single calls until the match or `acts` is over.
async fn play_by_calls(channel: Channel, token: &str, acts: usize) -> Option<v1::Outcome> {
    let mut client = PlayServiceClient::new(channel);
    let request =
        v1::JoinSeatRequest { seat_token: token.to_owned(), nonce_hash: Vec::new(), assigned: None };
    client.join_seat(request).await.unwrap();
    let seat = v1::ObserveSeat { seat_token: token.to_owned(), after_seq: None, views: None, assigned: None };
    let mut heard = client.observe(v1::ObserveRequest { seats: vec![seat] }).await.unwrap().into_inner();
    let mut player = Player::default();
    let mut left = acts;
    loop {
        let v1::ObserveResponse { handle, kind } = heard.message().await.unwrap().unwrap();
        let answer = match kind.unwrap() {
            observe_response::Kind::Start(start) => player.start(handle, &start),
            observe_response::Kind::Observation(observation) => player.observe(handle, &observation),
            observe_response::Kind::End(end) => return end.outcome,
            other => panic!("{other:?}"),
        };
        let Some(play_request::Kind::Act(act)) = answer else { continue };
        if left == 0 {
            return None;
        }
        left -= 1;
        let request = v1::ActRequest { seat_token: token.to_owned(), act: Some(act), assigned: None };
        let receipt = client.act(request.clone()).await.unwrap().into_inner().receipt.unwrap();
        let again = client.act(request).await.unwrap().into_inner().receipt.unwrap();
        assert_eq!(receipt, again, "the same answer gets the first receipt again");
    }
}

#[tokio::test]
async fn a_match_is_played_by_single_calls_and_goes_on_after_a_restart() {
    let (folder, server) = start().await;
    let (match_id, tokens) = create(&server, 2).await;
    let channel_before = channel(&server).await;
    // The first to have made its ten acts leaves; the other waits for it, until the server stops.
    tokio::select! {
        outcome = play_by_calls(channel_before.clone(), &tokens[0], 10) => assert_eq!(outcome, None),
        outcome = play_by_calls(channel_before, &tokens[1], usize::MAX) => panic!("{outcome:?}"),
    }
    server.shutdown().await;

    let server = restart(&folder).await;
    let channel = channel(&server).await;
    let mut client = MatchServiceClient::new(channel.clone());
    let request = v1::WatchMatchRequest { match_id: match_id.clone(), after_seq: None, views: None };
    let mut watched = client.watch_match(request).await.unwrap().into_inner();
    let (one, other) = tokio::join!(
        play_by_calls(channel.clone(), &tokens[0], usize::MAX),
        play_by_calls(channel.clone(), &tokens[1], usize::MAX),
    );
    assert!(one.is_some());
    assert_eq!(one, other);
    let mut last = None;
    while let Some(v1::WatchMatchResponse { kind }) = watched.message().await.unwrap() {
        if let Some(watch_match_response::Kind::Observation(observation)) = &kind {
            assert!(observation.decision.is_none());
            assert!(observation.view.as_ref().is_none_or(|view| view.hand.is_empty()));
        }
        last = kind;
    }
    let Some(watch_match_response::Kind::End(end)) = last else { panic!("{last:?}") };
    assert_eq!(end.outcome, one);
    server.shutdown().await;
}

#[tokio::test]
async fn a_seat_that_is_joined_elsewhere_is_lost_to_the_first_stream() {
    let (_folder, server) = start().await;
    let (_, tokens) = create(&server, 2).await;
    let (first, mut first_answers) = open(&server).await;
    say(&first, 2, 0, join(&tokens[0], Vec::new(), None)).await;
    assert!(matches!(next(&mut first_answers).await.kind, Some(play_response::Kind::Welcome(_))));
    assert!(matches!(next(&mut first_answers).await.kind, Some(play_response::Kind::Joined(_))));
    let (second, mut second_answers) = open(&server).await;
    say(&second, 2, 0, join(&tokens[0], Vec::new(), Some(0))).await;
    let lost = next(&mut first_answers).await;
    let Some(play_response::Kind::Superseded(superseded)) = lost.kind else { panic!("{lost:?}") };
    assert_eq!(superseded.reason(), v1::SupersededReason::JoinedElsewhere);
    assert!(matches!(next(&mut second_answers).await.kind, Some(play_response::Kind::Welcome(_))));
    let resumed = next(&mut second_answers).await;
    let Some(play_response::Kind::Joined(start)) = resumed.kind else { panic!("{resumed:?}") };
    assert!(matches!(start.kind, Some(subscription_start::Kind::Resumed(_))));
    server.shutdown().await;
}

/// What comes next but pings.
async fn next(answers: &mut Streaming<v1::PlayResponse>) -> v1::PlayResponse {
    loop {
        let answer = answers.message().await.unwrap().unwrap();
        if !matches!(answer.kind, Some(play_response::Kind::Ping(_))) {
            return answer;
        }
    }
}

#[tokio::test]
async fn a_fault_on_a_stream_is_a_rejection_and_the_stream_goes_on() {
    let (_folder, server) = start().await;
    let (_, tokens) = create(&server, 2).await;
    let (requests, mut answers) = open(&server).await;
    assert!(matches!(next(&mut answers).await.kind, Some(play_response::Kind::Welcome(_))));
    let hello = v1::Hello { protocol_revision: 1, ..v1::Hello::default() };
    let act = v1::Act { decision_number: 1, choice: Some(act::Choice::LegalIndex(0)) };
    let no_choice = v1::Act { decision_number: 1, choice: None };
    let long = v1::GiveNonce { nonce: vec![0; 33] };
    let cases = [
        (0, play_request::Kind::Hello(hello), ErrorReason::HelloExpected),
        (0, join("", Vec::new(), None), ErrorReason::InvalidField),
        (0, join("nonsense", Vec::new(), None), ErrorReason::Unauthenticated),
        (0, join(&tokens[0], vec![1; 31], None), ErrorReason::InvalidField),
        (0, join(&tokens[0], Vec::new(), Some(99)), ErrorReason::CursorAhead),
        (7, play_request::Kind::Act(act), ErrorReason::UnknownHandle),
        (7, play_request::Kind::Act(no_choice), ErrorReason::InvalidField),
        (7, play_request::Kind::Nonce(long), ErrorReason::InvalidField),
        (7, play_request::Kind::Pong(v1::Pong { number: 1 }), ErrorReason::InvalidField),
        (7, play_request::Kind::Leave(v1::Leave {}), ErrorReason::UnknownHandle),
    ];
    for (tag, (handle, kind, reason)) in (20..).zip(cases) {
        say(&requests, tag, handle, kind).await;
        let answer = next(&mut answers).await;
        let Some(play_response::Kind::Rejection(error)) = &answer.kind else { panic!("{answer:?}") };
        assert_eq!((answer.tag, answer.handle, error.reason()), (tag, handle, reason));
    }
    say(&requests, 5, 0, join(&tokens[1], Vec::new(), None)).await;
    assert!(matches!(next(&mut answers).await.kind, Some(play_response::Kind::Joined(_))));
    server.shutdown().await;
}

#[tokio::test]
async fn a_stream_is_told_that_the_server_stops() {
    let (_folder, server) = start().await;
    let (_requests, mut answers) = open(&server).await;
    assert!(matches!(next(&mut answers).await.kind, Some(play_response::Kind::Welcome(_))));
    let ((), ()) = tokio::join!(
        async {
            assert!(matches!(next(&mut answers).await.kind, Some(play_response::Kind::Draining(_))));
            let end = answers.message().await.unwrap_err();
            assert_eq!(end.code(), Code::Unavailable);
        },
        server.shutdown(),
    );
}
