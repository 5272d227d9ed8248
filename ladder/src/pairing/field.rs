//! Who is left to be paired in a round (`Field`).

use std::collections::BTreeMap;

use super::bot::OwnerId;
use super::candidate::Candidate;

/// Who is left to be paired in a round, in the order of rating: whoever is paired is taken out, and each knows its neighbours.
#[derive(Debug)]
pub(super) struct Field<'a> {
    candidates: Vec<Candidate<'a>>,
    left: Vec<bool>,
    lower: Vec<Option<usize>>,
    higher: Vec<Option<usize>>,
    owners: BTreeMap<OwnerId, usize>,
    most_of_an_owner: usize,
    /// The most of those that are left who could be in one match, if it were as large as one likes.
    compatible: usize,
    most_uncertain: f64,
}

impl<'a> Field<'a> {
    pub(super) fn new(mut candidates: Vec<Candidate<'a>>, most_of_an_owner: usize) -> Self {
        candidates.sort_by(|a, b| {
            a.strength.rating().total_cmp(&b.strength.rating()).then_with(|| a.id.cmp(&b.id))
        });
        let count = candidates.len();
        let mut owners: BTreeMap<OwnerId, usize> = BTreeMap::new();
        for candidate in &candidates {
            *owners.entry(candidate.owner()).or_default() += 1;
        }
        Self {
            left: vec![true; count],
            lower: (0..count).map(|index| index.checked_sub(1)).collect(),
            higher: (0..count).map(|index| (index + 1 < count).then_some(index + 1)).collect(),
            compatible: owners.values().map(|&bots| bots.min(most_of_an_owner)).sum(),
            most_uncertain: candidates.iter().map(|one| one.strength.uncertainty()).fold(0.0, f64::max),
            candidates,
            owners,
            most_of_an_owner,
        }
    }

    /// All, as they were at the beginning, by index: who waits longest first, then by number.
    pub(super) fn by_waiting(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.candidates.len()).collect();
        order.sort_by_key(|&index| (self.candidates[index].since_ms, self.candidates[index].id));
        order
    }

    pub(super) fn candidate(&self, index: usize) -> &Candidate<'a> {
        &self.candidates[index]
    }

    pub(super) fn is_left(&self, index: usize) -> bool {
        self.left[index]
    }

    pub(super) const fn most_uncertain(&self) -> f64 {
        self.most_uncertain
    }

    /// Whether a match of so many can be made of those that are left, whichever of them is to be in it.
    pub(super) const fn has_match(&self, players: usize) -> bool {
        self.compatible >= players
    }

    pub(super) fn remove(&mut self, index: usize) {
        if !self.left[index] {
            return;
        }
        self.left[index] = false;
        let (lower, higher) = (self.lower[index], self.higher[index]);
        if let Some(lower) = lower {
            self.higher[lower] = higher;
        }
        if let Some(higher) = higher {
            self.lower[higher] = lower;
        }
        if let Some(bots) = self.owners.get_mut(&self.candidates[index].owner()) {
            if *bots <= self.most_of_an_owner {
                self.compatible -= 1;
            }
            *bots -= 1;
        }
    }

    /// The others that are left, nearest in rating first; of two that are as near, the lower.
    pub(super) fn nearest(&self, index: usize) -> impl Iterator<Item = usize> {
        let (mut lower, mut higher) = (self.lower[index], self.higher[index]);
        let apart = move |other: usize| self.candidates[index].apart(&self.candidates[other]);
        std::iter::from_fn(move || {
            let takes_lower = match (lower, higher) {
                (Some(lower), Some(higher)) => apart(lower) <= apart(higher),
                (lower, _) => lower.is_some(),
            };
            if takes_lower {
                let taken = lower?;
                lower = self.lower[taken];
                Some(taken)
            } else {
                let taken = higher?;
                higher = self.higher[taken];
                Some(taken)
            }
        })
    }
}
