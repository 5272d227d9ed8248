//! How fast a client takes what waits for it: one that opens its windows a byte at a time takes nothing to speak of.

use tokio::time::Instant;

use crate::limits;

/// What a client has taken since when, while something waits for it.
#[derive(Debug, Default)]
pub(super) struct Pace {
    since: Option<Instant>,
    taken: u64,
}

impl Pace {
    /// Something waits. The clock is looked at if nothing did before.
    pub(super) fn waits(&mut self, now: impl FnOnce() -> Instant) {
        self.since.get_or_insert_with(now);
    }

    /// So many bytes were taken, and so many are left.
    pub(super) fn took(&mut self, bytes: u64, left: u64, now: Instant) {
        self.taken += bytes;
        let enough = limits::LEAST_BYTES_TAKEN.max(left / limits::PART_OF_QUEUED_BYTES_TAKEN);
        if left == 0 {
            *self = Self::default();
        } else if self.taken >= enough {
            *self = Self { since: Some(now), taken: 0 };
        }
    }

    /// Since when the client has taken too little of what waits.
    pub(super) const fn since(&self) -> Option<Instant> {
        self.since
    }

    /// Counts nothing as waiting for longer than this.
    pub(super) fn began_at_the_earliest(&mut self, at: Instant) {
        self.since = self.since.map(|since| since.max(at));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// How long one has taken too little, of whom so many bytes wait and who takes so many each second, for a minute.
    fn check(waiting: u64, each_second: u64, expected: Option<u64>) {
        let begun = Instant::now();
        let at = |second| begun + Duration::from_secs(second);
        let mut pace = Pace::default();
        pace.waits(|| begun);
        for second in 1..=60 {
            // What is taken comes again.
            pace.took(each_second, waiting, at(second));
        }
        let slow_for = pace.since().map(|since| at(60).duration_since(since).as_secs());
        assert_eq!(slow_for, expected, "{each_second} of {waiting}");
    }

    #[test]
    fn who_takes_next_to_nothing_is_as_slow_as_who_takes_nothing() {
        check(1024 * 1024, 0, Some(60));
        check(1024 * 1024, 256, Some(60));
        check(1024, 1, Some(60));
        // A spectator behind a thin line, and one of whom much waits.
        check(16 * 1024, 2 * 1024, Some(0));
        check(1024 * 1024, 64 * 1024, Some(0));
        check(1024 * 1024, 16 * 1024, Some(0));
        // All is taken.
        check(0, 1, None);
    }
}
