//! How many actions are in flight at once.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Lets so many actions through at once. Those that come when there is no room wait in a row.
pub(super) struct Gate<T>(Mutex<Inner<T>>);

struct Inner<T> {
    room: usize,
    waiting: VecDeque<T>,
}

impl<T> Gate<T> {
    pub(super) const fn new(room: usize) -> Self {
        Self(Mutex::new(Inner { room, waiting: VecDeque::new() }))
    }

    /// Gives an action back if it may go now.
    pub(super) fn enter(&self, action: T) -> Option<T> {
        let mut inner = self.lock();
        if inner.room > 0 {
            inner.room -= 1;
            return Some(action);
        }
        inner.waiting.push_back(action);
        None
    }

    /// One has come through. Gives the next one that may go.
    pub(super) fn leave(&self) -> Option<T> {
        let mut inner = self.lock();
        let next = inner.waiting.pop_front();
        if next.is_none() {
            inner.room += 1;
        }
        next
    }

    fn lock(&self) -> MutexGuard<'_, Inner<T>> {
        // It is whole, whatever panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_go_at_once_than_there_is_room_for_and_the_first_that_waits_goes_next() {
        let gate = Gate::new(2);
        assert_eq!(
            [gate.enter(1), gate.enter(2), gate.enter(3), gate.enter(4)],
            [Some(1), Some(2), None, None]
        );
        assert_eq!([gate.leave(), gate.leave(), gate.leave()], [Some(3), Some(4), None]);
        assert_eq!([gate.enter(5), gate.enter(6)], [Some(5), None]);
    }
}
