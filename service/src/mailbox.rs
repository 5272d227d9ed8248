//! A queue from many tasks to one.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::limits;
use crate::short_queue::ShortQueue;

/// What many put in and one takes out, in the order in which it came. It has no bound of its own: how much may come bounds it. Whoever
/// takes is woken once for all that has come since it found nothing.
#[derive(Debug)]
pub(crate) struct Mailbox<T>(Mutex<Inside<T>>);

#[derive(Debug)]
struct Inside<T> {
    letters: ShortQueue<T>,
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

    /// Notes something of the first ones, of as many as there are notes, and says of how many. Nothing is put in meanwhile.
    pub(crate) fn look<N>(&self, notes: &mut [N], note: impl Fn(&T) -> N) -> usize {
        let inside = self.lock();
        notes.iter_mut().zip(inside.letters.iter()).for_each(|(place, letter)| *place = note(letter));
        notes.len().min(inside.letters.len())
    }

    /// The next one, if it is there.
    pub(crate) fn take(&self) -> Option<T> {
        self.lock().letters.pop_front()
    }

    /// The next one. When there is none, the task of this context is woken for it.
    pub(crate) fn poll_take(&self, context: &Context<'_>) -> Poll<T> {
        let mut inside = self.lock();
        if let Some(letter) = inside.letters.pop_front() {
            return Poll::Ready(letter);
        }
        inside.waits(context);
        Poll::Pending
    }

    /// The next one, and those behind it, so many in all at most: they come to the end of what is given. When there is none, the task
    /// of this context is woken for it.
    pub(crate) fn poll_take_some(
        &self,
        context: &Context<'_>,
        most: usize,
        to: &mut ShortQueue<T>,
    ) -> Poll<()> {
        let mut inside = self.lock();
        if inside.letters.is_empty() {
            inside.waits(context);
            return Poll::Pending;
        }
        inside.letters.pop_some(most).for_each(|letter| to.push_back(letter));
        Poll::Ready(())
    }

    fn lock(&self) -> MutexGuard<'_, Inside<T>> {
        // It is whole, whatever panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Inside<T> {
    /// Nothing is there: the task of this context is woken for what comes.
    fn waits(&mut self, context: &Context<'_>) {
        self.letters.shrink_to(limits::MAILBOX_KEPT);
        // Mostly it is the same that found nothing before.
        if !self.taker.as_ref().is_some_and(|taker| taker.will_wake(context.waker())) {
            self.taker = Some(context.waker().clone());
        }
    }
}

impl<T> Default for Mailbox<T> {
    fn default() -> Self {
        Self(Mutex::new(Inside { letters: ShortQueue::new(), taker: None }))
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
        let look = |most| {
            let mut notes = vec![0; most];
            (mailbox.look(&mut notes, |letter| 10 * letter), notes)
        };
        assert_eq!([look(1), look(2), look(3)], [(1, vec![10]), (2, vec![10, 20]), (2, vec![10, 20, 0])]);
        assert_eq!((take().await, take().await), (1, 2));
        let putting = Arc::clone(&mailbox);
        let (taken, put) = tokio::join!(take(), async move { putting.put(3) });
        assert_eq!((taken, put), (3, ()));
    }

    #[tokio::test]
    async fn some_are_taken_at_once_in_order_and_whoever_finds_none_is_woken() {
        let mailbox = Arc::new(Mailbox::default());
        let mut some = ShortQueue::new();
        some.push_back(0);
        (1..=3).for_each(|letter| mailbox.put(letter));
        let take = async |most, some: &mut ShortQueue<i32>| {
            poll_fn(|context| mailbox.poll_take_some(context, most, some)).await;
        };
        take(2, &mut some).await;
        let has = |some: &ShortQueue<i32>| some.iter().copied().collect::<Vec<_>>();
        assert_eq!(has(&some), [0, 1, 2]);
        take(2, &mut some).await;
        assert_eq!(has(&some), [0, 1, 2, 3]);
        let putting = Arc::clone(&mailbox);
        tokio::join!(take(2, &mut some), async move { putting.put(4) });
        assert_eq!(has(&some), [0, 1, 2, 3, 4]);
    }
}
