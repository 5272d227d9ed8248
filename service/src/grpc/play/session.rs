//! One Play stream: its seats, what is asked on it, and what it hears.
//!
//! The session pulls: it takes the next observation only when the stream has room for it. What it does not pull waits
//! in the bounded queue of its subscription; when that is full, the subscription ends, and with it the stream. Answers
//! are as many as there are requests in flight.

use std::{
    collections::VecDeque,
    future::poll_fn,
    panic::{AssertUnwindSafe, resume_unwind},
    sync::Arc,
    thread,
    time::Duration,
};

use futures::{
    FutureExt, StreamExt,
    stream::{self, BoxStream},
};
use tokio::time::{Instant, timeout};
use tonic::{Status, Streaming};
use zetema_proto::v1::{self, ErrorReason, play_response::Kind};

use super::{
    ask::Answer,
    events::{Due, Event, Events, Validity},
    faults,
    handles::Handles,
    hearing::Hearing,
    intake::Intake,
    next::next,
    opener::{Cuts, Opener, TokenKey},
    outbox::Outbox,
    post::Post,
    round_trips::RoundTrips,
    waiting::Waiting,
};
use crate::{
    admission::{Room, Share, Verdict},
    executor::{self, Part, one_more},
    grpc::{backend::Backend, fault::Fault, told, tonic_faults},
    ladders::Presence,
    limits,
    matches::LiveSeat,
    table::Moment,
};

/// What a session sends.
pub(super) type Told = told::Told<v1::PlayResponse>;

/// The same, or how its stream ends.
pub(super) type Outgoing = Result<Told, Box<Status>>;

/// How a stream ends.
enum End {
    /// The client has closed its side, or the connection is gone. A client with seats would have left them.
    Closed,
    /// With this status.
    Fault(Fault),
}

/// One Play stream.
pub(super) struct Session {
    pub(super) backend: Arc<Backend>,
    pub(super) cuts: Arc<Cuts>,
    pub(super) opener: Opener,
    pub(super) token: Option<TokenKey>,
    pub(super) handles: Handles,
    /// Seats that the client may have at once. `None`: it has not said hello.
    pub(super) capacity: Option<usize>,
    /// What it is called by, and what tables that run have answered.
    pub(super) post: Arc<Post>,
    /// How many answers of these are still to come, or to be taken out.
    pub(super) awaited: usize,
    /// What else is asked now.
    pub(super) asked: Waiting,
    /// What the session itself has to say.
    pub(super) said: VecDeque<v1::PlayResponse>,
    /// What the seats hear.
    pub(super) hearing: Hearing,
    /// The seats that a bot gets while its stream is open.
    pub(super) assigned: BoxStream<'static, LiveSeat>,
    /// What the bot is there by, and waits on ladders, once it has said hello.
    pub(super) presence: Option<Presence>,
    pub(super) round_trips: RoundTrips,
    /// When the client is pinged next.
    pub(super) ping_at: Instant,
    pings_said: u64,
    /// Whether the client was told that the server drains.
    drain_told: bool,
    /// When the client last gave a sign of life, by the clock that stands in the server's own stalls.
    last_sign: Moment,
    /// The instant of the last message that was heard.
    pub(super) heard_at: Instant,
    /// What the client may.
    pub(super) share: Option<Share>,
    intake: Intake,
}

impl Session {
    /// A new stream.
    pub(super) fn new(
        backend: Arc<Backend>,
        cuts: Arc<Cuts>,
        opener: Opener,
        token: Option<TokenKey>,
        share: Option<Share>,
    ) -> Self {
        let heard_at = Instant::now();
        let ping_at = heard_at + backend.ping_interval;
        let last_sign = backend.matches.shown_at(heard_at);
        let post = Arc::<Post>::default();
        Self {
            backend,
            cuts,
            opener,
            token,
            handles: Handles::default(),
            capacity: None,
            hearing: Hearing::new(Arc::clone(&post)),
            post,
            awaited: 0,
            asked: Waiting::default(),
            said: VecDeque::new(),
            assigned: stream::pending().boxed(),
            presence: None,
            round_trips: RoundTrips::default(),
            ping_at,
            pings_said: 0,
            drain_told: false,
            last_sign,
            heard_at,
            intake: Intake::new(share.clone()),
            share,
        }
    }

    /// Runs until the stream ends, or the token that opened it holds no longer. A panic ends it as a fault of the server: else it
    /// would end as if all was well.
    #[expect(
        clippy::manual_async_fn,
        reason = "an async fn has room for the session twice: as it came, and as it is changed"
    )]
    pub(super) fn run(
        mut self,
        mut requests: Streaming<v1::PlayRequest>,
        out: Outbox<Outgoing>,
        validity: Validity,
    ) -> impl Future<Output = ()> + Send {
        async move {
            let served = AssertUnwindSafe(self.serve(&mut requests, &out, validity)).catch_unwind().await;
            // Boxed, as its end comes once: the task has room for what it does with each message.
            let ended = AssertUnwindSafe(self.ends(served, requests, &out)).catch_unwind().boxed().await;
            if let Err(panic) = ended {
                out.send(Err(Box::new(Fault::panicked(&*panic).into()))).boxed().await;
            }
        }
    }

    /// The last word of a stream. It has what the client says too, so that all that the stream had goes in here, where a panic is told.
    async fn ends(
        self,
        served: thread::Result<End>,
        _requests: Streaming<v1::PlayRequest>,
        out: &Outbox<Outgoing>,
    ) {
        // A panic goes on with its seats given up.
        let end = served.unwrap_or_else(|panic| resume_unwind(panic));
        let end = match (end, self.share.as_ref().and_then(Share::verdict)) {
            // What the connection was closed for, the next stream is told.
            (End::Closed, Some(Verdict::Stalled)) => End::Fault(Fault::stalled_reader()),
            (End::Closed, Some(Verdict::Flooding)) => End::Fault(Fault::flood()),
            (end, _) => end,
        };
        self.note(&end);
        // The seats are given up first: the last word may have to wait for its reader. What they have told is in memory until it is
        // read, so their room is not.
        let rooms = self.into_rooms();
        match end {
            End::Fault(fault) => out.send(Err(Box::new(fault.into()))).await,
            // Whoever reads no more is no reader.
            End::Closed => drop(poll_fn(|context| out.poll_room(0, context)).await),
        }
        drop(rooms);
    }

    /// Gives up all but the room of its seats.
    fn into_rooms(self) -> Vec<Room> {
        self.hearing.into_rooms()
    }

    async fn serve(
        &mut self,
        requests: &mut Streaming<v1::PlayRequest>,
        out: &Outbox<Outgoing>,
        validity: Validity,
    ) -> End {
        let backend = Arc::clone(&self.backend);
        executor::has(Part::Outbox, out.place());
        let mut events = Events::new(Arc::clone(&self.post), out, &backend.drain, validity);
        events.look_at(Due::Hello, Instant::now() + backend.request_timeout);
        events.look_at(Due::Ping, self.ping_at);
        events.look_at(Due::Sign, Instant::now() + self.silence());
        let mut drains = false;
        loop {
            // However much there is to do, others have their turn.
            one_more().await;
            if drains && self.has_to_tell_drain() {
                self.tell_drain();
            }
            let unanswered = self.unanswered();
            if self.said.is_empty() {
                self.said.shrink_to(limits::OWN_REQUESTS_IN_FLIGHT);
            }
            let may_read = self.intake.is_open(unanswered);
            if !may_read && self.said.is_empty() && self.handles.owed() == 0 {
                // It is not heard since the tables are slow, for which it can't be blamed.
                self.last_sign = backend.matches.now();
            }
            tokio::select! {
                // What happens first, so that nothing is done any more with a token that is void, but what is taken in at once with
                // what came before. Nobody starves: what goes out has room only while it is read, and without its answers read
                // nothing is heard.
                biased;
                event = poll_fn(|context| events.poll_next(context)) => match event {
                    Event::Voided => return End::Fault(Fault::token_void()),
                    Event::Rotated(rotation) => self.rotated(rotation),
                    Event::Unread => return End::Closed,
                    Event::Closing => return self.close(out, events).boxed().await,
                    Event::Draining => drains = true,
                    Event::Due(due) => match self.look_at(due, may_read, requests) {
                        Ok(Some(next)) => events.look_at(due, next),
                        Ok(None) => {}
                        Err(end) => return end,
                    },
                },
                () = self.intake.rest(), if !may_read => self.intake.look_again(),
                told = poll_fn(|context| self.post.answers.poll_take(context)) => {
                    self.told(told);
                    if let Err(end) = self.send_more(out) {
                        return end;
                    }
                }
                answer = self.asked.answered(), if !self.asked.is_empty() => self.keep(answer),
                next = next(out, &mut self.said, &self.handles, &mut self.hearing, &mut self.assigned, &mut self.presence) => {
                    let Some(next) = next else { return End::Closed };
                    if let Err(end) = self.send(out, next).and_then(|()| self.send_more(out)) {
                        return end;
                    }
                }
                request = requests.message(), if may_read => match self.hear_with_those_behind(request, requests) {
                    Ok(heard) => for _ in 1..heard {
                        one_more().await;
                    },
                    Err(None) => return self.answer_the_rest(out, events).boxed().await,
                    Err(Some(status)) => {
                        let Some(fault) = tonic_faults::of_stream(&status) else { return End::Closed };
                        return self.answer_and_end(out, events, fault).boxed().await;
                    }
                },
            }
        }
    }

    /// Looks at what is due. The answer is when to look again.
    fn look_at(
        &mut self,
        due: Due,
        may_read: bool,
        requests: &mut Streaming<v1::PlayRequest>,
    ) -> Result<Option<Instant>, End> {
        let now = Instant::now();
        match due {
            Due::Hello if self.capacity.is_none() => Err(End::Fault(Fault::no_hello())),
            Due::Hello => Ok(None),
            Due::Ping => {
                if now >= self.ping_at {
                    self.ping_at = now + self.backend.ping_interval;
                    if self.capacity.is_some() && may_read {
                        self.say_ping();
                    }
                }
                Ok(Some(self.ping_at))
            }
            Due::Sign => {
                // A client that is not heard since it does not read its answers counts as silent too.
                if self.silent_for() >= self.silence() {
                    match may_read.then(|| requests.message().now_or_never()).flatten() {
                        Some(Ok(Some(request))) => {
                            self.intake.read_one();
                            self.is_there();
                            self.hear(request);
                        }
                        _ => return Err(End::Fault(Fault::silent_client())),
                    }
                }
                Ok(Some(now + self.silence().saturating_sub(self.silent_for())))
            }
        }
    }

    /// How much is asked and not answered.
    fn in_flight(&self) -> usize {
        self.awaited + self.asked.len()
    }

    /// How long a client may be silent.
    fn silence(&self) -> Duration {
        self.backend.ping_interval * limits::SILENT_PING_INTERVALS
    }

    /// What may wait for room to be told.
    fn unanswered(&self) -> usize {
        self.in_flight() + self.said.len() + self.handles.owed()
    }

    /// For how long nothing was heard of the client.
    fn silent_for(&self) -> Duration {
        self.backend.matches.now().since(self.last_sign)
    }

    /// Keeps what became of a request until there is room for it. Tables are asked whether there is room or not: what
    /// came in time must not be late because its sender reads slowly.
    pub(super) fn keep(&mut self, answer: Answer) {
        let response = self.answered(answer);
        self.said.extend(response);
    }

    pub(super) fn say_ping(&mut self) {
        self.pings_said += 1;
        let ping = v1::Ping { number: self.pings_said };
        self.said.push_back(v1::PlayResponse { tag: 0, handle: 0, kind: Some(Kind::Ping(ping)) });
    }

    /// Notes, for the authors of the seats that the stream has, how it ends.
    fn note(&self, end: &End) {
        let cut = match end {
            End::Fault(fault) if fault.error().reason() == ErrorReason::Draining => return,
            End::Fault(fault) => Some(faults::stream_cut(&self.backend, fault)),
            End::Closed => None,
        };
        for seat in self.handles.seats() {
            match &cut {
                Some(cut) => faults::cut(&self.backend, seat, cut.clone()),
                None => faults::lost(&self.backend, seat),
            }
        }
        if let Some(token) = self.token {
            let cursors = self.handles.cursors().take(limits::MAX_REMEMBERED_CURSORS).collect();
            self.cuts.ended(token, cut.map(|cut| v1::StreamCut { cursors, ..cut }));
        }
    }

    /// The client will say no more: what it asked is answered, then the stream ends. It has to read that in time.
    async fn answer_the_rest(&mut self, out: &Outbox<Outgoing>, events: Events<'_>) -> End {
        // It joins nothing any more.
        self.presence = None;
        timeout(self.silence(), self.answer_all(out, events)).await.unwrap_or(End::Closed)
    }

    async fn answer_all(&mut self, out: &Outbox<Outgoing>, mut events: Events<'_>) -> End {
        while !self.said.is_empty() || self.in_flight() > 0 || self.handles.owed() > 0 {
            one_more().await;
            tokio::select! {
                biased;
                event = poll_fn(|context| events.poll_next(context)) => match event {
                    Event::Voided => return End::Fault(Fault::token_void()),
                    Event::Unread => return End::Closed,
                    Event::Rotated(_) | Event::Closing | Event::Draining | Event::Due(_) => {}
                },
                told = poll_fn(|context| self.post.answers.poll_take(context)) => {
                    self.told(told);
                    if let Err(end) = self.send_more(out) {
                        return end;
                    }
                }
                answer = self.asked.answered(), if !self.asked.is_empty() => self.keep(answer),
                next = next(out, &mut self.said, &self.handles, &mut self.hearing, &mut self.assigned, &mut self.presence) => {
                    let Some(next) = next else { return End::Closed };
                    if let Err(end) = self.send(out, next).and_then(|()| self.send_more(out)) {
                        return end;
                    }
                }
            }
        }
        End::Closed
    }

    /// A client is told of nothing before its welcome.
    const fn has_to_tell_drain(&self) -> bool {
        self.capacity.is_some() && !self.drain_told
    }

    fn tell_drain(&mut self) {
        self.drain_told = true;
        let kind = Some(Kind::Draining(self.backend.drain.message()));
        self.said.push_back(v1::PlayResponse { tag: 0, handle: 0, kind });
    }

    /// The server stops: what was asked is answered, and the stream ends.
    async fn close(&mut self, out: &Outbox<Outgoing>, events: Events<'_>) -> End {
        if self.has_to_tell_drain() {
            self.tell_drain();
        }
        self.answer_and_end(out, events, Fault::draining(Duration::ZERO)).await
    }

    /// What was asked is answered, and the stream ends with this.
    async fn answer_and_end(&mut self, out: &Outbox<Outgoing>, events: Events<'_>, fault: Fault) -> End {
        match self.answer_the_rest(out, events).await {
            End::Closed => End::Fault(fault),
            end @ End::Fault(_) => end,
        }
    }
}

fn message(response: v1::PlayResponse) -> Told {
    Told::Message(Box::new(response))
}

mod taking;
mod telling;
#[cfg(test)]
mod tests;
