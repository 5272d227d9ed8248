//! A client that costs little: it knows no rules, and answers every decision by the index of a legal action.

use std::time::{Duration, Instant};

use rand::RngExt;
use rand::rngs::StdRng;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};
use zetema_proto::v1;
use zetema_proto::v1::act::Choice;
use zetema_proto::v1::play_request::Kind as Ask;
use zetema_proto::v1::play_response::Kind as Answer;
use zetema_proto::{PROTOCOL_REVISION, Wire};
use zetema_rules::{MatchEnd, Options, Preset, Rules};

use super::Seen;
use crate::harness::{Clients, Created, own, unhurried};

/// Requests that wait to be sent: the joins of both seats, an action and a pong.
const REQUESTS: usize = 8;

/// How a match was not played.
pub(super) enum Unplayed {
    /// The server was late, and refused it.
    Shed,
    /// Something else.
    Broken(Status),
}

impl From<Status> for Unplayed {
    fn from(status: Status) -> Self {
        match v1::Error::from_status(&status) {
            Some(error) if error.reason() == v1::ErrorReason::Overloaded => Self::Shed,
            _ => Self::Broken(status),
        }
    }
}

/// So short that as many come as go before long.
fn short_rules() -> v1::Rules {
    let sackson: Options = *Preset::Sackson.rules(2, None).expect("two may play it");
    let options = Options { target: Some(30), match_end: MatchEnd::AtOnce, ..sackson };
    Rules::new(options).expect("it may be as short").to_wire()
}

/// Creates a match of two seats and plays both to its end.
pub(super) async fn play(clients: &Clients, seen: &Seen, random: StdRng) -> Result<(), Unplayed> {
    let request = v1::CreateMatchRequest {
        r#match: Some(unhurried(own(short_rules()))),
        ..v1::CreateMatchRequest::default()
    };
    seen.asked();
    let created: Created = clients.matches().create_match(request).await?.into_inner().into();
    seen.created();
    let (requests, stream) = mpsc::channel(REQUESTS);
    let hello = v1::Hello {
        client_name: "lean".to_owned(),
        protocol_revision: PROTOCOL_REVISION,
        ..v1::Hello::default()
    };
    let mut table = Table {
        requests,
        tokens: created.tokens,
        handles: Vec::new(),
        over: 0,
        acted: None,
        next: None,
        random,
        seen,
    };
    table.send(0, 0, Ask::Hello(hello)).await;
    for seat in 0..table.tokens.len() {
        table.join(seat).await;
    }
    let responses = clients.play().play(ReceiverStream::new(stream)).await?.into_inner();
    table.play_out(responses).await
}

/// A match, and what of it is not settled.
struct Table<'a> {
    requests: mpsc::Sender<v1::PlayRequest>,
    tokens: Vec<String>,
    /// The handle of every seat that has joined, with the seat.
    handles: Vec<(u32, usize)>,
    /// Seats for which it is over.
    over: usize,
    /// The decision that was answered last, and when, until its receipt comes.
    acted: Option<(u32, Instant)>,
    /// The decision that comes after it, if it came before the receipt.
    next: Option<Open>,
    random: StdRng,
    seen: &'a Seen,
}

/// A decision.
#[derive(Clone, Copy)]
struct Open {
    handle: u32,
    number: u32,
    choices: usize,
}

impl Table<'_> {
    async fn play_out(&mut self, mut responses: Streaming<v1::PlayResponse>) -> Result<(), Unplayed> {
        while self.over < self.tokens.len() {
            let message = responses.message().await?;
            let Some(v1::PlayResponse { tag, handle, kind: Some(kind) }) = message else {
                return Err(Status::aborted("the stream ended before the match").into());
            };
            match kind {
                Answer::Joined(start) => {
                    self.handles.push((handle, seat_of(tag)));
                    if let Some(v1::subscription_start::Kind::Snapshot(snapshot)) = start.kind {
                        self.decide(handle, snapshot.decision_number, snapshot.decision).await;
                    }
                }
                Answer::Observation(observation) => {
                    let v1::Observation { receipt, decision_number, decision, .. } = observation;
                    if let Some(receipt) = receipt {
                        self.settled(receipt.decision_number).await;
                    }
                    self.decide(handle, decision_number, decision).await;
                }
                Answer::End(_) => self.over += 1,
                Answer::Ping(v1::Ping { number, .. }) => {
                    self.send(0, 0, Ask::Pong(v1::Pong { number })).await;
                }
                Answer::Rejection(rejection) => self.rejected(tag, rejection).await?,
                _ => {}
            }
        }
        self.seen.finished();
        Ok(())
    }

    async fn send(&self, tag: u64, handle: u32, kind: Ask) {
        // When the stream has ended, what comes next says so.
        let _ = self.requests.send(v1::PlayRequest { tag, handle, kind: Some(kind) }).await;
    }

    async fn join(&self, seat: usize) {
        let join = v1::Join {
            by: Some(v1::join::By::SeatToken(self.tokens[seat].clone())),
            views: Some(v1::Views::SnapshotsOnly.into()),
            ..v1::Join::default()
        };
        self.send(tag_of(seat), 0, Ask::Join(join)).await;
    }

    async fn rejected(&mut self, tag: u64, error: v1::Error) -> Result<(), Unplayed> {
        if error.reason() != v1::ErrorReason::Overloaded {
            return Err(Unplayed::Broken(error.into()));
        }
        self.seen.join_shed();
        let wait = Duration::from_millis(error.retry_after_ms.unwrap_or(1000).into());
        sleep(wait.mul_f64(self.random.random_range(0.5..1.5))).await;
        self.join(seat_of(tag)).await;
        Ok(())
    }

    async fn decide(&mut self, handle: u32, number: Option<u32>, decision: Option<v1::Decision>) {
        let (Some(number), Some(v1::LegalActions { discards, declarations })) =
            (number, decision.and_then(|decision| decision.legal_actions))
        else {
            return;
        };
        let open = Open { handle, number, choices: discards.len() + declarations.len() };
        if self.acted.is_some() {
            self.next = Some(open);
        } else {
            self.act(open).await;
        }
    }

    async fn act(&mut self, Open { handle, number, choices }: Open) {
        let index = self.random.random_range(0..choices);
        let act = v1::Act {
            decision_number: number,
            choice: Some(Choice::LegalIndex(u32::try_from(index).expect("a few"))),
        };
        self.acted = Some((number, Instant::now()));
        self.send(0, handle, Ask::Act(act)).await;
    }

    async fn settled(&mut self, number: u32) {
        let Some((_, since)) = self.acted.take_if(|(acted, _)| *acted == number) else { return };
        self.seen.waited(since.elapsed());
        if let Some(next) = self.next.take() {
            self.act(next).await;
        }
    }
}

fn tag_of(seat: usize) -> u64 {
    u64::try_from(seat).expect("a seat") + 1
}

fn seat_of(tag: u64) -> usize {
    usize::try_from(tag).expect("a tag of ours").saturating_sub(1)
}
