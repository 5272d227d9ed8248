//! What clients see of a server that has more to do than it can.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod common;

use std::{
    future::Future,
    time::{Duration, Instant},
};

use tokio::{
    sync::Mutex,
    task::yield_now,
    time::{sleep, timeout},
};
use tonic::{Code, Response, Status, transport::Channel};
use zetema_proto::v1::{
    self, ErrorReason, match_service_client::MatchServiceClient, play_service_client::PlayServiceClient,
};
use zetema_service::{
    config::{Config, Number},
    limits, metrics,
    server::Server,
};

use common::{as_admin, channel, spec};

/// Longer than any of this takes.
const PATIENCE: Duration = Duration::from_mins(1);

/// Whoever has this is the only server that tells how late it is: metrics are of the process.
static ALONE: Mutex<()> = Mutex::const_new(());

/// Keeps the runtime, that of the server, so busy that whatever is due is late.
async fn keep_busy() {
    loop {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(300) {
            std::hint::spin_loop();
        }
        yield_now().await;
    }
}

/// Asks until it is refused because the server is late, and says when to ask again.
async fn until_refused<T, F>(mut ask: impl FnMut() -> F)
where
    F: Future<Output = Result<Response<T>, Status>>,
{
    let refused = timeout(PATIENCE, async {
        loop {
            if let Err(status) = ask().await {
                return status;
            }
        }
    });
    check_overloaded(&refused.await.expect("it is refused"));
}

/// Asks until it is let in: the machine may be busy with other tests, and late by itself.
async fn until_let_in<T, F>(mut ask: impl FnMut() -> F) -> T
where
    F: Future<Output = Result<Response<T>, Status>>,
{
    let let_in = timeout(PATIENCE, async {
        loop {
            match ask().await {
                Ok(answer) => return answer.into_inner(),
                Err(status) => check_overloaded(&status),
            }
        }
    });
    let_in.await.expect("it is in time again")
}

/// Waits until the page of metrics says that this is what the server refuses.
async fn until_level(level: u8) {
    let line = format!("\nzetema_overload_level {level}\n");
    let reached = timeout(PATIENCE, async {
        while !metrics::page().unwrap().render().contains(&line) {
            sleep(limits::PRESSURE_WINDOW).await;
        }
    });
    reached.await.unwrap_or_else(|_| panic!("it comes to level {level}"));
}

/// It is refused because the server is late, and it is said when to ask again.
fn check_overloaded(status: &Status) {
    assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
    let error = v1::Error::from_status(status).unwrap();
    assert_eq!(error.reason(), ErrorReason::Overloaded, "{error:?}");
    assert!(error.retry_after_ms.unwrap() > 0, "{error:?}");
}

struct Created {
    match_id: String,
    tokens: Vec<String>,
}

struct Clients<'a> {
    server: &'a Server,
    channel: Channel,
}

impl Clients<'_> {
    async fn create(&self) -> Result<Response<v1::CreateMatchResponse>, Status> {
        let request = v1::CreateMatchRequest {
            r#match: Some(spec(2, v1::Visibility::Public)),
            ..v1::CreateMatchRequest::default()
        };
        MatchServiceClient::new(self.channel.clone()).create_match(as_admin(self.server, request)).await
    }

    async fn created(&self) -> Created {
        let v1::CreateMatchResponse { r#match, seat_tokens } = until_let_in(|| self.create()).await;
        let tokens = seat_tokens.into_iter().map(|token| token.token).collect();
        Created { match_id: r#match.unwrap().match_id, tokens }
    }

    async fn join(&self, seat_token: &str) -> Result<Response<v1::JoinSeatResponse>, Status> {
        let request =
            v1::JoinSeatRequest { seat_token: seat_token.to_owned(), nonce_hash: Vec::new(), assigned: None };
        PlayServiceClient::new(self.channel.clone()).join_seat(request).await
    }

    async fn watch(&self, match_id: &str) -> Result<Response<()>, Status> {
        let request =
            v1::WatchMatchRequest { match_id: match_id.to_owned(), ..v1::WatchMatchRequest::default() };
        let watched = MatchServiceClient::new(self.channel.clone()).watch_match(request).await?;
        Ok(watched.map(drop))
    }
}

#[tokio::test]
async fn a_late_server_refuses_what_is_new_and_lets_whoever_plays_in_again() {
    let _alone = ALONE.lock().await;
    let folder = tempfile::tempdir().unwrap();
    let config = Config::embedded(folder.path().join("data")).with(Number::MaxLateMs, 60).unwrap();
    let server = Server::start(config).await.unwrap();
    let clients = Clients { server: &server, channel: channel(&server).await };
    let running = clients.created().await;
    let mut waiting = Vec::new();
    for _ in 0..20 {
        waiting.push(clients.created().await.tokens.swap_remove(0));
    }
    for token in &running.tokens {
        until_let_in(|| clients.join(token)).await;
    }

    let busy = tokio::spawn(keep_busy());
    until_refused(|| clients.create()).await;
    until_refused(|| clients.watch(&running.match_id)).await;
    // Those that are let in until then are seats that have joined.
    let mut joined = Vec::new();
    let refused = loop {
        let token = waiting.pop().expect("so late a seat is refused");
        match clients.join(&token).await {
            Ok(_) => joined.push(token),
            Err(status) => {
                check_overloaded(&status);
                break token;
            }
        }
    };
    for token in joined.iter().chain(&running.tokens) {
        clients.join(token).await.unwrap();
    }
    until_level(2).await;

    busy.abort();
    until_level(0).await;
    until_let_in(|| clients.create()).await;
    until_let_in(|| clients.join(&refused)).await;
    until_let_in(|| clients.watch(&running.match_id)).await;
    server.shutdown().await;
}

#[tokio::test]
async fn a_server_of_a_program_of_its_own_refuses_nothing_for_being_late() {
    let _alone = ALONE.lock().await;
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(Config::embedded(folder.path().join("data"))).await.unwrap();
    let clients = Clients { server: &server, channel: channel(&server).await };
    let busy = tokio::spawn(keep_busy());
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(2) {
        clients.create().await.unwrap();
    }
    busy.abort();
    server.shutdown().await;
}
