//! A lane by `JoinSeat`, `Observe` and `Act`: one Observe stream for each match, and a call for each action.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use futures::stream::{AbortHandle, Abortable, FuturesUnordered, SelectAll, abortable};
use futures::{FutureExt, StreamExt};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Duration, Instant, sleep};
use tonic::transport::{Channel, Endpoint};
use tonic::{Status, Streaming};
use zetema_proto::v1;
use zetema_proto::v1::observe_response::Kind;
use zetema_proto::v1::play_service_client::PlayServiceClient;

use super::drive::Connection;
use super::lane::{Lane, Output, SeatKey};
use crate::backoff::Backoff;
use crate::order::Order;
use crate::outcome::{Count, Failure, Recorder};

/// How long an action may take until it is sent again.
const ACT_WITHIN: Duration = Duration::from_mins(1);

/// Drives a lane by unary calls, on one connection after the other, until nobody gives it orders any more.
pub(crate) async fn drive(endpoint: Endpoint, lane: Lane, orders: UnboundedReceiver<Order>) {
    super::drive::drive::<Calls>(endpoint, lane, orders).await;
}

type Acted = (SeatKey, u32, Result<v1::ActResponse, Status>);
type Opened = (u32, Result<Followed, Status>);

/// The calls that are open on a connection.
struct Calls {
    client: PlayServiceClient<Channel>,
    acts: FuturesUnordered<BoxFuture<'static, Acted>>,
    opening: FuturesUnordered<BoxFuture<'static, Opened>>,
    streams: SelectAll<Abortable<Followed>>,
    /// Matches whose seats have been taken, each with what ends the last stream of it.
    joined: HashMap<u32, AbortHandle>,
    /// Matches that could not be followed and of which nothing was heard since.
    refused: HashMap<u32, Retry>,
}

/// How long to wait until a match is followed again.
#[derive(Default)]
struct Retry {
    backoff: Backoff,
    /// What the server has said last.
    at_least: Option<Duration>,
}

/// An Observe stream.
struct Followed {
    table: u32,
    /// The seats by their handles, the first one is 1.
    seats: Vec<SeatKey>,
    /// `None` once it has ended.
    stream: Option<Streaming<v1::ObserveResponse>>,
}

/// What comes of one.
enum Heard {
    /// A message about this seat.
    Message(SeatKey, Box<Kind>),
    /// The end of it, for this match.
    Ended(u32, Result<(), Status>),
}

impl futures::Stream for Followed {
    type Item = Heard;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Heard>> {
        loop {
            let Some(stream) = &mut self.stream else { return Poll::Ready(None) };
            let ended = match std::task::ready!(stream.poll_next_unpin(context)) {
                Some(Ok(v1::ObserveResponse { handle, kind })) => {
                    let seat = usize::try_from(handle)
                        .ok()
                        .and_then(|handle| self.seats.get(handle.checked_sub(1)?));
                    match (seat, kind) {
                        (Some(seat), Some(kind)) => {
                            return Poll::Ready(Some(Heard::Message(*seat, Box::new(kind))));
                        }
                        // About the stream as a whole: it drains, and its end comes.
                        _ => continue,
                    }
                }
                Some(Err(status)) => Err(status),
                None => Ok(()),
            };
            self.stream = None;
            return Poll::Ready(Some(Heard::Ended(self.table, ended)));
        }
    }
}

impl Connection for Calls {
    type Hello = ();

    fn hello(_: &Lane) {}

    async fn connect(endpoint: &Endpoint, (): ()) -> Result<Self, Status> {
        let channel = endpoint.connect().await.map_err(|error| Status::from_error(error.into()))?;
        Ok(Self {
            client: PlayServiceClient::new(channel),
            acts: FuturesUnordered::new(),
            opening: FuturesUnordered::new(),
            streams: SelectAll::new(),
            joined: HashMap::new(),
            refused: HashMap::new(),
        })
    }

    /// It breaks for no call: a connection that does is made anew by the channel.
    async fn hear(&mut self, lane: &mut Lane) -> ControlFlow<Status> {
        tokio::select! {
            biased;
            Some((seat, decision, acted)) = self.acts.next() => answered(lane, seat, decision, acted),
            Some(heard) = self.streams.next() => self.heard_of(lane, heard),
            Some((table, opened)) = self.opening.next() => match opened {
                // It was left meanwhile: the stream ends when it is dropped.
                Ok(_) if lane.match_id(table).is_none() => {}
                Ok(followed) => {
                    let (followed, end) = abortable(followed);
                    self.joined.insert(table, end);
                    self.streams.push(followed);
                }
                Err(status) => self.broken(lane, table, &status),
            },
            // Nothing is open: what is sent next is waited for by another call of this.
            else => std::future::pending().await,
        }
        ControlFlow::Continue(())
    }

    fn send(&mut self, lane: &Lane, output: Output) {
        match output {
            Output::Act(seat, act) => {
                let Some(token) = lane.token(seat) else { return };
                let decision = act.decision_number;
                let mut request = tonic::Request::new(v1::ActRequest {
                    seat_token: token.to_owned(),
                    act: Some(act),
                    assigned: None,
                });
                request.set_timeout(ACT_WITHIN);
                let mut client = self.client.clone();
                let acting = async move {
                    (seat, decision, client.act(request).await.map(tonic::Response::into_inner))
                };
                self.acts.push(acting.boxed());
            }
            Output::Open(table) => {
                let after = self.refused.get_mut(&table).map_or(Duration::ZERO, Retry::next);
                self.open(lane, table, after);
            }
            Output::Rejoin(table) => {
                if let Some(end) = self.joined.get(&table) {
                    end.abort();
                }
                self.open(lane, table, Duration::ZERO);
            }
            Output::Leave(table) => {
                self.refused.remove(&table);
                if let Some(end) = self.joined.remove(&table) {
                    end.abort();
                }
            }
            // No seat is joined by itself. A bot waits on ladders by a Play stream.
            Output::Join(_) | Output::Queue => {}
        }
    }
}

impl Calls {
    /// Opens a stream that follows this match, after so long.
    fn open(&self, lane: &Lane, table: u32, after: Duration) {
        let seats: Vec<(SeatKey, String)> =
            lane.seats(table).map(|(seat, token)| (seat, token.to_owned())).collect();
        let joined = self.joined.contains_key(&table);
        let (client, recorder) = (self.client.clone(), lane.recorder().clone());
        let opening = async move {
            if !after.is_zero() {
                sleep(after).await;
            }
            (table, open(client, table, seats, joined, recorder).await)
        };
        self.opening.push(opening.boxed());
    }

    fn heard_of(&mut self, lane: &mut Lane, heard: Heard) {
        let now = Instant::now();
        match heard {
            Heard::Message(seat, kind) => {
                // It can be followed: what breaks later has nothing to do with what was refused before.
                self.refused.remove(&seat.table);
                match *kind {
                    Kind::Observation(observation) => lane.observed(now, seat, observation),
                    Kind::Start(start) => lane.joined(now, seat, *start),
                    Kind::End(end) => lane.ended(seat, end),
                    Kind::Superseded(_) => {
                        lane.recorder().failed(v1::ErrorReason::Superseded, "a seat has a new token");
                        lane.give_up(seat.table);
                    }
                    Kind::Draining(_) => {}
                }
            }
            Heard::Ended(table, Err(status)) => self.broken(lane, table, &status),
            Heard::Ended(table, Ok(())) => {
                let status = Status::unavailable("the server ended the stream before the match");
                self.broken(lane, table, &status);
            }
        }
    }

    /// A match can't be followed: if that may pass, it is tried again, after longer and longer waits.
    fn broken(&mut self, lane: &mut Lane, table: u32, status: &Status) {
        if lane.match_id(table).is_none() {
            // It is over, or was left.
            return;
        }
        let now = Instant::now();
        let failure = Failure::of(status);
        lane.recorder().failed(failure, status.message());
        match failure {
            Failure::Refused(
                v1::ErrorReason::NotFound | v1::ErrorReason::Unauthenticated | v1::ErrorReason::InvalidField,
            ) => {
                lane.give_up_refused(table, failure, status.message());
                return;
            }
            Failure::Refused(_) => lane.refused_for_now(now, table),
            Failure::Transport(_) => {}
        }
        self.refused.entry(table).or_default().at_least = retry_after(status);
        lane.cut_table(now, table);
    }
}

impl Retry {
    /// How long to wait now.
    fn next(&mut self) -> Duration {
        // Not all at the same moment.
        self.backoff.next_after(self.at_least.take()).mul_f64(rand::random_range(1.0..1.5))
    }
}

/// Takes all seats, if they have not been taken, and follows them.
async fn open(
    mut client: PlayServiceClient<Channel>,
    table: u32,
    seats: Vec<(SeatKey, String)>,
    joined: bool,
    recorder: Recorder,
) -> Result<Followed, Status> {
    for (_, token) in seats.iter().filter(|_| !joined) {
        let request =
            v1::JoinSeatRequest { seat_token: token.clone(), nonce_hash: Vec::new(), assigned: None };
        let mut backoff = Backoff::default();
        while let Err(status) = client.join_seat(request.clone()).await {
            let Some(at_least) = retry_after(&status) else { return Err(status) };
            recorder.failed(Failure::of(&status), status.message());
            recorder.count(Count::JoinRefused);
            sleep(backoff.next_after(Some(at_least))).await;
        }
    }
    let (keys, tokens): (Vec<SeatKey>, Vec<String>) = seats.into_iter().unzip();
    let seat = |seat_token| v1::ObserveSeat {
        seat_token,
        after_seq: None,
        views: Some(v1::Views::SnapshotsOnly.into()),
        assigned: None,
    };
    let request = v1::ObserveRequest { seats: tokens.into_iter().map(seat).collect() };
    let stream = client.observe(request).await?.into_inner();
    Ok(Followed { table, seats: keys, stream: Some(stream) })
}

fn answered(lane: &mut Lane, seat: SeatKey, decision: u32, acted: Result<v1::ActResponse, Status>) {
    let now = Instant::now();
    match acted {
        Ok(v1::ActResponse { receipt: Some(receipt) }) => lane.returned(now, seat, decision, &receipt),
        Ok(v1::ActResponse { receipt: None }) => {
            lane.fault(
                seat,
                crate::fault::Wrong::Malformed { what: "an action was answered without a receipt" },
            );
        }
        Err(status) => {
            let error = v1::Error::from_status(&status);
            lane.act_refused(now, (seat, decision), Failure::of(&status), error.as_ref(), status.message());
        }
    }
}

/// How long the server says to wait, if it says so.
fn retry_after(status: &Status) -> Option<Duration> {
    let ms = v1::Error::from_status(status)?.retry_after_ms?;
    Some(Duration::from_millis(ms.into()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
