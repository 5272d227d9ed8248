//! One Play stream: its seats, what is asked on it, and what it hears.
//!
//! The session pulls: it takes the next answer or observation only when the stream has room for it. What it does
//! not pull waits in the bounded queue of its subscription; when that is full, the subscription ends, and with
//! it the stream.

use std::{collections::VecDeque, sync::Arc};

use futures::{
    StreamExt,
    future::BoxFuture,
    stream::{BoxStream, FuturesUnordered, SelectAll},
};
use tokio::{
    sync::mpsc::{Permit, Sender},
    time::{Instant, Interval, MissedTickBehavior, interval_at},
};
use tonic::{Status, Streaming};
use zetema_proto::v1::{self, play_response::Kind};

use super::{ask::Answer, handles::Handles};
use crate::{
    grpc::{backend::Backend, fault::Fault, heard::Heard, tonic_faults},
    limits,
    metrics::{Open, StreamRpc},
};

/// What a session sends.
pub(super) type Outgoing = Result<v1::PlayResponse, Status>;

/// How a stream ends.
enum End {
    /// The client has closed its side, or the connection is gone.
    Closed,
    /// With this status.
    Fault(Fault),
}

/// One Play stream.
pub(super) struct Session {
    pub(super) backend: Arc<Backend>,
    pub(super) handles: Handles,
    /// Seats that the client may have at once. `None`: it has not said hello.
    pub(super) capacity: Option<usize>,
    /// What is asked of tables now.
    pub(super) asked: FuturesUnordered<BoxFuture<'static, Answer>>,
    /// What the session itself has to say.
    pub(super) said: VecDeque<v1::PlayResponse>,
    /// What the seats hear, by handle.
    pub(super) heard: SelectAll<BoxStream<'static, (u32, Heard)>>,
    pings: Interval,
    pings_sent: u64,
    last_sign: Instant,
    _open: Open,
}

impl Session {
    /// A new stream.
    pub(super) fn new(backend: Arc<Backend>) -> Self {
        let now = Instant::now();
        let mut pings = interval_at(now + backend.ping_interval, backend.ping_interval);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            backend,
            handles: Handles::default(),
            capacity: None,
            asked: FuturesUnordered::new(),
            said: VecDeque::new(),
            heard: SelectAll::new(),
            pings,
            pings_sent: 0,
            last_sign: now,
            _open: Open::stream(StreamRpc::Play),
        }
    }

    /// Runs until the stream ends.
    pub(super) async fn run(mut self, mut requests: Streaming<v1::PlayRequest>, out: Sender<Outgoing>) {
        let end = self.serve(&mut requests, &out).await;
        // The seats are given up first: the last word may have to wait for its reader.
        drop(self);
        if let End::Fault(fault) = end {
            // When this fails, nobody is there to read it.
            let _ = out.send(Err(fault.into())).await;
        }
    }

    async fn serve(&mut self, requests: &mut Streaming<v1::PlayRequest>, out: &Sender<Outgoing>) -> End {
        let backend = Arc::clone(&self.backend);
        loop {
            let may_read = self.asked.len() + self.said.len() < limits::MAX_REQUESTS_IN_FLIGHT;
            tokio::select! {
                () = out.closed() => return End::Closed,
                () = backend.draining.cancelled() => return self.drain(out).await,
                _ = self.pings.tick() => {
                    if let Err(end) = self.ping() {
                        return end;
                    }
                }
                next = next(out, &mut self.said, &mut self.asked, &mut self.heard) => {
                    let Some((permit, next)) = next else { return End::Closed };
                    if let Err(end) = self.send(permit, next) {
                        return end;
                    }
                }
                request = requests.message(), if may_read => match request {
                    Ok(Some(request)) => {
                        self.last_sign = Instant::now();
                        self.read(request);
                    }
                    Ok(None) => return self.answer_the_rest(out).await,
                    Err(status) => return tonic_faults::of_stream(&status).map_or(End::Closed, End::Fault),
                },
            }
        }
    }

    fn send(&mut self, permit: Permit<'_, Outgoing>, next: Next) -> Result<(), End> {
        let response = match next {
            Next::Said(response) => Some(response),
            Next::Answer(answer) => self.answered(answer),
            Next::Heard(handle, heard) => self.tell(handle, heard)?,
        };
        if let Some(response) = response {
            permit.send(Ok(response));
        }
        Ok(())
    }

    /// What a seat has heard, as a message of its handle.
    fn tell(&mut self, handle: u32, heard: Heard) -> Result<Option<v1::PlayResponse>, End> {
        let kind = match heard {
            Heard::Observation(observation) => {
                self.handles.shown(handle, observation.seq);
                Kind::Observation(observation)
            }
            Heard::End(end) => {
                self.handles.remove(handle);
                Kind::End(end)
            }
            // The stream has joined the seat anew itself, and the handle goes on.
            Heard::Superseded(v1::SupersededReason::JoinedElsewhere) if self.handles.lose(handle) => {
                return Ok(None);
            }
            Heard::Superseded(reason) => {
                self.handles.remove(handle);
                Kind::Superseded(v1::Superseded { reason: reason.into() })
            }
            Heard::Cut(fault) => return Err(End::Fault(fault)),
        };
        Ok(Some(v1::PlayResponse { tag: 0, handle, kind: Some(kind) }))
    }

    /// Pings, unless the last signs of life are too long ago.
    fn ping(&mut self) -> Result<(), End> {
        if self.last_sign.elapsed() > self.backend.ping_interval * limits::SILENT_PING_INTERVALS {
            return Err(End::Fault(Fault::silent_client()));
        }
        if self.capacity.is_some() {
            self.pings_sent += 1;
            let ping = v1::Ping { number: self.pings_sent };
            self.said.push_back(v1::PlayResponse { tag: 0, handle: 0, kind: Some(Kind::Ping(ping)) });
        }
        Ok(())
    }

    /// The client will say no more: what it asked is answered, then the stream ends.
    async fn answer_the_rest(&mut self, out: &Sender<Outgoing>) -> End {
        while !(self.said.is_empty() && self.asked.is_empty()) {
            let next = next(out, &mut self.said, &mut self.asked, &mut self.heard).await;
            let Some((permit, next)) = next else { return End::Closed };
            if let Err(end) = self.send(permit, next) {
                return end;
            }
        }
        End::Closed
    }

    /// The server stops: what was asked is answered, the client is told when to come back, and the stream ends.
    async fn drain(&mut self, out: &Sender<Outgoing>) -> End {
        let draining = v1::Draining { reconnect_after_ms: limits::RECONNECT_AFTER_MS };
        self.said.push_back(v1::PlayResponse { tag: 0, handle: 0, kind: Some(Kind::Draining(draining)) });
        match self.answer_the_rest(out).await {
            End::Closed => End::Fault(Fault::draining()),
            fault @ End::Fault(_) => fault,
        }
    }
}

/// What goes out next.
#[expect(
    clippy::large_enum_variant,
    reason = "it is moved once, and a box would be allocated for every message"
)]
enum Next {
    Said(v1::PlayResponse),
    Answer(Answer),
    Heard(u32, Heard),
}

/// Waits for room and for something to fill it with. `None`: nobody reads any more. Dropped, it loses nothing.
async fn next<'out>(
    out: &'out Sender<Outgoing>,
    said: &mut VecDeque<v1::PlayResponse>,
    asked: &mut FuturesUnordered<BoxFuture<'static, Answer>>,
    heard: &mut SelectAll<BoxStream<'static, (u32, Heard)>>,
) -> Option<(Permit<'out, Outgoing>, Next)> {
    let permit = out.reserve().await.ok()?;
    if let Some(response) = said.pop_front() {
        return Some((permit, Next::Said(response)));
    }
    tokio::select! {
        biased;
        Some(answer) = asked.next() => Some((permit, Next::Answer(answer))),
        Some((handle, heard)) = heard.next() => Some((permit, Next::Heard(handle, heard))),
        else => std::future::pending().await,
    }
}
