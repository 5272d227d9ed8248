//! When what is asked for is due: on a schedule that knows nothing of the server.

use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand_distr::{Distribution, Exp1};
use tokio::time::Instant;

use crate::plan::Rate;

/// Moments at which something is due, at random and so many a second on average, as if very many clients asked who know nothing of
/// each other (a Poisson process). Nothing holds it up: latencies that are counted from these moments have no coordinated omission.
///
/// In the time of the ramp the rate rises from nothing to the whole of it, linearly.
#[derive(Debug)]
pub(crate) struct Schedule {
    begin: Instant,
    per_second: f64,
    ramp: f64,
    /// How many were to be expected until the next one.
    expected: f64,
    next: Instant,
    random: StdRng,
}

impl Schedule {
    /// A schedule that begins at this moment. The same seed gives the same moments.
    pub(crate) fn new(begin: Instant, rate: Rate, ramp: Duration, seed: u64) -> Self {
        let mut schedule = Self {
            begin,
            per_second: rate.per_second(),
            ramp: ramp.as_secs_f64(),
            expected: 0.0,
            next: begin,
            random: StdRng::seed_from_u64(seed),
        };
        schedule.step();
        schedule
    }

    /// When the next one is due.
    pub(crate) const fn next(&self) -> Instant {
        self.next
    }

    /// When the next one was due, if that is now or before.
    pub(crate) fn due(&mut self, now: Instant) -> Option<Instant> {
        let due = self.next;
        (due <= now).then(|| {
            self.step();
            due
        })
    }

    fn step(&mut self) {
        let gap: f64 = Exp1.sample(&mut self.random);
        self.expected += gap;
        // Until `t` in the ramp `rate t² / 2 ramp` are expected, half of `rate ramp` in all of it.
        let in_ramp = self.per_second * self.ramp / 2.0;
        let after = if self.expected < in_ramp {
            (2.0 * self.expected * self.ramp / self.per_second).sqrt()
        } else {
            self.expected / self.per_second + self.ramp / 2.0
        };
        self.next = self.begin + Duration::from_secs_f64(after);
    }
}

/// How many matches are to be live at once, so long after the load began: `matches`, in the time of the ramp a part of them.
pub(crate) fn live_after(matches: usize, ramp: Duration, after: Duration) -> usize {
    if after >= ramp {
        return matches;
    }
    let matches = u128::try_from(matches).unwrap_or(u128::MAX);
    let part = matches.saturating_mul(after.as_nanos()).div_ceil(ramp.as_nanos().max(1));
    usize::try_from(part).unwrap_or(usize::MAX)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn dues(rate: f64, ramp: u64, until: u64) -> Vec<Duration> {
        let begin = Instant::now();
        let rate = Rate::new(rate).unwrap();
        let mut schedule = Schedule::new(begin, rate, Duration::from_secs(ramp), 7);
        let end = begin + Duration::from_secs(until);
        std::iter::from_fn(|| schedule.due(end)).map(|due| due - begin).collect()
    }

    #[test]
    fn as_many_are_due_as_the_rate_says_in_any_order_of_magnitude() {
        let check = |rate: f64, seconds: u64| {
            let expected = rate * f64::from(u32::try_from(seconds).unwrap());
            let found = f64::from(u32::try_from(dues(rate, 0, seconds).len()).unwrap());
            // Four standard deviations.
            assert!((found - expected).abs() < 4.0 * expected.sqrt(), "{found} of {expected}");
        };
        check(0.5, 10_000);
        check(1000.0, 60);
        check(100_000.0, 3);
    }

    #[test]
    fn the_rate_rises_in_the_time_of_the_ramp() {
        let dues = dues(1000.0, 10, 20);
        let within = |from: u64, to: u64| {
            let [from, to] = [from, to].map(Duration::from_secs);
            let found = dues.iter().filter(|due| (from..to).contains(due)).count();
            f64::from(u32::try_from(found).unwrap())
        };
        for (from, expected) in [(0, 50.0), (4, 450.0), (9, 950.0), (12, 1000.0)] {
            let found = within(from, from + 1);
            assert!(
                (found - expected).abs() < 4.0 * f64::sqrt(expected),
                "second {from}: {found} of {expected}"
            );
        }
    }

    #[test]
    fn a_schedule_waits_for_nobody() {
        let begin = Instant::now();
        let mut schedule = Schedule::new(begin, Rate::new(100.0).unwrap(), Duration::ZERO, 1);
        let first = schedule.next();
        assert_eq!(schedule.due(begin), None, "nothing is due before its time");
        // Nobody asks for ten seconds: all that was due meanwhile comes, with the moments at which it was.
        let late = begin + Duration::from_secs(10);
        let dues: Vec<Instant> = std::iter::from_fn(|| schedule.due(late)).collect();
        assert_eq!(dues.first(), Some(&first));
        assert!(dues.is_sorted() && (800..1200).contains(&dues.len()), "{}", dues.len());
    }

    #[test]
    fn matches_come_one_after_the_other_in_the_time_of_the_ramp() {
        let check = |after_ms, expected| {
            let live = live_after(100, Duration::from_secs(10), Duration::from_millis(after_ms));
            assert_eq!(live, expected, "after {after_ms} ms");
        };
        check(0, 0);
        check(1, 1);
        check(5_000, 50);
        check(9_999, 100);
        check(10_000, 100);
        assert_eq!(live_after(100, Duration::ZERO, Duration::ZERO), 100);
    }
}
