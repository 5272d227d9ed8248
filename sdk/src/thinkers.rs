//! Where bots think: off the stream, so many at once.

mod pool;
mod threads;

use std::collections::VecDeque;
use std::future::poll_fn;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::alarm::Alarm;
use crate::seat_bot::{Factory, SeatBot};
use crate::session::Key;
use crate::work::{Call, Worked};
use pool::{Done, Job, Pool};
pub use threads::BotThreads;

/// How long bots wait for one that thinks before more threads are there for them, as many again each time.
const PATIENCE: Duration = Duration::from_millis(1);

/// What the bots of a session do, on threads that it may share with others.
///
/// A bot is with its seat, or here and at work; never in two places. What waits is bounded by the
/// matches: a seat's match can't go on beyond its own decision.
///
/// To wake a thread costs more than a simple bot takes to choose. So what comes together, to all sessions, is done by one
/// thread, one bot after the other, and is told together. Who is behind a bot that takes long gets another thread.
pub(crate) struct Thinkers {
    /// What no thread knows of yet.
    new: Vec<(Key, SeatBot, Vec<Call>)>,
    /// What is to be told.
    done: VecDeque<Done>,
    pool: Arc<Pool>,
    threads: BotThreads,
    /// When something was started last.
    started: Instant,
    at_once: usize,
    patience: Alarm,
}

/// Whether there is something for a thread to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Started {
    Something,
    Nothing,
}

impl Thinkers {
    pub(crate) fn new(factory: Factory, runtime: Handle, threads: BotThreads, at_once: NonZeroUsize) -> Self {
        let pool = Pool::new(factory, runtime);
        let (started, at_once, patience) = (Instant::now(), at_once.get(), Alarm::default());
        Self { new: Vec::new(), done: VecDeque::new(), pool, threads, started, at_once, patience }
    }

    /// Has the seat's bot do this, from [`Thinkers::start`] on.
    pub(crate) fn work(&mut self, key: Key, bot: SeatBot, calls: Vec<Call>) {
        self.new.push((key, bot, calls));
    }

    /// Lets threads that are awake see to what is new. [`Thinkers::wake`] has to follow if something is.
    pub(crate) fn start(&mut self) -> Started {
        if self.new.is_empty() {
            return Started::Nothing;
        }
        let since = Instant::now();
        self.started = since;
        let mut jobs = self.pool.jobs();
        jobs.waiting.extend(self.new.drain(..).map(|(key, bot, calls)| Job { key, bot, calls, since }));
        let first = usize::from(jobs.turns == 0);
        jobs.turns += first;
        drop(jobs);
        self.threads.add(&self.pool, first);
        Started::Something
    }

    /// Sees to it that a thread is awake. From here on what was started waits for one.
    pub(crate) fn wake(&mut self) {
        let (started, now) = (self.started, Instant::now());
        if now - started > PATIENCE / 2 {
            // The runtime was busy: that is no bot's fault.
            let mut jobs = self.pool.jobs();
            let these = jobs.waiting.iter_mut().rev().take_while(|job| job.since == started);
            these.for_each(|job| job.since = now);
        }
        self.add_turn_beside_slow();
        self.threads.wake();
        // On one core all of it may have been done by now.
        if !self.pool.jobs().waiting.is_empty() {
            self.wait_patiently(now);
        }
    }

    /// What waits behind nothing but bots that take long need not be waited for.
    fn add_turn_beside_slow(&self) {
        let mut jobs = self.pool.jobs();
        if jobs.waiting.is_empty() || jobs.turns >= self.most_turns() || !self.threads.are_held_up() {
            return;
        }
        jobs.turns += 1;
        drop(jobs);
        self.threads.add(&self.pool, 1);
    }

    fn most_turns(&self) -> usize {
        self.at_once.min(self.threads.at_most())
    }

    fn add_threads_for_waiting(&mut self) {
        let mut jobs = self.pool.jobs();
        let Some(Job { since, .. }) = jobs.waiting.front() else { return };
        let (since, now) = (*since, Instant::now());
        if now < since + PATIENCE {
            drop(jobs);
            self.wait_patiently(since);
            return;
        }
        let more = jobs.waiting.len().min(jobs.turns).min(self.most_turns().saturating_sub(jobs.turns));
        jobs.turns += more;
        drop(jobs);
        self.threads.add(&self.pool, more);
        // Its turn may itself be what waits, for a bot of another session.
        self.threads.wake_more(more.max(1));
        self.wait_patiently(now);
    }

    fn wait_patiently(&mut self, since: Instant) {
        self.patience.set((since + PATIENCE).into_std());
    }

    /// Waits until bots are done.
    pub(crate) async fn some_done(&mut self) {
        poll_fn(|context| self.poll_done(context)).await;
    }

    /// Whose bots were waited for, and are done.
    pub(crate) fn done(&self) -> impl ExactSizeIterator<Item = Key> {
        self.done.iter().map(|done| done.key)
    }

    /// What the first of these came to, so many at most, each told once, with its bot.
    pub(crate) fn take_done(&mut self, most: usize) -> impl Iterator<Item = (Key, SeatBot, Worked)> {
        self.done.drain(..most.min(self.done.len())).map(|Done { key, bot, worked, calls }| {
            drop(calls);
            (key, bot, worked)
        })
    }

    fn poll_done(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while self.patience.poll_ring(context).is_ready() {
            self.add_threads_for_waiting();
        }
        let mut jobs = self.pool.jobs();
        self.done.extend(jobs.done.drain(..));
        if !self.done.is_empty() {
            return Poll::Ready(());
        }
        jobs.session = Some(context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Thinkers {
    fn drop(&mut self) {
        self.threads.remove(&self.pool);
        self.pool.close();
    }
}

#[cfg(test)]
mod tests;
