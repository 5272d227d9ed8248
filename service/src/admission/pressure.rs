//! How late the server is with its work, and what it takes on no more while it is.
//!
//! What is under way goes on whatever comes: its clocks run. So what is new is refused before that is slowed down: first what
//! nobody waits for, and then what would begin a match.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering::Relaxed},
    },
    time::Duration,
};

use metrics::{counter, gauge};
use tokio::time::{Instant, sleep_until};

use crate::{
    limits,
    metrics::{LATE, SHED},
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

    /// From when on it is refused. Who joins has a match that waits for it, and is refused last.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    /// All is done in time.
    Calm,
    /// What is due is done later than it may be.
    High,
    /// More than twice as late.
    Severe,
}

impl Level {
    const ALL: [Self; 3] = [Self::Calm, Self::High, Self::Severe];

    /// The level of what is so late, if this late is too late.
    fn of(late: Duration, most: Duration) -> Self {
        if late > 2 * most {
            Self::Severe
        } else if late > most {
            Self::High
        } else {
            Self::Calm
        }
    }
}

/// How late the server is with its work: whatever is due waits for what is due before it, and so does a timer.
///
/// A timer depends on nothing that one client asks for alone. How long actions take does: on what else a client has sent, on
/// the disk, and on records that are read again.
#[derive(Debug)]
pub(crate) struct Pressure(AtomicU8);

impl Pressure {
    pub(crate) const fn new() -> Self {
        Self(AtomicU8::new(0))
    }

    /// Looks how late the server is, again and again. Later than `most` is too late.
    pub(crate) async fn watch(self: Arc<Self>, most: Duration) {
        let mut window = Window::new(Instant::now());
        loop {
            let due = Instant::now() + limits::PRESSURE_BEAT;
            sleep_until(due).await;
            let now = Instant::now();
            let late = now - due;
            gauge!(LATE).set(late.as_secs_f64());
            if let Some(range) = window.note(now, late, most) {
                self.set(range);
            }
        }
    }

    /// Whether there is time for something new.
    pub(crate) fn check(&self, work: Work) -> Result<(), Overloaded> {
        if self.level() < work.refused_from() { Ok(()) } else { Err(Overloaded(work)) }
    }

    fn set(&self, range: Range) {
        let before = self.level();
        let level = before.clamp(range.least, range.most);
        if level == before {
            return;
        }
        self.0.store(level as u8, Relaxed);
        if level == Level::Calm {
            tracing::info!("the server is in time again, and takes on what is new");
        } else {
            tracing::warn!(?level, "the server is late, and takes on less that is new");
        }
    }

    fn level(&self) -> Level {
        let stored = usize::from(self.0.load(Relaxed));
        Level::ALL.get(stored).copied().unwrap_or(Level::Calm)
    }
}

/// What the level must be at least and at most. In between it stays as it was, so that it does not change with each thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    least: Level,
    most: Level,
}

/// How late a timer was for a while. The server is late when it always was, since one thing may be late at any time.
#[derive(Debug)]
struct Window {
    begun: Instant,
    seen: u32,
    least: Duration,
    most: Duration,
}

impl Window {
    const fn new(begun: Instant) -> Self {
        Self { begun, seen: 0, least: Duration::MAX, most: Duration::ZERO }
    }

    /// The timer was so late. At the end of the window the answer is what follows from it.
    fn note(&mut self, now: Instant, late: Duration, most: Duration) -> Option<Range> {
        self.seen += 1;
        self.least = self.least.min(late);
        self.most = self.most.max(late);
        // A stall of the whole server is one thing that is late, however long it takes.
        if self.seen < limits::PRESSURE_BEATS || now - self.begun < limits::PRESSURE_WINDOW {
            return None;
        }
        let range = Range { least: Level::of(self.least, most), most: Level::of(self.most, most) };
        *self = Self::new(now);
        Some(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: Duration = Duration::from_millis(50);

    /// The level after each of these has been seen for a second.
    fn check(late_ms: &[&[u64]], expected: &[Level]) {
        let mut now = Instant::now();
        let (mut window, pressure) = (Window::new(now), Pressure::new());
        let mut levels = Vec::new();
        for late_ms in late_ms {
            let end = now + Duration::from_secs(1);
            for late_ms in late_ms.iter().cycle() {
                let late = Duration::from_millis(*late_ms);
                now += limits::PRESSURE_BEAT + late;
                if let Some(range) = window.note(now, late, MOST) {
                    pressure.set(range);
                }
                if now > end {
                    break;
                }
            }
            levels.push(pressure.level());
        }
        assert_eq!(levels, expected, "{late_ms:?}");
    }

    #[test]
    fn what_is_late_all_the_time_is_pressure_and_what_is_late_at_times_is_none() {
        use Level::{Calm, High, Severe};
        check(&[&[0]], &[Calm]);
        check(&[&[50]], &[Calm]);
        check(&[&[51]], &[High]);
        check(&[&[101]], &[Severe]);
        check(&[&[0, 500]], &[Calm]);
        check(&[&[60, 200]], &[High]);
        check(&[&[60], &[0]], &[High, Calm]);
        check(&[&[200], &[60], &[0]], &[Severe, High, Calm]);
        // Between the two it stays as it was.
        check(&[&[60], &[40, 60], &[40]], &[High, High, Calm]);
        check(&[&[40, 60], &[60]], &[Calm, High]);
    }

    #[test]
    fn a_stall_is_no_pressure_however_long() {
        let begun = Instant::now();
        let mut window = Window::new(begun);
        let stalled = Duration::from_secs(10);
        let mut now = begun + stalled;
        assert_eq!(window.note(now, stalled, MOST), None);
        for beat in 2..=limits::PRESSURE_BEATS {
            now += limits::PRESSURE_BEAT;
            let range = window.note(now, Duration::ZERO, MOST);
            let stays = Range { least: Level::Calm, most: Level::Severe };
            assert_eq!(range, (beat == limits::PRESSURE_BEATS).then_some(stays));
        }
    }

    #[test]
    fn what_is_new_is_refused_by_degrees() {
        let pressure = Pressure::new();
        let refused = |level| {
            pressure.0.store(level as u8, Relaxed);
            [Work::Create, Work::Watch, Work::Join].map(|work| pressure.check(work).is_err())
        };
        assert_eq!(refused(Level::Calm), [false, false, false]);
        assert_eq!(refused(Level::High), [true, true, false]);
        assert_eq!(refused(Level::Severe), [true, true, true]);
    }
}
