//! When what is asked for is due: on a schedule that knows nothing of the server.

use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand_distr::{Distribution, Exp1};
use tokio::time::Instant;

use crate::plan::Rate;

/// Why something is done when it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A schedule said so.
    Schedule,
    /// Who does it had thought, or had a place for it.
    Thought,
}

/// Moments at which something is due, at random and so many a second on average, as if very many clients asked who know nothing of
/// each other (a Poisson process). Nothing holds it up: latencies that are counted from these moments have no coordinated omission.
///
/// In the time of the ramp the rate rises from nothing to the whole of it, linearly.
#[derive(Debug)]
pub(crate) struct Schedule {
    begin: Instant,
    per_second: f64,
    ramp: f64,
    /// Which part of all that is due is due here: from 0 to 1.
    part: f64,
    /// How many of all were to be expected until the next one that is due here.
    expected: f64,
    /// `None` if nothing is due here.
    next: Option<Instant>,
    random: StdRng,
}

impl Schedule {
    /// A schedule that begins at this moment. The same seed gives the same moments.
    pub(crate) fn new(begin: Instant, rate: Rate, ramp: Duration, seed: u64) -> Self {
        let mut schedule = Self {
            begin,
            per_second: rate.per_second(),
            ramp: ramp.as_secs_f64(),
            part: 1.0,
            expected: 0.0,
            next: None,
            random: StdRng::seed_from_u64(seed),
        };
        schedule.step();
        schedule
    }

    /// The same, of which nothing is due here until there is a [share](Self::share).
    pub(crate) fn without_share(self) -> Self {
        Self { part: 0.0, next: None, ..self }
    }

    /// From this moment on this part of it is due here. All that was due before must have been taken.
    pub(crate) fn share(&mut self, now: Instant, part: f64) {
        self.part = part;
        // What comes at random knows nothing of what came before: the next one can be drawn anew.
        self.expected = self.expected_until(now);
        self.step();
    }

    /// When the next one is due. `None`: no one is.
    pub(crate) const fn next(&self) -> Option<Instant> {
        self.next
    }

    /// When the next one was due, if that is now or before.
    pub(crate) fn due(&mut self, now: Instant) -> Option<Instant> {
        let due = self.next.filter(|due| *due <= now)?;
        self.step();
        Some(due)
    }

    fn step(&mut self) {
        if self.part <= 0.0 {
            self.next = None;
            return;
        }
        let gap: f64 = Exp1.sample(&mut self.random);
        self.expected += gap / self.part;
        // Until `t` in the ramp `rate t² / 2 ramp` are expected, half of `rate ramp` in all of it.
        let in_ramp = self.per_second * self.ramp / 2.0;
        let after = if self.expected < in_ramp {
            (2.0 * self.expected * self.ramp / self.per_second).sqrt()
        } else {
            self.expected / self.per_second + self.ramp / 2.0
        };
        self.next = Some(self.begin + Duration::from_secs_f64(after));
    }

    /// How many of all are to be expected from the begin to this moment.
    fn expected_until(&self, moment: Instant) -> f64 {
        let after = moment.saturating_duration_since(self.begin).as_secs_f64();
        if after < self.ramp {
            self.per_second * after * after / (2.0 * self.ramp)
        } else {
            self.per_second * (after - self.ramp / 2.0)
        }
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
        assert_eq!(dues.first(), first.as_ref());
        assert!(dues.is_sorted() && (800..1200).contains(&dues.len()), "{}", dues.len());
    }

    /// Three take turns in having a part, in the ramp too: together they have as many as one.
    #[test]
    fn parts_that_change_are_the_whole_all_the_time() {
        let begin = Instant::now();
        let rate = Rate::new(1000.0).unwrap();
        let schedule = |seed| Schedule::new(begin, rate, Duration::from_secs(10), seed).without_share();
        let mut parts = [1, 2, 3].map(schedule);
        assert!(parts.iter().all(|part| part.next().is_none()));
        let mut dues: Vec<Vec<Duration>> = vec![Vec::new(); parts.len()];
        for turn in 0..2_000 {
            let now = begin + 10 * turn * Duration::from_millis(1);
            let shares = [[0.5, 0.5, 0.0], [0.0, 0.2, 0.8], [0.0, 1.0, 0.0]];
            let shares = shares[usize::try_from(turn).unwrap() % shares.len()];
            for ((part, share), dues) in parts.iter_mut().zip(shares).zip(&mut dues) {
                dues.extend(std::iter::from_fn(|| part.due(now)).map(|due| due - begin));
                part.share(now, share);
            }
        }
        assert!(dues.iter().all(|dues| dues.is_sorted() && !dues.is_empty()));
        let of_all: Vec<Duration> = dues.into_iter().flatten().collect();
        let within = |from: u64, to: u64| {
            let [from, to] = [from, to].map(Duration::from_secs);
            let found = of_all.iter().filter(|due| (from..to).contains(due)).count();
            f64::from(u32::try_from(found).unwrap())
        };
        for (from, to, expected) in [(0, 5, 1_250.0), (5, 10, 3_750.0), (10, 19, 9_000.0)] {
            let found = within(from, to);
            assert!((found - expected).abs() < 4.0 * f64::sqrt(expected), "{from} s: {found} of {expected}");
        }
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
