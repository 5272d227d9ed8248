//! What is counted of calls and streams. The metrics are of the process, so there is one test here.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tonic::{Code, client::Grpc, codegen::http::uri::PathAndQuery};
use zetema_proto::v1::{
    self, match_service_client::MatchServiceClient, play_request::Kind, play_response,
    play_service_client::PlayServiceClient, rules_service_client::RulesServiceClient,
};
use zetema_service::metrics;

use common::{BytesCodec, as_admin, channel, spec, start};

/// Calls gRPC-Web makes of `ListPresets`, as a page does.
const FROM_A_PAGE: &str = "POST /zetema.v1.RulesService/ListPresets HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
    content-type: application/grpc-web+proto\r\ncontent-length: 5\r\n\r\n\0\0\0\0\0";

#[tokio::test]
async fn every_call_is_counted_by_its_rpc_and_its_code() {
    let (_folder, server) = start().await;
    let channel = channel(&server).await;

    let mut rules = RulesServiceClient::new(channel.clone());
    rules.list_presets(v1::ListPresetsRequest {}).await.unwrap();
    let mut page = TcpStream::connect(server.local_addr()).await.unwrap();
    page.write_all(FROM_A_PAGE.as_bytes()).await.unwrap();
    page.read_to_end(&mut Vec::new()).await.unwrap();

    let mut matches = MatchServiceClient::new(channel.clone());
    let request = v1::GetMatchRequest { match_id: "00".repeat(16) };
    assert_eq!(matches.get_match(request).await.unwrap_err().code(), Code::NotFound);
    let request =
        v1::CreateMatchRequest { request_id: String::new(), r#match: Some(spec(2, v1::Visibility::Public)) };
    let created = matches.create_match(as_admin(&server, request)).await.unwrap().into_inner();
    let cancel = v1::CancelMatchRequest { match_id: created.r#match.unwrap().match_id };
    matches.cancel_match(as_admin(&server, cancel)).await.unwrap();

    // A hello and a hello too many, a welcome and a rejection.
    let hello = || v1::PlayRequest {
        tag: 1,
        handle: 0,
        kind: Some(Kind::Hello(v1::Hello {
            client_name: "metrics".to_owned(),
            protocol_revision: 1,
            ..v1::Hello::default()
        })),
    };
    let mut play = PlayServiceClient::new(channel.clone());
    let mut answers = play.play(tokio_stream::iter([hello(), hello()])).await.unwrap().into_inner();
    let mut heard = Vec::new();
    while let Some(answer) = answers.message().await.unwrap() {
        heard.extend(answer.kind.filter(|kind| !matches!(kind, play_response::Kind::Ping(_))));
    }
    assert_eq!(heard.len(), 2, "{heard:?}");

    let mut nobody = Grpc::new(channel.clone());
    nobody.ready().await.unwrap();
    let path = PathAndQuery::from_static("/zetema.v1.Nobody/Knows");
    nobody.unary(tonic::Request::new(Vec::new()), path, BytesCodec).await.unwrap_err();

    let page = metrics::page().unwrap().render();
    for line in [
        r#"zetema_rpc_requests_total{rpc="ListPresets"} 2"#,
        r#"zetema_rpc_answers_total{rpc="ListPresets",code="OK"} 2"#,
        r#"zetema_rpc_messages_received_total{rpc="ListPresets"} 2"#,
        r#"zetema_rpc_messages_sent_total{rpc="ListPresets"} 2"#,
        r#"zetema_rpc_seconds_count{rpc="ListPresets"} 2"#,
        r#"zetema_rpc_answers_total{rpc="GetMatch",code="NOT_FOUND"} 1"#,
        r#"zetema_rpc_answers_total{rpc="GetMatch",code="OK"} 0"#,
        r#"zetema_rpc_requests_total{rpc="Play"} 1"#,
        r#"zetema_rpc_answers_total{rpc="Play",code="OK"} 1"#,
        r#"zetema_rpc_messages_received_total{rpc="Play"} 2"#,
        r#"zetema_rpc_answers_total{rpc="other",code="UNIMPLEMENTED"} 1"#,
        r#"zetema_stage_seconds_count{stage="inbox"} 1"#,
        r#"zetema_stage_seconds_count{stage="journal"} 1"#,
        r#"zetema_stage_seconds_count{stage="publish"} 1"#,
        r#"zetema_rejections_total{reason="NOT_FOUND"} 1"#,
        r#"zetema_rejections_total{reason="INTERNAL"} 0"#,
    ] {
        assert!(page.contains(&format!("{line}\n")), "no {line} in {page}");
    }
    server.shutdown().await;
}
