//! What a stream is called by, in one piece of memory and under one lock: each time that it runs it looks at all of it, and of very many
//! streams nothing is in the processor's cache.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Wake, Waker},
};

use super::ask::Asked;
use crate::{limits, matches::Answered, prefetch, short_queue::ShortQueue};

/// It begins where a line of the processor's cache does.
#[derive(Default)]
#[repr(align(64))]
pub(super) struct Post(Mutex<Inside>);

/// What tables that run have answered.
pub(super) type Answers = ShortQueue<(Asked, Answered)>;

struct Inside {
    /// Whether something that seldom happens may have happened since the session looked.
    has_rung: bool,
    session: Option<Waker>,
    /// The handles of the seats that may have something to tell, in the order in which they called.
    called: ShortQueue<u32>,
    answers: Answers,
    /// Whoever takes these out, and has found nothing. It is woken once for all that comes.
    taker: Option<Waker>,
}

impl Default for Inside {
    fn default() -> Self {
        let (called, answers) = (ShortQueue::new(), ShortQueue::new());
        // Nothing has been looked at.
        Self { has_rung: true, session: None, called, answers, taker: None }
    }
}

impl Post {
    /// Whether it has rung since it was asked last. The session of this waker is woken when it rings from now on.
    pub(super) fn has_rung(&self, session: &Waker) -> bool {
        let mut inside = self.lock();
        keep(&mut inside.session, session);
        mem::take(&mut inside.has_rung)
    }

    /// Something is to be looked at when the session asks next.
    pub(super) fn is_to_be_looked_at(&self) {
        self.lock().has_rung = true;
    }

    /// Rings for the session. That it has, and who is woken, is one step: a session that was woken for it finds that it has rung.
    pub(super) fn ring(&self) {
        let session = self.lock().ring();
        session.into_iter().for_each(Waker::wake);
    }

    /// The seat of this handle may have something to tell.
    pub(super) fn call(&self, handle: u32) {
        let mut inside = self.lock();
        inside.called.push_back(handle);
        let taker = inside.taker.take();
        drop(inside);
        taker.into_iter().for_each(Waker::wake);
    }

    /// A table has answered what it was asked.
    pub(super) fn answer(&self, asked: Asked, answered: Answered) {
        let mut inside = self.lock();
        // The session asks again what was not taken, however slowly its client reads.
        let session = if answered.is_err() { inside.ring() } else { None };
        inside.answers.push_back((asked, answered));
        let taker = inside.taker.take();
        drop(inside);
        taker.into_iter().chain(session).for_each(Waker::wake);
    }

    /// Takes out some answers, and who has called, some of these too, to the end of what is given. Where nothing is there, the task of this
    /// context is woken for what comes.
    pub(super) fn take(&self, context: &Context<'_>, called: &mut ShortQueue<u32>) -> Poll<Answers> {
        let mut inside = self.lock();
        if inside.is_empty() {
            inside.called.shrink_to(limits::LETTERS_KEPT);
            inside.answers.shrink_to(limits::LETTERS_KEPT);
            keep(&mut inside.taker, context.waker());
            return Poll::Pending;
        }
        inside.called.pop_some(prefetch::AT_ONCE).for_each(|handle| called.push_back(handle));
        Poll::Ready(inside.some_answers())
    }

    /// Whether nothing is there to be taken out now.
    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Takes out some answers.
    pub(super) fn answers(&self) -> Answers {
        self.lock().some_answers()
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        // It is whole, whatever panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inside {
    fn is_empty(&self) -> bool {
        self.called.is_empty() && self.answers.is_empty()
    }

    /// It has rung. The answer is who is to be woken.
    const fn ring(&mut self) -> Option<Waker> {
        self.has_rung = true;
        self.session.take()
    }

    fn some_answers(&mut self) -> Answers {
        let mut answers = ShortQueue::new();
        self.answers.pop_some(prefetch::AT_ONCE).for_each(|answer| answers.push_back(answer));
        answers
    }
}

/// Keeps who is to be woken. Mostly it is the same as before.
fn keep(kept: &mut Option<Waker>, waker: &Waker) {
    if !kept.as_ref().is_some_and(|before| before.will_wake(waker)) {
        *kept = Some(waker.clone());
    }
}

impl Wake for Post {
    fn wake(self: Arc<Self>) {
        self.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::poll_fn,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use super::*;

    #[derive(Default)]
    struct Session(AtomicUsize);

    impl Wake for Session {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn whoever_has_asked_is_woken_by_the_next_ring_however_the_last_was_heard() {
        let (post, session) = (Arc::<Post>::default(), Arc::<Session>::default());
        let (rings, waker) = (Waker::from(Arc::clone(&post)), Waker::from(Arc::clone(&session)));
        let woken = || session.0.load(Ordering::Relaxed);
        assert!(post.has_rung(&waker), "nothing has been looked at");
        for round in 1..4 {
            // Asked for something else that woke it, or not: what rings next wakes it.
            (0..round).for_each(|_| assert!(!post.has_rung(&waker)));
            let before = woken();
            rings.wake_by_ref();
            rings.wake_by_ref();
            assert_eq!(woken(), before + 1, "once for both");
            assert!(post.has_rung(&waker));
            rings.wake_by_ref();
            assert_eq!(woken(), before + 2, "it rings while what it rang for is looked at");
            assert!(post.has_rung(&waker));
        }
        // What is to be looked at by the session itself wakes nobody.
        let before = woken();
        post.is_to_be_looked_at();
        assert_eq!((post.has_rung(&waker), woken()), (true, before));
    }

    /// Waits until seats have called, and takes some of them out.
    async fn called(post: &Post) -> Vec<u32> {
        poll_fn(|context| {
            let mut called = ShortQueue::new();
            post.take(context, &mut called).map(|answers| {
                assert!(answers.is_empty(), "no table was asked");
                called.iter().copied().collect()
            })
        })
        .await
    }

    #[tokio::test]
    async fn some_that_have_called_are_taken_at_once_in_order_and_whoever_finds_none_is_woken() {
        let post = Arc::<Post>::default();
        (0..20).for_each(|handle| post.call(handle));
        assert_eq!(called(&post).await, (0..16).collect::<Vec<_>>());
        assert_eq!(called(&post).await, (16..20).collect::<Vec<_>>());
        let (called, ()) = tokio::join!(called(&post), async {
            post.call(20);
            post.call(21);
        });
        assert_eq!(called, [20, 21]);
    }
}
