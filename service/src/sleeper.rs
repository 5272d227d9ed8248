//! Who waits for something that others bring.

use std::task::{Context, Waker};

/// At most one who waits, and is woken once for all that has come since.
#[derive(Debug, Default)]
pub(crate) enum Sleeper {
    /// It has not asked yet, or has been woken.
    #[default]
    Awake,
    /// It waits.
    Asleep(Waker),
    /// It is not there any more.
    Gone,
}

impl Sleeper {
    /// The task of this context waits from now on.
    pub(crate) fn sleep(&mut self, context: &Context<'_>) {
        // Mostly it is the same as before.
        if !matches!(self, Self::Asleep(waker) if waker.will_wake(context.waker())) {
            *self = Self::Asleep(context.waker().clone());
        }
    }

    /// What wakes it, if it is to be woken: best without a lock.
    pub(crate) fn wake(&mut self) -> Option<Waker> {
        match std::mem::take(self) {
            Self::Asleep(waker) => Some(waker),
            awake @ (Self::Awake | Self::Gone) => {
                *self = awake;
                None
            }
        }
    }

    /// Whether it is not there any more.
    pub(crate) const fn is_gone(&self) -> bool {
        matches!(self, Self::Gone)
    }
}
