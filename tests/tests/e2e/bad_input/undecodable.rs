//! Bytes that are no message end a Play stream, and its seats resume.

use prost::Message;
use zetema_proto::v1::play_request::Kind as Ask;
use zetema_proto::v1::play_response::Kind as Answer;
use zetema_proto::v1::subscription_start::Kind as From;
use zetema_proto::v1::{ErrorReason, Preset};
use zetema_proto::{PROTOCOL_REVISION, v1};
use zetema_tests::harness::{Table, TestServer, call, join_all, preset};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn undecodable_bytes_end_the_stream_and_its_seats_resume() {
    let (server, clients) = TestServer::start().await;
    let created = clients.create(preset(Preset::Sackson, 2)).await;
    join_all(&clients, &[&created], |_| None).await;
    let mut table = Table::open(&clients, &created.tokens).await;
    table.play_to(5).await;

    let message = |kind| v1::PlayRequest { tag: 7, handle: 0, kind: Some(kind) }.encode_to_vec();
    let hello = v1::Hello { protocol_revision: PROTOCOL_REVISION, ..v1::Hello::default() };
    let join =
        v1::Join { by: Some(v1::join::By::SeatToken(created.tokens[0].clone())), ..v1::Join::default() };
    let bodies = vec![message(Ask::Hello(hello)), message(Ask::Join(join)), vec![0xff; 9]];
    let (messages, end) = call(clients.channel(), "/zetema.v1.PlayService/Play", None, bodies).await;
    let error = v1::Error::from_status(&end.unwrap_err()).unwrap();
    assert_eq!(error.reason(), ErrorReason::Undecodable);

    let mut answers =
        messages.iter().filter_map(|message| v1::PlayResponse::decode(&message[..]).unwrap().kind);
    assert!(matches!(answers.next(), Some(Answer::Welcome(_))), "what came before is answered");
    let after = answers.find_map(|answer| match answer {
        Answer::Joined(start) => match start.kind {
            Some(From::Snapshot(snapshot)) => Some(snapshot.seq),
            _ => None,
        },
        _ => None,
    });
    let after = after.expect("what came before is answered");
    let mut resumed = Table::resume(&clients, &created.tokens, &[Some(after); 2]).await;
    table.play_out().await;
    while resumed.read().await.unwrap() {}
    let whole = Table::resume(&clients, &created.tokens, &[Some(0); 2]);
    let mut whole = whole.await;
    while whole.read().await.unwrap() {}
    for (resumed, whole) in resumed.seats.iter().zip(&whole.seats) {
        assert_eq!(resumed.observations, whole.observations[usize::try_from(after).unwrap()..]);
        assert_eq!(resumed.end, whole.end);
    }
    clients.verified_record(created.id()).await;
    server.stop().await;
}
