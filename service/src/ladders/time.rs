//! By which clocks ladders go ([`LadderClock`]).

use std::sync::Arc;
use std::time::Duration;

use crate::journal::UnixMillis;
use crate::matches::Clock;
use crate::table::Moment;

/// A clock that differs by less was not put back: what is read one after the other is a little apart.
const STEP_MS: u64 = 1_000;

/// A moment of the ladders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Now {
    /// By the monotonic clock, in milliseconds: what bots wait by. It began with the wall clock of the start, so that what was before
    /// the start has a place on it.
    pub(super) steady_ms: u64,
    /// By the wall clock, which does not go back here: what is shown and what quotas and cool-downs go by.
    pub(super) wall: UnixMillis,
    /// By how much it is ahead of the machine's own, which was put back meanwhile, in milliseconds.
    lead_ms: u64,
}

impl Now {
    /// The same by the machine's own clock, as it is stored.
    pub(super) const fn stored(self) -> UnixMillis {
        UnixMillis::new(self.wall.get().saturating_sub(self.lead_ms))
    }

    /// The moment of a time that was stored by the machine's own clock: a moment ago, or before the start, when that may have been ahead.
    pub(super) fn of_stored(self, at: UnixMillis) -> Self {
        let at_ms = at.get().saturating_add(self.lead_ms);
        let wall_ms = if at_ms > self.wall.get().saturating_add(STEP_MS) { self.wall.get() } else { at_ms };
        let ago_ms = self.wall.get().saturating_sub(wall_ms);
        Self { steady_ms: self.steady_ms.saturating_sub(ago_ms), wall: UnixMillis::new(wall_ms), ..self }
    }
}

/// The clocks of the machine, without steps back: where its wall clock is put back, this one goes on from where it was by the monotonic
/// one, until the other is past it or the server is started again.
pub(super) struct LadderClock {
    clock: Arc<dyn Clock>,
    /// The wall clock of the start less the monotonic one of then.
    began_ms: u64,
    /// The wall clock less the monotonic one, the most that it was.
    ahead_ms: u64,
}

impl LadderClock {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        let ahead_ms = Self::ahead(&*clock).0;
        Self { clock, began_ms: ahead_ms, ahead_ms }
    }

    pub(super) fn now(&mut self) -> Now {
        let (ahead_ms, steady_ms) = Self::ahead(&*self.clock);
        self.ahead_ms = self.ahead_ms.max(ahead_ms);
        Now {
            steady_ms: self.began_ms + steady_ms,
            wall: UnixMillis::new(self.ahead_ms + steady_ms),
            lead_ms: Some(self.ahead_ms - ahead_ms).filter(|lead| *lead >= STEP_MS).unwrap_or(0),
        }
    }

    /// The wall clock less the monotonic one, and the monotonic one.
    fn ahead(clock: &dyn Clock) -> (u64, u64) {
        // In this order, so that a pause in between makes it less, and the most of all is right.
        let wall_ms = clock.wall().get();
        let steady = clock.now().since(Moment::since_start(Duration::ZERO));
        let steady_ms = u64::try_from(steady.as_millis()).unwrap_or(u64::MAX);
        (wall_ms.saturating_sub(steady_ms), steady_ms)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// What the wall clock and the monotonic one show, in milliseconds.
    struct Set(Mutex<(u64, u64)>);

    impl Clock for Set {
        fn now(&self) -> Moment {
            Moment::since_start(Duration::from_millis(self.0.lock().unwrap().1))
        }

        fn wall(&self) -> UnixMillis {
            UnixMillis::new(self.0.lock().unwrap().0)
        }
    }

    const HOUR: u64 = 3_600_000;

    #[test]
    fn a_clock_that_is_put_back_goes_on_from_where_it_was_and_what_is_stored_then_is_of_now() {
        let set = Arc::new(Set(Mutex::new((9 * HOUR, 50))));
        let mut clock = LadderClock::new(Arc::<Set>::clone(&set));
        let mut at = |wall, steady| {
            *set.0.lock().unwrap() = (wall, steady);
            clock.now()
        };
        let begun = at(9 * HOUR, 50);
        assert_eq!((begun.steady_ms, begun.wall.get(), begun.lead_ms), (9 * HOUR, 9 * HOUR, 0));
        // Put back by an hour, a minute later.
        let back = at(8 * HOUR + 60_000, 60_050);
        assert_eq!((back.steady_ms, back.wall.get()), (9 * HOUR + 60_000, 9 * HOUR + 60_000));
        let stored = back.of_stored(UnixMillis::new(8 * HOUR + 59_000));
        assert_eq!((stored.steady_ms, stored.wall.get()), (9 * HOUR + 59_000, 9 * HOUR + 59_000));
        // What is stored of a moment is of that moment again.
        assert_eq!((back.stored().get(), back.of_stored(back.stored())), (8 * HOUR + 60_000, back));
        // Put forward by three hours: nobody has waited longer for it.
        let forward = at(11 * HOUR + 60_000, 60_050);
        assert_eq!((forward.steady_ms, forward.wall.get()), (9 * HOUR + 60_000, 11 * HOUR + 60_000));
        assert_eq!(forward.lead_ms, 0);
        // A little apart is no step.
        assert_eq!(at(11 * HOUR + 60_990, 61_050).lead_ms, 0);
    }

    #[test]
    fn what_is_stored_by_a_clock_that_was_ahead_was_now_and_what_is_older_was_when_it_was() {
        let mut clock = LadderClock::new(Arc::new(Set(Mutex::new((9 * HOUR, 0)))));
        let now = clock.now();
        for (stored, wall, steady) in [
            (20 * HOUR, 9 * HOUR, 9 * HOUR),
            (9 * HOUR + 5, 9 * HOUR + 5, 9 * HOUR),
            (8 * HOUR, 8 * HOUR, 8 * HOUR),
        ] {
            let then = now.of_stored(UnixMillis::new(stored));
            assert_eq!((then.wall.get(), then.steady_ms), (wall, steady), "{stored}");
        }
    }
}
