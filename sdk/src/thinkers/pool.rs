//! The threads on which the bots of a session think, and what there is to do.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use super::Factory;
use crate::seat_bot::SeatBot;
use crate::session::{Call, Key, Worked};

/// How long a thread stays when nothing is left to do. Where bots are asked again and again, one that stays is found sooner
/// than one of the runtime; it has few of them for all.
const RESTS_FOR: Duration = Duration::from_millis(20);

/// What a session shares with its threads.
pub(super) struct Pool {
    factory: Factory,
    jobs: Mutex<Jobs>,
    /// A thread that rests is called, or nobody calls any more.
    called: Condvar,
}

#[derive(Default)]
pub(super) struct Jobs {
    pub(super) waiting: VecDeque<Job>,
    pub(super) done: Vec<Done>,
    /// Threads that are at work, or were told to begin.
    pub(super) threads: usize,
    /// The session's task, if it is to be woken.
    pub(super) session: Option<Waker>,
    rest: Rest,
}

/// Whether a thread without anything to do stays. One does at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Rest {
    #[default]
    Nobody,
    /// One waits to be called.
    One,
    /// It is called.
    Called,
    /// The session is gone: none does.
    Closed,
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
        Self { factory, jobs: Mutex::default(), called: Condvar::new() }
    }

    pub(super) fn jobs(&self) -> MutexGuard<'_, Jobs> {
        // No bot's code runs while they are locked.
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has so many more threads do what waits. A thread that is woken may run at once, before the one that woke it goes on:
    /// so the jobs are not locked any more by then.
    pub(super) fn add_threads(self: &Arc<Self>, mut jobs: MutexGuard<'_, Jobs>, threads: usize) {
        jobs.threads += threads;
        let rests = threads > 0 && jobs.rest == Rest::One;
        if rests {
            jobs.rest = Rest::Called;
        }
        drop(jobs);
        if rests {
            self.called.notify_one();
        }
        for _ in usize::from(rests)..threads {
            let pool = Arc::clone(self);
            tokio::task::spawn_blocking(move || pool.run());
        }
    }

    /// Does what waits, until nothing does for a while.
    fn run(&self) {
        loop {
            let mut jobs = self.jobs();
            while let Some(Job { key, mut bot, calls }) = jobs.waiting.pop_front() {
                drop(jobs);
                let worked = bot.run(&self.factory, calls);
                jobs = self.jobs();
                jobs.done.push(Done { key, bot, worked });
            }
            jobs.threads -= 1;
            let session = jobs.session.take();
            let stays = jobs.rest == Rest::Nobody;
            if stays {
                jobs.rest = Rest::One;
            }
            drop(jobs);
            if let Some(session) = session {
                session.wake();
            }
            if !stays || !self.is_called() {
                return;
            }
        }
    }

    /// Whether the thread that rests is called before it has rested for long enough.
    fn is_called(&self) -> bool {
        let rests = |jobs: &mut Jobs| jobs.rest == Rest::One;
        let waited = self.called.wait_timeout_while(self.jobs(), RESTS_FOR, rests);
        let (mut jobs, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let called = jobs.rest == Rest::Called;
        if jobs.rest != Rest::Closed {
            jobs.rest = Rest::Nobody;
        }
        called
    }

    /// What waits is not begun any more.
    pub(super) fn close(&self) {
        let mut jobs = self.jobs();
        jobs.rest = Rest::Closed;
        let waiting = mem::take(&mut jobs.waiting);
        drop(jobs);
        self.called.notify_all();
        // This runs code of bots, so not while the jobs are locked.
        drop(waiting);
    }
}
