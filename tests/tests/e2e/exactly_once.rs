//! I2: the same answer gets the same receipt, whatever died in between.

use tonic::Status;
use zetema_proto::v1::act::Choice;
use zetema_proto::v1::play_request::Kind as Ask;
use zetema_proto::v1::{ErrorReason, Preset};
use zetema_proto::{Wire, v1};
use zetema_rules::{Action, Step};
use zetema_tests::harness::{Acted, Clients, PlayStream, Table, TestServer, join_all, preset, soon};

async fn act(clients: &Clients, token: &str, decision: u32, choice: Choice) -> Result<v1::Receipt, Status> {
    let act = v1::Act { decision_number: decision, choice: Some(choice) };
    let request = v1::ActRequest { seat_token: token.to_owned(), act: Some(act), assigned: None };
    let answer = soon("Act", clients.play().act(request)).await?;
    Ok(answer.into_inner().receipt.unwrap())
}

/// Sends everything that was acknowledged again, and something else for each decision.
async fn check_again(clients: &Clients, tokens: &[String], acted: &[Acted], current: Option<u32>) {
    for Acted { seat, action, legal_index, receipt } in acted {
        let decision = receipt.decision_number;
        for same in [Choice::Action(action.to_wire()), Choice::LegalIndex(*legal_index)] {
            assert_eq!(act(clients, &tokens[*seat], decision, same).await.as_ref().ok(), Some(receipt));
        }
        let other = Choice::LegalIndex(legal_index + 1);
        let status = act(clients, &tokens[*seat], decision, other).await.unwrap_err();
        let error = v1::Error::from_status(&status).unwrap();
        assert_eq!((error.reason(), error.decision_number), (ErrorReason::DecisionOver, current));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_answer_gets_the_same_receipt_after_a_reconnect_a_restart_and_the_end() {
    let (server, clients) = TestServer::start().await;
    let created = clients.create(preset(Preset::Sackson, 2)).await;
    join_all(&clients, &[&created], |_| None).await;
    let mut table = Table::open(&clients, &created.tokens).await;
    table.play_to(12).await;

    check_again(&clients, &created.tokens, &table.acted, Some(12)).await;
    let clients = server.connect().await;
    check_again(&clients, &created.tokens, &table.acted, Some(12)).await;
    let (server, clients) = server.restart().await;
    check_again(&clients, &created.tokens, &table.acted, Some(12)).await;

    table.cut(&clients).await;
    table.play_out().await;
    check_again(&clients, &created.tokens, &table.acted, None).await;
    let (server, clients) = server.restart().await;
    check_again(&clients, &created.tokens, &table.acted, None).await;

    let record = clients.verified_record(created.id()).await;
    assert_eq!(record.steps.len(), table.acted.len(), "nothing was applied twice");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_play_stream_acknowledges_again_what_act_has_done() {
    let (server, clients) = TestServer::start().await;
    let created = clients.create(preset(Preset::Sackson, 2)).await;
    join_all(&clients, &[&created], |_| None).await;
    let mut table = Table::open(&clients, &created.tokens).await;
    table.play_to(6).await;

    let (mut stream, _) = PlayStream::open(&clients).await;
    let mut handles = Vec::new();
    for token in &created.tokens {
        let join = v1::Join { by: Some(v1::join::By::SeatToken(token.clone())), ..v1::Join::default() };
        handles.push(stream.join(join).await.0);
    }
    for Acted { seat, action, legal_index: _, receipt } in &table.acted {
        let act = v1::Act {
            decision_number: receipt.decision_number,
            choice: Some(Choice::Action(action.to_wire())),
        };
        let answer = stream.ask(handles[*seat], Ask::Act(act)).await.unwrap();
        let acknowledged = v1::acknowledgement::Kind::Action(receipt.clone());
        let expected = v1::Acknowledgement { kind: Some(acknowledged) };
        assert_eq!(answer.kind, Some(v1::play_response::Kind::Acknowledgement(expected)));
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fault_stands_once_and_leaves_the_decision_open() {
    let (server, clients) = TestServer::start().await;
    let created = clients.create(preset(Preset::Victorian, 2)).await;
    join_all(&clients, &[&created], |_| None).await;
    let mut table = Table::open(&clients, &created.tokens).await;
    table.play_to(3).await;
    let open = table.decision().await.unwrap();
    let other = 1 - open.seat;
    let held = v1::Card::try_from(table.seats[other].last_view().unwrap().hand[0]).unwrap();
    let card = zetema_rules::Card::from_wire(&held.into()).unwrap();

    let fault = || Choice::Action(Action::Discard(card).to_wire());
    let first = act(&clients, &created.tokens[other], open.number, fault()).await.unwrap();
    let (server, clients) = server.restart().await;
    let again = act(&clients, &created.tokens[other], open.number, fault()).await.unwrap();
    assert_eq!(first, again);

    table.cut(&clients).await;
    table.play_out().await;
    let record = clients.verified_record(created.id()).await;
    let faults = record.steps.iter().filter(|step| matches!(step, Step::Fault { .. })).count();
    assert_eq!(faults, 1);
    assert_eq!(record.steps.len(), table.acted.len() + 1);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_is_sent_again_gets_the_same_answer() {
    let (server, clients) = TestServer::start().await;
    let two = preset(Preset::Sackson, 2);
    let one = v1::CreateMatchRequest { request_id: "one".to_owned(), r#match: Some(two.clone()) };
    let many = v1::BatchCreateMatchesRequest { request_id: "many".to_owned(), matches: vec![two; 3] };
    let created =
        soon("CreateMatch", clients.matches().create_match(one.clone())).await.unwrap().into_inner();
    let batch = soon("BatchCreateMatches", clients.matches().batch_create_matches(many.clone()))
        .await
        .unwrap()
        .into_inner();
    let rotate = v1::RotateSeatTokenRequest {
        match_id: batch.matches[0].r#match.clone().unwrap().match_id,
        seat: 1,
        request_id: "rotate".to_owned(),
    };
    let rotated = soon("RotateSeatToken", clients.matches().rotate_seat_token(rotate.clone())).await.unwrap();
    let rotated = rotated.into_inner();
    assert_ne!(rotated.seat_token.as_ref(), batch.matches[0].seat_tokens.get(1));

    // Rotations are remembered until a restart.
    let again = soon("RotateSeatToken", clients.matches().rotate_seat_token(rotate)).await.unwrap();
    assert!(again.into_inner() == rotated, "the token is another");
    let (server, clients) = server.restart().await;
    let again = soon("CreateMatch", clients.matches().create_match(one)).await.unwrap();
    assert!(again.into_inner() == created, "the match or a token is another");
    let again =
        soon("BatchCreateMatches", clients.matches().batch_create_matches(many)).await.unwrap().into_inner();
    for (again, first) in again.matches.iter().zip(&batch.matches) {
        assert_eq!(again.r#match, first.r#match);
    }
    assert_eq!(again.matches[1..], batch.matches[1..]);

    let list = soon("ListMatches", clients.matches().list_matches(v1::ListMatchesRequest::default())).await;
    assert_eq!(list.unwrap().into_inner().matches.len(), 4, "nothing was created twice");
    server.stop().await;
}

/// A stream that plays all seats of a match that is dealt, with the first decision open.
async fn playing(clients: &Clients) -> (PlayStream, u32) {
    let created = clients.create(preset(Preset::Sackson, 2)).await;
    join_all(clients, &[&created], |_| None).await;
    let mut table = Table::open(clients, &created.tokens).await;
    let open = table.decision().await.unwrap();
    let (mut stream, _) = PlayStream::open(clients).await;
    let token = created.tokens[open.seat].clone();
    let join = v1::Join { by: Some(v1::join::By::SeatToken(token)), ..v1::Join::default() };
    let (handle, _) = stream.join(join).await;
    (stream, handle)
}

/// Reads a stream to its end. Whether the receipt of the first decision was in it, in an observation or by itself.
async fn is_receipted(stream: &mut PlayStream) -> bool {
    let mut is_receipted = false;
    while let Some(message) = stream.next().await.unwrap() {
        let answered = match message.kind {
            Some(v1::play_response::Kind::Observation(observation)) => observation.answered_decision_number,
            Some(v1::play_response::Kind::Acknowledgement(acknowledgement)) => match acknowledgement.kind {
                Some(v1::acknowledgement::Kind::Action(receipt)) => Some(receipt.decision_number),
                _ => None,
            },
            _ => None,
        };
        is_receipted |= answered == Some(1);
    }
    is_receipted
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_act_with_which_a_client_leaves_is_answered_all_the_same() {
    let (server, clients) = TestServer::start().await;
    let act = || Ask::Act(v1::Act { decision_number: 1, choice: Some(Choice::LegalIndex(0)) });
    for leaves in [false, true] {
        for _ in 0..25 {
            let (mut stream, handle) = playing(&clients).await;
            stream.send(handle, Some(act())).await;
            if leaves {
                stream.send(handle, Some(Ask::Leave(v1::Leave {}))).await;
            }
            stream.say_no_more();
            assert!(is_receipted(&mut stream).await, "leaves: {leaves}");
        }
    }
    server.stop().await;
}
