//! The way to the table of a match, kept by who acts there again and again.

use std::sync::{Arc, Weak};

use super::message::Handle;
use crate::prefetch::Place;

/// The way to a running table, found once. It keeps nothing of the match.
#[derive(Clone, Debug, Default)]
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

    /// The way itself, as long as the match is not over.
    pub(super) fn handle(&self) -> Option<Arc<Handle>> {
        self.handle.upgrade().filter(|handle| handle.runs())
    }

    /// Has what it takes to act fetched.
    pub(crate) fn fetch(&self) {
        self.places.into_iter().for_each(Place::fetch);
    }
}
