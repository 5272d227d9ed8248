//! A match's own clock.

use std::time::Duration;

use super::Moment;

/// The clock of one match: whole milliseconds, from its creation, and from 0 again from its first decision on.
///
/// All that is decided by time is decided by these numbers, which the ledger holds too. It stands still when its owner
/// says so: while the server is down, and while it is not known what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MatchClock {
    /// What it shows while it stands, and when it begins to run.
    shown_ms: u64,
    run: Run,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    /// It runs from this moment on, which lies ahead while the players are given time to come back.
    From(Moment),
    /// It stands, and will run from this moment on at the earliest.
    Stands(Moment),
}

impl MatchClock {
    /// A clock that stands at 0.
    pub(super) const NEW: Self = Self { shown_ms: 0, run: Run::Stands(Moment::since_start(Duration::ZERO)) };

    /// What it shows at this moment.
    pub(super) fn ms(self, at: Moment) -> u64 {
        let run_ms = match self.run {
            Run::From(from) => at.since(from).as_millis(),
            Run::Stands(_) => 0,
        };
        self.shown_ms.saturating_add(u64::try_from(run_ms).unwrap_or(u64::MAX))
    }

    /// When it shows so much, if it is not stopped before; `None` while it stands.
    pub(super) fn shows(self, ms: u64) -> Option<Moment> {
        match self.run {
            Run::From(from) => Some(from.after_ms(ms.saturating_sub(self.shown_ms))),
            Run::Stands(_) => None,
        }
    }

    /// Stops it.
    pub(super) fn stop(&mut self, now: Moment) {
        self.shown_ms = self.ms(now);
        if let Run::From(from) = self.run {
            self.run = Run::Stands(from);
        }
    }

    /// Lets it run, if it stands: from this moment on, which may lie ahead.
    pub(super) fn run(&mut self, from: Moment) {
        if let Run::Stands(earliest) = self.run {
            self.run = Run::From(from.max(earliest));
        }
    }

    /// Sets it to 0.
    pub(super) fn reset(&mut self, now: Moment) {
        self.shown_ms = 0;
        if let Run::From(from) = self.run {
            self.run = Run::From(from.max(now));
        }
    }

    /// Sets it forward while it stands: as far as it had come, by what is journaled, when it ran last.
    pub(super) fn reach(&mut self, ms: u64) {
        if let Run::Stands(_) = self.run {
            self.shown_ms = self.shown_ms.max(ms);
        }
    }
}
