//! The way to the table of a match, kept by who acts there again and again.

use std::sync::{Arc, Weak};

use tokio::time::Instant;

use super::message::{Asked, Commanded, Handle, Promise};
use crate::prefetch::Place;
use crate::traces::Trace;

/// A table as it was found once. It keeps nothing of the match, and leads to nowhere once that is over.
#[derive(Debug)]
pub(crate) struct Way {
    handle: Weak<Handle>,
    /// Where that and what it leads to is, or was.
    places: [Place; 3],
}

impl Way {
    pub(super) fn new(handle: &Arc<Handle>) -> Self {
        let [counts, table] = handle.places();
        Self { handle: Arc::downgrade(handle), places: [Place::of(&**handle), counts, table] }
    }

    /// To no table.
    pub(crate) const fn nowhere() -> Self {
        Self { handle: Weak::new(), places: [Place::NOWHERE; 3] }
    }

    /// Whether anything is there for it to lead to.
    #[cfg(test)]
    pub(super) fn leads_on(&self) -> bool {
        self.handle.strong_count() > 0
    }

    /// Has what it takes to act fetched.
    pub(crate) fn fetch(&self) {
        self.places.into_iter().for_each(Place::fetch);
    }

    /// Asks the table without waiting, at this instant. Whoever is promised an answer has the command back where the match does not run,
    /// and where its table has no room.
    pub(crate) fn command_at_once(&self, promise: Promise, (trace, at): (Trace, Instant)) {
        let Some(handle) = self.handle.upgrade().filter(|handle| handle.runs()) else { return };
        let asked = Commanded { asked: Asked::of(trace, at), promise };
        if let Err(asked) = handle.at_once(asked) {
            // What is not taken is dropped, and its promise with it.
            handle.try_send(asked);
        }
    }
}
