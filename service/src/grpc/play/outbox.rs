//! What a session has said and its client has yet to read.
//!
//! Most streams carry one message at a time: a channel has room for many from the start, which is memory that each message touches anew.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use futures::Stream;

use crate::{
    executor::{self, Part},
    limits,
    prefetch::Place,
    short_queue::ShortQueue,
    sleeper::Sleeper,
};

/// The side of the session. When it is dropped, what is in it is the last.
pub(super) struct Outbox<T>(Arc<Shared<T>>);

/// The side of the client: the body of the response.
pub(crate) struct Unread<T>(Arc<Shared<T>>);

struct Shared<T>(Mutex<Inside<T>>);

struct Inside<T> {
    unread: ShortQueue<T>,
    /// What waits for one more.
    reader: Sleeper,
    /// What waits for room.
    writer: Sleeper,
    /// What waits until nobody reads any more.
    watcher: Sleeper,
}

/// Nobody reads any more.
#[derive(Debug)]
pub(super) struct Closed;

/// An empty one.
pub(super) fn outbox<T>() -> (Outbox<T>, Unread<T>) {
    let inside = Inside {
        unread: ShortQueue::new(),
        reader: Sleeper::Awake,
        writer: Sleeper::Awake,
        watcher: Sleeper::Awake,
    };
    let shared = Arc::new(Shared(Mutex::new(inside)));
    (Outbox(Arc::clone(&shared)), Unread(shared))
}

impl<T> Outbox<T> {
    /// Where what is in it is.
    pub(super) fn place(&self) -> Place {
        Place::of(&*self.0)
    }

    /// For how many there is room now, on a stream of so many seats.
    pub(super) fn room(&self, seats: usize) -> usize {
        self.0.lock().room(seats)
    }

    /// Waits for room for one more, on a stream of so many seats.
    pub(super) fn poll_room(&self, seats: usize, context: &Context<'_>) -> Poll<Result<(), Closed>> {
        let mut inside = self.0.lock();
        if inside.reader.is_gone() {
            return Poll::Ready(Err(Closed));
        }
        if inside.room(seats) > 0 {
            return Poll::Ready(Ok(()));
        }
        inside.writer.sleep(context);
        Poll::Pending
    }

    /// Puts one in. Whoever does has waited for room.
    pub(super) fn put(&self, said: T) {
        let mut inside = self.0.lock();
        if inside.reader.is_gone() {
            return;
        }
        inside.unread.push_back(said);
        let reader = inside.reader.wake();
        drop(inside);
        reader.into_iter().for_each(Waker::wake);
    }

    /// Puts the last one in as soon as there is room for it, if anybody reads.
    pub(super) async fn send(&self, said: T) {
        if poll_fn(|context| self.poll_room(0, context)).await.is_ok() {
            self.put(said);
        }
    }

    /// Waits until nobody reads any more.
    pub(super) async fn closed(&self) {
        let gone = |context: &mut Context<'_>| {
            let mut inside = self.0.lock();
            if inside.reader.is_gone() {
                return Poll::Ready(());
            }
            inside.watcher.sleep(context);
            Poll::Pending
        };
        poll_fn(gone).await;
    }
}

impl<T> Drop for Outbox<T> {
    fn drop(&mut self) {
        let mut inside = self.0.lock();
        (inside.writer, inside.watcher) = (Sleeper::Gone, Sleeper::Awake);
        let reader = inside.reader.wake();
        drop(inside);
        reader.into_iter().for_each(Waker::wake);
    }
}

impl<T> Stream for Unread<T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut inside = self.0.lock();
        if let Some(said) = inside.unread.pop_front() {
            let writer = inside.writer.wake();
            drop(inside);
            writer.into_iter().for_each(Waker::wake);
            return Poll::Ready(Some(said));
        }
        if inside.writer.is_gone() {
            return Poll::Ready(None);
        }
        inside.reader.sleep(context);
        drop(inside);
        executor::has(Part::Outbox, Place::of(&*self.0));
        executor::has(Part::Body, Place::of(&*self));
        Poll::Pending
    }
}

impl<T> Drop for Unread<T> {
    fn drop(&mut self) {
        let mut inside = self.0.lock();
        inside.reader = Sleeper::Gone;
        let unread = std::mem::take(&mut inside.unread);
        let told = [inside.writer.wake(), inside.watcher.wake()];
        drop(inside);
        told.into_iter().flatten().for_each(Waker::wake);
        drop(unread);
    }
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, Inside<T>> {
        // It is whole, whatever panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Inside<T> {
    fn room(&self, seats: usize) -> usize {
        let most = seats.clamp(limits::LEAST_BUFFERED_ANSWERS, limits::MOST_BUFFERED_ANSWERS);
        most.saturating_sub(self.unread.len())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use futures::{FutureExt, StreamExt};

    use super::*;

    const LEAST: usize = limits::LEAST_BUFFERED_ANSWERS;
    const MOST: usize = limits::MOST_BUFFERED_ANSWERS;

    #[tokio::test]
    async fn what_is_said_is_read_in_order_and_the_last_ends_it() {
        let (outbox, unread) = outbox();
        let saying = async move {
            for said in 0..3 * LEAST {
                outbox.send(said).await;
            }
        };
        let ((), read) = tokio::join!(saying, unread.collect::<Vec<_>>());
        assert_eq!(read, (0..3 * LEAST).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn there_is_room_again_when_one_was_read() {
        let (outbox, mut unread) = outbox();
        assert_eq!(outbox.room(1), LEAST);
        (0..LEAST).for_each(|said| outbox.put(said));
        assert!(poll_fn(|context| outbox.poll_room(1, context)).now_or_never().is_none());
        let (room, read) = tokio::join!(poll_fn(|context| outbox.poll_room(1, context)), unread.next());
        assert_eq!((room.is_ok(), outbox.room(1), read), (true, 1, Some(0)));
    }

    #[test]
    fn there_is_room_for_one_of_each_seat_between_the_bounds() {
        let (outbox, _unread) = outbox();
        let seats = [0, 1, LEAST, LEAST + 1, MOST, MOST + 1, usize::MAX];
        let room = seats.map(|seats| outbox.room(seats));
        assert_eq!(room, [LEAST, LEAST, LEAST, LEAST + 1, MOST, MOST, MOST]);
        // Seats that were left take their room with them.
        (0..=LEAST).for_each(|said| outbox.put(said));
        assert_eq!([LEAST + 2, 1].map(|seats| outbox.room(seats)), [1, 0]);
    }

    #[tokio::test]
    async fn whoever_waits_is_told_when_nobody_reads_any_more() {
        let (outbox, unread) = outbox();
        (0..LEAST).for_each(|said| outbox.put(said));
        let (room, (), ()) =
            tokio::join!(poll_fn(|context| outbox.poll_room(1, context)), outbox.closed(), async move {
                drop(unread);
            });
        assert!(room.is_err());
        outbox.send(0).await;
    }
}
