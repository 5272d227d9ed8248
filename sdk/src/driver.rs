//! What joins a session with its socket, its bots and the clock.

use std::future::poll_fn;
use std::pin::pin;
use std::time::Instant;

use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::sync::oneshot;
use tokio::task::yield_now;
use zetema_rules::Record;

use crate::alarm::Alarm;
use crate::client::Stop;
use crate::error::{Disconnect, Error, Refusal};
use crate::ladder::{QueueState, SessionEvent};
use crate::session::{Change, Core, Output, Wish};
use crate::thinkers::{Started, Thinkers};
use crate::token::SeatToken;
use crate::transport::Transport;
use crate::wire::Incoming;

/// What a session is asked by its owner.
pub(crate) enum Given {
    /// Play one more seat.
    Seat(SeatToken),
    /// Wait for this.
    Wish(Wish, oneshot::Sender<Queued>),
}

/// What came of a wish: how the bot stands on its ladders.
pub(crate) type Queued = Result<Vec<QueueState>, Error>;

/// What a session tells its owner.
#[derive(Debug)]
pub(crate) enum Told {
    /// Something happened.
    Event(SessionEvent),
    /// No more of the bot's seats are taken, and all that were are over.
    Closed { because: Option<Error> },
}

/// How many messages are taken at once before anything else has its turn.
const MOST_MESSAGES: usize = 256;
/// How many of what came are seen to after the session was told that it will be: so many that the processor fetches the memory of all of
/// their seats at once, and so few that it is still near when it is their turn.
const AHEAD: usize = 16;

/// Of which match.
type Fetched = (String, Result<Box<Record>, Refusal>);

/// Joins the core with its socket, its bots and the clock.
pub(crate) struct Driver {
    transport: Transport,
    thinkers: Thinkers,
    /// Behind these: the stream is closed, and what waits is not begun any more, before its bots are dropped.
    core: Core,
    records: FuturesUnordered<BoxFuture<'static, Fetched>>,
    given: UnboundedReceiver<Given>,
    told: UnboundedSender<Told>,
    /// Who waits for the answer to a change of queues: of several the last.
    queuing: Option<(Change, oneshot::Sender<Queued>)>,
    stop: Stop,
    heard: Heard,
}

/// What the core was told of [`Stop`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Heard {
    Nothing,
    Finish,
    Stop,
}

impl Driver {
    pub(crate) fn new(
        core: Core,
        transport: Transport,
        thinkers: Thinkers,
        given: UnboundedReceiver<Given>,
        told: UnboundedSender<Told>,
        stop: Stop,
    ) -> Self {
        Self {
            core,
            transport,
            thinkers,
            records: FuturesUnordered::new(),
            given,
            told,
            queuing: None,
            stop,
            heard: Heard::Nothing,
        }
    }

    pub(crate) async fn run(mut self) {
        // Made once: each has a place in a list.
        let stop = self.stop.clone();
        let (mut stopped, mut finished) = (pin!(stop.now().cancelled()), pin!(stop.when_done().cancelled()));
        let mut alarm = Alarm::default();
        loop {
            self.perform_all();
            if self.thinkers.start() == Started::Something {
                // Sessions that were told something at the same time have their bots think in the same go.
                yield_now().await;
                self.thinkers.wake();
            }
            if let Some(deadline) = self.core.deadline() {
                alarm.set(deadline);
            }
            tokio::select! {
                given = self.given.recv() => match given {
                    Some(Given::Wish(wish, answer)) => {
                        let change = self.core.wish(Instant::now(), wish);
                        self.queuing = Some((change, answer));
                    }
                    Some(Given::Seat(token)) => {
                        self.core.play(Instant::now(), token.into());
                        if self.heard == Heard::Stop {
                            self.core.stop();
                        }
                    }
                    // The session was dropped: nobody waits for an outcome.
                    None => return,
                },
                () = &mut stopped, if self.heard < Heard::Stop => {
                    self.heard = Heard::Stop;
                    self.core.stop();
                }
                () = &mut finished, if self.heard < Heard::Finish => {
                    self.heard = Heard::Finish;
                    self.core.finish();
                }
                came = self.transport.next() => self.receive(came),
                () = self.thinkers.some_done() => self.take_done(),
                Some((of, record)) = self.records.next() => self.core.record(&of, record),
                () = poll_fn(|context| alarm.poll_ring(context)) => self.core.tick(Instant::now()),
            }
        }
    }

    /// Takes a message, and those that are there behind it: so their bots think, and what they choose is sent, together.
    fn receive(&mut self, first: Result<Incoming, Disconnect>) {
        let now = Instant::now();
        self.take(now, first);
        for taken in 1..MOST_MESSAGES {
            if taken % AHEAD == 1 {
                self.core.prefetch(self.transport.read_ahead(AHEAD));
            }
            let Some(next) = self.transport.next().now_or_never() else { return };
            self.take(now, next);
        }
    }

    /// Takes what bots came to.
    fn take_done(&mut self) {
        while self.thinkers.done().len() > 0 {
            self.core.prefetch_seats(self.thinkers.done().take(AHEAD));
            for (key, bot, worked) in self.thinkers.take_done(AHEAD) {
                self.core.worked(key, bot, worked);
            }
        }
    }

    fn take(&mut self, now: Instant, came: Result<Incoming, Disconnect>) {
        match came {
            Ok(message) => self.core.received(now, message),
            Err(why) => self.core.lost(now, why),
        }
        // The next message may be of another stream.
        self.perform_all();
    }

    fn perform_all(&mut self) {
        while let Some(output) = self.core.next_output() {
            self.perform(output);
        }
    }

    fn perform(&mut self, output: Output) {
        match output {
            Output::Connect => self.transport.connect(),
            Output::Disconnect => self.transport.disconnect(),
            Output::Send(message) => self.transport.send(message),
            Output::Work { key, bot, calls } => self.thinkers.work(key, bot, calls),
            Output::FetchRecord { match_id, claim } => {
                let fetched = self.transport.fetch_record(match_id.clone(), &claim);
                self.records.push(Box::pin(async move { (match_id, fetched.await) }));
            }
            Output::Finished { key: _, outcome } => {
                // If the session was dropped, the next turn of the loop ends this task.
                let _ = self.told.send(Told::Event(SessionEvent::Outcome(outcome)));
            }
            Output::Queued { change, answer } => {
                if let Some((_, asker)) = self.queuing.take_if(|(asked, _)| *asked == change) {
                    // Whoever asked may have given up waiting.
                    let _ = asker.send(answer);
                }
            }
            Output::Event(event) => {
                // As above.
                let _ = self.told.send(Told::Event(event));
            }
            Output::Closed { because } => {
                // As above.
                let _ = self.told.send(Told::Closed { because });
            }
        }
    }
}
