//! The matches that run: by their ids, in the order in which they were created, and by deal set.

use std::collections::btree_set::BTreeSet;
use std::collections::hash_map::{Entry, HashMap};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::message::Handle;
use crate::journal::{MatchId, UnixMillis};
use crate::table::{DealSetId, DealsKind, MatchInfo};

/// The place of a match in the order in which they were created.
pub(super) type Place = (UnixMillis, MatchId);

pub(super) const fn place(info: &MatchInfo) -> Place {
    (info.created_at, info.match_id)
}

/// The way to each running table.
#[derive(Debug, Default)]
pub(super) struct LiveMatches {
    /// Ids are random, and the server makes them: nobody can choose some that fall together.
    handles: FxHashMap<MatchId, Arc<Handle>>,
    in_order: BTreeSet<Place>,
    deal_sets: HashMap<DealSetId, Vec<MatchId>>,
}

impl LiveMatches {
    pub(super) fn len(&self) -> usize {
        self.handles.len()
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = MatchId> {
        self.handles.keys().copied()
    }

    pub(super) fn handles(&self) -> impl Iterator<Item = &Arc<Handle>> {
        self.handles.values()
    }

    /// The way to the table of a match that is not over.
    pub(super) fn handle(&self, match_id: MatchId) -> Option<&Arc<Handle>> {
        self.handles.get(&match_id).filter(|handle| handle.runs())
    }

    /// Those that come after a place in a list of them, the latest created first.
    pub(super) fn latest_first(&self, after: Option<Place>) -> impl Iterator<Item = (Place, &Arc<Handle>)> {
        let places = match after {
            None => self.in_order.range(..),
            Some(after) => self.in_order.range(..after),
        };
        places.rev().filter_map(|&place| Some((place, self.handles.get(&place.1)?)))
    }

    /// Whether a match of this deal set runs.
    pub(super) fn runs_one_of(&self, set: DealSetId) -> bool {
        self.deal_sets.get(&set).is_some_and(|ids| ids.iter().any(|id| self.handle(*id).is_some()))
    }

    pub(super) fn insert(&mut self, handle: Handle) {
        let (place, deals) = {
            let info = handle.info.borrow();
            (place(&info), info.deals)
        };
        self.in_order.insert(place);
        if let DealsKind::Shared(set) = deals {
            self.deal_sets.entry(set).or_default().push(place.1);
        }
        self.handles.insert(place.1, Arc::new(handle));
    }

    /// Whoever takes one out drops it without the lock of them all: with it may go all that has happened in the match.
    pub(super) fn remove(&mut self, match_id: MatchId) -> Option<Arc<Handle>> {
        let handle = self.handles.remove(&match_id)?;
        let info = handle.info.borrow();
        self.in_order.remove(&place(&info));
        if let DealsKind::Shared(set) = info.deals
            && let Entry::Occupied(mut ids) = self.deal_sets.entry(set)
        {
            ids.get_mut().retain(|id| *id != match_id);
            if ids.get().is_empty() {
                ids.remove();
            }
        }
        drop(info);
        Some(handle)
    }
}
