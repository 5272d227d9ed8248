//! The stream of a session: whether there is one, and when to have another.

use std::time::{Duration, Instant};

use super::backoff::Backoff;

/// How long opening a stream may take, up to the welcome.
const OPEN_WITHIN: Duration = Duration::from_secs(10);
/// How many ping intervals may pass in silence.
const SILENT_PINGS: u32 = 3;
/// A stream that lasted as long as this, or on which a match went on, was a good one: the waits begin anew after it.
const GOOD_AFTER: Duration = Duration::from_secs(5);

/// The stream of a session.
pub(crate) struct Link {
    state: State,
    /// Attempts in a row that came to nothing.
    failed: u32,
    /// Since when there is no stream.
    apart_since: Instant,
    ever_open: bool,
}

enum State {
    /// Nothing is being played.
    Idle,
    Waiting {
        until: Instant,
    },
    Opening {
        until: Instant,
    },
    Open(Open),
}

struct Open {
    since: Instant,
    heard: Instant,
    silence: Option<Duration>,
    room: Room,
    progress: Progress,
}

/// What a server has room for on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// Seats joined at once.
    pub(crate) seats: usize,
    /// Joins that wait for their answers at once.
    pub(crate) joins: usize,
}

/// Whether a stream has brought a match on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    None,
    Made,
}

/// What a passed deadline means.
pub(crate) enum Expired {
    /// Try again now.
    Wait,
    /// The stream is dead.
    Silence(Duration),
}

impl Link {
    pub(crate) const fn new(now: Instant) -> Self {
        Self { state: State::Idle, failed: 0, apart_since: now, ever_open: false }
    }

    pub(crate) const fn is_idle(&self) -> bool {
        matches!(self.state, State::Idle)
    }

    pub(crate) const fn was_ever_open(&self) -> bool {
        self.ever_open
    }

    /// What the server has room for, if the stream is open.
    pub(crate) const fn room(&self) -> Option<Room> {
        match &self.state {
            State::Open(open) => Some(open.room),
            State::Idle | State::Waiting { .. } | State::Opening { .. } => None,
        }
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        match &self.state {
            State::Idle => None,
            State::Waiting { until } | State::Opening { until } => Some(*until),
            State::Open(open) => open.silence.map(|silence| open.heard + silence),
        }
    }

    pub(crate) fn expired(&self, now: Instant) -> Option<Expired> {
        if self.deadline().is_none_or(|deadline| now < deadline) {
            return None;
        }
        match &self.state {
            State::Idle => None,
            State::Waiting { .. } => Some(Expired::Wait),
            State::Opening { .. } => Some(Expired::Silence(OPEN_WITHIN)),
            State::Open(open) => open.silence.map(Expired::Silence),
        }
    }

    /// Counts the time without a stream from now on.
    pub(crate) const fn rest(&mut self, now: Instant) {
        self.apart_since = now;
    }

    pub(crate) fn connecting(&mut self, now: Instant) {
        self.state = State::Opening { until: now + OPEN_WITHIN };
    }

    pub(crate) fn welcomed(&mut self, now: Instant, ping_interval: Duration, room: Room) {
        self.ever_open = true;
        // Without pings silence means nothing.
        let silence = (!ping_interval.is_zero()).then(|| ping_interval * SILENT_PINGS);
        self.state = State::Open(Open { since: now, heard: now, silence, room, progress: Progress::None });
    }

    pub(crate) const fn heard(&mut self, now: Instant) {
        if let State::Open(open) = &mut self.state {
            open.heard = now;
        }
    }

    /// A match went on.
    pub(crate) const fn progressed(&mut self) {
        if let State::Open(open) = &mut self.state {
            open.progress = Progress::Made;
        }
    }

    /// The stream is gone: waits before the next attempt, and says for how long there was none.
    pub(crate) fn lost(&mut self, now: Instant, backoff: &mut Backoff) -> Duration {
        if let State::Open(open) = &self.state {
            self.apart_since = now;
            let lasted = now.saturating_duration_since(open.since);
            if lasted >= GOOD_AFTER || open.progress == Progress::Made {
                self.failed = 0;
            }
        }
        self.failed = self.failed.saturating_add(1);
        self.state = State::Waiting { until: now + backoff.wait(self.failed) };
        now.saturating_duration_since(self.apart_since)
    }

    /// Waits until then instead.
    pub(crate) const fn wait(&mut self, until: Instant) {
        if let State::Waiting { .. } = self.state {
            self.state = State::Waiting { until };
        }
    }

    pub(crate) fn close(&mut self) {
        self.state = State::Idle;
    }
}
