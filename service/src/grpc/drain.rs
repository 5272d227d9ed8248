//! How a server comes to its end, as its calls and streams know it.

use std::{
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

use rustc_hash::FxHashMap;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use zetema_proto::v1;

use crate::limits;

/// A server that is told to stop drains first: everything goes on but new matches. Then it closes: streams and
/// connections end. A clone is another handle to the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct Drain {
    course: Arc<Course>,
    draining: CancellationToken,
    closing: CancellationToken,
}

impl Drain {
    /// Drains until this moment at most. The first that is given stands.
    pub(crate) fn begin(&self, deadline: Instant) {
        let is_first = self.course.deadline.set(deadline).is_ok();
        self.draining.cancel();
        if is_first {
            self.course.wake();
        }
    }

    /// Closes, whether the deadline has come or not.
    pub(crate) fn close(&self) {
        self.begin(Instant::now());
        let is_first = self.course.closed.set(()).is_ok();
        self.closing.cancel();
        if is_first {
            self.course.wake();
        }
    }

    /// Cancelled when the server drains.
    pub(crate) const fn draining(&self) -> &CancellationToken {
        &self.draining
    }

    /// Cancelled when it closes.
    pub(crate) const fn closing(&self) -> &CancellationToken {
        &self.closing
    }

    /// In how long it closes at the latest; nothing when it already does.
    pub(super) fn stops_in(&self) -> Duration {
        let Course { deadline, closed, .. } = &*self.course;
        let deadline = deadline.get().filter(|_| closed.get().is_none());
        deadline.map_or(Duration::ZERO, |deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Its stages, for a stream that looks at them each time that it runs.
    pub(super) fn stages(&self) -> Stages {
        Stages { drain: self.clone(), told: None, place: None }
    }

    /// What a stream is told when the server drains.
    pub(super) fn message(&self) -> v1::Draining {
        v1::Draining {
            reconnect_after_ms: limits::RECONNECT_AFTER_MS,
            stops_in_ms: u32::try_from(self.stops_in().as_millis()).unwrap_or(u32::MAX),
        }
    }
}

/// How far the server has come.
#[derive(Debug, Default)]
struct Course {
    /// There once it drains.
    deadline: OnceLock<Instant>,
    /// There once it closes.
    closed: OnceLock<()>,
    looking: Mutex<Looking>,
}

/// The tasks of the streams that look at it, by the numbers of their places.
#[derive(Debug, Default)]
struct Looking {
    tasks: FxHashMap<u64, Waker>,
    next: u64,
}

impl Course {
    /// Wakes all that look. Whoever has its place only after this finds the stage that it was called for.
    fn wake(&self) {
        // What a waker does is not done under the lock: it may drop a stream.
        let tasks: Vec<Waker> = self.looking().tasks.values().cloned().collect();
        tasks.into_iter().for_each(Waker::wake);
    }

    fn looking(&self) -> MutexGuard<'_, Looking> {
        // It is whole, whatever panicked.
        self.looking.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stage that a server comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Draining,
    Closing,
}

/// The stages that a server comes to, each once. To look whether one has come is to read a word, as streams do it for each answer.
#[derive(Debug)]
pub(super) struct Stages {
    drain: Drain,
    told: Option<Stage>,
    place: Option<Place>,
}

/// Where the task of a stream is woken.
#[derive(Debug)]
struct Place {
    number: u64,
    /// The same as is woken, to compare it without a lock.
    task: Waker,
}

impl Stages {
    /// The server's end that they are of.
    pub(super) const fn drain(&self) -> &Drain {
        &self.drain
    }

    /// The next stage. The task of this context is woken when it comes, and alone if it asked last.
    pub(super) fn poll_next(&mut self, context: &Context<'_>) -> Poll<Stage> {
        // First, or what comes between the two woke nobody.
        self.have_woken(context.waker());
        let Course { deadline, closed, .. } = &*self.drain.course;
        let stage = match self.told {
            None if deadline.get().is_some() => Stage::Draining,
            Some(Stage::Draining) if closed.get().is_some() => Stage::Closing,
            _ => return Poll::Pending,
        };
        self.told = Some(stage);
        Poll::Ready(stage)
    }

    fn have_woken(&mut self, task: &Waker) {
        if self.place.as_ref().is_some_and(|place| place.task.will_wake(task)) {
            return;
        }
        let mut looking = self.drain.course.looking();
        let number = self.place.as_ref().map_or(looking.next, |place| place.number);
        looking.next = looking.next.max(number + 1);
        let before = looking.tasks.insert(number, task.clone());
        drop(looking);
        self.place = Some(Place { number, task: task.clone() });
        // Not under the lock: with its last waker a task goes, and its streams.
        drop(before);
    }
}

impl Drop for Stages {
    fn drop(&mut self) {
        if let Some(Place { number, .. }) = self.place {
            let task = self.drain.course.looking().tasks.remove(&number);
            drop(task);
        }
    }
}

#[cfg(test)]
mod tests;
