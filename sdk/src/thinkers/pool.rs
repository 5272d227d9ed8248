//! What the bots of a session are to do, and what they came to.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use crate::fault::guarded;
use crate::prefetch::prefetch;
use crate::seat_bot::{Factory, SeatBot};
use crate::session::Key;
use crate::work::{Call, Worked};

/// How long a turn lasts while there is something to do: then it is that of another session.
pub(super) const TURN: Duration = Duration::from_millis(5);

/// How long a bot thinks on average that is quick.
const QUICK: Duration = Duration::from_micros(20);
/// After how many bots the clock is looked at, at most.
pub(super) const UNSEEN: u32 = 4;
/// How many of the next bots are near the processor when one thinks.
const AHEAD: usize = 8;

/// What a session shares with the threads on which its bots think.
pub(super) struct Pool {
    factory: Factory,
    /// The session's: what a bot does with tokio it does there.
    runtime: Handle,
    jobs: Mutex<Jobs>,
}

#[derive(Default)]
pub(super) struct Jobs {
    pub(super) waiting: VecDeque<Job>,
    pub(super) done: Vec<Done>,
    /// Turns that threads have, or that wait for one.
    pub(super) turns: usize,
    /// The session's task, if it is to be woken.
    pub(super) session: Option<Waker>,
}

pub(super) struct Job {
    pub(super) key: Key,
    pub(super) bot: SeatBot,
    pub(super) calls: Vec<Call>,
    /// Since when it waits.
    pub(super) since: tokio::time::Instant,
}

impl Job {
    fn prefetch(&self) {
        self.bot.prefetch();
        prefetch(self.calls.as_slice());
    }
}

pub(super) struct Done {
    pub(super) key: Key,
    pub(super) bot: SeatBot,
    pub(super) worked: Worked,
    /// What it was asked. Its memory is given back where it was taken, or it would come from far away the next time.
    pub(super) calls: Vec<Call>,
}

/// Whether something is left to do after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// Something is: the session is to have another turn in place of this one.
    Waits,
    Nothing,
}

/// How long a turn has lasted. To look at the clock takes as long as a simple bot takes to choose, so as long as bots are quick it is
/// looked at after twice as many of them each time, up to some.
struct Turn {
    began: Instant,
    looked: Instant,
    /// Bots that have thought since then.
    unseen: u32,
    /// Of how many it is looked at again.
    until: u32,
}

impl Turn {
    fn begin() -> Self {
        let now = Instant::now();
        Self { began: now, looked: now, unseen: 0, until: 1 }
    }

    /// Whether the turn is over, when one more bot has thought.
    fn is_over(&mut self) -> bool {
        self.unseen += 1;
        if self.unseen < self.until {
            return false;
        }
        let now = Instant::now();
        let quick = now - self.looked < QUICK * self.unseen;
        self.until = if quick { UNSEEN.min(2 * self.until) } else { 1 };
        (self.looked, self.unseen) = (now, 0);
        now - self.began >= TURN
    }
}

impl Pool {
    pub(super) fn new(factory: Factory, runtime: Handle) -> Arc<Self> {
        Arc::new(Self { factory, runtime, jobs: Mutex::default() })
    }

    pub(super) fn jobs(&self) -> MutexGuard<'_, Jobs> {
        // No bot's code runs while they are locked.
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what waits, until nothing does or the turn is over.
    pub(super) fn take_turn(&self) -> Rest {
        survive(|| self.run_bots());
        let mut jobs = self.jobs();
        let rest = if jobs.waiting.is_empty() { Rest::Nothing } else { Rest::Waits };
        if rest == Rest::Nothing {
            jobs.turns -= 1;
            // What comes next takes the same places again.
            jobs.waiting.clear();
        }
        let session = jobs.session.take();
        drop(jobs);
        if let Some(session) = session {
            session.wake();
        }
        rest
    }

    fn run_bots(&self) {
        let _entered = self.runtime.enter();
        let mut turn = Turn::begin();
        let mut jobs = self.jobs();
        jobs.waiting.iter().take(AHEAD).for_each(Job::prefetch);
        while let Some(Job { key, mut bot, calls, since: _ }) = jobs.waiting.pop_front() {
            if let Some(coming) = jobs.waiting.get(AHEAD - 1) {
                coming.prefetch();
            }
            drop(jobs);
            let worked = bot.run(&self.factory, &calls);
            let over = turn.is_over();
            jobs = self.jobs();
            jobs.done.push(Done { key, bot, worked, calls });
            if over {
                break;
            }
        }
    }

    /// What waits is not begun any more.
    pub(super) fn close(&self) {
        // Dropping runs code of bots, so not while the jobs are locked.
        let waiting = mem::take(&mut self.jobs().waiting);
        drop(waiting);
    }
}

/// Does this. A bot's own code is guarded where it is called: what may panic here is what it has done to its thread, and what is dropped
/// when its session is gone. No thread ends by it, as sessions would wait for it.
pub(super) fn survive(run: impl FnOnce()) {
    if let Err(fault) = guarded(run) {
        tracing::error!(%fault, "what a bot has left behind panicked");
    }
}
