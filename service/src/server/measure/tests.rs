//! What panics: what the client is told, and what is counted.

use std::{
    convert::Infallible,
    panic::panic_any,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    middleware::from_fn_with_state,
};
use futures::{StreamExt, stream};
use metrics_exporter_prometheus::PrometheusHandle;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};
use zetema_proto::v1::{
    self, ErrorReason, match_service_client::MatchServiceClient, play_service_client::PlayServiceClient,
};

use super::measure;
use crate::{
    journal::{self, Journal, SqliteJournal, UnixMillis},
    matches::{self, Clock, SystemClock, SystemEntropy},
    metrics::{Rpcs, recorder},
    server::InProcess,
    table::{FairShuffler, Moment},
};

/// A clock that breaks.
struct Breaking {
    clock: SystemClock,
    broken: AtomicBool,
}

impl Clock for Breaking {
    fn now(&self) -> Moment {
        if self.broken.load(Relaxed) {
            panic_any("the clock is broken");
        }
        self.clock.now()
    }

    fn wall(&self) -> UnixMillis {
        if self.broken.load(Relaxed) {
            panic_any("the clock is broken".to_owned());
        }
        self.clock.wall()
    }
}

/// A server whose clock breaks when it is told to, and what it counts.
async fn server(folder: &std::path::Path, page: PrometheusHandle) -> (InProcess, Arc<Breaking>) {
    let (journal, _) = SqliteJournal::open(folder, journal::Options::default()).await.unwrap();
    let journal = Arc::new(journal);
    let clock = Arc::new(Breaking { clock: SystemClock::new(), broken: AtomicBool::new(false) });
    let config = matches::Config {
        journal: Arc::<SqliteJournal>::clone(&journal) as Arc<dyn Journal>,
        clock: Arc::<Breaking>::clone(&clock),
        entropy: Arc::new(SystemEntropy),
        shuffler: Arc::new(FairShuffler),
        limits: matches::Limits::default(),
        faults: None,
    };
    let server = InProcess::open(config, journal, folder, Duration::from_secs(20), page);
    (server.await.unwrap(), clock)
}

/// What a stream ends with, if not well.
async fn end<T>(mut answers: Streaming<T>) -> Option<Status> {
    loop {
        match answers.message().await {
            Ok(Some(_)) => {}
            Ok(None) => return None,
            Err(status) => return Some(status),
        }
    }
}

fn is_internal(status: &Status) {
    let error = v1::Error::from_status(status).expect("a fault of ours");
    assert_eq!(error.reason(), ErrorReason::Internal);
    assert!(error.message.contains("incident") && !error.message.contains("clock"), "{}", error.message);
}

#[tokio::test]
async fn a_panic_is_told_and_counted_as_a_fault_of_the_server() {
    let recorder = recorder().unwrap();
    let page = recorder.handle();
    let _counting = metrics::set_default_local_recorder(&recorder);
    let folder = tempfile::tempdir().unwrap();
    let (server, clock) = server(folder.path(), page.clone()).await;

    let (says, said) = tokio::sync::mpsc::channel(4);
    let mut play = PlayServiceClient::new(server.router());
    let mut answers = play.play(ReceiverStream::new(said)).await.unwrap().into_inner();
    let hello = v1::play_request::Kind::Hello(v1::Hello {
        client_name: "unlucky".to_owned(),
        protocol_revision: 1,
        ..v1::Hello::default()
    });
    let hello = v1::PlayRequest { tag: 1, handle: 0, kind: Some(hello) };
    says.send(hello.clone()).await.unwrap();
    answers.message().await.unwrap().unwrap();

    clock.broken.store(true, Relaxed);
    // Heard by the session, whose task has no caller.
    says.send(hello).await.unwrap();
    is_internal(&end(answers).await.expect("a stream that was broken off did not end well"));

    let mut request = tonic::Request::new(v1::CreateMatchRequest {
        request_id: String::new(),
        r#match: Some(v1::MatchSpec {
            rules: Some(v1::match_spec::Rules::Preset(v1::PresetRules {
                preset: v1::Preset::Quick.into(),
                ..v1::PresetRules::default()
            })),
            seats: vec![v1::SeatSpec { kind: Some(v1::seat_spec::Kind::Token(v1::TokenSeat {})) }; 2],
            ..v1::MatchSpec::default()
        }),
    });
    let bearer = format!("Bearer {}", server.admin_token().unwrap().expose());
    request.metadata_mut().insert("authorization", bearer.parse().unwrap());
    is_internal(&MatchServiceClient::new(server.router()).create_match(request).await.unwrap_err());

    let text = page.render();
    for line in [
        r#"zetema_rpc_answers_total{rpc="Play",code="INTERNAL"} 1"#,
        r#"zetema_rpc_answers_total{rpc="CreateMatch",code="INTERNAL"} 1"#,
        r#"zetema_rejections_total{reason="INTERNAL"} 2"#,
        r#"zetema_streams{rpc="Play"} 0"#,
    ] {
        assert!(text.contains(&format!("{line}\n")), "no {line} in {text}");
    }
}

#[tokio::test]
async fn a_stream_of_answers_that_panics_ends_as_a_fault_of_the_server() {
    let recorder = recorder().unwrap();
    let page = recorder.handle();
    let _counting = metrics::set_default_local_recorder(&recorder);
    let answers = || async {
        let whole = Bytes::from_static(b"\0\0\0\0\0");
        let answers = stream::iter([whole]).chain(stream::poll_fn(|_| panic_any("the clock is broken")));
        ([("content-type", "application/grpc")], Body::from_stream(answers.map(Ok::<_, Infallible>)))
    };
    let router = Router::new().fallback(answers).layer(from_fn_with_state(Rpcs::new().unwrap(), measure));
    let request = v1::WatchMatchRequest::default();
    let answers = MatchServiceClient::new(router).watch_match(request).await.unwrap().into_inner();
    is_internal(&end(answers).await.expect("a stream that was broken off did not end well"));
    for line in [
        r#"zetema_rpc_answers_total{rpc="WatchMatch",code="INTERNAL"} 1"#,
        r#"zetema_rpc_messages_sent_total{rpc="WatchMatch"} 1"#,
    ] {
        assert!(page.render().contains(&format!("{line}\n")), "no {line} in {}", page.render());
    }
}
