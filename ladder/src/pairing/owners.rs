//! Whose bots are in a match (`Owners`).

use std::collections::BTreeMap;

use super::bot::OwnerId;

/// How many bots of each owner there are among some, of which a match may have so many each.
#[derive(Clone, Debug)]
pub(super) struct Owners {
    counts: BTreeMap<OwnerId, usize>,
    most: usize,
    compatible: usize,
}

impl Owners {
    pub(super) const fn new(most: usize) -> Self {
        Self { counts: BTreeMap::new(), most, compatible: 0 }
    }

    /// Whether one more of this owner may be in the match.
    pub(super) fn has_room(&self, owner: OwnerId) -> bool {
        self.counts.get(&owner).is_none_or(|&count| count < self.most)
    }

    pub(super) fn add(&mut self, owner: OwnerId) {
        if self.has_room(owner) {
            self.compatible += 1;
        }
        *self.counts.entry(owner).or_default() += 1;
    }

    /// The most of them who could be in one match.
    pub(super) const fn compatible(&self) -> usize {
        self.compatible
    }
}
