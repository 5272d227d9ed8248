//! The one port: standard services, metrics, gRPC-Web, and what tonic would refuse in its own words.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod common;

use std::{net::SocketAddr, time::Duration};

use http_body_util::{BodyExt, Full};
use prost::Message;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tonic::{
    Code, Status,
    body::Body,
    client::Grpc,
    codegen::{
        Service,
        http::{HeaderMap, Request, header::DATE, uri::PathAndQuery},
    },
    transport::Channel,
};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};
use tonic_reflection::pb::v1::{
    ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
    server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
};
use zetema_proto::v1::{
    self, ErrorReason, match_service_client::MatchServiceClient, rules_service_client::RulesServiceClient,
};
use zetema_service::{
    access::ADMIN_TOKEN_FILE,
    config::{Config, Number},
    server::Server,
    webhooks::Allowed,
};

use common::{as_admin, channel, play_to, spec, start};

#[tokio::test]
async fn health_is_told_for_the_server_and_for_each_service() {
    let (_folder, server) = start().await;
    let mut client = HealthClient::new(channel(&server).await);
    for service in ["", "zetema.v1.MatchService", "zetema.v1.PlayService", "zetema.v1.RulesService"] {
        let request = HealthCheckRequest { service: service.to_owned() };
        let status = client.check(request).await.unwrap().into_inner().status();
        assert_eq!(status, ServingStatus::Serving, "{service:?}");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn a_file_of_cas_that_is_of_no_use_is_told_before_anything_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    // No receiver may be allowed yet.
    for allowed in [Allowed::default(), "hooks.example.com".parse().unwrap()] {
        let webhook_ca = Some(folder.path().join("no.pem"));
        let config = Config { webhook_ca, webhook_allow: allowed, ..Config::embedded(data.clone()) };
        let error = Server::start(config).await.unwrap_err().to_string();
        assert!(error.contains("webhook_ca") && error.contains("no.pem"), "{error}");
        assert!(!data.exists(), "no journal was opened");
    }
}

#[tokio::test]
async fn reflection_lists_every_service() {
    let (_folder, server) = start().await;
    let mut client = ServerReflectionClient::new(channel(&server).await);
    let request = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::ListServices(String::new())),
    };
    let mut answers =
        client.server_reflection_info(tokio_stream::iter([request])).await.unwrap().into_inner();
    let answer = answers.message().await.unwrap().unwrap();
    let Some(MessageResponse::ListServicesResponse(list)) = answer.message_response else {
        panic!("{answer:?}")
    };
    let names: Vec<_> = list.service.iter().map(|service| service.name.as_str()).collect();
    for name in
        ["zetema.v1.MatchService", "zetema.v1.PlayService", "zetema.v1.RulesService", "grpc.health.v1.Health"]
    {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn a_message_to_reflection_has_no_more_room_than_one_to_any_other_small_service() {
    let (_folder, server) = start().await;
    let mut client = ServerReflectionClient::new(channel(&server).await);
    let mut ask = async |length: usize| {
        let request = ServerReflectionRequest {
            host: String::new(),
            message_request: Some(MessageRequest::FileContainingSymbol("x".repeat(length))),
        };
        client.server_reflection_info(tokio_stream::iter([request])).await?.into_inner().message().await
    };
    assert_eq!(ask(15 * 1024).await.unwrap_err().code(), Code::NotFound, "there is no such symbol");
    // tonic's reflection ends a stream whose message it can't read, and says no more.
    assert!(ask(17 * 1024).await.unwrap().is_none());
    server.shutdown().await;
}

#[tokio::test]
async fn each_message_on_a_stream_of_reflection_counts_like_a_call() {
    let (rate, burst, asked) = (200, 10, 100_u64);
    let folder = tempfile::tempdir().unwrap();
    let config = Config::embedded(folder.path().join("data"));
    let config = config.with(Number::RequestsPerSecondPerAddress, rate).unwrap();
    let server = Server::start(config.with(Number::RequestBurstPerAddress, burst).unwrap()).await.unwrap();
    let request = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::ListServices(String::new())),
    };
    let begun = std::time::Instant::now();
    let asking = tokio_stream::iter(vec![request; usize::try_from(asked).unwrap()]);
    let mut client = ServerReflectionClient::new(channel(&server).await);
    let mut answers = client.server_reflection_info(asking).await.unwrap().into_inner();
    let mut answered = 0;
    while answers.message().await.unwrap().is_some() {
        answered += 1;
    }
    assert_eq!(answered, asked, "none is refused, but they wait");
    let shortest = Duration::from_secs(asked - burst) / u32::try_from(rate).unwrap();
    assert!(begun.elapsed() >= shortest, "{:?}", begun.elapsed());
    server.shutdown().await;
}

#[tokio::test]
async fn metrics_are_on_the_same_port() {
    let (_folder, server) = start().await;
    let page =
        http1(server.local_addr(), "GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", &[])
            .await;
    let page = String::from_utf8(page).unwrap();
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
    // As many as all servers of this process have.
    assert!(page.contains("\nzetema_live_matches "), "{page}");
    server.shutdown().await;
}

#[tokio::test]
async fn a_browser_calls_by_grpc_web() {
    let (_folder, server) = start().await;
    let head = "POST /zetema.v1.RulesService/ListPresets HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
                origin: https://example.org\r\ncontent-type: application/grpc-web+proto\r\ncontent-length: 5\r\n\r\n";
    let answer = http1(server.local_addr(), head, &[0; 5]).await;
    let text = String::from_utf8_lossy(&answer);
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
    assert!(text.contains("access-control-allow-origin: *"), "{text}");
    assert!(text.contains("sackson") && text.contains("grpc-status:0"), "{text}");
    server.shutdown().await;
}

#[tokio::test]
async fn a_browser_watches_a_match_as_it_goes() {
    let (_folder, server) = start().await;
    let mut matches = MatchServiceClient::new(channel(&server).await);
    let request =
        v1::CreateMatchRequest { request_id: String::new(), r#match: Some(spec(2, v1::Visibility::Public)) };
    let created = matches.create_match(as_admin(&server, request)).await.unwrap().into_inner();
    let match_id = created.r#match.unwrap().match_id;

    let message = v1::WatchMatchRequest { match_id: match_id.clone(), after_seq: None, views: None };
    let message = message.encode_to_vec();
    let mut body = vec![0];
    body.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
    body.extend(message);
    let head = format!(
        "POST /zetema.v1.MatchService/WatchMatch HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
         content-type: application/grpc-web+proto\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(server.local_addr()).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&body).await.unwrap();
    let mut answer = Vec::new();
    // The start comes while the match is going on, not only with the stream's end.
    while !String::from_utf8_lossy(&answer).contains(&match_id) {
        assert_ne!(stream.read_buf(&mut answer).await.unwrap(), 0, "the stream ended before its start");
    }
    assert!(!String::from_utf8_lossy(&answer).contains("grpc-status:"));
    let cancel = v1::CancelMatchRequest { match_id };
    matches.cancel_match(as_admin(&server, cancel)).await.unwrap();
    stream.read_to_end(&mut answer).await.unwrap();
    assert!(String::from_utf8_lossy(&answer).contains("grpc-status:0"));
    server.shutdown().await;
}

#[tokio::test]
async fn what_is_no_call_is_not_found() {
    let (_folder, server) = start().await;
    let head = "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let answer = http1(server.local_addr(), head, &[]).await;
    assert!(answer.starts_with(b"HTTP/1.1 404"), "{}", String::from_utf8_lossy(&answer));
    server.shutdown().await;
}

#[tokio::test]
async fn what_tonic_refuses_has_a_reason_too() {
    let (_folder, server) = start().await;
    let channel = channel(&server).await;

    let large = v1::CheckRulesRequest { rules: None };
    let error = raw(&channel, "/zetema.v1.RulesService/CheckRules", vec![0; 2 * 1024 * 1024]).await;
    check(&error, Code::ResourceExhausted, ErrorReason::MessageTooLarge);
    let error = raw(&channel, "/zetema.v1.RulesService/CheckRules", vec![0xff; 3]).await;
    check(&error, Code::InvalidArgument, ErrorReason::Undecodable);
    let error = raw(&channel, "/zetema.v1.RulesService/Guess", Vec::new()).await;
    check(&error, Code::Unimplemented, ErrorReason::NotSupported);
    let error = raw(&channel, "/zetema.v1.GuessService/Guess", Vec::new()).await;
    check(&error, Code::Unimplemented, ErrorReason::NotSupported);

    let error = RulesServiceClient::new(channel).check_rules(large).await.unwrap_err();
    check(&error, Code::InvalidArgument, ErrorReason::InvalidField);
    server.shutdown().await;
}

#[tokio::test]
async fn the_admin_token_is_in_a_file_of_its_owner_and_stays_the_same() {
    use std::os::unix::fs::PermissionsExt;

    let (folder, server) = start().await;
    let token = server.admin_token().unwrap().expose().to_owned();
    server.shutdown().await;
    let file = folder.path().join("data").join(ADMIN_TOKEN_FILE);
    assert_eq!(std::fs::read_to_string(&file).unwrap().trim_end(), token);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);

    let again = Server::start(Config::embedded(folder.path().join("data"))).await.unwrap();
    assert_eq!(again.admin_token().unwrap().expose(), token);
    again.shutdown().await;
    // What became of the file stops no start.
    std::fs::write(&file, [0xff; 48]).unwrap();
    let garbled = Server::start(Config::embedded(folder.path().join("data"))).await.unwrap();
    assert!(garbled.admin_token().is_none());
    garbled.shutdown().await;
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    let folder_there = Server::start(Config::embedded(folder.path().join("data"))).await.unwrap();
    assert!(folder_there.admin_token().is_none());
    folder_there.shutdown().await;
    std::fs::remove_dir(&file).unwrap();
    let moved = Server::start(Config::embedded(folder.path().join("data"))).await.unwrap();
    assert!(moved.admin_token().is_none(), "the stored hash stands, and no new token is made");
    moved.shutdown().await;
}

fn check(error: &Status, code: Code, reason: ErrorReason) {
    assert_eq!(error.code(), code, "{error:?}");
    assert_eq!(v1::Error::from_status(error).unwrap().reason(), reason, "{error:?}");
}

/// A unary call of these bytes.
async fn raw(channel: &Channel, path: &'static str, bytes: Vec<u8>) -> Status {
    let mut client = Grpc::new(channel.clone());
    client.ready().await.unwrap();
    let path = PathAndQuery::from_static(path);
    let answer: Result<tonic::Response<Vec<u8>>, Status> =
        client.unary(tonic::Request::new(bytes), path, common::BytesCodec).await;
    answer.unwrap_err()
}

/// Everything that the server answers to these bytes.
async fn http1(server: SocketAddr, head: &str, body: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(server).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    answer
}

/// All of an answer to a call of `Act`.
#[derive(Debug, PartialEq)]
struct Answered {
    http_status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
    trailers: Option<HeaderMap>,
    /// What the details of a refusal say, in the place of their header: they name things in any order.
    error: Option<v1::Error>,
}

/// What a call of `Act` with this body is answered, and with this coding of its messages if one is named.
async fn acted(channel: &Channel, body: Vec<u8>, encoding: Option<&str>) -> Answered {
    let request = Request::post("/zetema.v1.PlayService/Act").header("content-type", "application/grpc");
    let request = encoding.into_iter().fold(request, |request, named| request.header("grpc-encoding", named));
    let mut channel = channel.clone();
    std::future::poll_fn(|context| channel.poll_ready(context)).await.unwrap();
    let answer = channel.call(request.body(Body::new(Full::from(body))).unwrap()).await.unwrap();
    let (mut head, body) = answer.into_parts();
    head.headers.remove(DATE);
    let refused = Status::from_header_map(&head.headers);
    let error = refused.map(|status| v1::Error::from_status(&status).unwrap());
    head.headers.remove("grpc-status-details-bin");
    let body = body.collect().await.unwrap();
    let (http_status, trailers) = (head.status.as_u16(), body.trailers().cloned());
    Answered { http_status, headers: head.headers, body: body.to_bytes().to_vec(), trailers, error }
}

/// Has this answered by the short way and, as it names a coding then, by tonic's. Whoever asks can't tell them apart.
async fn both_ways(channel: &Channel, message: &[u8]) -> Option<ErrorReason> {
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    let body = [&[0], &length[..], message].concat();
    let short = acted(channel, body.clone(), None).await;
    assert_eq!(short, acted(channel, body, Some("identity")).await);
    let said_well = short.trailers.is_some_and(|trailers| trailers["grpc-status"] == "0");
    assert_eq!(said_well, short.error.is_none());
    short.error.map(|error| error.reason())
}

#[tokio::test]
async fn an_action_is_answered_the_same_by_the_short_way_and_by_tonics() {
    let (_folder, server) = start().await;
    let channel = channel(&server).await;
    let (_, tokens) = common::create(&server, spec(2, v1::Visibility::Public)).await;
    play_to(channel.clone(), &tokens, 1).await;
    let act = |seat_token: &str, index| {
        let choice = Some(v1::act::Choice::LegalIndex(index));
        let act = Some(v1::Act { decision_number: 1, choice });
        v1::ActRequest { seat_token: seat_token.to_owned(), act, assigned: None }.encode_to_vec()
    };
    let none_such = 9_999;
    let is_first = both_ways(&channel, &act(&tokens[0], none_such)).await == Some(ErrorReason::IllegalAction);
    let (first, second) = if is_first { (&tokens[0], &tokens[1]) } else { (&tokens[1], &tokens[0]) };
    for (message, expected) in [
        (act(first, none_such), Some(ErrorReason::IllegalAction)),
        (act(second, 0), Some(ErrorReason::NotYourTurn)),
        (act("of nobody", 0), Some(ErrorReason::Unauthenticated)),
        (Vec::new(), Some(ErrorReason::InvalidField)),
        (vec![0xff; 3], Some(ErrorReason::Undecodable)),
        // Of two of the same answer the second gets the first one's receipt.
        (act(first, 0), None),
        (act(first, 1), Some(ErrorReason::DecisionOver)),
    ] {
        assert_eq!(both_ways(&channel, &message).await, expected);
    }
    server.shutdown().await;
}
