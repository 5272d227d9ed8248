//! What clients are told of matches that are damaged in the journal.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod common;

use tonic::transport::Channel;
use zetema_proto::v1::{
    self, ErrorReason, match_service_client::MatchServiceClient, play_service_client::PlayServiceClient,
    token_service_client::TokenServiceClient,
};
use zetema_service::server::Server;

use common::{as_admin, as_bearer, channel, restart, spec, start};

async fn create_by(
    server: &Server,
    client: &mut MatchServiceClient<Channel>,
    request_id: &str,
) -> Result<(), ErrorReason> {
    let r#match = Some(spec(2, v1::Visibility::Public));
    let create = v1::CreateMatchRequest { request_id: request_id.to_owned(), r#match };
    let created = client.create_match(as_admin(server, create)).await;
    created.map(drop).map_err(|status| v1::Error::from_status(&status).unwrap().reason())
}

/// Flips a bit of the payload of a row of the log, the first being 0, which is alone or in a pack (`docs/journal.md`). Its hash and its place
/// come after the payload, of 16 and 4 bytes.
fn damage_row(database: &rusqlite::Connection, number: usize) {
    let mut before = 0;
    let mut written = database.prepare("SELECT position, row FROM log_1 ORDER BY position").unwrap();
    let written = written.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    for (position, mut bytes) in written.map(rusqlite::Result::<(i64, Vec<u8>)>::unwrap) {
        let number_at = |at: usize| usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]));
        let lengths: Vec<usize> = match bytes[0] {
            252 => (0..number_at(1)).map(|row| number_at(3 + 2 * row)).collect(),
            _ => vec![bytes.len()],
        };
        if number < before + lengths.len() {
            let behind: usize = lengths[number - before + 1..].iter().sum();
            let last = bytes.len() - behind - 1 - 16 - 4;
            bytes[last] ^= 1;
            let update = "UPDATE log_1 SET row = ?1 WHERE position = ?2";
            assert_eq!(database.execute(update, (bytes, position)).unwrap(), 1);
            return;
        }
        before += lengths.len();
    }
    panic!("there are {before} rows");
}

async fn create(server: &Server, client: &mut MatchServiceClient<Channel>) -> String {
    let r#match = Some(spec(2, v1::Visibility::Public));
    let create = v1::CreateMatchRequest { request_id: String::new(), r#match };
    client.create_match(as_admin(server, create)).await.unwrap().into_inner().r#match.unwrap().match_id
}

async fn get(server: &Server, client: &mut MatchServiceClient<Channel>, id: &str) -> Result<(), ErrorReason> {
    let get = v1::GetMatchRequest { match_id: id.to_owned() };
    let got = client.get_match(as_admin(server, get)).await;
    got.map(drop).map_err(|status| v1::Error::from_status(&status).unwrap().reason())
}

#[tokio::test]
async fn a_damaged_match_is_an_error_that_says_so_and_the_others_go_on() {
    let (folder, server) = start().await;
    let mut client = MatchServiceClient::new(channel(&server).await);
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(create(&server, &mut client).await);
    }
    for match_id in &ids[2..] {
        let cancel = v1::CancelMatchRequest { match_id: match_id.clone() };
        client.cancel_match(as_admin(&server, cancel)).await.unwrap();
    }
    server.shutdown().await;

    // The first running match, and the first that is over.
    let database = rusqlite::Connection::open(folder.path().join("data/journal.sqlite3")).unwrap();
    damage_row(&database, 0);
    let record = "UPDATE records SET record = x'00', summary = x'00' WHERE result_number = 1";
    assert_eq!(database.execute(record, []).unwrap(), 1);
    drop(database);

    let server = restart(&folder).await;
    let mut client = MatchServiceClient::new(channel(&server).await);
    for (id, got) in ids.iter().zip([Err(ErrorReason::Internal), Ok(()), Err(ErrorReason::Internal), Ok(())])
    {
        assert_eq!(get(&server, &mut client, id).await, got);
    }
    let unknown = "00000000000000000000000000000000";
    assert_eq!(get(&server, &mut client, unknown).await, Err(ErrorReason::NotFound));
    let list = v1::ListRecordsRequest::default();
    let listed = client.list_records(as_admin(&server, list)).await.unwrap().into_inner().records;
    assert_eq!(listed.iter().map(|record| record.result_number).collect::<Vec<_>>(), [2]);
    server.shutdown().await;
}

#[tokio::test]
async fn of_a_match_whose_record_alone_is_damaged_all_else_is_told_without_reading_it() {
    let (folder, server) = start().await;
    let mut client = MatchServiceClient::new(channel(&server).await);
    let (id, tokens) = common::create(&server, spec(2, v1::Visibility::Private)).await;
    let cancel = v1::CancelMatchRequest { match_id: id.clone() };
    client.cancel_match(as_admin(&server, cancel)).await.unwrap();
    server.shutdown().await;
    let database = rusqlite::Connection::open(folder.path().join("data/journal.sqlite3")).unwrap();
    assert_eq!(database.execute("UPDATE records SET record = x'00'", []).unwrap(), 1);
    drop(database);

    let server = restart(&folder).await;
    let mut client = MatchServiceClient::new(channel(&server).await);
    assert_eq!(get(&server, &mut client, &id).await, Ok(()));
    let get = v1::GetMatchRequest { match_id: id.clone() };
    client.get_match(as_bearer(&tokens[0], get)).await.unwrap();
    let mut play = PlayServiceClient::new(channel(&server).await);
    let join = v1::JoinSeatRequest { seat_token: tokens[1].clone(), nonce_hash: Vec::new(), assigned: None };
    play.join_seat(join).await.unwrap();
    let faults = v1::ListFaultsRequest { seat_token: tokens[1].clone(), ..v1::ListFaultsRequest::default() };
    play.list_faults(faults).await.unwrap();
    let record = v1::GetRecordRequest { match_id: id };
    let damaged = client.get_record(as_admin(&server, record)).await.unwrap_err();
    assert_eq!(v1::Error::from_status(&damaged).unwrap().reason(), ErrorReason::Internal);
    server.shutdown().await;
}

#[tokio::test]
async fn a_damaged_request_is_an_error_for_whoever_sends_it_again_and_no_other() {
    let (folder, server) = start().await;
    let mut client = MatchServiceClient::new(channel(&server).await);
    assert_eq!(create_by(&server, &mut client, "mine").await, Ok(()));
    server.shutdown().await;

    let database = rusqlite::Connection::open(folder.path().join("data/journal.sqlite3")).unwrap();
    assert_eq!(database.execute("UPDATE requests SET response = x'00'", []).unwrap(), 1);
    drop(database);

    let server = restart(&folder).await;
    let mut client = MatchServiceClient::new(channel(&server).await);
    for other in ["yours", "theirs"] {
        assert_eq!(create_by(&server, &mut client, "mine").await, Err(ErrorReason::Internal));
        assert_eq!(create_by(&server, &mut client, other).await, Ok(()));
        create(&server, &mut client).await;
    }
    server.shutdown().await;
}

/// What a call of a match gets, and what it is told.
async fn told(
    client: &mut MatchServiceClient<Channel>,
    bearer: Option<&str>,
    id: &str,
) -> (ErrorReason, String) {
    let get = v1::GetMatchRequest { match_id: id.to_owned() };
    let get = match bearer {
        Some(token) => as_bearer(token, get),
        None => tonic::Request::new(get),
    };
    let status = client.get_match(get).await.unwrap_err();
    (v1::Error::from_status(&status).unwrap().reason(), status.message().to_owned())
}

async fn owner(server: &Server, name: &str) -> String {
    let kind = Some(v1::token_scope::Kind::Owner(v1::OwnerScope { owner: name.to_owned() }));
    let request = v1::CreateTokenRequest { scope: Some(v1::TokenScope { kind }), ..Default::default() };
    let mut client = TokenServiceClient::new(channel(server).await);
    client.create_token(as_admin(server, request)).await.unwrap().into_inner().secret
}

#[tokio::test]
async fn of_a_damaged_private_match_only_those_hear_who_may_see_it() {
    let (folder, server) = start().await;
    let mut client = MatchServiceClient::new(channel(&server).await);
    let (mine, other) = (owner(&server, "mine").await, owner(&server, "other").await);
    let mut created = Vec::new();
    for visibility in [v1::Visibility::Private, v1::Visibility::Public, v1::Visibility::Private] {
        let create = v1::CreateMatchRequest { r#match: Some(spec(2, visibility)), ..Default::default() };
        let answer = client.create_match(as_bearer(&mine, create)).await.unwrap().into_inner();
        created.push((answer.r#match.unwrap().match_id, answer.seat_tokens[0].token.clone()));
    }
    // A second record for each, which is damaged then: of the last match the first too.
    for (id, _) in &created {
        let rotate = v1::RotateSeatTokenRequest { match_id: id.clone(), seat: 1, ..Default::default() };
        client.rotate_seat_token(as_bearer(&mine, rotate)).await.unwrap();
    }
    server.shutdown().await;
    let database = rusqlite::Connection::open(folder.path().join("data/journal.sqlite3")).unwrap();
    for row in [2, 3, 4, 5] {
        damage_row(&database, row);
    }
    drop(database);

    let server = restart(&folder).await;
    let admin = server.admin_token().unwrap().expose().to_owned();
    let mut client = MatchServiceClient::new(channel(&server).await);
    let absent = "00000000000000000000000000000000";
    let (hears, none) = (ErrorReason::Internal, ErrorReason::NotFound);
    // The admin, the owner, a seat, another owner, nobody; of each match.
    let wanted = [[hears, hears, hears, none, none], [hears; 5], [hears, none, hears, none, none]];
    for (at, ((id, seat), wanted)) in created.iter().zip(wanted).enumerate() {
        let callers = [Some(admin.as_str()), Some(&mine), Some(seat), Some(&other), None];
        let mut incidents = Vec::new();
        for (who, (caller, wanted)) in callers.into_iter().zip(wanted).enumerate() {
            let (reason, message) = told(&mut client, caller, id).await;
            assert_eq!(reason, wanted, "match {at}, caller {who}");
            if reason == hears {
                incidents.push(message);
            } else {
                assert_eq!(
                    (reason, message),
                    told(&mut client, caller, absent).await,
                    "match {at}, caller {who}"
                );
            }
        }
        // One incident, which the log has once.
        incidents.dedup();
        assert_eq!(incidents.len(), 1, "{incidents:?}");
    }
    server.shutdown().await;
}
