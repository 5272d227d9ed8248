//! What a server still does when it is told to stop, and when it has done enough.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod common;

use std::{pin::pin, time::Duration};

use futures::{FutureExt, future::join_all};
use tempfile::TempDir;
use tokio::{sync::oneshot, task::JoinHandle};
use tonic::{
    Request, Streaming,
    transport::{Channel, Endpoint},
};
use tonic_health::pb::{
    HealthCheckRequest, HealthCheckResponse, health_check_response::ServingStatus,
    health_client::HealthClient,
};
use zetema_proto::v1::{
    self, ErrorReason, MatchState, match_service_client::MatchServiceClient, observe_response,
    play_service_client::PlayServiceClient, watch_results_response,
};
use zetema_service::{
    config::{Config, Number},
    server::Server,
};

use common::{as_bearer, spec};

/// Longer than any of these tests.
const LONG: Duration = Duration::from_mins(10);

/// A server whose end is under way, or still to come.
struct Scene {
    folder: TempDir,
    server: Option<Server>,
    channel: Channel,
    endpoint: Endpoint,
    admin_token: String,
    health: Streaming<HealthCheckResponse>,
}

/// A server that was told to stop.
struct Stopping {
    ended: JoinHandle<()>,
    again: oneshot::Sender<()>,
}

impl Scene {
    async fn new(drain_timeout: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let millis = drain_timeout.as_millis().try_into().unwrap();
        let config =
            Config::embedded(folder.path().join("data")).with(Number::DrainTimeoutMs, millis).unwrap();
        let server = Server::start(config).await.unwrap();
        let admin_token = server.admin_token().unwrap().expose().to_owned();
        let endpoint = Endpoint::from_shared(server.url()).unwrap();
        let channel = endpoint.connect().await.unwrap();
        let whole = HealthCheckRequest { service: String::new() };
        let health = HealthClient::new(channel.clone()).watch(whole).await.unwrap().into_inner();
        let mut scene = Self { folder, server: Some(server), channel, endpoint, admin_token, health };
        scene.wait_for(ServingStatus::Serving).await;
        scene
    }

    async fn wait_for(&mut self, status: ServingStatus) {
        while self.health.message().await.unwrap().unwrap().status() != status {}
    }

    /// Tells it to stop, and waits until it drains.
    async fn stop(&mut self) -> Stopping {
        let (again, told) = oneshot::channel();
        let server = self.server.take().unwrap();
        let at_once = told.map(drop);
        let ended = tokio::spawn(async move { server.shutdown_or_close(at_once).await });
        self.wait_for(ServingStatus::NotServing).await;
        Stopping { ended, again }
    }

    fn matches(&self) -> MatchServiceClient<Channel> {
        MatchServiceClient::new(self.channel.clone())
    }

    fn by_admin<T>(&self, message: T) -> Request<T> {
        as_bearer(&self.admin_token, message)
    }

    async fn create(&self, spec: v1::MatchSpec, request_id: &str) -> Result<Created, v1::Error> {
        let request = v1::CreateMatchRequest { request_id: request_id.to_owned(), r#match: Some(spec) };
        match self.matches().create_match(self.by_admin(request)).await {
            Ok(created) => {
                let v1::CreateMatchResponse { r#match, seat_tokens } = created.into_inner();
                let tokens = seat_tokens.into_iter().map(|token| token.token).collect();
                Ok(Created { match_id: r#match.unwrap().match_id, tokens })
            }
            Err(status) => Err(v1::Error::from_status(&status).unwrap()),
        }
    }

    /// Starts the server again, and says how a match stands.
    async fn state_after_restart(self, created: &Created) -> MatchState {
        let server = Server::start(Config::embedded(self.folder.path().join("data"))).await.unwrap();
        let request = v1::GetMatchRequest { match_id: created.match_id.clone() };
        let mut client = MatchServiceClient::connect(server.url()).await.unwrap();
        let found = client.get_match(as_bearer(&self.admin_token, request)).await.unwrap().into_inner();
        server.shutdown().await;
        found.r#match.unwrap().state()
    }
}

#[derive(Debug, PartialEq)]
struct Created {
    match_id: String,
    tokens: Vec<String>,
}

impl Created {
    async fn join_all(&self, channel: &Channel) {
        join_all(self.tokens.iter().map(async |seat_token| {
            let mut client = PlayServiceClient::new(channel.clone());
            let join = v1::JoinSeatRequest {
                seat_token: seat_token.clone(),
                nonce_hash: Vec::new(),
                assigned: None,
            };
            client.join_seat(join).await.unwrap();
        }))
        .await;
    }

    async fn observe(&self, channel: &Channel) -> Streaming<v1::ObserveResponse> {
        let seat = |token: &String| v1::ObserveSeat {
            seat_token: token.clone(),
            after_seq: None,
            views: None,
            assigned: None,
        };
        let request = v1::ObserveRequest { seats: self.tokens.iter().map(seat).collect() };
        PlayServiceClient::new(channel.clone()).observe(request).await.unwrap().into_inner()
    }
}

/// A match that is lost by whoever does nothing for a moment.
fn quick() -> v1::MatchSpec {
    let clock = v1::DecisionClock {
        budget_ms: 1,
        first_budget_ms: Some(100),
        network_credit_ms: Some(0),
        ..v1::DecisionClock::default()
    };
    let decisions = Some(v1::time_control::Decisions::Clock(clock));
    let time_control = Some(v1::TimeControl { decisions, ..v1::TimeControl::default() });
    v1::MatchSpec { time_control, ..spec(2, v1::Visibility::Public) }
}

fn unhurried() -> v1::MatchSpec {
    let decisions = Some(v1::time_control::Decisions::Named(v1::NamedTimeControl::None.into()));
    let time_control = Some(v1::TimeControl { decisions, ..v1::TimeControl::default() });
    v1::MatchSpec { time_control, ..spec(2, v1::Visibility::Public) }
}

#[tokio::test]
async fn a_server_that_drains_creates_no_match_and_says_when_to_ask_again() {
    let mut scene = Scene::new(LONG).await;
    let before = scene.create(unhurried(), "first").await.unwrap();
    let Stopping { ended, again } = scene.stop().await;
    for request_id in ["", "second"] {
        let refused = scene.create(unhurried(), request_id).await.unwrap_err();
        assert_eq!(refused.reason(), ErrorReason::Draining);
        let wait = u128::from(refused.retry_after_ms.unwrap());
        assert!((LONG.as_millis() / 2..LONG.as_millis() + 2_000).contains(&wait), "{wait} ms");
    }
    assert_eq!(scene.create(unhurried(), "first").await, Ok(before), "what was answered is answered again");
    again.send(()).unwrap();
    ended.await.unwrap();
}

#[tokio::test]
async fn matches_that_end_while_the_server_drains_end_it() {
    let mut scene = Scene::new(LONG).await;
    let created = scene.create(quick(), "").await.unwrap();
    let mut results =
        scene.matches().watch_results(scene.by_admin(v1::WatchResultsRequest::default())).await.unwrap();
    let Stopping { ended, again: _again } = scene.stop().await;

    // A client that comes now finds all as it was.
    let late = scene.endpoint.connect().await.unwrap();
    created.join_all(&late).await;
    let mut observed = created.observe(&late).await;
    let mut told_ms = None;
    let mut ends = 0;
    let end = loop {
        match observed.message().await {
            Ok(Some(v1::ObserveResponse { handle: _, kind })) => match kind.unwrap() {
                observe_response::Kind::Draining(v1::Draining { stops_in_ms, .. }) => {
                    assert_eq!(told_ms.replace(stops_in_ms), None, "it is told once");
                }
                observe_response::Kind::End(_) => ends += 1,
                _ => {}
            },
            Ok(None) => break None,
            Err(status) => break Some(status),
        }
    };
    // A stream of matches that are over ends with them, unless the server was quicker.
    assert!(end.is_none_or(|status| reason(&status) == ErrorReason::Draining));
    assert_eq!(ends, 2, "the clocks run, so the match is over by itself");
    assert!(told_ms.is_some_and(|ms| u128::from(ms) <= LONG.as_millis() && ms > 0), "{told_ms:?}");
    let request = v1::GetRecordRequest { match_id: created.match_id.clone() };
    MatchServiceClient::new(late).get_record(request).await.expect("there is still time to read it");

    let mut told = Vec::new();
    let end = loop {
        match results.get_mut().message().await {
            Ok(message) => told.push(message.unwrap().kind.unwrap()),
            Err(status) => break status,
        }
    };
    assert_eq!(reason(&end), ErrorReason::Draining);
    let place = |which: fn(&watch_results_response::Kind) -> bool| told.iter().position(which);
    let draining = place(|kind| matches!(kind, watch_results_response::Kind::Draining(_)));
    let ended_at = place(|kind| matches!(kind, watch_results_response::Kind::Ended(_)));
    assert!(draining.is_some() && draining < ended_at, "{told:?}");
    ended.await.unwrap();
    assert_eq!(scene.state_after_restart(&created).await, MatchState::Finished);
}

#[tokio::test]
async fn what_is_not_over_goes_on_at_the_next_start_whether_the_drain_was_cut_short_or_not() {
    for (drain_timeout, told_again) in [(LONG, true), (Duration::from_millis(1), false)] {
        let mut scene = Scene::new(drain_timeout).await;
        let created = scene.create(unhurried(), "").await.unwrap();
        created.join_all(&scene.channel).await;
        let mut observed = created.observe(&scene.channel).await;
        let Stopping { ended, again } = scene.stop().await;
        if told_again {
            again.send(()).unwrap();
            ended.await.unwrap();
        } else {
            ended.await.unwrap();
            drop(again);
        }
        let mut told = 0;
        let end = loop {
            match observed.message().await {
                Ok(message) => {
                    let kind = message.unwrap().kind.unwrap();
                    told += u32::from(matches!(kind, observe_response::Kind::Draining(_)));
                }
                Err(status) => break status,
            }
        };
        assert_eq!((told, reason(&end)), (1, ErrorReason::Draining));
        assert_eq!(scene.state_after_restart(&created).await, MatchState::Playing);
    }
}

#[tokio::test]
async fn a_server_without_a_match_does_not_wait() {
    let mut scene = Scene::new(LONG).await;
    let stopping = pin!(scene.stop());
    stopping.await.ended.await.unwrap();
}

fn reason(status: &tonic::Status) -> ErrorReason {
    v1::Error::from_status(status).unwrap().reason()
}
