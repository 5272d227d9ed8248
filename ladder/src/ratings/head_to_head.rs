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
#[derive(Clone, Debug)]
pub struct HeadToHeads<B> {
    numbers: BTreeMap<B, u32>,
    bots: Vec<B>,
    /// What each bot has met, in the order of their names, by its number.
    met: Vec<Vec<Met>>,
}

/// How a bot did against one that it met. There may be one for each two bots of a ladder, both ways, so it is small and has no name.
#[derive(Clone, Copy, Debug)]
struct Met {
    other: u32,
    ahead: u32,
    behind: u32,
    level: u32,
    margin: i64,
}

impl From<Met> for HeadToHead {
    fn from(Met { ahead, behind, level, margin, .. }: Met) -> Self {
        let [ahead, behind, level] = [ahead, behind, level].map(u64::from);
        Self { matches: ahead + behind + level, ahead, behind, level, margin }
    }
}

impl<B> Default for HeadToHeads<B> {
    fn default() -> Self {
        Self { numbers: BTreeMap::new(), bots: Vec::new(), met: Vec::new() }
    }
}

impl<B: Clone + Ord> HeadToHeads<B> {
    /// Counts a match.
    pub fn count(&mut self, played: &Played<B>) {
        for (_, bot, side) in played.seats() {
            for (_, other, met) in played.seats().filter(|&(_, _, met)| met != side) {
                let Some(between) = self.between_mut(bot, other) else { continue };
                between.margin = between.margin.saturating_add(played.margin(side, met));
                let of_such = match played.rank(side).cmp(&played.rank(met)) {
                    Ordering::Less => &mut between.ahead,
                    Ordering::Equal => &mut between.level,
                    Ordering::Greater => &mut between.behind,
                };
                *of_such = of_such.saturating_add(1);
            }
        }
    }

    /// How one bot did against another; all 0 if they have not met.
    pub fn between(&self, bot: &B, other: &B) -> HeadToHead {
        let met = self.row(bot);
        self.place(met, other)
            .ok()
            .and_then(|at| met.get(at))
            .copied()
            .map(HeadToHead::from)
            .unwrap_or_default()
    }

    /// All that a bot has met, in their order.
    pub fn met_by(&self, bot: &B) -> impl Iterator<Item = (&B, HeadToHead)> {
        self.row(bot).iter().filter_map(|&met| Some((self.bots.get(met.other as usize)?, met.into())))
    }

    fn row(&self, bot: &B) -> &[Met] {
        self.numbers.get(bot).and_then(|&number| self.met.get(number as usize)).map_or(&[], Vec::as_slice)
    }

    /// Where the other is in what a bot has met, or where it would have to be.
    fn place(&self, met: &[Met], other: &B) -> Result<usize, usize> {
        met.binary_search_by(|met| self.bots[met.other as usize].cmp(other))
    }

    /// The number of a bot; `None` if 2³² have one, which no memory holds.
    fn number(&mut self, bot: &B) -> Option<u32> {
        if let Some(&number) = self.numbers.get(bot) {
            return Some(number);
        }
        let number = u32::try_from(self.bots.len()).ok()?;
        self.numbers.insert(bot.clone(), number);
        self.bots.push(bot.clone());
        self.met.push(Vec::new());
        Some(number)
    }

    fn between_mut(&mut self, bot: &B, other: &B) -> Option<&mut Met> {
        let (number, other_number) = (self.number(bot)?, self.number(other)?);
        let place = self.place(self.met.get(number as usize)?, other);
        let met = self.met.get_mut(number as usize)?;
        let at = place.unwrap_or_else(|at| {
            if met.len() == met.capacity() {
                // A quarter more, and not twice as much: most of the memory that a ladder takes in the long run is here.
                met.reserve_exact(met.len() / 4 + 1);
            }
            met.insert(at, Met { other: other_number, ahead: 0, behind: 0, level: 0, margin: 0 });
            at
        });
        met.get_mut(at)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;
    use zetema_rules::{EndReason, MatchResult, Seats, Teams};

    use super::*;

    #[test]
    fn one_of_two_that_met_takes_24_bytes() {
        assert_eq!(size_of::<Met>(), 24);
    }

    proptest! {
        /// Bots are numbered as they come, and what each has met is in the order of their names.
        #[test]
        fn each_bot_has_met_whom_it_met_in_their_order(matches in prop::collection::vec((0..12_u8, 0..12_u8, -300..300_i64), 0..80)) {
            let mut all = HeadToHeads::default();
            let mut expected: BTreeMap<u8, BTreeMap<u8, HeadToHead>> = BTreeMap::new();
            for (one, other, margin) in matches.into_iter().filter(|(one, other, _)| one != other) {
                let ranks = match margin.cmp(&0) {
                    Ordering::Greater => [1, 2],
                    Ordering::Equal => [1, 1],
                    Ordering::Less => [2, 1],
                };
                let mut result = MatchResult { reason: EndReason::Target, ranks: [0; 6], totals: [0; 6] };
                result.ranks[..2].copy_from_slice(&ranks);
                result.totals[0] = margin.max(0).try_into().unwrap();
                result.totals[1] = (-margin).max(0).try_into().unwrap();
                all.count(&Played::new(vec![one, other], Teams::Individual, result, Seats::EMPTY).unwrap());
                for (bot, met, margin) in [(one, other, margin), (other, one, -margin)] {
                    let between = expected.entry(bot).or_default().entry(met).or_default();
                    between.matches += 1;
                    between.margin += margin;
                    match margin.cmp(&0) {
                        Ordering::Greater => between.ahead += 1,
                        Ordering::Equal => between.level += 1,
                        Ordering::Less => between.behind += 1,
                    }
                }
            }
            for bot in 0..12 {
                let met: Vec<(u8, HeadToHead)> = all.met_by(&bot).map(|(other, between)| (*other, between)).collect();
                let expected: Vec<(u8, HeadToHead)> = expected.remove(&bot).unwrap_or_default().into_iter().collect();
                for (other, between) in &expected {
                    prop_assert_eq!(all.between(&bot, other), *between);
                    prop_assert_eq!(all.between(other, &bot), between.turned());
                }
                prop_assert_eq!(met, expected);
            }
        }
    }
}
