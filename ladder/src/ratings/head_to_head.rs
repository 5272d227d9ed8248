//! How bots did against one another.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::played::Played;

/// How one bot did against another, in the matches in which they were of different sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct HeadToHead {
    /// The matches.
    pub matches: u64,
    /// Those in which the one's rank was the better.
    pub ahead: u64,
    /// Those in which the other's rank was the better.
    pub behind: u64,
    /// Those in which they shared a rank.
    pub level: u64,
    /// The points of the one's side less those of the other's, summed over the matches.
    pub margin: i64,
}

impl HeadToHead {
    /// The same, as the other sees it.
    #[must_use]
    pub fn turned(self) -> Self {
        Self { ahead: self.behind, behind: self.ahead, margin: -self.margin, ..self }
    }
}

/// How all bots of some matches did against one another.
///
/// ```
/// # use zetema_ladder::{HeadToHeads, Played};
/// # use zetema_rules::{EndReason, MatchResult, Seats, Teams};
/// let result = MatchResult { reason: EndReason::Target, ranks: [2, 1, 0, 0, 0, 0], totals: [260, 310, 0, 0, 0, 0] };
/// let mut all = HeadToHeads::default();
/// all.count(&Played::new(vec!["ada", "bob"], Teams::Individual, result, Seats::EMPTY)?);
/// assert_eq!(all.between(&"bob", &"ada").margin, 50);
/// assert_eq!(all.between(&"ada", &"bob").behind, 1);
/// # Ok::<(), zetema_ladder::PlayedError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadToHeads<B>(BTreeMap<B, BTreeMap<B, HeadToHead>>);

impl<B> Default for HeadToHeads<B> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<B: Clone + Ord> HeadToHeads<B> {
    /// Counts a match.
    pub fn count(&mut self, played: &Played<B>) {
        for (_, bot, side) in played.seats() {
            for (_, other, met) in played.seats().filter(|&(_, _, met)| met != side) {
                let between = self.0.entry(bot.clone()).or_default().entry(other.clone()).or_default();
                between.matches += 1;
                between.margin += played.margin(side, met);
                match played.rank(side).cmp(&played.rank(met)) {
                    Ordering::Less => between.ahead += 1,
                    Ordering::Equal => between.level += 1,
                    Ordering::Greater => between.behind += 1,
                }
            }
        }
    }

    /// How one bot did against another; all 0 if they have not met.
    pub fn between(&self, bot: &B, other: &B) -> HeadToHead {
        self.0.get(bot).and_then(|met| met.get(other)).copied().unwrap_or_default()
    }

    /// All that a bot has met, in their order.
    pub fn met_by(&self, bot: &B) -> impl Iterator<Item = (&B, HeadToHead)> {
        self.0.get(bot).into_iter().flatten().map(|(other, &between)| (other, between))
    }
}
