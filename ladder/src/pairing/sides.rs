//! Who is on whose side.

use super::candidate::Candidate;
use super::settings::{PairingSettings, SameOwner};

/// A number of a side for each of a group: of all splits that part the bots of one owner, unless the ladder lets them be partners, that
/// which makes the sides as strong as one another and has the fewest partners of lately. The first such one, in the group's order.
pub(super) fn split(settings: &PairingSettings, group: &[Candidate<'_>]) -> Vec<usize> {
    let sides = settings.sides();
    if sides == group.len() {
        return (0..sides).collect();
    }
    let mut search = Search { settings, group, sides, split: Vec::new(), best: None };
    search.go();
    // A group has no more bots of one owner than sides, where they are parted: so there is a split.
    search.best.map_or_else(|| (0..group.len()).map(|index| index % sides).collect(), |(_, split)| split)
}

struct Search<'a> {
    settings: &'a PairingSettings,
    group: &'a [Candidate<'a>],
    sides: usize,
    split: Vec<usize>,
    best: Option<(f64, Vec<usize>)>,
}

impl Search<'_> {
    /// Tries all sides for the next of the group. Sides are numbered as they come, so that no split is tried under two names.
    fn go(&mut self) {
        let next = self.split.len();
        if next == self.group.len() {
            let cost = self.cost();
            if self.best.as_ref().is_none_or(|(best, _)| cost < *best) {
                self.best = Some((cost, self.split.clone()));
            }
            return;
        }
        let named = self.split.iter().max().map_or(0, |side| side + 1);
        for side in 0..self.sides.min(named + 1) {
            if self.may_join(next, side) {
                self.split.push(side);
                self.go();
                self.split.pop();
            }
        }
    }

    fn members(&self, side: usize) -> impl Iterator<Item = &Candidate<'_>> + Clone {
        self.split.iter().zip(self.group).filter(move |&(&of, _)| of == side).map(|(_, candidate)| candidate)
    }

    fn may_join(&self, next: usize, side: usize) -> bool {
        let room = self.members(side).count() < self.group.len() / self.sides;
        let owner = self.group[next].owner();
        let partners = self.settings.same_owner == SameOwner::Anywhere;
        room && (partners || self.members(side).all(|member| member.owner() != owner))
    }

    /// In points: by how much the mean ratings of the strongest and the weakest side differ, and for each match that two partners were
    /// lately partners what a repeat counts.
    fn cost(&self) -> f64 {
        let sums =
            (0..self.sides).map(|side| self.members(side).map(|one| one.strength.rating()).sum::<f64>());
        let (most, least) =
            sums.fold((f64::MIN, f64::MAX), |(most, least), sum| (f64::max(most, sum), f64::min(least, sum)));
        let mut partnered = 0;
        for side in 0..self.sides {
            for (index, one) in self.members(side).enumerate() {
                partnered +=
                    self.members(side).skip(index + 1).map(|other| one.partnered(other)).sum::<u32>();
            }
        }
        #[allow(clippy::cast_precision_loss)] // two or three
        let size = (self.group.len() / self.sides) as f64;
        (most - least) / size + self.settings.further_by_repeat * f64::from(partnered)
    }
}
