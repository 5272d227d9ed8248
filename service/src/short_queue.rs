//! A queue in which there is one thing at a time, as a rule.

use std::{collections::VecDeque, iter};

/// What comes first goes out first. What comes when nothing is there is in the queue's own memory: a ring of a queue has a piece of
/// memory of its own, of which each thing touches another part.
#[derive(Debug)]
pub(crate) struct ShortQueue<T> {
    first: Option<T>,
    /// What came behind it.
    rest: VecDeque<T>,
}

impl<T> ShortQueue<T> {
    pub(crate) const fn new() -> Self {
        Self { first: None, rest: VecDeque::new() }
    }

    pub(crate) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none() && self.rest.is_empty()
    }

    pub(crate) fn push_back(&mut self, value: T) {
        if self.is_empty() {
            self.first = Some(value);
        } else {
            self.rest.push_back(value);
        }
    }

    pub(crate) fn pop_front(&mut self) -> Option<T> {
        self.first.take().or_else(|| self.rest.pop_front())
    }

    /// Takes out the first ones, so many at most.
    pub(crate) fn pop_some(&mut self, most: usize) -> impl Iterator<Item = T> {
        iter::from_fn(|| self.pop_front()).take(most)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.rest)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.first.iter_mut().chain(&mut self.rest)
    }

    /// Keeps room for so many behind the first, or for as many as there are.
    pub(crate) fn shrink_to(&mut self, room: usize) {
        self.rest.shrink_to(room);
    }
}

impl<T> Default for ShortQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_has_what_a_ring_has(steps in prop::collection::vec((any::<bool>(), 0usize..4), 0..200)) {
            let (mut queue, mut ring) = (ShortQueue::new(), VecDeque::new());
            for (number, (pushes, many)) in steps.into_iter().enumerate() {
                if pushes {
                    queue.push_back(number);
                    ring.push_back(number);
                } else {
                    let most = many.min(ring.len());
                    let popped: Vec<_> = ring.drain(..most).collect();
                    prop_assert_eq!(queue.pop_some(many).collect::<Vec<_>>(), popped);
                    queue.shrink_to(many);
                }
                prop_assert_eq!(queue.iter().collect::<Vec<_>>(), ring.iter().collect::<Vec<_>>());
                prop_assert_eq!(queue.iter_mut().collect::<Vec<_>>(), ring.iter_mut().collect::<Vec<_>>());
                prop_assert_eq!((queue.len(), queue.is_empty()), (ring.len(), ring.is_empty()));
            }
        }
    }
}
