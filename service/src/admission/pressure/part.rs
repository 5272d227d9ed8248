//! Which part of what is new is refused while the server is late.

use std::{
    hash::{BuildHasher, RandomState},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use super::level::in_time;

/// Which part of what is new is refused while the server is late. It is drawn each time: of two kinds that come in turn, one would
/// else be refused always and the other never.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// Of [`WHOLE`].
    refused: AtomicU64,
    hasher: RandomState,
    /// How many times it was drawn. The hash of that is the draw, which nobody can foresee.
    drawn: AtomicU64,
}

/// All is refused.
const WHOLE: u64 = 1 << 16;

impl Part {
    /// The server is so late. Nothing is refused while that is in time, and all from three quarters of what is too late on: in between
    /// as much is taken on as is done, and the server has always something to do.
    pub(super) fn set(&self, late: Duration, most: Duration) {
        let nothing = in_time(most);
        let all = 3 * most / 4;
        let above = late.saturating_sub(nothing).as_micros();
        // Where little is too late there is nothing in between.
        let part = above * u128::from(WHOLE) / all.saturating_sub(nothing).as_micros().max(1);
        self.refused.store(u64::try_from(part).unwrap_or(WHOLE).min(WHOLE), Relaxed);
    }

    /// Whether the next one is taken on.
    pub(super) fn spares(&self) -> bool {
        let draw = self.hasher.hash_one(self.drawn.fetch_add(1, Relaxed));
        draw % WHOLE >= self.refused.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 10,000 that come while the server is so late, so many are refused, if so late is too late.
    fn check(late_us: u64, most_ms: u64, refused: usize) {
        let part = Part::default();
        part.set(Duration::from_micros(late_us), Duration::from_millis(most_ms));
        let drawn = (0..10_000).filter(|_| !part.spares()).count();
        // At a half chance makes a difference of 50.
        let by_chance = match refused {
            0 | 10_000 => 0,
            _ => 600,
        };
        assert!(drawn.abs_diff(refused) <= by_chance, "{drawn} at {late_us} us of {most_ms} ms");
    }

    #[test]
    fn a_late_server_refuses_the_part_that_it_has_no_time_for() {
        check(0, 16, 0);
        check(4_000, 16, 0);
        check(5_000, 16, 1_250);
        check(6_000, 16, 2_500);
        check(8_000, 16, 5_000);
        check(11_000, 16, 8_750);
        check(12_000, 16, 10_000);
        check(1_000_000_000, 16, 10_000);
        check(2_500, 10, 0);
        check(5_000, 10, 5_000);
        check(7_500, 10, 10_000);
        check(u64::MAX, 60_000, 10_000);
    }

    #[test]
    fn an_idle_server_refuses_nothing_however_little_is_too_late() {
        check(2_000, 5, 0);
        check(2_875, 5, 5_000);
        check(3_750, 5, 10_000);
        check(2_000, 1, 0);
        check(2_001, 1, 10_000);
        check(2_000, 0, 0);
        check(2_001, 0, 10_000);
    }

    #[test]
    fn who_comes_at_every_second_turn_is_refused_no_more_than_others() {
        let part = Part::default();
        part.set(Duration::from_millis(8), Duration::from_millis(16));
        let spared: Vec<bool> = (0..20_000).map(|_| part.spares()).collect();
        for step in [2, 3, 4, 10] {
            for first in 0..step {
                let mine: Vec<bool> = spared.iter().skip(first).step_by(step).copied().collect();
                let taken_on = mine.iter().filter(|spared| **spared).count();
                // Of 2,000, the fewest, chance makes a difference of 22.
                let by_chance = mine.len() / 5;
                assert!(taken_on.abs_diff(mine.len() / 2) <= by_chance, "{taken_on} of {}", mine.len());
            }
        }
    }
}
