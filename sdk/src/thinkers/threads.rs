//! The threads on which bots think, and whose turn it is.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread, ThreadId};
use std::time::{Duration, Instant};
use std::{fmt, mem};

use super::PATIENCE;
use super::pool::{Pool, Rest, survive};

/// How long a thread without anything to do is kept.
const KEPT_FOR: Duration = Duration::from_secs(10);

/// Threads on which bots think.
///
/// Sessions that share them take turns. There are as many as are needed so that no bot waits for another for more than
/// some milliseconds, up to a bound. One that has nothing to do ends after ten seconds. A bot that thinks when the program, or the
/// runtime of its session, comes to its end is not waited for. What a bot does with tokio it does on that runtime.
///
/// Those that a program does not make are shared by all its sessions, at most 512. A program that makes its own sets its own
/// bound:
///
/// ```
/// use std::num::NonZeroUsize;
/// use zetema_sdk::{BotThreads, Settings};
///
/// // Bots that search: no more than four cores for all sessions that are opened with these settings, or a clone.
/// let settings = Settings { threads: BotThreads::new(NonZeroUsize::new(4).unwrap()), ..Settings::default() };
/// ```
#[derive(Clone)]
pub struct BotThreads(Arc<Shared>);

struct Shared {
    at_most: NonZeroUsize,
    kept_for: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Sessions that are to have a turn: for each thread that is to work for one, once.
    turns: VecDeque<Arc<Pool>>,
    threads: usize,
    /// Those of them that sleep. Who wakes one takes it out of here.
    asleep: Vec<Thread>,
    /// Those that are at a turn, and since when.
    at_work: Vec<(ThreadId, Instant)>,
    /// Whether the system had no more threads the last time.
    refused: bool,
}

impl State {
    /// Whether a thread is awake that will soon be there for another turn.
    fn is_awake(&self) -> bool {
        let (awake, now) = (self.threads - self.asleep.len(), Instant::now());
        awake > self.at_work.iter().filter(|(_, since)| *since + PATIENCE <= now).count()
    }
}

impl Default for BotThreads {
    /// Those of this process, at most 512.
    fn default() -> Self {
        const AT_MOST: NonZeroUsize = NonZeroUsize::MIN.saturating_add(511);
        static OF_THE_PROCESS: LazyLock<BotThreads> = LazyLock::new(|| BotThreads::new(AT_MOST));
        OF_THE_PROCESS.clone()
    }
}

impl BotThreads {
    /// Threads of their own, at most so many.
    pub fn new(at_most: NonZeroUsize) -> Self {
        Self::kept_for(KEPT_FOR, at_most)
    }

    pub(super) fn kept_for(kept_for: Duration, at_most: NonZeroUsize) -> Self {
        Self(Arc::new(Shared { at_most, kept_for, state: Mutex::default() }))
    }

    pub(super) fn at_most(&self) -> usize {
        self.0.at_most.get()
    }

    /// Whether one is awake that is not with a bot that takes long.
    #[cfg(test)]
    pub(super) fn is_one_awake(&self) -> bool {
        self.0.state().is_awake()
    }

    /// How many there are.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.0.state().threads
    }

    /// Gives a session so many turns, behind those that wait. Whoever has added some wakes a thread, at once or later.
    pub(super) fn add(&self, pool: &Arc<Pool>, turns: usize) {
        self.0.state().turns.extend((0..turns).map(|_| Arc::clone(pool)));
    }

    /// Sees to it that a thread is awake, if a session is to have a turn, and not with a bot that takes long.
    pub(super) fn wake(&self) {
        let state = self.0.state();
        if !state.turns.is_empty() && !state.is_awake() {
            self.0.wake(state, 1);
        }
    }

    /// Has so many more threads awake, as far as there are turns for them that no thread is on its way to.
    pub(super) fn wake_more(&self, threads: usize) {
        let state = self.0.state();
        let coming = state.threads - state.asleep.len() - state.at_work.len();
        let left = state.turns.len().saturating_sub(coming);
        self.0.wake(state, threads.min(left));
    }

    /// Whether all that are awake are with bots that take long, and no session waits for a turn.
    pub(super) fn are_held_up(&self) -> bool {
        let state = self.0.state();
        state.turns.is_empty() && !state.is_awake()
    }

    /// Gives a session no more turns.
    pub(super) fn remove(&self, pool: &Arc<Pool>) {
        self.0.state().turns.retain(|turn| !Arc::ptr_eq(turn, pool));
    }
}

/// With how many there may be, and are.
impl fmt::Debug for BotThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let threads = self.0.state().threads;
        f.debug_struct("BotThreads").field("at_most", &self.0.at_most).field("threads", &threads).finish()
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // No bot's code runs while it is locked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread that is woken may run at once, before the one that woke it goes on: so nothing is locked by then.
    fn wake(self: &Arc<Self>, mut state: MutexGuard<'_, State>, threads: usize) {
        let asleep = state.asleep.len();
        // Those that fell asleep last: what they touch is still near, and the others end if they are not needed.
        let woken = state.asleep.split_off(asleep.saturating_sub(threads));
        let new = (threads - woken.len()).min(self.at_most.get() - state.threads);
        state.threads += new;
        drop(state);
        woken.iter().for_each(Thread::unpark);
        for _ in 0..new {
            self.begin_thread();
        }
    }

    fn begin_thread(self: &Arc<Self>) {
        let shared = Arc::clone(self);
        let begun = thread::Builder::new().name("zetema-bots".to_owned()).spawn(move || shared.work());
        let mut state = self.state();
        let refused_before = mem::replace(&mut state.refused, begun.is_err());
        if let Err(error) = begun {
            state.threads -= 1;
            drop(state);
            // Bots that wait try again soon.
            if !refused_before {
                tracing::error!(%error, "the system has no thread for bots to think on");
            }
        }
    }

    fn work(&self) {
        let (own, mut again) = (thread::current(), None);
        loop {
            let mut state = self.state();
            state.at_work.retain(|(thread, _)| *thread != own.id());
            state.turns.extend(again.take());
            let Some(pool) = state.turns.pop_front() else {
                state.asleep.push(own.clone());
                drop(state);
                if self.is_woken(own.id()) {
                    continue;
                }
                return;
            };
            state.at_work.push((own.id(), Instant::now()));
            drop(state);
            match pool.take_turn() {
                Rest::Waits => again = Some(pool),
                // With the last of it goes what makes the session's bots, which is the program's own.
                Rest::Nothing => survive(move || drop(pool)),
            }
        }
    }

    /// Sleeps until it is woken; `false` if it was not, and is no thread of these any more.
    fn is_woken(&self, own: ThreadId) -> bool {
        let until = Instant::now() + self.kept_for;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            thread::park_timeout(left);
            let mut state = self.state();
            // It may go on for no reason: then it is still in the list.
            let Some(place) = state.asleep.iter().position(|thread| thread.id() == own) else { return true };
            if left.is_zero() {
                state.asleep.remove(place);
                state.threads -= 1;
                return false;
            }
        }
    }
}
