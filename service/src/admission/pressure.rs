//! How late the server is with its work, and what it takes on no more while it is.
//!
//! What is under way goes on whatever comes: its clocks run. So what is new is refused before that is slowed down: first of what
//! nobody waits for the part that there is no time for, and then all of it, and what would begin a match. If all were refused at once,
//! and then nothing, there would be too much to do in turn with too little.

mod level;
mod part;
mod round_trip;
mod window;

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering::Relaxed},
    },
    time::Duration,
};

use metrics::{counter, gauge};
use tokio::time::{Instant, sleep_until, timeout};

use self::{level::Level, part::Part, round_trip::there_and_back, window::Window};
use crate::{
    executor::Executor,
    limits,
    metrics::{LATE, OVERLOAD_LEVEL, SHED},
};

/// What is new, and may be refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// To create matches.
    Create,
    /// To watch a match.
    Watch,
    /// To join a match that is not dealt yet.
    Join,
}

impl Work {
    const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Watch => "watch",
            Self::Join => "join",
        }
    }

    /// From when on it is refused, or a part of it. Who joins has a match that waits for it, and is refused last.
    const fn refused_from(self) -> Level {
        match self {
            Self::Create | Self::Watch => Level::High,
            Self::Join => Level::Severe,
        }
    }
}

/// The server has more to do than it can. What was asked is new, and was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overloaded(Work);

impl Overloaded {
    /// Counts it, as it is refused.
    pub(crate) fn count(self) {
        counter!(SHED, "work" => self.0.name()).increment(1);
    }
}

/// How late the server is with its work, by how long something waits that comes by as an action does: it is due, is passed on
/// to another thread, and comes back from there.
///
/// No client makes that late but by work that the server does for it, which its rates bound. How long actions take depends on what
/// else their client has sent, and on records that are read again.
#[derive(Debug, Default)]
pub(crate) struct Pressure {
    /// A [`Level`].
    level: AtomicU8,
    /// What is refused while it is late.
    part: Part,
}

impl Pressure {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Looks how late the server is, again and again. Later than `most` is too late.
    pub(crate) async fn watch(self: Arc<Self>, most: Duration, streams: Executor) {
        let mut looks = Looks::new(Instant::now(), most);
        let _calm = CalmAfterwards(&self);
        self.store(Level::Calm);
        loop {
            let due = Instant::now() + limits::PRESSURE_BEAT;
            sleep_until(due).await;
            let mut round_trip = pin!(there_and_back(&streams));
            loop {
                // Where no thread is to be had it waits without end, and is later each time.
                let back = timeout(limits::PRESSURE_PATIENCE, &mut round_trip).await;
                if back == Ok(false) {
                    return;
                }
                let now = Instant::now();
                self.note(&mut looks, now, now - due);
                if back.is_ok() {
                    break;
                }
            }
        }
    }

    /// It was so late when it was looked at.
    fn note(&self, looks: &mut Looks, now: Instant, late: Duration) {
        gauge!(LATE).set(late.as_secs_f64());
        if let Some(usual) = looks.latest.note(now, late) {
            self.part.set(usual, looks.most);
        }
        if let Some(usual) = looks.for_a_while.note(now, late) {
            self.set(usual, looks.most);
        }
    }

    /// Whether there is time for something new.
    pub(crate) fn check(&self, work: Work) -> Result<(), Overloaded> {
        let level = self.level();
        if level < work.refused_from() || level == Level::High && self.part.spares() {
            Ok(())
        } else {
            Err(Overloaded(work))
        }
    }

    /// Whether all is done in time, so that there is time for what nobody waits for.
    pub(crate) fn is_calm(&self) -> bool {
        self.level() == Level::Calm
    }

    /// The server was usually so late.
    fn set(&self, usual: Duration, most: Duration) {
        let before = self.level();
        let level = before.then(usual, most);
        if level == before {
            return;
        }
        self.store(level);
        if level == Level::Calm {
            tracing::info!("the server is in time again, and takes on what is new");
        } else {
            tracing::warn!(?level, "the server is late, and takes on less that is new");
        }
    }

    fn store(&self, level: Level) {
        self.level.store(level as u8, Relaxed);
        gauge!(OVERLOAD_LEVEL).set(f64::from(level as u8));
    }

    fn level(&self) -> Level {
        let stored = usize::from(self.level.load(Relaxed));
        Level::ALL.get(stored).copied().unwrap_or(Level::Calm)
    }
}

#[cfg(test)]
impl Pressure {
    /// The server is late from now on, or in time again, whatever it does.
    pub(crate) fn pretend(&self, late: Duration) {
        let most = Duration::from_millis(50);
        self.store(Level::Calm.then(late, most));
        self.part.set(late, most);
    }
}

/// What was seen of late: the last few times, by which the part is set, and for a while, by which the level is.
struct Looks {
    /// Later is too late.
    most: Duration,
    latest: Window,
    for_a_while: Window,
}

impl Looks {
    const fn new(begun: Instant, most: Duration) -> Self {
        let latest = Window::new(begun, Duration::ZERO);
        Self { most, latest, for_a_while: Window::new(begun, limits::PRESSURE_WINDOW) }
    }
}

/// Takes on everything when nobody looks any more, however that came.
struct CalmAfterwards<'a>(&'a Pressure);

impl Drop for CalmAfterwards<'_> {
    fn drop(&mut self) {
        self.0.store(Level::Calm);
    }
}

#[cfg(test)]
mod tests;
