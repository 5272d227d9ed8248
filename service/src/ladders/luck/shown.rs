//! What everyone may read of the luck in a ladder's results.

use std::collections::{HashMap, VecDeque};
use std::num::NonZeroUsize;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use zetema_ladder::{AdjustedScore, MatchTimes, PointsPerMatch};
use zetema_rules::Side;

use crate::journal::{BotName, ResultNumber};
use crate::ladders::archive;

/// The luck of the cards in one ladder's results, as far as it is computed.
#[derive(Debug)]
pub struct Luck {
    kept: RwLock<Kept>,
    /// Of how many results: of as many as can be looked up.
    most: usize,
}

#[derive(Debug)]
struct Kept {
    /// Of the latest results, in the order of their numbers.
    scores: VecDeque<(ResultNumber, Arc<[AdjustedScore]>)>,
    points: HashMap<BotName, PointsPerMatch>,
    seen: ResultNumber,
}

impl Default for Kept {
    fn default() -> Self {
        Self { scores: VecDeque::new(), points: HashMap::new(), seen: ResultNumber::ZERO }
    }
}

impl Luck {
    /// That of one of so many ladders, which share the memory for results.
    pub(in crate::ladders) fn of_one_of(ladders: NonZeroUsize) -> Self {
        Self { kept: RwLock::default(), most: archive::results_of_one_of(ladders) }
    }

    /// All results are counted anew.
    pub(super) fn clear(&self) {
        *self.kept_mut() = Kept::default();
    }

    /// What the sides of a match scored with luck and without, side 0 first; `None` if that is not computed, or the match is not
    /// rated.
    pub fn scores(&self, result: ResultNumber) -> Option<Arc<[AdjustedScore]>> {
        let kept = self.kept();
        let at = kept.scores.binary_search_by_key(&result, |(number, _)| *number).ok()?;
        kept.scores.get(at).map(|(_, scores)| Arc::clone(scores))
    }

    /// What a bot scores a match, over those of its rated matches whose luck is computed; `None` if there is none.
    pub fn points(&self, bot: &BotName) -> Option<PointsPerMatch> {
        self.kept().points.get(bot).cloned()
    }

    /// The last result of the server up to which luck is computed.
    pub fn result_number(&self) -> ResultNumber {
        self.kept().seen
    }

    /// Counts a match, which comes after all that were counted: when it was, who played on which side, and what the sides scored.
    pub(in crate::ladders) fn count<'a>(
        &self,
        result: ResultNumber,
        times: MatchTimes,
        seats: impl Iterator<Item = (&'a BotName, Side)>,
        scores: Arc<[AdjustedScore]>,
    ) {
        let mut kept = self.kept_mut();
        for (bot, side) in seats {
            let Some(score) = scores.get(side.index()) else { continue };
            // Without a copy of the name, if it is there.
            match kept.points.get_mut(bot) {
                Some(points) => points.count(*score, times),
                None => kept.points.entry(bot.clone()).or_default().count(*score, times),
            }
        }
        if kept.scores.len() >= self.most {
            kept.scores.pop_front();
        }
        kept.scores.push_back((result, scores));
    }

    /// All results up to here were looked at.
    pub(super) fn saw(&self, result: ResultNumber) {
        let mut kept = self.kept_mut();
        kept.seen = kept.seen.max(result);
    }

    fn kept(&self) -> RwLockReadGuard<'_, Kept> {
        self.kept.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept_mut(&self) -> RwLockWriteGuard<'_, Kept> {
        self.kept.write().unwrap_or_else(PoisonError::into_inner)
    }
}
