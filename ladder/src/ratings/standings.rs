//! The bots of a ladder, best first.

use super::ladder::{Entry, Ladder};
use super::settings::Certainty;

/// One bot's place in the standings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing<'a, B> {
    /// Its rank, 1 for the best. Bots whose shown value and μ are equal share one, and the next is left out (1, 1, 3). Provisional bots
    /// have ranks as all others.
    pub rank: usize,
    /// The bot.
    pub bot: &'a B,
    /// Its rating, and what it did.
    pub entry: Entry,
    /// Whether its rating can be relied on.
    pub certainty: Certainty,
}

impl<B: Ord> Ladder<B> {
    /// All bots that have played, best first: by what is shown (μ − 3σ), then by μ, then in the order of the bots.
    pub fn standings(&self) -> Vec<Standing<'_, B>> {
        let best_first = |one: &Entry, other: &Entry| {
            let shown = other.rating.shown().total_cmp(&one.rating.shown());
            shown.then(other.rating.mu.cmp(&one.rating.mu))
        };
        let mut bots: Vec<(&B, Entry)> = self.bots().iter().map(|(bot, &entry)| (bot, entry)).collect();
        // Stable, and the bots come in their order.
        bots.sort_by(|(_, one), (_, other)| best_first(one, other));
        let mut standings: Vec<Standing<'_, B>> = Vec::with_capacity(bots.len());
        for (place, (bot, entry)) in bots.into_iter().enumerate() {
            let rank = match standings.last() {
                Some(above) if best_first(&above.entry, &entry).is_eq() => above.rank,
                _ => place + 1,
            };
            standings.push(Standing { rank, bot, entry, certainty: self.settings().certainty(entry.rating) });
        }
        standings
    }
}
