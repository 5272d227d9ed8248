//! A generator that joins the first one of a run.

use std::io;
use std::num::NonZeroU32;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::greeting::{Unwelcome, greet};
use super::link::{Link, Lost, frames, shown};
use super::message::{Message, SECONDS_AT_ONCE};
use super::plan_text::PlanText;
use crate::outcome::{Outcome, Phase, Reading, Recorder, Second};
use crate::plan::{Plan, PlanError};
use crate::run::{Ready, RunError};
use crate::target::Target;

/// How long it is tried to reach the first one, which may not be there yet.
const REACHED_WITHIN: Duration = Duration::from_secs(10);
/// How long until that is tried again.
const AGAIN_AFTER: Duration = Duration::from_millis(200);

/// How it goes on with a generator that has joined.
#[derive(Debug)]
pub enum Progress<'a> {
    /// It has joined, and waits until there are so many.
    Joined(NonZeroU32),
    /// A second of a run is over.
    Second {
        /// How long the run goes on.
        elapsed: Duration,
        /// What this generator has seen in it.
        second: &'a Second,
        /// What the server's page of metrics says, where it can be read.
        server: Option<&'a Reading>,
    },
}

/// Why a generator could not join, or not go on.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// Nobody listens there.
    #[error(
        "no generator waits at {address}: start the first one there by --generators N --listen {address}. {source}"
    )]
    Connect {
        /// The address.
        address: String,
        /// What is in the way.
        source: io::Error,
    },
    /// The first one does not want it.
    #[error("the generator at {address} refuses this one: {problem}")]
    Refused {
        /// Where the first one is.
        address: String,
        /// Why.
        problem: String,
    },
    /// The first one is heard no more.
    #[error("the generator at {address} {lost}")]
    Lost {
        /// Where it is.
        address: String,
        /// What became of it.
        lost: Lost,
    },
    /// The run has failed.
    #[error("the run has failed: {0}")]
    Failed(String),
    /// The first one's plan can't be run.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// This one can't begin.
    #[error(transparent)]
    Run(#[from] RunError),
    /// It was stopped.
    #[error("this generator was stopped, and the run with it")]
    Stopped,
}

/// Joins the generator that waits at this address, `HOST:PORT`, and makes its part of the load on a server until that one has no more to
/// run.
///
/// # Errors
/// If it can't join, or go on: the run has failed then.
pub async fn join(
    address: &str,
    target: &Target,
    stop: CancellationToken,
    mut told: impl FnMut(Progress<'_>),
) -> Result<(), JoinError> {
    let stream = tokio::select! {
        reached = reach(address) => reached,
        () = stop.cancelled() => return Err(JoinError::Stopped),
    };
    let stream = stream.map_err(|source| JoinError::Connect { address: address.to_owned(), source })?;
    let (generators, link) = greet(frames(stream)).await.map_err(|error| match error {
        Unwelcome::Refused(problem) => JoinError::Refused { address: address.to_owned(), problem },
        Unwelcome::Lost(lost) => JoinError::Lost { address: address.to_owned(), lost },
    })?;
    told(Progress::Joined(generators));
    let mut member = Member { address, target, link };
    let ended = member.serve(&stop, &mut told).await;
    if let Err(error) = &ended {
        // The first one may be what is gone.
        member.link.send(Message::Failed { problem: error.to_string() }).await;
    }
    member.link.close().await;
    ended
}

async fn reach(address: &str) -> io::Result<TcpStream> {
    let until = Instant::now() + REACHED_WITHIN;
    loop {
        let connected = timeout(REACHED_WITHIN, TcpStream::connect(address)).await;
        match connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
            Ok(stream) => {
                // Without it, it is a little slower.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Err(error) if Instant::now() >= until => return Err(error),
            Err(_) => sleep(AGAIN_AFTER).await,
        }
    }
}

struct Member<'a> {
    address: &'a str,
    target: &'a Target,
    link: Link,
}

impl Member<'_> {
    /// Runs what it is told to, until there is no more.
    async fn serve(
        &mut self,
        stop: &CancellationToken,
        told: &mut impl FnMut(Progress<'_>),
    ) -> Result<(), JoinError> {
        loop {
            match self.next(stop).await? {
                Message::Prepare { plan } => self.prepare(*plan, stop, told).await?,
                Message::End => return Ok(()),
                // It crossed the end of a run.
                Message::Stop => {}
                message => return Err(self.unasked(&message)),
            }
        }
    }

    async fn prepare(
        &mut self,
        plan: PlanText,
        stop: &CancellationToken,
        told: &mut impl FnMut(Progress<'_>),
    ) -> Result<(), JoinError> {
        let plan = Plan::try_from(plan)?;
        let ready = tokio::select! {
            ready = Ready::connect(self.target.clone()) => ready?,
            // It is not waited for any more.
            heard = self.next(stop) => match heard? {
                Message::Stop => return Ok(()),
                message => return Err(self.unasked(&message)),
            }
        };
        self.link.send(Message::Ready).await;
        match self.next(stop).await? {
            Message::Go => self.run(&plan, ready, stop, told).await,
            Message::Stop => Ok(()),
            message => Err(self.unasked(&message)),
        }
    }

    async fn run(
        &mut self,
        plan: &Plan,
        ready: Ready,
        stop: &CancellationToken,
        told: &mut impl FnMut(Progress<'_>),
    ) -> Result<(), JoinError> {
        let recorder = Recorder::start(plan.description(&self.target.url), Phase::warm_up());
        let stop_run = stop.child_token();
        let sender = self.link.sender().clone();
        let elapsed = recorder.clone();
        let running = ready.run(plan, recorder, stop_run.clone(), |second, server| {
            // It is for show: what can't be sent at once is not.
            let _ = sender.try_send(Message::Second { second: Box::new(second.clone()) });
            told(Progress::Second { elapsed: elapsed.elapsed(), second, server });
        });
        let mut running = Box::pin(running);
        let mut failed = None;
        let outcome = loop {
            tokio::select! {
                outcome = &mut running => break outcome,
                heard = self.link.next(), if failed.is_none() => {
                    match heard {
                        Ok(Message::Stop) => {}
                        Ok(message) => failed = Some(self.unasked(&message)),
                        Err(lost) => failed = Some(self.lost(lost)),
                    }
                    stop_run.cancel();
                }
            }
        };
        match failed {
            Some(error) => Err(error),
            None if stop.is_cancelled() => Err(JoinError::Stopped),
            None => {
                self.tell(outcome).await;
                Ok(())
            }
        }
    }

    /// Tells what was measured.
    async fn tell(&self, mut outcome: Outcome) {
        for seconds in outcome.take_seconds().chunks(SECONDS_AT_ONCE) {
            self.link.send(Message::Seconds { seconds: seconds.to_vec() }).await;
        }
        self.link.send(Message::Done { outcome: Box::new(outcome) }).await;
    }

    /// What the first one says next.
    async fn next(&mut self, stop: &CancellationToken) -> Result<Message, JoinError> {
        tokio::select! {
            heard = self.link.next() => heard.map_err(|lost| self.lost(lost)),
            () = stop.cancelled() => Err(JoinError::Stopped),
        }
    }

    fn lost(&self, lost: Lost) -> JoinError {
        JoinError::Lost { address: self.address.to_owned(), lost }
    }

    /// It said what it should not now.
    fn unasked(&self, message: &Message) -> JoinError {
        match message {
            Message::Failed { problem } => JoinError::Failed(shown(problem)),
            _ => self.lost(Lost::Garbage("something that was not asked".to_owned())),
        }
    }
}
