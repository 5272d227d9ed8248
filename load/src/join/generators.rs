//! The generators of a run, from the first one's side.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::task::Poll;
use std::time::Duration;

use tokio::sync::mpsc::unbounded_channel;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::link::{Link, Lost, shown};
use super::meeting::Met;
use super::message::Message;
use crate::outcome::{Outcome, Phase, Reading, Recorder, Second};
use crate::plan::Plan;
use crate::run::{Ready, RunError};
use crate::target::Target;

/// How long the others may take until they could begin.
const READY_WITHIN: Duration = Duration::from_secs(30);
/// How long they may take to tell what they have measured, after this one has ended. Each waits for results up to a minute.
const TOLD_WITHIN: Duration = Duration::from_secs(90);
/// Seconds that a run may have beyond its plan, in which it comes to its end.
const MORE_SECONDS: u64 = 600;

/// A generator that has joined.
#[derive(Debug)]
pub(super) struct Other {
    pub(super) from: SocketAddr,
    pub(super) link: Link,
    /// As it is told: `generator 2 of 3 (10.0.0.7:40312)`.
    pub(super) name: String,
}

impl Other {
    fn failed(&self, problem: impl Into<String>) -> RunError {
        RunError::Generator { name: self.name.clone(), problem: problem.into() }
    }

    /// It said what it should not now.
    fn unasked(&self, message: Message) -> RunError {
        match message {
            Message::Failed { problem } => self.failed(format!("has failed: {}", shown(&problem))),
            _ => self.failed("has said something that was not asked"),
        }
    }

    fn lost(&self, lost: &Lost) -> RunError {
        self.failed(lost.to_string())
    }
}

/// What is heard next of any of them, with its place. Nothing is lost if it is not waited for.
pub(super) async fn next_of(others: &mut [Other]) -> (usize, Result<Message, Lost>) {
    std::future::poll_fn(|context| {
        for (place, other) in others.iter_mut().enumerate() {
            if let Poll::Ready(heard) = other.link.poll_next(context) {
                return Poll::Ready((place, heard));
            }
        }
        Poll::Pending
    })
    .await
}

/// What makes the load: this program, and those that have joined it.
#[derive(Debug)]
pub struct Generators {
    target: Target,
    others: Vec<Other>,
}

/// What is known of another's run.
#[derive(Default)]
struct Seen {
    latest: Option<Second>,
    seconds: Vec<Second>,
    outcome: Option<Outcome>,
}

impl Seen {
    /// Something was heard of it.
    fn hear(&mut self, of: &Other, heard: Result<Message, Lost>, most_seconds: u64) -> Result<(), RunError> {
        match heard.map_err(|lost| of.lost(&lost))? {
            Message::Second { second } => self.latest = Some(*second),
            Message::Seconds { seconds } => self.seconds.extend(seconds),
            Message::Done { outcome } if self.outcome.is_none() => self.outcome = Some(*outcome),
            message => return Err(of.unasked(message)),
        }
        if self.seconds.len() as u64 > most_seconds {
            return Err(of.failed(format!("has told of more than {most_seconds} s")));
        }
        Ok(())
    }
}

impl Generators {
    /// This program makes all the load.
    pub const fn alone(target: Target) -> Self {
        Self { target, others: Vec::new() }
    }

    /// It makes its part, and those who have joined theirs, each on the server that it was told of itself.
    pub fn joined(target: Target, others: Met) -> Self {
        Self { target, others: others.0 }
    }

    /// How many there are.
    pub fn count(&self) -> NonZeroU32 {
        NonZeroU32::MIN.saturating_add(u32::try_from(self.others.len()).unwrap_or(u32::MAX))
    }

    /// Runs a plan, divided between them, and gives what all have measured. Each second that is over is told with how long the run goes on,
    /// and with the last that the others have told. `stop` ends it before its time.
    ///
    /// # Errors
    /// If it can't begin, or another generator can't go on or is gone. The others are ended then.
    pub async fn run(
        &mut self,
        plan: &Plan,
        server: &str,
        stop: CancellationToken,
        told: impl FnMut(Duration, &Second, Option<&Reading>),
    ) -> Result<Outcome, RunError> {
        let ran = self.run_or_fail(plan, server, stop, told).await;
        if let Err(error) = &ran {
            self.fail(error).await;
        }
        ran
    }

    /// Lets the others go. Those that are not there any more are not waited for.
    pub async fn end(self) {
        let closing = self.others.into_iter().map(|Other { link, .. }| async move {
            link.send(Message::End).await;
            link.close().await;
        });
        futures::future::join_all(closing).await;
    }

    async fn run_or_fail(
        &mut self,
        plan: &Plan,
        server: &str,
        stop: CancellationToken,
        mut told: impl FnMut(Duration, &Second, Option<&Reading>),
    ) -> Result<Outcome, RunError> {
        let parts = plan.divided(self.count())?;
        let mut parts = parts.iter();
        let own = parts.next().unwrap_or(plan);
        for (other, part) in self.others.iter().zip(parts) {
            other.link.send(Message::Prepare { plan: Box::new(part.into()) }).await;
        }
        let ready = self.all_ready(&stop).await?;
        for other in &self.others {
            other.link.send(Message::Go).await;
        }
        let recorder = Recorder::start(plan.description(server), Phase::warm_up());
        let stop_own = stop.child_token();
        let (sender, mut seconds) = unbounded_channel();
        let told_second = move |second: &Second, reading: Option<&Reading>| {
            // It is received as long as this runs.
            let _ = sender.send((second.clone(), reading.copied()));
        };
        let mut running = Box::pin(ready.run(own, recorder.clone(), stop_own.clone(), told_second));
        let mut seen: Vec<Seen> = self.others.iter().map(|_| Seen::default()).collect();
        let most_seconds = MORE_SECONDS.saturating_add(plan.lasts().as_secs());
        let (mut measured, mut failed, mut is_stopped) = (None, None, false);
        let mut until = Instant::now();
        while measured.is_none() || failed.is_none() && seen.iter().any(|seen| seen.outcome.is_none()) {
            tokio::select! {
                outcome = &mut running, if measured.is_none() => {
                    measured = Some(outcome);
                    until = Instant::now() + TOLD_WITHIN;
                }
                (place, heard) = next_of(&mut self.others), if failed.is_none() => {
                    let other = &self.others[place];
                    failed = seen[place].hear(other, heard, most_seconds).err();
                }
                Some((mut second, reading)) = seconds.recv() => {
                    for latest in seen.iter_mut().filter_map(|seen| seen.latest.take()) {
                        second.add(&latest);
                    }
                    told(recorder.elapsed(), &second, reading.as_ref());
                }
                () = stop.cancelled(), if !is_stopped => {
                    is_stopped = true;
                    for other in &self.others {
                        other.link.send(Message::Stop).await;
                    }
                }
                () = sleep_until(until), if measured.is_some() => {
                    let late = self.others.iter().zip(&seen).find(|(_, seen)| seen.outcome.is_none());
                    let problem = format!("has not told what it has measured within {} s", TOLD_WITHIN.as_secs());
                    failed = late.map(|(other, _)| other.failed(problem));
                }
            }
            if let Some(error) = &failed
                && !stop_own.is_cancelled()
            {
                // What this one has begun comes to its end, and what the others have.
                stop_own.cancel();
                self.fail(error).await;
            }
        }
        let (None, Some(measured)) = (&failed, measured) else {
            return Err(failed.unwrap_or(RunError::Stopped));
        };
        if self.others.is_empty() {
            return Ok(measured);
        }
        let first = (format!("generator 1 of {}", self.count()), measured);
        let others =
            self.others.iter().zip(seen).filter_map(|(other, seen)| {
                Some((other.name.clone(), seen.outcome?.with_seconds(seen.seconds)))
            });
        let all = std::iter::once(first).chain(others).collect();
        Outcome::of_generators(all).map_err(RunError::NotOne)
    }

    /// Tells the others that the run has failed.
    async fn fail(&self, error: &RunError) {
        for other in &self.others {
            other.link.send(Message::Failed { problem: error.to_string() }).await;
        }
    }

    /// Waits until this generator and the others could begin.
    async fn all_ready(&mut self, stop: &CancellationToken) -> Result<Ready, RunError> {
        let until = Instant::now() + READY_WITHIN;
        let url = self.target.url.clone();
        let mut connecting = Box::pin(Ready::connect(self.target.clone()));
        let mut connected = None;
        let mut ready = vec![false; self.others.len()];
        loop {
            let missing = ready.iter().position(|ready| !ready);
            if missing.is_none()
                && let Some(connected) = connected.take()
            {
                return Ok(connected);
            }
            tokio::select! {
                this = &mut connecting, if connected.is_none() => connected = Some(this?),
                (place, heard) = next_of(&mut self.others) => match heard {
                    Ok(Message::Ready) => ready[place] = true,
                    Ok(message) => return Err(self.others[place].unasked(message)),
                    Err(lost) => return Err(self.others[place].lost(&lost)),
                },
                () = stop.cancelled() => return Err(RunError::Stopped),
                () = sleep_until(until) => {
                    let within_s = READY_WITHIN.as_secs();
                    let late = missing.and_then(|place| self.others.get(place));
                    return Err(late.filter(|_| connected.is_some()).map_or_else(
                        || RunError::Late { url, within_s },
                        |other| other.failed(format!("was not ready to begin within {within_s} s")),
                    ));
                }
            }
        }
    }
}
