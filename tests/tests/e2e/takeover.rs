//! A seat is one stream's at a time.

use zetema_proto::Wire;
use zetema_proto::v1;
use zetema_proto::v1::play_request::Kind as Ask;
use zetema_proto::v1::play_response::Kind as Answer;
use zetema_proto::v1::{ErrorReason, Preset, SupersededReason};
use zetema_rules::fair::Nonce;
use zetema_tests::harness::{Clients, Created, PlayStream, Table, TestServer, join_all, preset, soon};

async fn in_play(clients: &Clients) -> Created {
    let created = clients.create(preset(Preset::Sackson, 2)).await;
    join_all(clients, &[&created], |_| None).await;
    created
}

fn join(created: &Created, seat: usize) -> v1::Join {
    v1::Join { by: Some(v1::join::By::SeatToken(created.tokens[seat].clone())), ..v1::Join::default() }
}

/// The stream is told that it has lost this handle, which then stands for nothing.
async fn check_lost(stream: &mut PlayStream, handle: u32, reason: SupersededReason) {
    let message = stream.next().await.unwrap().unwrap();
    let superseded = v1::Superseded { reason: reason.into() };
    assert_eq!((message.handle, message.kind), (handle, Some(Answer::Superseded(superseded))));
    let answer = stream.ask(handle, Ask::Resign(v1::Resign::default())).await.unwrap();
    let Some(Answer::Rejection(error)) = answer.kind else { panic!("{answer:?} is no rejection") };
    assert_eq!(error.reason(), ErrorReason::UnknownHandle);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_joins_takes_the_seat_and_the_other_is_told() {
    let (server, clients) = TestServer::start().await;
    let created = in_play(&clients).await;
    let (mut old, _) = PlayStream::open(&clients).await;
    let (lost, _) = old.join(join(&created, 0)).await;
    let (kept, _) = old.join(join(&created, 1)).await;

    let (mut new, _) = PlayStream::open(&clients).await;
    let (taken, _) = new.join(join(&created, 0)).await;
    check_lost(&mut old, lost, SupersededReason::JoinedElsewhere).await;

    let request =
        v1::JoinSeatRequest { seat_token: created.tokens[0].clone(), nonce_hash: Vec::new(), assigned: None };
    soon("JoinSeat", clients.play().join_seat(request)).await.unwrap();
    check_lost(&mut new, taken, SupersededReason::JoinedElsewhere).await;

    // The other seat of the old stream plays on: it resigns, and sees the end.
    old.ask(kept, Ask::Resign(v1::Resign::default())).await.unwrap();
    while !matches!(old.next().await.unwrap().unwrap().kind, Some(Answer::End(_))) {}
    clients.verified_record(created.id()).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn joins_that_come_together_on_one_stream_take_the_seat_from_none_of_them() {
    let (server, clients) = TestServer::start().await;
    let created = in_play(&clients).await;
    for _ in 0..20 {
        let (mut stream, _) = PlayStream::open(&clients).await;
        let mut tags = Vec::new();
        for _ in 0..3 {
            tags.push(stream.send(0, Some(Ask::Join(join(&created, 0)))).await);
        }
        for tag in tags {
            let answer = stream.answer(tag).await.unwrap();
            assert_eq!(answer.handle, 1, "{answer:?}");
            assert!(matches!(answer.kind, Some(Answer::Joined(_))), "{answer:?}");
        }
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn joining_again_on_the_same_stream_starts_anew_by_the_same_handle() {
    let (server, clients) = TestServer::start().await;
    let created = in_play(&clients).await;
    let (mut stream, _) = PlayStream::open(&clients).await;
    // All but the clock, which goes on.
    let told = |(handle, start): (u32, v1::SubscriptionStart)| {
        let Some(v1::subscription_start::Kind::Snapshot(snapshot)) = start.kind else { panic!("{start:?}") };
        (handle, start.r#match, start.seat, snapshot.seq)
    };
    let first = told(stream.join(join(&created, 0)).await);
    for _ in 0..20 {
        assert_eq!(told(stream.join(join(&created, 0)).await), first);
    }
    // Two at once, of which the second is refused.
    let ahead = v1::Join { after_seq: Some(1_000), ..join(&created, 0) };
    let tags = [
        stream.send(0, Some(Ask::Join(join(&created, 0)))).await,
        stream.send(0, Some(Ask::Join(ahead))).await,
    ];
    assert_eq!(stream.answer(tags[0]).await.unwrap().handle, first.0);
    stream.answer(tags[1]).await.unwrap();
    let left = stream.ask(first.0, Ask::Leave(v1::Leave {})).await.unwrap();
    assert!(matches!(left.kind, Some(Answer::Left(_))), "{left:?}: the stream has lost the seat");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_owes_a_nonce_may_join_again_without_its_hash_and_no_other_may() {
    let (server, clients) = TestServer::start().await;
    let created = clients.create(preset(Preset::Sackson, 2)).await;
    let (mut player, _) = PlayStream::open(&clients).await;
    let nonce = Nonce::new(b"alice").unwrap();
    let first = player.join(v1::Join { nonce_hash: nonce.hash().to_wire(), ..join(&created, 0) }).await;
    let (mut other, _) = PlayStream::open(&clients).await;
    for _ in 0..3 {
        assert_eq!(player.join(join(&created, 0)).await, first);
        let refused = other.ask(0, Ask::Join(join(&created, 0))).await.unwrap();
        let Some(Answer::Rejection(error)) = refused.kind else { panic!("{refused:?} is no rejection") };
        assert_eq!((error.reason(), error.retry_after_ms.is_some()), (ErrorReason::NonceFixed, true));
    }
    let unary =
        v1::JoinSeatRequest { seat_token: created.tokens[0].clone(), nonce_hash: Vec::new(), assigned: None };
    let refused = soon("JoinSeat", clients.play().join_seat(unary)).await.unwrap_err();
    assert_eq!(v1::Error::from_status(&refused).unwrap().reason(), ErrorReason::NonceFixed);

    other.join(join(&created, 1)).await;
    let give = Ask::Nonce(v1::GiveNonce { nonce: nonce.to_wire() });
    let given = player.ask(first.0, give).await.unwrap();
    assert!(matches!(given.kind, Some(Answer::Acknowledgement(_))), "{given:?}");
    other.join(join(&created, 0)).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_join_that_is_refused_takes_nothing_from_anyone() {
    let (server, clients) = TestServer::start().await;
    let created = in_play(&clients).await;
    let (mut holder, _) = PlayStream::open(&clients).await;
    let (held, _) = holder.join(join(&created, 0)).await;
    let (mut other, _) = PlayStream::open(&clients).await;
    let refused = [
        (v1::Join { after_seq: Some(1_000), ..join(&created, 0) }, ErrorReason::CursorAhead),
        (v1::Join { nonce_hash: vec![7; 32], ..join(&created, 0) }, ErrorReason::NonceFixed),
        (v1::Join { views: Some(0), ..join(&created, 0) }, ErrorReason::InvalidField),
    ];
    for (join, reason) in refused {
        for stream in [&mut holder, &mut other] {
            let answer = stream.ask(0, Ask::Join(join.clone())).await.unwrap();
            let Some(Answer::Rejection(error)) = answer.kind else { panic!("{answer:?} is no rejection") };
            assert_eq!(error.reason(), reason);
        }
    }
    let left = holder.ask(held, Ask::Leave(v1::Leave {})).await.unwrap();
    assert!(matches!(left.kind, Some(Answer::Left(_))), "{left:?}: the stream has lost the seat");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn observing_takes_nothing_over() {
    let (server, clients) = TestServer::start().await;
    let created = in_play(&clients).await;
    let (mut stream, _) = PlayStream::open(&clients).await;
    let (handle, _) = stream.join(join(&created, 0)).await;
    let mut observers = Table::open(&clients, &created.tokens).await;
    observers.decision().await.unwrap();
    let answer = stream.ask(handle, Ask::Leave(v1::Leave {})).await.unwrap();
    assert!(matches!(answer.kind, Some(Answer::Left(_))), "{answer:?}: the stream still has the seat");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_token_ends_what_the_old_one_has_opened() {
    let (server, clients) = TestServer::start().await;
    let created = in_play(&clients).await;
    let (mut stream, _) = PlayStream::open(&clients).await;
    let (handle, _) = stream.join(join(&created, 0)).await;
    let observe = v1::ObserveSeat {
        seat_token: created.tokens[0].clone(),
        after_seq: None,
        views: None,
        assigned: None,
    };
    let request = v1::ObserveRequest { seats: vec![observe] };
    let mut observer = soon("Observe", clients.play().observe(request)).await.unwrap().into_inner();
    soon("a start", observer.message()).await.unwrap();

    let rotate =
        v1::RotateSeatTokenRequest { match_id: created.id().to_owned(), seat: 0, request_id: String::new() };
    let rotated = soon("RotateSeatToken", clients.matches().rotate_seat_token(rotate)).await.unwrap();
    check_lost(&mut stream, handle, SupersededReason::TokenRotated).await;
    let last = soon("the last message", observer.message()).await.unwrap().unwrap();
    assert!(matches!(last.kind, Some(v1::observe_response::Kind::Superseded(_))), "{last:?}");
    assert_eq!(soon("the end", observer.message()).await.unwrap(), None);

    let seat_token = rotated.into_inner().seat_token.unwrap().token;
    let request = v1::ResignRequest { seat_token, panic: None, assigned: None };
    soon("Resign", clients.play().resign(request)).await.unwrap();
    clients.verified_record(created.id()).await;
    server.stop().await;
}
