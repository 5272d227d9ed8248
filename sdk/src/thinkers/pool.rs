//! The threads on which the bots of a session think, and what there is to do.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};

use super::Factory;
use crate::seat_bot::SeatBot;
use crate::session::{Call, Key, Worked};

/// How long a thread goes on while there is something to do: then it is the turn of what else waits for one. The runtime's
/// threads are shared by all of its sessions, and may be fewer.
const TURN: Duration = Duration::from_millis(5);

/// What a session shares with its threads.
pub(super) struct Pool {
    factory: Factory,
    jobs: Mutex<Jobs>,
}

#[derive(Default)]
pub(super) struct Jobs {
    pub(super) waiting: VecDeque<Job>,
    pub(super) done: Vec<Done>,
    /// Threads that are at work, or were told to begin.
    pub(super) threads: usize,
    /// The session's task, if it is to be woken.
    pub(super) session: Option<Waker>,
}

pub(super) struct Job {
    pub(super) key: Key,
    pub(super) bot: SeatBot,
    pub(super) calls: Vec<Call>,
}

pub(super) struct Done {
    pub(super) key: Key,
    pub(super) bot: SeatBot,
    pub(super) worked: Worked,
}

impl Pool {
    pub(super) fn new(factory: Factory) -> Self {
        Self { factory, jobs: Mutex::default() }
    }

    pub(super) fn jobs(&self) -> MutexGuard<'_, Jobs> {
        // No bot's code runs while they are locked.
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has so many more threads do what waits. A thread that is woken may run at once, before the one that woke it goes on:
    /// so the jobs are not locked any more by then.
    pub(super) fn add_threads(self: &Arc<Self>, mut jobs: MutexGuard<'_, Jobs>, threads: usize) {
        jobs.threads += threads;
        drop(jobs);
        for _ in 0..threads {
            let pool = Arc::clone(self);
            tokio::task::spawn_blocking(move || pool.run());
        }
    }

    /// Does what waits, until nothing does or the turn is over. What waits then has another turn, behind what waited for a
    /// thread before.
    fn run(self: &Arc<Self>) {
        let began = Instant::now();
        let mut jobs = self.jobs();
        while let Some(Job { key, mut bot, calls }) = jobs.waiting.pop_front() {
            drop(jobs);
            let worked = bot.run(&self.factory, calls);
            let over = began.elapsed() >= TURN;
            jobs = self.jobs();
            jobs.done.push(Done { key, bot, worked });
            if over {
                break;
            }
        }
        jobs.threads -= 1;
        let session = jobs.session.take();
        let again = usize::from(!jobs.waiting.is_empty());
        self.add_threads(jobs, again);
        if let Some(session) = session {
            session.wake();
        }
    }

    /// What waits is not begun any more.
    pub(super) fn close(&self) {
        // Dropping runs code of bots, so not while the jobs are locked.
        let waiting = mem::take(&mut self.jobs().waiting);
        drop(waiting);
    }
}
