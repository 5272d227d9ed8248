//! Moments at which something was due, for which nothing was there yet.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// Moments that are told apart, however near they are. One that comes behind so many waits far longer than [`APART`].
const TOLD_APART: usize = 65_536;
/// Beyond those, moments within so short a time are one moment, the first of them: what waits for it seems to wait longer by less than this.
const APART: Duration = Duration::from_millis(1);

/// Moments, the oldest first. A server that can't keep up with a schedule owes more and more of them: beyond 65,536 those within a
/// millisecond are one that comes more than once, so that each minute takes 60,000 entries at most, whatever the rate.
#[derive(Debug, Default)]
pub(crate) struct Owed {
    runs: VecDeque<Run>,
}

/// A moment that comes so many times.
#[derive(Clone, Copy, Debug)]
struct Run {
    moment: Instant,
    times: u64,
}

impl Owed {
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The oldest of them.
    pub(crate) fn front(&self) -> Option<Instant> {
        self.runs.front().map(|run| run.moment)
    }

    /// Adds one that was due after the others.
    pub(crate) fn push_back(&mut self, moment: Instant) {
        let is_far_behind = self.runs.len() >= TOLD_APART;
        match self.runs.back_mut() {
            Some(last) if is_far_behind && moment.saturating_duration_since(last.moment) < APART => {
                last.times += 1;
            }
            _ => self.runs.push_back(Run { moment, times: 1 }),
        }
    }

    /// Puts back one that was taken.
    pub(crate) fn push_front(&mut self, moment: Instant) {
        match self.runs.front_mut().filter(|first| first.moment == moment) {
            Some(first) => first.times += 1,
            None => self.runs.push_front(Run { moment, times: 1 }),
        }
    }

    /// Takes the oldest of them.
    pub(crate) fn pop_front(&mut self) -> Option<Instant> {
        let first = self.runs.front_mut()?;
        let moment = first.moment;
        first.times -= 1;
        if first.times == 0 {
            self.runs.pop_front();
        }
        Some(moment)
    }

    /// Takes all of another.
    pub(crate) fn append(&mut self, other: &mut Self) {
        self.runs.append(&mut other.runs);
    }

    /// All of them, one by one.
    pub(crate) fn into_moments(self) -> impl Iterator<Item = Instant> {
        self.runs.into_iter().flat_map(|run| (0..run.times).map(move |_| run.moment))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// So many a second for ten seconds, in steps of this many nanoseconds.
    fn owed_for_ten_seconds(begin: Instant, step: Duration) -> (Owed, u32) {
        let moments = u32::try_from(Duration::from_secs(10).as_nanos() / step.as_nanos()).unwrap();
        let mut owed = Owed::default();
        for moment in 0..moments {
            owed.push_back(begin + step * moment);
        }
        (owed, moments)
    }

    #[test]
    fn millions_of_moments_take_little_and_each_is_there_to_a_millisecond() {
        let (begin, step) = (Instant::now(), Duration::from_nanos(500));
        let (owed, moments) = owed_for_ten_seconds(begin, step);
        assert_eq!(moments, 20_000_000);
        assert!(owed.runs.len() <= TOLD_APART + 10_000, "{} entries", owed.runs.len());
        let mut expected = begin;
        let mut count = 0;
        for moment in owed.into_moments() {
            let early = expected.duration_since(moment);
            assert!(early < APART && (count >= TOLD_APART || early.is_zero()), "{early:?} early");
            expected += step;
            count += 1;
        }
        assert_eq!(count, 20_000_000);
    }

    #[test]
    fn few_moments_are_told_apart_however_near_they_are() {
        let (begin, step) = (Instant::now(), Duration::from_micros(200));
        let (owed, moments) = owed_for_ten_seconds(begin, step);
        assert!(owed.into_moments().eq((0..moments).map(|moment| begin + step * moment)));
    }

    #[test]
    fn what_is_taken_is_the_oldest_and_what_is_put_back_is_the_next() {
        let (begin, step) = (Instant::now(), Duration::from_micros(2));
        let (mut owed, moments) = owed_for_ten_seconds(begin, step);
        let mut taken = Vec::new();
        while let Some(moment) = owed.pop_front() {
            if taken.len() % 3 == 0 {
                owed.push_front(moment);
                assert_eq!(owed.front(), Some(moment));
                assert_eq!(owed.pop_front(), Some(moment));
            }
            taken.push(moment);
        }
        assert!(owed.is_empty() && taken.is_sorted());
        assert_eq!(taken.len(), usize::try_from(moments).unwrap());
    }

    #[test]
    fn what_others_owe_is_added_as_it_is() {
        let begin = Instant::now();
        let (mut owed, some) = owed_for_ten_seconds(begin, Duration::from_millis(1));
        let (mut others, more) = owed_for_ten_seconds(begin, Duration::from_micros(10));
        owed.append(&mut others);
        assert!(others.is_empty());
        assert_eq!(owed.into_moments().count(), usize::try_from(some + more).unwrap());
    }
}
