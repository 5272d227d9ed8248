//! Matches are replayed for who has missed something of them, in turn: nobody else waits for that.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod common;

use std::{net::Ipv4Addr, time::Duration};

use futures::future::join_all;
use tokio::{sync::mpsc, time::timeout};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::task::AbortOnDropHandle;
use tonic::{
    Code, Status, Streaming,
    transport::{Channel, Endpoint},
};
use zetema_proto::v1::{
    self, ErrorReason, match_service_client::MatchServiceClient, play_request, play_response,
    play_service_client::PlayServiceClient, watch_match_response::Kind,
};
use zetema_service::{config::Number, server::Server};

use common::{channel, create, long, play_to, play_to_the_end, spec, start_with};

/// A long match that was played to its end.
async fn over(server: &Server) -> (String, Vec<String>) {
    let (match_id, tokens) = create(server, long(server).await).await;
    play_to_the_end(channel(server).await, &tokens).await;
    (match_id, tokens)
}

/// A connection from another address of this machine, whose streams take as few bytes as this before they are read.
async fn from(server: &Server, last: u8, window: u32) -> Channel {
    let endpoint = Endpoint::from_shared(format!("http://{}", server.local_addr())).unwrap();
    let endpoint = endpoint.local_address(Some(Ipv4Addr::new(127, 0, 0, last).into()));
    endpoint.initial_stream_window_size(window).connect().await.unwrap()
}

fn watch(match_id: &str, after_seq: Option<u64>) -> v1::WatchMatchRequest {
    v1::WatchMatchRequest { match_id: match_id.to_owned(), after_seq, views: None }
}

fn act(token: &str) -> v1::ActRequest {
    let act = v1::Act { decision_number: 1, choice: Some(v1::act::Choice::LegalIndex(0)) };
    v1::ActRequest { seat_token: token.to_owned(), act: Some(act), assigned: None }
}

fn check_limit(error: &v1::Error) {
    assert_eq!(error.reason(), ErrorReason::LimitExceeded, "{error:?}");
    assert!(error.retry_after_ms.is_some(), "{error:?}");
}

fn check_refused(status: &Status) {
    assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
    check_limit(&v1::Error::from_status(status).unwrap());
}

/// Everything that is told of a match from its first observation on, to its end.
async fn all_of(channel: Channel, match_id: &str) -> Result<usize, Status> {
    let mut told = MatchServiceClient::new(channel).watch_match(watch(match_id, Some(0))).await?.into_inner();
    let mut observations = 0;
    while let Some(message) = told.message().await? {
        observations += usize::from(matches!(message.kind, Some(Kind::Observation(_))));
    }
    Ok(observations)
}

#[tokio::test]
async fn who_reads_as_many_replays_as_it_may_is_refused_one_more_and_leaves_another_address_its_own() {
    let stall = (Number::WriteStallTimeoutMs, 600_000);
    // It has more than 1,000 entries and fewer than 2,000: a replay takes two places.
    let (_folder, server) =
        start_with(&[(Number::MaxReplays, 8), (Number::MaxReplaysPerAddress, 4), stall]).await;
    let (match_id, tokens) = over(&server).await;
    let whole = all_of(channel(&server).await, &match_id).await.unwrap();
    assert!((1_000..2_000).contains(&whole), "{whole}");

    let greedy = from(&server, 3, 1024).await;
    let mut matches = MatchServiceClient::new(greedy.clone());
    let mut unread = Vec::new();
    for _ in 0..2 {
        unread.push(matches.watch_match(watch(&match_id, Some(0))).await.unwrap().into_inner());
    }
    let mut play = PlayServiceClient::new(greedy.clone());
    let (say, said) = mpsc::channel(8);
    let hello = v1::Hello { protocol_revision: 1, ..v1::Hello::default() };
    let join = |after_seq| {
        let by = Some(v1::join::By::SeatToken(tokens[0].clone()));
        play_request::Kind::Join(v1::Join { by, after_seq, ..v1::Join::default() })
    };
    for (tag, kind) in [(1, play_request::Kind::Hello(hello)), (2, join(Some(0))), (3, join(None))] {
        say.send(v1::PlayRequest { tag, handle: 0, kind: Some(kind) }).await.unwrap();
    }
    let mut answers = play.play(ReceiverStream::new(said)).await.unwrap().into_inner();
    let seat =
        v1::ObserveSeat { seat_token: tokens[1].clone(), after_seq: Some(0), views: None, assigned: None };
    let observe = v1::ObserveRequest { seats: vec![seat] };
    let (watched, observed) =
        tokio::join!(matches.watch_match(watch(&match_id, Some(0))), play.observe(observe));
    check_refused(&watched.unwrap_err());
    check_refused(&observed.unwrap_err());
    // One after the other, as they are of one seat.
    let mut joins = Vec::new();
    while joins.len() < 2 {
        let answer = timeout(Duration::from_secs(30), answers.message()).await.unwrap().unwrap().unwrap();
        match answer.kind {
            Some(play_response::Kind::Rejection(error)) => {
                check_limit(&error);
                joins.push((answer.tag, false));
            }
            Some(play_response::Kind::Joined(_)) => joins.push((answer.tag, true)),
            _ => {}
        }
    }
    assert_eq!(joins, [(2, false), (3, true)], "what is one answer waits for no reader");
    // One of them took the first decision.
    let receipts = [play.act(act(&tokens[0])).await, play.act(act(&tokens[1])).await];
    assert_eq!(receipts.iter().filter(|receipt| receipt.is_ok()).count(), 1, "{receipts:?}");

    // Addresses may share their turns, one pair in 1,024.
    let mut read = None;
    for last in 4..8 {
        read = all_of(from(&server, last, 65_535).await, &match_id).await.ok();
        if read.is_some() {
            break;
        }
    }
    assert_eq!(read, Some(whole));
    // Who reads one to its end may have another.
    let mut first = unread.remove(0);
    while first.message().await.unwrap().is_some() {}
    assert_eq!(all_of(greedy, &match_id).await.unwrap(), whole);
    server.shutdown().await;
}

fn observe(token: &str) -> v1::ObserveRequest {
    let seat =
        v1::ObserveSeat { seat_token: token.to_owned(), after_seq: Some(0), views: None, assigned: None };
    v1::ObserveRequest { seats: vec![seat] }
}

/// The next message of a Play stream that is about a seat, and no ping.
async fn heard(answers: &mut Streaming<v1::PlayResponse>) -> play_response::Kind {
    loop {
        let answer = timeout(Duration::from_secs(30), answers.message()).await.unwrap().unwrap().unwrap();
        match answer.kind.unwrap() {
            play_response::Kind::Welcome(_) | play_response::Kind::Ping(_) => {}
            kind => return kind,
        }
    }
}

/// A Play stream that has joined a seat, or tried to, and what came of that.
async fn join(
    channel: Channel,
    token: &str,
    after_seq: Option<u64>,
) -> (mpsc::Sender<v1::PlayRequest>, Streaming<v1::PlayResponse>, play_response::Kind) {
    let (say, said) = mpsc::channel(8);
    let hello = v1::Hello { protocol_revision: 1, ..v1::Hello::default() };
    let by = Some(v1::join::By::SeatToken(token.to_owned()));
    let join = v1::Join { by, after_seq, ..v1::Join::default() };
    for kind in [play_request::Kind::Hello(hello), play_request::Kind::Join(join)] {
        say.send(v1::PlayRequest { tag: 1, handle: 0, kind: Some(kind) }).await.unwrap();
    }
    let mut answers =
        PlayServiceClient::new(channel).play(ReceiverStream::new(said)).await.unwrap().into_inner();
    let came = heard(&mut answers).await;
    (say, answers, came)
}

#[tokio::test]
async fn who_comes_back_to_a_match_that_runs_waits_for_no_spectator_and_keeps_no_turn_when_it_has_caught_up()
{
    let stall = (Number::WriteStallTimeoutMs, 600_000);
    let (_folder, server) =
        start_with(&[(Number::MaxReplays, 4), (Number::MaxReplaysPerAddress, 2), stall]).await;
    let (match_id, tokens) = create(&server, long(&server).await).await;
    play_to(channel(&server).await, &tokens, 400).await;
    let (player, mut seen_by_it, joined) = join(from(&server, 5, 65_535).await, &tokens[0], None).await;
    let play_response::Kind::Joined(start) = joined else { panic!("{joined:?}") };
    let Some(v1::subscription_start::Kind::Snapshot(now)) = start.kind else { panic!("{start:?}") };

    let crowd = from(&server, 3, 1024).await;
    let mut matches = MatchServiceClient::new(crowd.clone());
    let mut play = PlayServiceClient::new(crowd.clone());
    let mut unread = Vec::new();
    for _ in 0..2 {
        unread.push(matches.watch_match(watch(&match_id, Some(0))).await.unwrap().into_inner());
    }
    // As many seats beside them.
    let observed =
        [play.observe(observe(&tokens[0])).await.unwrap(), play.observe(observe(&tokens[1])).await.unwrap()];
    let (watched, (_say, _answers, refused)) = tokio::join!(
        matches.watch_match(watch(&match_id, Some(0))),
        join(crowd.clone(), &tokens[0], Some(0))
    );
    check_refused(&watched.unwrap_err());
    let play_response::Kind::Rejection(refused) = refused else { panic!("{refused:?}") };
    check_limit(&refused);
    // The seat was taken from nobody for that.
    let late = play_request::Kind::Act(act(&tokens[0]).act.unwrap());
    player.send(v1::PlayRequest { tag: 2, handle: 1, kind: Some(late) }).await.unwrap();
    let answered = heard(&mut seen_by_it).await;
    assert!(
        matches!(answered, play_response::Kind::Acknowledgement(_) | play_response::Kind::Rejection(_)),
        "{answered:?}"
    );
    // Who has missed nothing waits for no turn.
    matches.watch_match(watch(&match_id, None)).await.unwrap();

    // Another address has turns of its own, and gives each back as soon as it has read what it has missed.
    let mut another = PlayServiceClient::new(from(&server, 4, 65_535).await);
    if another.observe(observe(&tokens[0])).await.is_err() {
        // One pair in 1,024 shares its turns.
        another = PlayServiceClient::new(from(&server, 6, 65_535).await);
    }
    let mut caught_up = Vec::new();
    for _ in 0..5 {
        let mut seen = another.observe(observe(&tokens[0])).await.unwrap().into_inner();
        let mut seq = 0;
        while seq < now.seq {
            let told = timeout(Duration::from_secs(30), seen.message()).await.unwrap().unwrap().unwrap();
            if let Some(v1::observe_response::Kind::Observation(observation)) = told.kind {
                assert_eq!(observation.seq, seq + 1);
                seq += 1;
            }
        }
        caught_up.push(seen);
    }
    drop((unread, observed));
    server.shutdown().await;
}

/// However many look on by the seat's eyes, with what it has missed and without.
#[tokio::test]
async fn who_comes_back_to_a_seat_is_let_in_though_as_many_observe_it_as_may() {
    let (_folder, server) = start_with(&[(Number::MaxObserversPerMatch, 1)]).await;
    let (_, tokens) = create(&server, long(&server).await).await;
    play_to(channel(&server).await, &tokens, 20).await;
    let seat = |after_seq| v1::ObserveSeat { after_seq, ..observe(&tokens[0]).seats.remove(0) };
    let observe = |after_seq| v1::ObserveRequest { seats: vec![seat(after_seq)] };
    let mut play = PlayServiceClient::new(channel(&server).await);
    let mut observer = play.observe(observe(None)).await.unwrap().into_inner();
    let begun = observer.message().await.unwrap().unwrap();
    assert!(matches!(begun.kind, Some(v1::observe_response::Kind::Start(_))), "{begun:?}");
    // As many as may, of which one more is told at once, and not behind a replay.
    for after_seq in [None, Some(0)] {
        let mut another = match play.observe(observe(after_seq)).await {
            Ok(another) => another.into_inner(),
            Err(refused) => {
                check_refused(&refused);
                continue;
            }
        };
        check_refused(&another.message().await.unwrap_err());
    }
    let (_say, _answers, joined) = join(channel(&server).await, &tokens[0], None).await;
    let play_response::Kind::Joined(start) = joined else { panic!("{joined:?}") };
    let Some(v1::subscription_start::Kind::Snapshot(now)) = start.kind else { panic!("{start:?}") };
    for after_seq in [now.seq, now.seq - 1] {
        let (_say, _answers, joined) = join(channel(&server).await, &tokens[0], Some(after_seq)).await;
        assert!(matches!(joined, play_response::Kind::Joined(_)), "{after_seq} of {}: {joined:?}", now.seq);
    }
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_for_replays_without_end_holds_up_neither_a_live_match_nor_those_of_others() {
    let (_folder, server) = start_with(&[(Number::MaxLateMs, 60_000)]).await;
    let (match_id, tokens) = over(&server).await;
    let flood = from(&server, 3, 65_535).await;
    let (answered, mut first) = mpsc::channel(1);
    let asked = (0..16).map(|i| {
        let (play, matches) = (PlayServiceClient::new(flood.clone()), MatchServiceClient::new(flood.clone()));
        let (match_id, token, answered) = (match_id.clone(), tokens[i % 2].clone(), answered.clone());
        AbortOnDropHandle::new(tokio::spawn(async move {
            let (mut play, mut matches) = (play, matches);
            loop {
                // An old receipt, or that it was the other seat's: the match is replayed for both.
                let acted = play.act(act(&token)).await;
                let snapshot = matches.watch_match(watch(&match_id, None)).await;
                if acted.is_ok() && snapshot.is_ok() {
                    let _already = answered.try_send(());
                }
            }
        }))
    });
    let asked: Vec<_> = asked.collect();
    timeout(Duration::from_mins(2), first.recv()).await.unwrap().unwrap();

    let (_, live) = create(&server, spec(2, v1::Visibility::Private)).await;
    let of_another = async {
        let own = from(&server, 4, 65_535).await;
        join_all((0..8).map(|_| all_of(own.clone(), &match_id))).await
    };
    let ((), read) = timeout(Duration::from_mins(5), async {
        tokio::join!(play_to_the_end(channel(&server).await, &live), of_another)
    })
    .await
    .expect("nobody waits for the flood");
    assert!(read.iter().all(|read| matches!(read, Ok(10..))), "{read:?}");
    drop(asked);
    server.shutdown().await;
}
