//! What a session is called by, in one piece of memory: each time that it runs it looks at all of it, and of very many sessions nothing
//! is in the processor's cache.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Wake, Waker},
};

use super::ask::Asked;
use crate::{mailbox::Mailbox, matches::Answered};

/// It begins where a line of the processor's cache does.
#[derive(Default)]
#[repr(align(64))]
pub(super) struct Post {
    pub(super) bell: Bell,
    /// What tables that run have answered.
    pub(super) answers: Mailbox<(Asked, Answered)>,
    /// The handles of the seats that may have something to tell.
    pub(super) called: Mailbox<u32>,
}

/// What seldom happens rings it.
pub(super) struct Bell(Mutex<Rung>);

struct Rung {
    /// Whether something may have happened since it was looked.
    has_rung: bool,
    session: Option<Waker>,
}

impl Default for Bell {
    /// Nothing has been looked at.
    fn default() -> Self {
        Self(Mutex::new(Rung { has_rung: true, session: None }))
    }
}

impl Bell {
    /// Whether it has rung since it was asked last. The session of this waker is woken when it rings from now on.
    pub(super) fn has_rung(&self, session: &Waker) -> bool {
        let mut rung = self.lock();
        // Mostly it is the same that asked before.
        if !rung.session.as_ref().is_some_and(|before| before.will_wake(session)) {
            rung.session = Some(session.clone());
        }
        mem::take(&mut rung.has_rung)
    }

    /// Something is to be looked at when the session asks next.
    pub(super) fn is_to_be_looked_at(&self) {
        self.lock().has_rung = true;
    }

    /// Rings it. That it has, and who is woken, is one step: a session that was woken for it finds that it has rung.
    fn ring(&self) {
        let mut rung = self.lock();
        rung.has_rung = true;
        let session = rung.session.take();
        drop(rung);
        if let Some(session) = session {
            session.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Rung> {
        // It is whole, whatever panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Post {
    fn wake(self: Arc<Self>) {
        self.bell.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.bell.ring();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

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
        assert!(post.bell.has_rung(&waker), "nothing has been looked at");
        for round in 1..4 {
            // Asked for something else that woke it, or not: what rings next wakes it.
            (0..round).for_each(|_| assert!(!post.bell.has_rung(&waker)));
            let before = woken();
            rings.wake_by_ref();
            rings.wake_by_ref();
            assert_eq!(woken(), before + 1, "once for both");
            assert!(post.bell.has_rung(&waker));
            rings.wake_by_ref();
            assert_eq!(woken(), before + 2, "it rings while what it rang for is looked at");
            assert!(post.bell.has_rung(&waker));
        }
        // What is to be looked at by the session itself wakes nobody.
        let before = woken();
        post.bell.is_to_be_looked_at();
        assert_eq!((post.bell.has_rung(&waker), woken()), (true, before));
    }
}
