//! Who holds a seat.

use std::sync::{Arc, Weak};

/// Who holds a seat: each join takes the seat from the join before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold(pub(super) u64);

#[cfg(test)]
impl Hold {
    /// That of the first join.
    pub(crate) const FIRST: Self = Self(1);
}

/// The player of a seat, as the table knows it.
#[derive(Debug, Default)]
pub(super) struct Holder {
    joins: u64,
    arriving: Weak<()>,
}

impl Holder {
    /// What the last join was given.
    pub(super) const fn hold(&self) -> Hold {
        Hold(self.joins)
    }

    /// Whether the player has joined and does not follow the match yet.
    pub(super) fn is_arriving(&self) -> bool {
        self.arriving.strong_count() > 0
    }

    /// Another join. The player is arriving as long as what is returned is kept.
    pub(super) fn join(&mut self) -> (Hold, Arc<()>) {
        let arriving = Arc::new(());
        *self = Self { joins: self.joins + 1, arriving: Arc::downgrade(&arriving) };
        (self.hold(), arriving)
    }
}
