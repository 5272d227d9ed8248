//! Two owners know nothing of each other; a request that comes again gets the same answer, in every one's own account.

use std::collections::BTreeSet;

use tonic::{Status, Streaming};
use zetema_proto::v1;
use zetema_proto::v1::watch_results_response::Kind;
use zetema_proto::v1::{ErrorReason, MatchState, Preset, Visibility};
use zetema_tests::harness::{Clients, TestServer, preset, soon};

async fn create(
    clients: &Clients,
    request_id: &str,
    players: usize,
) -> Result<v1::CreateMatchResponse, Status> {
    let request = v1::CreateMatchRequest {
        request_id: request_id.to_owned(),
        r#match: Some(preset(Preset::Sackson, players)),
    };
    Ok(soon("CreateMatch", clients.matches().create_match(request)).await?.into_inner())
}

async fn rotate(clients: &Clients, match_id: &str, request_id: &str) -> Result<v1::SeatToken, Status> {
    let request = v1::RotateSeatTokenRequest {
        match_id: match_id.to_owned(),
        seat: 1,
        request_id: request_id.to_owned(),
    };
    let answer = soon("RotateSeatToken", clients.matches().rotate_seat_token(request)).await?;
    Ok(answer.into_inner().seat_token.unwrap())
}

fn reason(status: &Status) -> Option<ErrorReason> {
    v1::Error::from_status(status).map(|error| error.reason())
}

/// The ids of what is listed.
async fn listed(clients: &Clients, filter: &v1::MatchFilter) -> (BTreeSet<String>, BTreeSet<String>) {
    let request = v1::ListMatchesRequest { filter: Some(filter.clone()), ..Default::default() };
    let matches = soon("ListMatches", clients.matches().list_matches(request)).await.unwrap().into_inner();
    let over = v1::MatchFilter { states: Vec::new(), ..filter.clone() };
    let request = v1::ListRecordsRequest { filter: Some(over), ..Default::default() };
    let records = soon("ListRecords", clients.matches().list_records(request)).await.unwrap().into_inner();
    (
        matches.matches.into_iter().map(|one| one.match_id).collect(),
        records.records.into_iter().map(|one| one.match_id).collect(),
    )
}

/// The match of the next result.
async fn next_result(results: &mut Streaming<v1::WatchResultsResponse>) -> String {
    loop {
        let message = soon("a result", results.message()).await.unwrap().expect("results have no end");
        if let Some(Kind::Ended(ended)) = message.kind {
            return ended.r#match.unwrap().match_id;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_owners_do_not_see_each_others_matches() {
    let (server, clients) = TestServer::start().await;
    let (_, one) = clients.owner_token("one").await;
    let (_, other) = clients.owner_token("other").await;
    let owners = [clients.by(&one), clients.by(&other)];
    let mut own: Vec<(String, String)> = Vec::new();
    for owner in &owners {
        let spec = v1::MatchSpec { client_reference: "nightly".to_owned(), ..preset(Preset::Sackson, 2) };
        let running = owner.create(spec.clone()).await;
        let over = owner.create(spec).await;
        let cancel = v1::CancelMatchRequest { match_id: over.id().to_owned() };
        soon("CancelMatch", owner.matches().cancel_match(cancel)).await.unwrap();
        own.push((running.id().to_owned(), over.id().to_owned()));
    }
    let public = v1::MatchSpec {
        visibility: Some(Visibility::Public.into()),
        client_reference: "nightly".to_owned(),
        ..preset(Preset::Sackson, 2)
    };
    let public = clients.create(public).await.id().to_owned();

    let nightly = Some("nightly".to_owned());
    for (owner, (running, over)) in owners.iter().zip(&own) {
        let states = [
            (vec![], vec![running, over, &public]),
            (vec![MatchState::WaitingForSeats], vec![running, &public]),
            (vec![MatchState::Aborted], vec![over]),
            (vec![MatchState::Finished], vec![]),
        ];
        for (states, wanted) in states {
            for client_reference in [None, nightly.clone()] {
                let states = states.iter().map(|state| (*state).into()).collect();
                let filter = v1::MatchFilter { states, client_reference };
                let (matches, records) = listed(owner, &filter).await;
                assert_eq!(matches, wanted.iter().map(ToString::to_string).collect(), "{filter:?}");
                assert_eq!(records, BTreeSet::from([over.clone()]), "{filter:?}");
            }
        }
        let mut results =
            soon("WatchResults", owner.matches().watch_results(v1::WatchResultsRequest::default()))
                .await
                .unwrap()
                .into_inner();
        assert_eq!(next_result(&mut results).await, *over);
        let cancel = v1::CancelMatchRequest { match_id: running.clone() };
        soon("CancelMatch", owner.matches().cancel_match(cancel)).await.unwrap();
        assert_eq!(next_result(&mut results).await, *running);
    }
    // The admin sees all.
    let (matches, records) = listed(&clients, &v1::MatchFilter::default()).await;
    assert_eq!((matches.len(), records.len()), (5, 4));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_creation_that_comes_again_gives_the_same_seat_tokens_also_after_a_restart() {
    let (server, clients) = TestServer::start().await;
    let (_, one) = clients.owner_token("one").await;
    let (_, other) = clients.owner_token("other").await;
    let callers = |clients: &Clients| [clients.clone(), clients.by(&one), clients.by(&other)];
    let mut first = Vec::new();
    for caller in callers(&clients) {
        first.push(create(&caller, "the-same", 2).await.unwrap());
    }
    let ids: BTreeSet<_> = first.iter().map(|one| one.r#match.as_ref().unwrap().match_id.clone()).collect();
    assert_eq!(ids.len(), 3, "request ids are each caller's own");
    for (caller, first) in callers(&clients).iter().zip(&first) {
        assert_eq!(create(caller, "the-same", 2).await.unwrap(), *first);
    }
    let (server, clients) = server.restart().await;
    for (caller, first) in callers(&clients).iter().zip(&first) {
        assert_eq!(create(caller, "the-same", 2).await.unwrap(), *first);
        let reused = create(caller, "the-same", 3).await.unwrap_err();
        assert_eq!(reason(&reused), Some(ErrorReason::RequestIdReused));
    }
    server.stop().await;
}

/// Asks again for what was asked before: the tokens that hold now are the answer, and the rest is as it was.
async fn check_created_again(clients: &Clients, first: &v1::CreateMatchResponse, holding: &[v1::SeatToken]) {
    let again = create(clients, "a-match", 2).await.unwrap();
    assert_eq!(again.r#match, first.r#match);
    assert_eq!(again.seat_tokens, holding);
    for token in holding {
        let get = v1::GetMatchRequest { match_id: first.r#match.as_ref().unwrap().match_id.clone() };
        soon("GetMatch", clients.by(&token.token).matches().get_match(get)).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_creation_that_comes_again_gives_the_seat_tokens_that_hold() {
    let (server, clients) = TestServer::start().await;
    let first = create(&clients, "a-match", 2).await.unwrap();
    check_created_again(&clients, &first, &first.seat_tokens).await;
    let match_id = first.r#match.as_ref().unwrap().match_id.clone();
    let batch = v1::BatchCreateMatchesRequest {
        request_id: "a-batch".to_owned(),
        matches: vec![preset(Preset::Sackson, 2); 2],
    };
    let create_batch = async |clients: &Clients| {
        let answer = soon("BatchCreateMatches", clients.matches().batch_create_matches(batch.clone())).await;
        answer.unwrap().into_inner().matches
    };
    let mut created = create_batch(&clients).await;

    let new = rotate(&clients, &match_id, "").await.unwrap();
    assert_ne!(new, first.seat_tokens[1]);
    let holding = [first.seat_tokens[0].clone(), new];
    let of_batch = created[1].r#match.as_ref().unwrap().match_id.clone();
    created[1].seat_tokens[1] = rotate(&clients, &of_batch, "").await.unwrap();

    check_created_again(&clients, &first, &holding).await;
    assert_eq!(create_batch(&clients).await, created);
    let (server, clients) = server.restart().await;
    check_created_again(&clients, &first, &holding).await;
    assert_eq!(create_batch(&clients).await, created);
    let cancel = v1::CancelMatchRequest { match_id };
    soon("CancelMatch", clients.matches().cancel_match(cancel)).await.unwrap();
    check_created_again(&clients, &first, &holding).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rotation_that_comes_again_gives_the_same_token_also_after_a_restart() {
    let (server, clients) = TestServer::start().await;
    let (_, secret) = clients.owner_token("shop").await;
    let shop = clients.by(&secret);
    let created = shop.create(preset(Preset::Sackson, 2)).await;
    let first = rotate(&shop, created.id(), "rotation").await.unwrap();
    assert_eq!(rotate(&shop, created.id(), "rotation").await.unwrap(), first);

    let (server, clients) = server.restart().await;
    let shop = clients.by(&secret);
    assert_eq!(rotate(&shop, created.id(), "rotation").await.unwrap(), first);
    let join =
        v1::JoinSeatRequest { seat_token: first.token.clone(), nonce_hash: Vec::new(), assigned: None };
    soon("JoinSeat", clients.play().join_seat(join)).await.unwrap();
    let later = rotate(&shop, created.id(), "later").await.unwrap();
    assert_ne!(later, first);
    assert_eq!(rotate(&shop, created.id(), "rotation").await.unwrap(), later, "the one that holds");
    // The same request id, and another request.
    let another = shop.create(preset(Preset::Sackson, 2)).await;
    let status = rotate(&shop, another.id(), "rotation").await.unwrap_err();
    assert_eq!(reason(&status), Some(ErrorReason::RequestIdReused));
    let status = create(&shop, "rotation", 2).await.unwrap_err();
    assert_eq!(reason(&status), Some(ErrorReason::RequestIdReused));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_that_is_asked_for_again_voids_the_one_before() {
    let (server, clients) = TestServer::start().await;
    let request = |label: &str| v1::CreateTokenRequest {
        request_id: "one-token".to_owned(),
        scope: Some(v1::TokenScope {
            kind: Some(v1::token_scope::Kind::Owner(v1::OwnerScope { owner: "shop".to_owned() })),
        }),
        label: label.to_owned(),
        ..v1::CreateTokenRequest::default()
    };
    let (first, first_secret) = clients.create_token(request("a shop")).await;
    let (second, second_secret) = clients.create_token(request("a shop")).await;
    let (server, clients) = server.restart().await;
    let (third, third_secret) = clients.create_token(request("a shop")).await;
    assert_eq!(BTreeSet::from([&first.token_id, &second.token_id, &third.token_id]).len(), 3);
    let status = soon("CreateToken", clients.tokens().create_token(request("another"))).await.unwrap_err();
    assert_eq!(reason(&status), Some(ErrorReason::RequestIdReused));

    for (secret, holds) in [(first_secret, false), (second_secret, false), (third_secret, true)] {
        let list = v1::ListMatchesRequest::default();
        let answer = soon("ListMatches", clients.by(&secret).matches().list_matches(list)).await;
        assert_eq!(answer.is_ok(), holds, "{answer:?}");
    }
    server.stop().await;
}
