//! What a session is called by, in one piece of memory: each time that it runs it looks at all of it, and of very many sessions nothing
//! is in the processor's cache.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Wake, Waker},
};

use futures::task::AtomicWaker;

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
pub(super) struct Bell {
    /// Whether something may have happened since it was looked.
    has_rung: AtomicBool,
    session: AtomicWaker,
}

impl Default for Bell {
    /// Nothing has been looked at.
    fn default() -> Self {
        Self { has_rung: AtomicBool::new(true), session: AtomicWaker::new() }
    }
}

impl Bell {
    /// Whether it has rung since it was asked last. If not, the session of this waker is woken when it does.
    pub(super) fn has_rung(&self, session: &Waker) -> bool {
        if !self.has_rung.load(Ordering::Acquire) {
            return false;
        }
        // In this order: what rings from here on wakes the session, and what has rung before is seen by who looks now.
        self.session.register(session);
        self.has_rung.swap(false, Ordering::AcqRel)
    }

    /// Something is to be looked at when the session asks next.
    pub(super) fn is_to_be_looked_at(&self) {
        self.has_rung.store(true, Ordering::Release);
    }
}

impl Wake for Post {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    /// Rings the bell.
    fn wake_by_ref(self: &Arc<Self>) {
        self.bell.is_to_be_looked_at();
        self.bell.session.wake();
    }
}
