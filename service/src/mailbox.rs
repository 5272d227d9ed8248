//! A queue from many tasks to one.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::limits;

/// What many put in and one takes out, in the order in which it came. It has no bound of its own: how much may come bounds it. Whoever
/// takes is woken once for all that has come since it found nothing.
#[derive(Debug)]
pub(crate) struct Mailbox<T>(Mutex<Inside<T>>);

#[derive(Debug)]
struct Inside<T> {
    letters: VecDeque<T>,
    taker: Option<Waker>,
}

impl<T> Mailbox<T> {
    pub(crate) fn put(&self, letter: T) {
        let mut inside = self.lock();
        inside.letters.push_back(letter);
        let taker = inside.taker.take();
        drop(inside);
        if let Some(taker) = taker {
            taker.wake();
        }
    }

    /// The next one, if it is there.
    pub(crate) fn take(&self) -> Option<T> {
        self.lock().letters.pop_front()
    }

    /// The next ones, so many at most.
    pub(crate) fn take_some(&self, most: usize, to: &mut VecDeque<T>) {
        let mut inside = self.lock();
        let most = most.min(inside.letters.len());
        to.extend(inside.letters.drain(..most));
    }

    /// The next one. When there is none, the task of this context is woken for it.
    pub(crate) fn poll_take(&self, context: &Context<'_>) -> Poll<T> {
        let mut inside = self.lock();
        if let Some(letter) = inside.letters.pop_front() {
            return Poll::Ready(letter);
        }
        inside.letters.shrink_to(limits::MAILBOX_KEPT);
        // Mostly it is the same that found nothing before.
        if !inside.taker.as_ref().is_some_and(|taker| taker.will_wake(context.waker())) {
            inside.taker = Some(context.waker().clone());
        }
        Poll::Pending
    }

    fn lock(&self) -> MutexGuard<'_, Inside<T>> {
        // It is whole, whatever panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Default for Mailbox<T> {
    fn default() -> Self {
        Self(Mutex::new(Inside { letters: VecDeque::new(), taker: None }))
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn what_many_put_in_comes_out_in_order_and_wakes_who_waits() {
        let mailbox = Arc::new(Mailbox::default());
        let take = || poll_fn(|context| mailbox.poll_take(context));
        mailbox.put(1);
        mailbox.put(2);
        assert_eq!((take().await, take().await), (1, 2));
        let putting = Arc::clone(&mailbox);
        let (taken, put) = tokio::join!(take(), async move { putting.put(3) });
        assert_eq!((taken, put), (3, ()));
    }
}
