//! One Play stream: what its client says, and what else has to be seen to.
//!
//! The session reads on only while there is room for the answers, which the client takes out itself, with what its seats hear: see
//! [`Seats`]. What is not taken out waits in the bounded queue of its subscription; when that is full, the subscription ends, and with it
//! the stream. Answers are as many as there are requests in flight.

use std::{
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
use zetema_proto::v1::{self, ErrorReason, play_response::Kind};

use super::{
    events::{Due, Event, Events, Validity},
    faults,
    handles::Handles,
    intake::Intake,
    next::next,
    opener::{Cuts, Opener, TokenKey},
    outbox::{Closed, Outbox, Waits},
    post::Post,
    requests::Requests,
    seats::Seats,
    waiting::Waiting,
};
use crate::{
    admission::{Share, Verdict},
    executor::{self, Part, one_more},
    grpc::{backend::Backend, fault::Fault, tonic_faults},
    ladders::Presence,
    limits,
    matches::LiveSeat,
    prefetch::{self, Place},
    table::Moment,
};

/// How a stream ends.
enum End {
    /// The client has closed its side, or the connection is gone. A client with seats would have left them.
    Closed,
    /// With this status.
    Fault(Fault),
}

/// How the seats of a stream are found.
struct Look {
    /// Whether the client may be heard.
    may_read: bool,
    /// Whether there is room for what its bot is told.
    has_room: bool,
    /// Requests that are not answered, or whose answers may wait for their reader.
    unanswered: usize,
    /// How many messages are taken in at once.
    at_once: usize,
}

/// One Play stream.
pub(super) struct Session {
    pub(super) backend: Arc<Backend>,
    pub(super) cuts: Arc<Cuts>,
    pub(super) opener: Opener,
    pub(super) token: Option<TokenKey>,
    /// Seats that the client may have at once. `None`: it has not said hello.
    pub(super) capacity: Option<usize>,
    /// What it is called by.
    post: Arc<Post>,
    /// What is asked now by calls that wait.
    pub(super) asked: Waiting,
    /// The seats that a bot gets while its stream is open.
    pub(super) assigned: BoxStream<'static, LiveSeat>,
    /// What the bot is there by, and waits on ladders, once it has said hello.
    pub(super) presence: Option<Presence>,
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
        post: Arc<Post>,
        share: Option<Share>,
    ) -> Self {
        let heard_at = Instant::now();
        let ping_at = heard_at + backend.ping_interval;
        let last_sign = backend.matches.shown_at(heard_at);
        Self {
            backend,
            cuts,
            opener,
            token,
            capacity: None,
            post,
            asked: Waiting::default(),
            assigned: stream::pending().boxed(),
            presence: None,
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
        mut requests: Requests,
        out: Outbox,
        validity: Validity,
    ) -> impl Future<Output = ()> + Send {
        async move {
            let served = AssertUnwindSafe(self.serve(&mut requests, &out, validity)).catch_unwind().await;
            // Boxed, as its end comes once: the task has room for what it does with each message.
            let ended = AssertUnwindSafe(self.ends(served, requests, &out)).catch_unwind().boxed().await;
            out.end(match ended {
                Ok(fault) => fault.map(|fault| Box::new(fault.into())),
                Err(panic) => Some(Box::new(Fault::panicked(&*panic).into())),
            });
        }
    }

    /// How a stream ends, when there is room for that. It has what the client says too, so that all that the stream had goes in here, where
    /// a panic is told.
    async fn ends(self, served: thread::Result<End>, _requests: Requests, out: &Outbox) -> Option<Fault> {
        // A panic goes on with its seats given up.
        let end = served.unwrap_or_else(|panic| {
            drop(out.with(Seats::close));
            resume_unwind(panic)
        });
        let end = match (end, self.share.as_ref().and_then(Share::verdict)) {
            // What the connection was closed for, the next stream is told.
            (End::Closed, Some(Verdict::Stalled)) => End::Fault(Fault::stalled_reader()),
            (End::Closed, Some(Verdict::Flooding)) => End::Fault(Fault::flood()),
            (end, _) => end,
        };
        // The seats are given up first: the last word may have to wait for its reader. What they have told is in memory until it is
        // read, so their room is not.
        let (handles, hearing) = out.with(Seats::close);
        self.note(&handles, &end);
        drop((self, handles));
        let rooms = hearing.into_rooms();
        // Whoever reads no more is no reader.
        out.is_read().await;
        drop(rooms);
        match end {
            End::Fault(fault) => Some(fault),
            End::Closed => None,
        }
    }

    async fn serve(&mut self, requests: &mut Requests, out: &Outbox, validity: Validity) -> End {
        let backend = Arc::clone(&self.backend);
        executor::has(Part::Seats, out.place());
        executor::has(Part::Post, Place::of(&*self.post));
        let mut events = Events::new(Arc::clone(&self.post), &backend.drain, validity);
        events.look_at(Due::Hello, Instant::now() + backend.request_timeout);
        events.look_at(Due::Ping, self.ping_at);
        events.look_at(Due::Sign, Instant::now() + self.silence());
        let mut drains = false;
        loop {
            // However much there is to do, others have their turn.
            one_more().await;
            if drains && self.has_to_tell_drain() {
                out.with(|seats| self.tell_drain(seats));
            }
            let Look { may_read, has_room, unanswered, at_once } = match self.look(out) {
                Ok(look) => look,
                Err(end) => return end,
            };
            tokio::select! {
                // What happens first, so that nothing is done any more with a token that is void, but what is taken in at once with
                // what came before. Nobody starves: without its answers read nothing is heard.
                biased;
                event = poll_fn(|context| events.poll_next(context)) => match event {
                    Event::Voided => return End::Fault(Fault::token_void()),
                    Event::Rotated(rotation) => self.rotated(rotation),
                    Event::Called => {}
                    Event::Closing => return self.close(out, events).boxed().await,
                    Event::Draining => drains = true,
                    Event::Due(due) => match self.look_at(due, may_read, requests, out) {
                        Ok(Some(next)) => events.look_at(due, next),
                        Ok(None) => {}
                        Err(end) => return end,
                    },
                },
                () = self.intake.rest(), if !may_read => self.intake.look_again(),
                came = self.asked.answered(), if !self.asked.is_empty() => out.with(|seats| self.came(seats, came)),
                next = next(&mut self.assigned, &mut self.presence), if has_room => out.with(|seats| seats.say(next)),
                request = requests.message(), if may_read => {
                    let said = self.with_those_behind(request, requests, at_once, unanswered);
                    match said.and_then(|said| out.with(|seats| self.hear_all(seats, said))) {
                        Ok(heard) => for _ in 1..heard {
                            one_more().await;
                        },
                        Err(None) => return self.answer_the_rest(out, events).boxed().await,
                        Err(Some(status)) => {
                            let Some(fault) = tonic_faults::of_stream(&status) else { return End::Closed };
                            return self.answer_and_end(out, events, fault).boxed().await;
                        }
                    }
                }
            }
        }
    }

    /// Looks at the seats. What waits for its reader is looked at again when something was taken out, and what takes room of others when all was.
    fn look(&mut self, out: &Outbox) -> Result<Look, End> {
        let looked = out.look(|seats| {
            self.ask_again(seats);
            let unanswered = self.asked.len() + seats.unanswered();
            let may_read = self.intake.is_open(unanswered);
            if !may_read && seats.has_told_answers() {
                // It is not heard since the tables are slow, for which it can't be blamed.
                self.last_sign = self.backend.matches.now();
            }
            let has_room = seats.has_room();
            let waits = if !has_room || !may_read && !self.intake.rests() {
                Waits::One
            } else if self.intake.has_more_room() {
                Waits::All
            } else {
                Waits::Nothing
            };
            // What a stream has of one seat alone is fetched with its task.
            let at_once = if seats.handles.are_many() { prefetch::AT_ONCE } else { 1 };
            (waits, (Look { may_read, has_room, unanswered, at_once }, seats.cut()))
        });
        match looked {
            Ok((_, Some(fault))) => Err(End::Fault(fault)),
            Ok((look, None)) => Ok(look),
            Err(Closed) => Err(End::Closed),
        }
    }

    /// Looks at what is due. The answer is when to look again.
    fn look_at(
        &mut self,
        due: Due,
        may_read: bool,
        requests: &mut Requests,
        out: &Outbox,
    ) -> Result<Option<Instant>, End> {
        let now = Instant::now();
        match due {
            Due::Hello => {
                if self.capacity.is_none() {
                    self.hear_what_came(may_read, requests, out);
                }
                if self.capacity.is_none() { Err(End::Fault(Fault::no_hello())) } else { Ok(None) }
            }
            Due::Ping => {
                if now >= self.ping_at {
                    self.ping_at = now + self.backend.ping_interval;
                    if self.capacity.is_some() && may_read {
                        out.with(|seats| self.say_ping(seats));
                    }
                }
                Ok(Some(self.ping_at))
            }
            Due::Sign => {
                // A client that is not heard since it does not read its answers counts as silent too.
                if self.silent_for() >= self.silence() && !self.hear_what_came(may_read, requests, out) {
                    return Err(End::Fault(Fault::silent_client()));
                }
                Ok(Some(now + self.silence().saturating_sub(self.silent_for())))
            }
        }
    }

    /// Hears a message that is there, as it came in time where the server stood still: whether one was.
    fn hear_what_came(&mut self, may_read: bool, requests: &mut Requests, out: &Outbox) -> bool {
        let Some(Ok(Some(request))) = may_read.then(|| requests.message().now_or_never()).flatten() else {
            return false;
        };
        self.intake.read_one();
        self.is_there();
        out.with(|seats| {
            self.ask_again(seats);
            self.hear(seats, request);
        });
        true
    }

    /// How long a client may be silent.
    fn silence(&self) -> Duration {
        self.backend.ping_interval * limits::SILENT_PING_INTERVALS
    }

    /// For how long nothing was heard of the client.
    fn silent_for(&self) -> Duration {
        self.backend.matches.now().since(self.last_sign)
    }

    pub(super) fn say_ping(&mut self, seats: &mut Seats) {
        self.pings_said += 1;
        let ping = v1::Ping { number: self.pings_said };
        seats.say(v1::PlayResponse { tag: 0, handle: 0, kind: Some(Kind::Ping(ping)) });
    }

    /// Notes, for the authors of the seats that the stream has, how it ends.
    fn note(&self, handles: &Handles, end: &End) {
        let cut = match end {
            End::Fault(fault) if fault.error().reason() == ErrorReason::Draining => {
                // The one before was another stream's.
                self.token.into_iter().for_each(|token| self.cuts.ended(token, None));
                return;
            }
            End::Fault(fault) => Some(faults::stream_cut(&self.backend, fault)),
            End::Closed => None,
        };
        for seat in handles.seats() {
            match &cut {
                Some(cut) => faults::cut(&self.backend, seat, cut.clone()),
                None => faults::lost(&self.backend, seat),
            }
        }
        if let Some(token) = self.token {
            let cursors = handles.cursors().take(limits::MAX_REMEMBERED_CURSORS).collect();
            self.cuts.ended(token, cut.map(|cut| v1::StreamCut { cursors, ..cut }));
        }
    }

    /// The client will say no more: what it asked is answered, then the stream ends. It has to read that in time.
    async fn answer_the_rest(&mut self, out: &Outbox, events: Events<'_>) -> End {
        // It joins nothing any more.
        self.presence = None;
        timeout(self.silence(), self.answer_all(out, events)).await.unwrap_or(End::Closed)
    }

    async fn answer_all(&mut self, out: &Outbox, mut events: Events<'_>) -> End {
        loop {
            one_more().await;
            let looked = out.look(|seats| {
                self.ask_again(seats);
                (Waits::One, (seats.unanswered() > 0, seats.cut()))
            });
            match looked {
                Ok((_, Some(fault))) => return End::Fault(fault),
                Ok((is_left, None)) if is_left || !self.asked.is_empty() => {}
                Ok(_) | Err(Closed) => return End::Closed,
            }
            tokio::select! {
                biased;
                event = poll_fn(|context| events.poll_next(context)) => match event {
                    Event::Voided => return End::Fault(Fault::token_void()),
                    Event::Rotated(_) | Event::Closing | Event::Draining | Event::Due(_) | Event::Called => {}
                },
                came = self.asked.answered(), if !self.asked.is_empty() => out.with(|seats| self.came(seats, came)),
            }
        }
    }

    /// A client is told of nothing before its welcome.
    const fn has_to_tell_drain(&self) -> bool {
        self.capacity.is_some() && !self.drain_told
    }

    fn tell_drain(&mut self, seats: &mut Seats) {
        self.drain_told = true;
        let kind = Some(Kind::Draining(self.backend.drain.message()));
        seats.say(v1::PlayResponse { tag: 0, handle: 0, kind });
    }

    /// The server stops: what was asked is answered, and the stream ends.
    async fn close(&mut self, out: &Outbox, events: Events<'_>) -> End {
        if self.has_to_tell_drain() {
            out.with(|seats| self.tell_drain(seats));
        }
        self.answer_and_end(out, events, Fault::draining(Duration::ZERO)).await
    }

    /// What was asked is answered, and the stream ends with this.
    async fn answer_and_end(&mut self, out: &Outbox, events: Events<'_>, fault: Fault) -> End {
        match self.answer_the_rest(out, events).await {
            End::Closed => End::Fault(fault),
            end @ End::Fault(_) => end,
        }
    }
}

mod taking;
#[cfg(test)]
mod tests;
