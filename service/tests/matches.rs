//! `MatchService` over a real socket: creating, finding, cancelling, and who may do what.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod common;

use tonic::{Request, Status, transport::Channel};
use zetema_proto::v1::{
    self, ErrorReason, match_service_client::MatchServiceClient, play_service_client::PlayServiceClient,
};
use zetema_service::server::Server;

use common::{as_admin, as_bearer, channel, restart, spec, start};

type Client = MatchServiceClient<Channel>;

async fn client(server: &Server) -> Client {
    MatchServiceClient::new(channel(server).await)
}

fn create(request_id: &str, spec: v1::MatchSpec) -> v1::CreateMatchRequest {
    v1::CreateMatchRequest { request_id: request_id.to_owned(), r#match: Some(spec) }
}

fn reason<T: std::fmt::Debug>(answer: Result<T, Status>) -> (ErrorReason, Vec<String>) {
    let error = v1::Error::from_status(&answer.unwrap_err()).unwrap();
    (error.reason(), error.violations.into_iter().map(|violation| violation.field).collect())
}

#[tokio::test]
async fn a_retried_creation_gets_the_same_answer_even_after_a_restart() {
    let (folder, server) = start().await;
    let request = create("id-1", spec(2, v1::Visibility::Private));
    let mut first = client(&server).await;
    let answer = first.create_match(as_admin(&server, request.clone())).await.unwrap().into_inner();
    assert_eq!(answer.seat_tokens.len(), 2);
    let again = first.create_match(as_admin(&server, request.clone())).await.unwrap().into_inner();
    assert_eq!(answer, again);
    let other = create("id-1", spec(3, v1::Visibility::Private));
    let refused = first.create_match(as_admin(&server, other)).await;
    assert_eq!(reason(refused).0, ErrorReason::RequestIdReused);
    server.shutdown().await;

    let server = restart(&folder).await;
    let again = client(&server).await.create_match(as_admin(&server, request)).await.unwrap().into_inner();
    assert_eq!(answer, again);
    server.shutdown().await;
}

#[tokio::test]
async fn a_batch_is_created_whole_or_not_at_all() {
    let (_folder, server) = start().await;
    let mut client = client(&server).await;
    let good = spec(2, v1::Visibility::Private);
    let bad = v1::MatchSpec { seats: good.seats[..1].to_vec(), ..good.clone() };
    let batch = |matches| v1::BatchCreateMatchesRequest { request_id: String::new(), matches };
    let refused = client.batch_create_matches(as_admin(&server, batch(vec![good.clone(), bad]))).await;
    assert_eq!(reason(refused), (ErrorReason::InvalidRules, vec!["matches[1].seats".to_owned()]));
    let refused = client.batch_create_matches(as_admin(&server, batch(Vec::new()))).await;
    assert_eq!(reason(refused), (ErrorReason::InvalidField, vec!["matches".to_owned()]));
    let refused = client.batch_create_matches(as_admin(&server, batch(vec![good.clone(); 1001]))).await;
    assert_eq!(reason(refused), (ErrorReason::InvalidField, vec!["matches".to_owned()]));
    let list = v1::ListMatchesRequest::default();
    let listed = client.list_matches(as_admin(&server, list.clone())).await.unwrap().into_inner();
    assert!(listed.matches.is_empty());

    let created =
        client.batch_create_matches(as_admin(&server, batch(vec![good; 150]))).await.unwrap().into_inner();
    assert_eq!(created.matches.len(), 150);
    let first = client.list_matches(as_admin(&server, list.clone())).await.unwrap().into_inner();
    assert_eq!(first.matches.len(), 100);
    let next = v1::ListMatchesRequest { page_token: first.next_page_token, ..list };
    let second = client.list_matches(as_admin(&server, next)).await.unwrap().into_inner();
    assert_eq!((second.matches.len(), second.next_page_token.as_str()), (50, ""));
    server.shutdown().await;
}

#[tokio::test]
async fn what_is_not_there_and_what_may_not_be_seen_look_the_same() {
    let (_folder, server) = start().await;
    let mut client = client(&server).await;
    let created = client.create_match(as_admin(&server, create("", spec(2, v1::Visibility::Private)))).await;
    let v1::CreateMatchResponse { r#match, seat_tokens } = created.unwrap().into_inner();
    let other = client.create_match(as_admin(&server, create("", spec(2, v1::Visibility::Private)))).await;
    let other_token = other.unwrap().into_inner().seat_tokens.remove(0).token;
    let get = v1::GetMatchRequest { match_id: r#match.unwrap().match_id };
    let absent = v1::GetMatchRequest { match_id: "00".repeat(16) };

    let hidden = client.get_match(Request::new(get.clone())).await.unwrap_err();
    let missing = client.get_match(Request::new(absent.clone())).await.unwrap_err();
    assert_eq!(
        (hidden.code(), hidden.message(), hidden.details()),
        (missing.code(), missing.message(), missing.details())
    );
    let anyone =
        client.list_matches(Request::new(v1::ListMatchesRequest::default())).await.unwrap().into_inner();
    assert!(anyone.matches.is_empty());
    let by_other = client.get_match(as_bearer(&other_token, get.clone())).await;
    assert_eq!(reason(by_other).0, ErrorReason::NotFound);
    let by_nobody = client.get_match(as_bearer("nonsense", get.clone())).await;
    assert_eq!(reason(by_nobody).0, ErrorReason::Unauthenticated);
    client.get_match(as_bearer(&seat_tokens[0].token, get.clone())).await.unwrap();
    client.get_match(as_admin(&server, get)).await.unwrap();
    assert_eq!(reason(client.get_match(as_admin(&server, absent)).await).0, ErrorReason::NotFound);

    let refused = client.create_match(Request::new(create("", spec(2, v1::Visibility::Public)))).await;
    assert_eq!(reason(refused).0, ErrorReason::Unauthenticated);
    server.shutdown().await;
}

#[tokio::test]
async fn a_cancelled_match_is_aborted_and_has_a_record() {
    let (_folder, server) = start().await;
    let mut client = client(&server).await;
    let created = client.create_match(as_admin(&server, create("", spec(2, v1::Visibility::Public)))).await;
    let match_id = created.unwrap().into_inner().r#match.unwrap().match_id;
    let record = v1::GetRecordRequest { match_id: match_id.clone() };
    assert_eq!(reason(client.get_record(record.clone()).await).0, ErrorReason::NotRevealed);
    let cancel = v1::CancelMatchRequest { match_id: match_id.clone() };
    assert_eq!(reason(client.cancel_match(cancel.clone()).await).0, ErrorReason::Unauthenticated);
    for _ in 0..2 {
        let cancelled = client.cancel_match(as_admin(&server, cancel.clone())).await.unwrap().into_inner();
        assert_eq!(cancelled.r#match.unwrap().state(), v1::MatchState::Aborted);
    }
    let record = client.get_record(record).await.unwrap().into_inner().record.unwrap();
    assert_eq!(record.match_id, match_id);
    let aborted = v1::MatchFilter { states: vec![v1::MatchState::Aborted.into()], client_reference: None };
    let list = v1::ListRecordsRequest { filter: Some(aborted), ..Default::default() };
    let records = client.list_records(list).await.unwrap().into_inner().records;
    assert_eq!(
        records.iter().map(|record| record.match_id.as_str()).collect::<Vec<_>>(),
        [match_id.as_str()]
    );
    assert!(records[0].revealed);
    let playing = v1::MatchFilter { states: vec![v1::MatchState::Playing.into()], client_reference: None };
    let refused =
        client.list_records(v1::ListRecordsRequest { filter: Some(playing), ..Default::default() }).await;
    assert_eq!(reason(refused), (ErrorReason::InvalidField, vec!["filter.states[0]".to_owned()]));
    server.shutdown().await;
}

#[tokio::test]
async fn a_rotated_token_voids_the_one_before() {
    let (_folder, server) = start().await;
    let mut client = client(&server).await;
    let created = client.create_match(as_admin(&server, create("", spec(2, v1::Visibility::Private)))).await;
    let v1::CreateMatchResponse { r#match, seat_tokens } = created.unwrap().into_inner();
    let rotate = v1::RotateSeatTokenRequest {
        match_id: r#match.unwrap().match_id,
        seat: 0,
        request_id: "rotate-1".to_owned(),
    };
    let first = client.rotate_seat_token(as_admin(&server, rotate.clone())).await.unwrap().into_inner();
    let again = client.rotate_seat_token(as_admin(&server, rotate.clone())).await.unwrap().into_inner();
    assert_eq!(first, again);
    let other = v1::RotateSeatTokenRequest { seat: 1, ..rotate };
    let reused = client.rotate_seat_token(as_admin(&server, other)).await;
    assert_eq!(reason(reused).0, ErrorReason::RequestIdReused);

    let mut play = PlayServiceClient::new(channel(&server).await);
    let join = |token: &str| v1::JoinSeatRequest {
        seat_token: token.to_owned(),
        nonce_hash: Vec::new(),
        assigned: None,
    };
    assert_eq!(reason(play.join_seat(join(&seat_tokens[0].token)).await).0, ErrorReason::Unauthenticated);
    play.join_seat(join(&first.seat_token.unwrap().token)).await.unwrap();
    server.shutdown().await;
}

#[tokio::test]
async fn a_specification_that_is_wrong_names_the_field() {
    let (_folder, server) = start().await;
    let mut client = client(&server).await;
    let good = spec(2, v1::Visibility::Private);
    let deals = |kind| Some(v1::Deals { kind: Some(kind) });
    let cases = [
        (v1::MatchSpec { rules: None, ..good.clone() }, ErrorReason::InvalidField, "match.rules"),
        (v1::MatchSpec { seats: Vec::new(), ..good.clone() }, ErrorReason::InvalidRules, "match.seats"),
        (
            v1::MatchSpec { seats: vec![v1::SeatSpec { kind: None }; 2], ..good.clone() },
            ErrorReason::InvalidField,
            "match.seats[0].kind",
        ),
        (
            v1::MatchSpec { visibility: Some(9), ..good.clone() },
            ErrorReason::InvalidField,
            "match.visibility",
        ),
        (
            v1::MatchSpec { client_reference: "x".repeat(65), ..good.clone() },
            ErrorReason::InvalidField,
            "match.client_reference",
        ),
        (
            v1::MatchSpec {
                time_control: Some(v1::TimeControl { join_timeout_ms: Some(1), ..Default::default() }),
                ..good.clone()
            },
            ErrorReason::InvalidField,
            "match.time_control.join_timeout_ms",
        ),
        (
            v1::MatchSpec {
                deals: deals(v1::deals::Kind::Shared(v1::SharedDeals { deal_set: 1 })),
                ..good.clone()
            },
            ErrorReason::InvalidField,
            "match.deals.shared",
        ),
        (
            v1::MatchSpec {
                deals: deals(v1::deals::Kind::Fixed(v1::FixedDeals { server_seed: vec![0; 31] })),
                ..good.clone()
            },
            ErrorReason::InvalidField,
            "match.deals.fixed.server_seed",
        ),
    ];
    for (spec, expected, field) in cases {
        let refused = client.create_match(as_admin(&server, create("", spec))).await;
        assert_eq!(reason(refused), (expected, vec![field.to_owned()]));
    }
    let long = client.create_match(as_admin(&server, create(&"x".repeat(65), good))).await;
    assert_eq!(reason(long), (ErrorReason::InvalidField, vec!["request_id".to_owned()]));
    server.shutdown().await;
}
