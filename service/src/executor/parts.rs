//! What a task has elsewhere in memory and needs whenever it runs: it is fetched with the task.

use std::{
    cell::Cell,
    sync::atomic::{AtomicUsize, Ordering},
};

use crate::prefetch::Place;

/// Which of them. A task has one of each at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// What those that listen to seats are called by.
    Post,
    /// The seats of a Play stream, and what its client is told.
    Seats,
    /// What answers a call, and then the body of its response; of a session the body of its request. They are in boxes of their own.
    Body,
    /// What the only seat that is listened to calls by, and the queue of its subscription.
    Call,
    Queue,
}

/// How many there are.
const PARTS: usize = Part::Queue as usize + 1;

/// Where a task has its parts. They are hints: of one that is no more, what is there now is fetched.
#[derive(Debug, Default)]
pub(super) struct Parts([AtomicUsize; PARTS]);

impl Parts {
    /// Where they are.
    pub(super) fn places(&self) -> [Place; PARTS] {
        self.0.each_ref().map(|part| Place::from_bits(part.load(Ordering::Relaxed)))
    }

    /// Takes in what was told in this thread since [`forget`].
    pub(super) fn take_told(&self) {
        TOLD.with(|told| {
            for (part, told) in self.0.iter().zip(told) {
                if let Some(place) = told.take() {
                    part.store(place.bits(), Ordering::Relaxed);
                }
            }
        });
    }
}

thread_local! {
    /// What the task that runs in this thread has told.
    static TOLD: [Cell<Option<Place>>; PARTS] = const { [const { Cell::new(None) }; PARTS] };
}

/// Nothing was told of the task that is about to run.
pub(super) fn forget() {
    TOLD.with(|told| told.iter().for_each(|part| part.set(None)));
}

/// The task that runs here has this part there, or nowhere. It is fetched before its turns, until it is told that the part is elsewhere.
pub(crate) fn has(part: Part, place: Place) {
    TOLD.with(|told| told[part as usize].set(Some(place)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(parts: &Parts, expected: &[(Part, Place)]) {
        let bits = |place: Place| place.bits();
        let mut all = [0; PARTS];
        for &(part, place) in expected {
            all[part as usize] = place.bits();
        }
        assert_eq!(parts.places().map(bits), all);
        parts.places().into_iter().for_each(Place::fetch);
    }

    #[test]
    fn a_task_keeps_what_was_told_of_each_part_last_and_nothing_of_another_task() {
        let (one, another) = (Parts::default(), Parts::default());
        let things = [[0u64; 100]; 4];
        let [a, b, c, d] = things.each_ref().map(Place::of);
        has(Part::Call, d);
        forget();
        has(Part::Post, a);
        has(Part::Queue, b);
        has(Part::Queue, c);
        one.take_told();
        another.take_told();
        check(&one, &[(Part::Post, a), (Part::Queue, c)]);
        check(&another, &[]);
        has(Part::Post, d);
        has(Part::Queue, Place::NOWHERE);
        one.take_told();
        check(&one, &[(Part::Post, d)]);
    }
}
