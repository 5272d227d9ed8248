//! Floods of calls by clients that keep to the protocol.

use std::convert::Infallible;
use std::time::Duration;

use tokio_stream::StreamExt;
use tonic::body::Body;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::Channel;
use tonic::{Code, Request, Response, Status, Streaming};
use tower::ServiceExt;
use zetema_proto::v1;
use zetema_proto::v1::match_service_client::MatchServiceClient;
use zetema_proto::v1::play_service_client::PlayServiceClient;

use super::{Ending, Playing, Tally, Target};
use crate::harness::{preset, unhurried};

/// Calls of one connection at once.
const AT_ONCE: usize = 64;
/// Spectators of one connection.
const SPECTATORS: usize = 1_000;
/// How long a spectator who was refused waits.
const REFUSED: Duration = Duration::from_secs(1);
/// How long one rests whose connection was cut.
const CUT: Duration = Duration::from_millis(10);
/// Matches of a batch.
const BATCH: usize = 1_000;

type Endless = Result<Infallible, Ending>;

async fn connect(target: &Target) -> Result<Channel, Ending> {
    target.channel().await.map_err(|error| Ending::Refused(error.to_string()))
}

fn with_token<T>(message: T, token: Option<&str>) -> Request<T> {
    let mut request = Request::new(message);
    if let Some(token) = token {
        let token: MetadataValue<Ascii> = format!("Bearer {token}").parse().unwrap();
        request.metadata_mut().insert("authorization", token);
    }
    request
}

fn note<T>(tally: &Tally, answer: &Result<T, Status>) {
    let code = answer.as_ref().map_or_else(Status::code, |_| Code::Ok);
    tally.answered(&format!("{code:?}"));
}

/// Lists matches, with a token or without, as fast as it goes.
pub(super) async fn lists(target: &Target, tally: &Tally, token: Option<&str>) -> Endless {
    let channel = connect(target).await?;
    let callers = (0..AT_ONCE).map(|_| async {
        let mut client = MatchServiceClient::new(channel.clone());
        loop {
            let request = with_token(v1::ListMatchesRequest::default(), token);
            note(tally, &client.list_matches(request).await);
        }
    });
    endless(callers).await
}

/// Asks what a browser asks before a call, as fast as it goes.
pub(super) async fn preflights(target: &Target, tally: &Tally) -> Endless {
    let channel = connect(target).await?;
    let callers = (0..AT_ONCE).map(|_| async {
        loop {
            let preflight = http::Request::options("/zetema.v1.RulesService/ListPresets")
                .header("origin", "https://bots.example")
                .header("access-control-request-method", "POST")
                .body(Body::empty())
                .unwrap();
            let answer = channel.clone().oneshot(preflight).await;
            if answer.is_err() {
                tokio::time::sleep(CUT).await;
            }
            tally.answered(
                &answer.map_or_else(|error| error.to_string(), |answer| answer.status().to_string()),
            );
        }
    });
    endless(callers).await
}

/// Creates matches, with a token or without, as fast as it goes.
pub(super) async fn creates(target: &Target, tally: &Tally, token: Option<&str>) -> Endless {
    let channel = connect(target).await?;
    let callers = (0..AT_ONCE).map(|_| async {
        let mut client = MatchServiceClient::new(channel.clone());
        loop {
            let spec = unhurried(preset(v1::Preset::Quick, 2));
            let message = v1::CreateMatchRequest { request_id: String::new(), r#match: Some(spec) };
            note(tally, &client.create_match(with_token(message, token)).await);
        }
    });
    endless(callers).await
}

/// Creates them in the largest batches.
pub(super) async fn batches(target: &Target, tally: &Tally) -> Endless {
    let mut client = MatchServiceClient::new(connect(target).await?);
    loop {
        let matches = vec![unhurried(preset(v1::Preset::Quick, 2)); BATCH];
        let message = v1::BatchCreateMatchesRequest { request_id: String::new(), matches };
        note(tally, &client.batch_create_matches(with_token(message, Some(&target.token))).await);
    }
}

/// Watches one match, again and again.
pub(super) async fn spectators(target: &Target, tally: &Tally) -> Endless {
    let channel = connect(target).await?;
    let spectators = (0..SPECTATORS).map(|_| async {
        let mut client = MatchServiceClient::new(channel.clone());
        loop {
            let match_id = target.watched.borrow().match_id.clone();
            let request = v1::WatchMatchRequest { match_id, ..Default::default() };
            let answer = client.watch_match(request).await;
            note(tally, &answer);
            let ended = match answer {
                Ok(stream) => stream.into_inner().any(|message| message.is_err()).await,
                Err(_) => true,
            };
            if ended {
                tokio::time::sleep(REFUSED).await;
            }
        }
    });
    endless(spectators).await
}

/// Has one match that is over replayed, as fast as it goes: for what its spectators and a seat of it were shown, and for a
/// receipt.
pub(super) async fn replays(target: &Target, tally: &Tally) -> Endless {
    let channel = connect(target).await?;
    let Playing { match_id, seat_token } = target.watched.borrow().clone();
    let callers = (0..AT_ONCE).map(|caller| {
        let (channel, match_id, seat_token) = (channel.clone(), match_id.clone(), seat_token.clone());
        async move {
            let (mut matches, mut play) =
                (MatchServiceClient::new(channel.clone()), PlayServiceClient::new(channel));
            for kind in caller.. {
                match kind % 3 {
                    0 => {
                        let match_id = match_id.clone();
                        let request = v1::WatchMatchRequest { match_id, after_seq: Some(0), views: None };
                        to_the_end(tally, matches.watch_match(request).await).await;
                    }
                    1 => {
                        let seat_token = seat_token.clone();
                        let seat =
                            v1::ObserveSeat { seat_token, after_seq: Some(0), views: None, assigned: None };
                        to_the_end(tally, play.observe(v1::ObserveRequest { seats: vec![seat] }).await).await;
                    }
                    _ => {
                        let choice = Some(v1::act::Choice::LegalIndex(0));
                        let act = Some(v1::Act { decision_number: 1, choice });
                        note(
                            tally,
                            &play
                                .act(v1::ActRequest { seat_token: seat_token.clone(), act, assigned: None })
                                .await,
                        );
                    }
                }
            }
        }
    });
    endless(callers).await
}

/// Reads a stream, if there is one.
async fn to_the_end<T>(tally: &Tally, answer: Result<Response<Streaming<T>>, Status>) {
    note(tally, &answer);
    if let Ok(stream) = answer {
        let mut stream = stream.into_inner();
        while let Some(Ok(_)) = stream.next().await {}
    }
}

async fn endless(callers: impl Iterator<Item = impl Future<Output = ()>>) -> Endless {
    futures::future::join_all(callers).await;
    Err(Ending::Closed)
}
