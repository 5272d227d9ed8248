//! The matches of a season in their order, with bots as numbers.

use std::collections::BTreeMap;

use zetema_rules::Seat;

use super::finished::{FinishedMatch, FinishedSeat};
use super::suspicion::Cited;

/// Bots as numbers in the order in which they first played, so that no sum is added up in an order that depends on names.
pub(super) type BotIndex = usize;

/// The matches of a season in the order of their results.
pub(super) struct Season<'a, B, O> {
    matches: Vec<SeasonMatch<'a, B, O>>,
    bots: Vec<&'a B>,
    owners: Vec<&'a O>,
}

/// One of them.
pub(super) struct SeasonMatch<'a, B, O> {
    pub(super) finished: &'a FinishedMatch<B, O>,
    /// Its bots, seat 0 first.
    pub(super) bots: Vec<BotIndex>,
}

impl<'a, B: Ord, O> Season<'a, B, O> {
    pub(super) fn new(finished: &'a [FinishedMatch<B, O>]) -> Self {
        let mut in_order: Vec<&FinishedMatch<B, O>> = finished.iter().collect();
        in_order.sort_by_key(|finished| finished.number());
        let mut indices: BTreeMap<&B, BotIndex> = BTreeMap::new();
        let mut season =
            Self { matches: Vec::with_capacity(in_order.len()), bots: Vec::new(), owners: Vec::new() };
        for finished in in_order {
            let mut bots = Vec::with_capacity(finished.seats().len());
            for (bot, FinishedSeat { owner, .. }) in finished.played().bots().iter().zip(finished.seats()) {
                let next = season.bots.len();
                let index = *indices.entry(bot).or_insert(next);
                if index == next {
                    season.bots.push(bot);
                    season.owners.push(owner);
                }
                season.owners[index] = owner;
                bots.push(index);
            }
            season.matches.push(SeasonMatch { finished, bots });
        }
        season
    }
}

impl<'a, B, O> Season<'a, B, O> {
    pub(super) fn matches(&self) -> &[SeasonMatch<'a, B, O>] {
        &self.matches
    }

    /// All bots that played.
    pub(super) fn bots(&self) -> &[&'a B] {
        &self.bots
    }

    /// What is said of some matches, given by their places in the season.
    pub(super) fn cite(&self, places: impl IntoIterator<Item = usize>) -> Vec<Cited> {
        let mut places: Vec<usize> = places.into_iter().collect();
        places.sort_unstable();
        places.dedup();
        let cite = |place: usize| {
            let finished = self.matches[place].finished;
            Cited { number: finished.number(), ended_ms: finished.ended_ms() }
        };
        places.into_iter().map(cite).collect()
    }
}

impl<B, O: Eq> Season<'_, B, O> {
    /// Whether two bots had different owners when they last played: one owner may do with its bots what it likes, and pairing
    /// keeps them apart.
    pub(super) fn of_different_owners(&self, one: BotIndex, other: BotIndex) -> bool {
        self.owners[one] != self.owners[other]
    }
}

impl<B, O> SeasonMatch<'_, B, O> {
    /// Each seat with its bot and what it did.
    pub(super) fn seats(&self) -> impl Iterator<Item = (Seat, BotIndex, &FinishedSeat<O>)> {
        let seats = self.finished.played().seats().map(|(seat, _, _)| seat);
        seats.zip(&self.bots).zip(self.finished.seats()).map(|((seat, &bot), finished)| (seat, bot, finished))
    }

    /// The bots of each side, side 0 first.
    pub(super) fn sides(&self) -> Vec<Vec<BotIndex>> {
        let played = self.finished.played();
        let members = |side| played.members(side).map(|(seat, _)| self.bots[seat.index()]).collect();
        played.sides().map(members).collect()
    }

    /// Whether nobody forfeited.
    pub(super) fn is_played_out(&self) -> bool {
        self.finished.played().forfeited().is_empty()
    }

    /// Whether a side has more than one member.
    pub(super) fn is_of_teams(&self) -> bool {
        self.finished.played().sides().count() < self.bots.len()
    }
}
