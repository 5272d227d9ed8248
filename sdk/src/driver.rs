//! What joins a session with its socket, its bots and the clock.

use std::time::Instant;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use zetema_rules::Record;

use crate::client::Stop;
use crate::error::{Error, Refusal};
use crate::outcome::Outcome;
use crate::session::{Core, Key, Output};
use crate::thinkers::Thinkers;
use crate::token::SeatToken;
use crate::transport::Transport;

/// What a session tells its owner.
#[derive(Debug)]
pub(crate) enum Told {
    /// A seat is over.
    Outcome(Box<Outcome>),
    /// No more of the bot's seats are taken, and all that were are over.
    Closed { because: Option<Error> },
}

type Fetched = (Key, Result<Box<Record>, Refusal>);

/// Joins the core with its socket, its bots and the clock.
pub(crate) struct Driver {
    core: Core,
    transport: Transport,
    thinkers: Thinkers,
    records: FuturesUnordered<BoxFuture<'static, Fetched>>,
    given: UnboundedReceiver<SeatToken>,
    told: UnboundedSender<Told>,
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
        given: UnboundedReceiver<SeatToken>,
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
            stop,
            heard: Heard::Nothing,
        }
    }

    pub(crate) async fn run(mut self) {
        loop {
            while let Some(output) = self.core.next_output() {
                self.perform(output);
            }
            let deadline = self.core.deadline();
            tokio::select! {
                given = self.given.recv() => match given {
                    Some(token) => {
                        self.core.play(Instant::now(), token.into());
                        if self.heard == Heard::Stop {
                            self.core.stop();
                        }
                    }
                    // The session was dropped: nobody waits for an outcome.
                    None => return,
                },
                () = self.stop.now().cancelled(), if self.heard < Heard::Stop => {
                    self.heard = Heard::Stop;
                    self.core.stop();
                }
                () = self.stop.when_done().cancelled(), if self.heard < Heard::Finish => {
                    self.heard = Heard::Finish;
                    self.core.finish();
                }
                message = self.transport.next() => match message {
                    Ok(message) => self.core.received(Instant::now(), message),
                    Err(why) => self.core.lost(Instant::now(), why),
                },
                (key, worked) = self.thinkers.next() => self.core.worked(key, worked),
                Some((key, record)) = self.records.next() => self.core.record(key, record),
                () = sleep_until(deadline) => self.core.tick(Instant::now()),
            }
        }
    }

    fn perform(&mut self, output: Output) {
        match output {
            Output::Connect => self.transport.connect(),
            Output::Disconnect => self.transport.disconnect(),
            Output::Send(message) => self.transport.send(*message),
            Output::Work { key, calls } => self.thinkers.work(key, calls),
            Output::FetchRecord { key, match_id, claim } => {
                let fetched = self.transport.fetch_record(match_id, &claim);
                self.records.push(Box::pin(async move { (key, fetched.await) }));
            }
            Output::Finished { key, outcome } => {
                self.thinkers.remove(key);
                // If the session was dropped, the next turn of the loop ends this task.
                let _ = self.told.send(Told::Outcome(outcome));
            }
            Output::Closed { because } => {
                // As above.
                let _ = self.told.send(Told::Closed { because });
            }
        }
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}
