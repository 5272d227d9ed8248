//! Which decision may be answered, and from when on its answer counts.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::arrivals::Schedule;
use crate::owed::Owed;

/// Decides when a decision that is open is answered. `K` names a decision.
///
/// In a closed loop that is when its player has thought about it. With a schedule of actions it is when one is due: each moment of the
/// schedule goes to the decision that has waited longest. If none waits, the moment does: the next decision that comes is answered
/// at once, and its answer counts from the moment at which it was due. So whatever the server holds up is seen.
#[derive(Debug)]
pub(crate) struct Pacer<K> {
    /// What no other of the same schedule has a decision for.
    pooled: Pooled,
    timers: BinaryHeap<Reverse<Timer<K>>>,
    /// Timers that have been, for an order among those of the same moment.
    set: u64,
    paced: Option<Paced<K>>,
}

#[derive(Debug)]
struct Paced<K> {
    schedule: Schedule,
    waiting: VecDeque<K>,
    /// Moments that no decision was there for, the oldest first.
    owed: Owed,
    /// Moments that were due since this was last asked.
    offered: u64,
}

/// Moments of a schedule that fell to those who have nothing to answer any more: whoever has gives them a decision. A clone is the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pooled(Arc<Mutex<Owed>>);

impl Pooled {
    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, Owed> {
        // It is whole, whatever panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct Timer<K> {
    at: (Instant, u64),
    what: K,
}

impl<K> Pacer<K> {
    /// One for a closed loop. With a schedule it gives to others, and takes from them, by `pooled`.
    pub(crate) const fn closed(pooled: Pooled) -> Self {
        Self { pooled, timers: BinaryHeap::new(), set: 0, paced: None }
    }

    /// Nothing is waited for any more, and there is no schedule: what was [owed](Self::take_owed) by it is dropped, and so is all that was to
    /// be done later.
    pub(crate) fn end(&mut self) {
        self.timers.clear();
        self.paced = None;
    }

    /// From here on decisions are answered by this schedule. What was [owed](Self::take_owed) by the one before is dropped with it.
    pub(crate) fn follow(&mut self, schedule: Schedule) {
        let waiting = self.paced.take().map_or_else(VecDeque::new, |paced| paced.waiting);
        self.paced = Some(Paced { schedule, waiting, owed: Owed::default(), offered: 0 });
    }

    /// From here on decisions are answered when they were thought about. Those that wait are answered now.
    pub(crate) fn follow_none(&mut self, now: Instant) {
        for what in self.paced.take().into_iter().flat_map(|paced| paced.waiting) {
            self.at(now, what);
        }
    }

    /// From here on this part of the schedule falls to this one.
    pub(crate) fn share(&mut self, now: Instant, part: f64) {
        if let Some(paced) = &mut self.paced {
            paced.catch_up(now);
            paced.schedule.share(now, part);
        }
    }

    /// There is nothing to answer here: others are to do with what is owed.
    pub(crate) fn pool(&mut self) {
        if let Some(Paced { owed, .. }) = self.paced.as_mut().filter(|paced| !paced.owed.is_empty()) {
            self.pooled.lock().append(owed);
        }
    }

    /// The moments of the schedule until now that no decision was there for, here or with others.
    pub(crate) fn take_owed(&mut self, now: Instant) -> Owed {
        let Some(paced) = &mut self.paced else { return Owed::default() };
        paced.catch_up(now);
        let mut owed = std::mem::take(&mut paced.owed);
        owed.append(&mut self.pooled.lock());
        owed
    }

    /// Whether there is a schedule.
    pub(crate) const fn is_paced(&self) -> bool {
        self.paced.is_some()
    }

    /// A decision has come, about which its player thinks for so long.
    pub(crate) fn open(&mut self, now: Instant, think: Duration, what: K) {
        match &mut self.paced {
            Some(paced) => paced.waiting.push_back(what),
            None => self.at(now + think, what),
        }
    }

    /// Something is to be done at this moment, whatever the schedule.
    pub(crate) fn at(&mut self, moment: Instant, what: K) {
        self.set += 1;
        self.timers.push(Reverse(Timer { at: (moment, self.set), what }));
    }

    /// What is to be done now, with the moment at which it was due. Call it again until there is nothing.
    pub(crate) fn next(&mut self, now: Instant) -> Option<(Instant, K)> {
        if self.timers.peek().is_some_and(|Reverse(timer)| timer.at.0 <= now) {
            return self.timers.pop().map(|Reverse(Timer { at: (due, _), what })| (due, what));
        }
        let paced = self.paced.as_mut()?;
        paced.catch_up(now);
        let Paced { waiting, owed, .. } = paced;
        if waiting.is_empty() {
            return None;
        }
        let due = owed.pop_front().or_else(|| self.pooled.lock().pop_front())?;
        Some((due, waiting.pop_front()?))
    }

    /// The decision that this moment was given to is open no more: another gets it.
    pub(crate) fn give_back(&mut self, due: Instant) {
        if let Some(paced) = &mut self.paced {
            paced.owed.push_front(due);
        }
    }

    /// How many moments of the schedule were due since this was last asked.
    pub(crate) fn take_offered(&mut self) -> u64 {
        self.paced.as_mut().map_or(0, |paced| std::mem::take(&mut paced.offered))
    }

    /// When there may be something to be done next, unless a decision comes before.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let timer = self.timers.peek().map(|Reverse(timer)| timer.at.0);
        let due = self.paced.as_ref().map(|paced| match paced.owed.front() {
            Some(owed) if !paced.waiting.is_empty() => Some(owed),
            // It is counted when it is due, though no decision may be there for it.
            _ => paced.schedule.next(),
        });
        [timer, due.flatten()].into_iter().flatten().min()
    }
}

impl<K> Paced<K> {
    /// Notes what is due now.
    fn catch_up(&mut self, now: Instant) {
        while let Some(due) = self.schedule.due(now) {
            self.owed.push_back(due);
            self.offered += 1;
        }
    }
}

impl<K> PartialEq for Timer<K> {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl<K> Eq for Timer<K> {}

impl<K> PartialOrd for Timer<K> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<K> Ord for Timer<K> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.cmp(&other.at)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::plan::Rate;

    const MS: Duration = Duration::from_millis(1);

    fn schedule(begin: Instant, per_second: f64) -> Schedule {
        Schedule::new(begin, Rate::new(per_second).unwrap(), Duration::ZERO, 3)
    }

    #[test]
    fn in_a_closed_loop_an_answer_is_due_when_it_was_thought_of() {
        let now = Instant::now();
        let mut pacer = Pacer::closed(Pooled::default());
        pacer.open(now, 20 * MS, "slow");
        pacer.open(now, 5 * MS, "quick");
        pacer.open(now, Duration::ZERO, "at once");
        assert_eq!(pacer.next(now), Some((now, "at once")));
        assert_eq!((pacer.next(now), pacer.deadline()), (None, Some(now + 5 * MS)));
        // However late it is asked, the moment is the one that was meant.
        let late = now + 100 * MS;
        assert_eq!(pacer.next(late), Some((now + 5 * MS, "quick")));
        assert_eq!(pacer.next(late), Some((now + 20 * MS, "slow")));
        assert_eq!((pacer.next(late), pacer.deadline()), (None, None));
    }

    #[test]
    fn a_moment_that_no_decision_was_there_for_is_owed_and_counts() {
        let now = Instant::now();
        let mut pacer = Pacer::closed(Pooled::default());
        pacer.follow(schedule(now, 1000.0));
        let mut expected = schedule(now, 1000.0);
        // The server says nothing for a second.
        let later = now + 1000 * MS;
        assert_eq!(pacer.next(later), None);
        assert!((800..1200).contains(&pacer.take_offered()) && pacer.deadline().unwrap() > later);
        for decision in 0..100 {
            pacer.open(later, Duration::ZERO, decision);
        }
        for decision in 0..100 {
            let due = expected.due(later).unwrap();
            assert_eq!(pacer.next(later), Some((due, decision)), "the oldest moment first");
            assert!(later - due > 800 * MS, "it is as late as the server made it");
        }
    }

    #[test]
    fn what_falls_to_one_who_has_nothing_to_answer_goes_to_another() {
        let now = Instant::now();
        let pooled = Pooled::default();
        let [mut idle, mut busy] = [(), ()].map(|()| {
            let mut pacer: Pacer<&str> = Pacer::closed(pooled.clone());
            pacer.follow(schedule(now, 1000.0).without_share());
            pacer
        });
        idle.share(now, 1.0);
        let later = now + 1000 * MS;
        assert_eq!((idle.next(later), busy.next(later)), (None, None));
        idle.pool();
        idle.share(later, 0.0);
        busy.share(later, 1.0);
        assert!(!pooled.is_empty() && idle.deadline().is_none());
        busy.open(later, Duration::ZERO, "a");
        let (first, what) = busy.next(later).unwrap();
        let left: Vec<Instant> = busy.take_owed(later).into_moments().collect();
        assert!(what == "a" && first < left[0], "the oldest moment first");
        assert_eq!(u64::try_from(left.len()).unwrap() + 1, idle.take_offered());
        assert!(pooled.is_empty() && left.is_sorted());
    }

    #[test]
    fn a_decision_waits_for_its_moment_and_the_one_that_waited_longest_is_first() {
        let now = Instant::now();
        let mut pacer = Pacer::closed(Pooled::default());
        pacer.follow(schedule(now, 100.0));
        let first = schedule(now, 100.0).next().unwrap();
        pacer.open(now, 50 * MS, "a");
        pacer.open(now, Duration::ZERO, "b");
        assert_eq!((pacer.next(now), pacer.deadline()), (None, Some(first)));
        assert_eq!(pacer.next(first), Some((first, "a")));
        pacer.follow_none(first);
        assert_eq!(pacer.next(first), Some((first, "b")), "without a schedule nobody waits");
    }
}
