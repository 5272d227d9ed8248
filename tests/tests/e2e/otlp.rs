//! Traces over OTLP: one action is one trace, from the adapter to the queues, and a collector that is away harms nothing.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::net::SocketAddr;

use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
    trace_service_server::{TraceService, TraceServiceServer},
};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::{Identity, Server, ServerTlsConfig};
use tonic::{Request, Response, Status, async_trait};
use zetema_proto::v1::{self, Preset};
use zetema_rules::fair::Nonce;
use zetema_tests::harness::{
    Authority, Certificate, Clients, PlayStream, Process, Secrets, StreamTable, Table, faces, join_all,
    preset, soon,
};

use crate::trace::{hidden, service_key};

/// A collector that keeps what it is sent.
#[derive(Clone)]
struct Collector(watch::Sender<Vec<ExportTraceServiceRequest>>);

#[async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        self.0.send_modify(|all| all.push(request.into_inner()));
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

impl Collector {
    async fn start() -> (Self, SocketAddr) {
        Self::serve(Server::builder()).await
    }

    /// One that speaks TLS with this certificate.
    async fn start_secure(Certificate { pem, key }: &Certificate) -> (Self, SocketAddr) {
        let tls = ServerTlsConfig::new().identity(Identity::from_pem(pem, key));
        Self::serve(Server::builder().tls_config(tls).unwrap()).await
    }

    async fn serve(mut server: Server) -> (Self, SocketAddr) {
        let collector = Self(watch::Sender::new(Vec::new()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = server.add_service(TraceServiceServer::new(collector.clone()));
        tokio::spawn(serving.serve_with_incoming(TcpListenerStream::new(listener)));
        (collector, address)
    }

    fn requests(&self) -> Vec<ExportTraceServiceRequest> {
        self.0.borrow().clone()
    }

    fn spans(&self) -> Vec<Span> {
        let resources = self.requests().into_iter().flat_map(|request| request.resource_spans);
        resources.flat_map(|resource| resource.scope_spans).flat_map(|scope| scope.spans).collect()
    }
}

/// A server that sends there so many of a million traces.
async fn start(collector: SocketAddr, per_million: &str) -> (Process, Clients) {
    let endpoint = format!("http://{collector}");
    let flags = ["--otlp-endpoint", &endpoint, "--otlp-sampled-per-million", per_million].map(OsStr::new);
    let process = Process::start_with(tempfile::tempdir().unwrap(), &flags).await;
    let clients = process.connect().await;
    (process, clients)
}

/// A number that stands for all traces.
const ALL: &str = "1000000";

/// What a span says beside its name and its times.
fn attributes(span: &Span) -> BTreeMap<&str, String> {
    let text = |value: &Value| match value {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        other => format!("{other:?}"),
    };
    let pair = |pair: &opentelemetry_proto::tonic::common::v1::KeyValue| {
        text(pair.value.as_ref().and_then(|value| value.value.as_ref()).unwrap())
    };
    span.attributes.iter().map(|attribute| (attribute.key.as_str(), pair(attribute))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_action_is_one_trace_from_the_adapter_to_the_queues() {
    let (collector, address) = Collector::start().await;
    let (process, clients) = start(address, ALL).await;
    let mut secrets = Secrets::default();
    secrets.add("the admin's token", clients.admin_token().as_bytes());
    let nonce = |seat: usize| Nonce::new(format!("the nonce of seat {seat}").as_bytes()).unwrap();
    let by_calls = clients.create(preset(Preset::Quick, 2)).await;
    let by_stream = clients.create(preset(Preset::Quick, 2)).await;
    for token in by_calls.tokens.iter().chain(&by_stream.tokens) {
        secrets.add("a seat's token", token.as_bytes());
    }
    for seat in 0..2 {
        secrets.add("a nonce", nonce(seat).reveal());
    }

    join_all(&clients, &[&by_calls], |seat| Some(nonce(seat))).await;
    Table::open(&clients, &by_calls.tokens).await.play_out().await;
    let (mut stream, _) = PlayStream::open(&clients).await;
    StreamTable::join(&mut stream, &by_stream.tokens).await.play_out(&mut stream).await;
    // A call that is part of a client's own trace; it is refused, as the match is over.
    let (trace, parent) = (0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736_u128, 0x00f0_67aa_0ba9_02b7_u64);
    let mut resign = Request::new(v1::ResignRequest {
        seat_token: by_calls.tokens[0].clone(),
        panic: None,
        assigned: None,
    });
    resign.metadata_mut().insert("traceparent", format!("00-{trace:032x}-{parent:016x}-01").parse().unwrap());
    soon("Resign", clients.play().resign(resign)).await.unwrap_err();
    let actions = process.metric("zetema_actions_total").await;
    for created in [&by_calls, &by_stream] {
        hidden(&clients, created, &mut secrets).await;
    }
    secrets.add("the service key", &service_key(&process.data()));
    // What still waits is sent before the server ends.
    process.terminate();
    process.stopped().await;

    let spans = collector.spans();
    let mut acts = 0;
    for root in spans.iter().filter(|span| span.name == "act") {
        let said = attributes(root);
        let match_id = &said["match_id"];
        assert!([by_calls.id(), by_stream.id()].contains(&match_id.as_str()), "{said:?}");
        let rpc = if match_id == by_calls.id() { "Act" } else { "Play" };
        assert_eq!(said["rpc"], rpc);
        let keys: Vec<&str> = said.keys().copied().collect();
        assert_eq!(keys, ["decision", "match_id", "rpc", "seat"], "and nothing else");
        assert!(root.parent_span_id.is_empty(), "{root:?}");
        let mut stages: Vec<&Span> =
            spans.iter().filter(|span| span.parent_span_id == root.span_id).collect();
        stages.sort_by_key(|span| span.start_time_unix_nano);
        let names: Vec<&str> = stages.iter().map(|span| span.name.as_str()).collect();
        assert_eq!(names, ["inbox", "journal", "publish"], "{said:?}");
        let of_trace = spans.iter().filter(|span| span.trace_id == root.trace_id).count();
        assert_eq!(of_trace, 4, "a trace of its own");
        for stage in &stages {
            assert_eq!(stage.trace_id, root.trace_id);
            assert!(stage.attributes.is_empty(), "{stage:?}");
            assert!(root.start_time_unix_nano <= stage.start_time_unix_nano);
            assert!(stage.end_time_unix_nano <= root.end_time_unix_nano);
        }
        acts += 1;
    }
    assert!(acts > 10 && acts == actions, "{acts} traces of {actions} actions");

    let followed: Vec<&Span> = spans.iter().filter(|span| span.trace_id == trace.to_be_bytes()).collect();
    let [resigned] = followed.as_slice() else { panic!("{followed:?}") };
    assert_eq!((resigned.name.as_str(), &resigned.parent_span_id[..]), ("resign", &parent.to_be_bytes()[..]));
    assert_eq!(attributes(resigned)["rpc"], "Resign");

    let sent: Vec<u8> = collector.requests().iter().flat_map(Message::encode_to_vec).collect();
    secrets.check("what the collector was sent", &sent);
    let shown = format!("{:?}", collector.requests());
    secrets.check("what the collector was sent", shown.as_bytes());
    assert!(faces(&shown).is_empty(), "{:?}", faces(&shown));
    let planted = [sent.as_slice(), by_calls.tokens[1].as_bytes()].concat();
    assert!(secrets.found_in(&planted).is_some(), "what is there is found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_client_chooses_that_it_is_traced() {
    let (collector, address) = Collector::start().await;
    let (process, clients) = start(address, "1").await;
    let created = clients.create(preset(Preset::Quick, 2)).await;
    for call in 1..=100 {
        let mut nonce = Request::new(v1::SendNonceRequest {
            seat_token: created.tokens[0].clone(),
            nonce: b"not yet".to_vec(),
            assigned: None,
        });
        // The sampled flag is set, and the number is one that every rule of sampling by numbers keeps.
        let parent = format!("00-{call:016x}0000000000000000-{call:016x}-01");
        nonce.metadata_mut().insert("traceparent", parent.parse().unwrap());
        soon("SendNonce", clients.play().send_nonce(nonce)).await.unwrap_err();
    }
    process.terminate();
    process.stopped().await;
    // One that is drawn by chance may be among them.
    assert!(collector.spans().len() < 10, "{:?}", collector.spans());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_that_is_away_or_never_answers_changes_nothing() {
    // One takes connections and says nothing, at the other nobody is.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let away = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap()
    };
    for collector in [silent.local_addr().unwrap(), away] {
        let (process, clients) = start(collector, ALL).await;
        let created = clients.create(preset(Preset::Quick, 2)).await;
        join_all(&clients, &[&created], |_| None).await;
        Table::open(&clients, &created.tokens).await.play_out().await;
        clients.verified_record(created.id()).await;
        process.terminate();
        let stopped = process.stopped().await;
        assert!(stopped.log().contains("stopped"), "{}", stopped.log());
        let told = stopped.log().matches("traces can't be sent").count();
        assert!(told <= 1 && !stopped.log().contains("ExportError"), "{}", stopped.log());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_over_tls_gets_traces_if_a_ca_of_the_system_vouches_for_it_and_else_none() {
    let (known, unknown) = (Authority::new(), Authority::new());
    let folder = tempfile::tempdir().unwrap();
    let cas = folder.path().join("cas.pem");
    std::fs::write(&cas, known.pem()).unwrap();
    for (authority, trusted) in [(&known, true), (&unknown, false)] {
        let (collector, address) = Collector::start_secure(&authority.server(&["127.0.0.1"])).await;
        let endpoint = format!("https://{address}");
        let flags = ["--otlp-endpoint", &endpoint, "--otlp-sampled-per-million", ALL].map(OsStr::new);
        let process = Process::start_trusting(&cas, &flags).await;
        let clients = process.connect().await;
        let created = clients.create(preset(Preset::Quick, 2)).await;
        let cancel = v1::CancelMatchRequest { match_id: created.id().to_owned() };
        soon("CancelMatch", clients.matches().cancel_match(cancel)).await.unwrap();
        process.terminate();
        let stopped = process.stopped().await;
        let cancels = collector.spans().iter().filter(|span| span.name == "cancel").count();
        assert_eq!(cancels, usize::from(trusted), "{}", stopped.log());
        assert_eq!(!stopped.log().contains("traces can't be sent"), trusted, "{}", stopped.log());
    }
}
