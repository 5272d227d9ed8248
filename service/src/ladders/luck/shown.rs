//! What everyone may read of the luck in a ladder's results.

use std::collections::{HashMap, VecDeque};
use std::num::NonZeroUsize;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tokio::sync::watch;
use zetema_ladder::{AdjustedScore, MatchTimes, PointsPerMatch};
use zetema_rules::Side;

use super::older::OlderLuck;
use crate::journal::{BotName, ResultNumber};
use crate::ladders::archive;
use crate::ladders::results::LoggedResult;

/// The luck of the cards in one ladder's results, as far as it is computed.
#[derive(Debug)]
pub struct Luck {
    kept: RwLock<Kept>,
    /// The latest change of any bot's points.
    latest: watch::Sender<LuckChange>,
    /// Of how many results: of as many as can be looked up in memory.
    most: usize,
    /// That of those before them.
    older: Arc<OlderLuck>,
}

/// A change of what bots score a match: the later one is the greater one, also where all was counted anew in between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LuckChange(u64);

#[derive(Debug)]
struct Kept {
    /// Of the latest results, in the order of their numbers.
    scores: VecDeque<(ResultNumber, Arc<[AdjustedScore]>)>,
    points: HashMap<BotName, Points>,
    seen: ResultNumber,
    /// When whoever has no points has lost them.
    cleared: LuckChange,
}

/// What a bot scores a match.
#[derive(Debug, Default)]
struct Points {
    per_match: PointsPerMatch,
    changed: LuckChange,
}

impl LuckChange {
    const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl Kept {
    fn since(cleared: LuckChange) -> Self {
        Self { scores: VecDeque::new(), points: HashMap::new(), seen: ResultNumber::ZERO, cleared }
    }
}

impl Luck {
    /// That of one of so many ladders, which share the memory for results.
    pub(in crate::ladders) fn of_one_of(ladders: NonZeroUsize, older: Arc<OlderLuck>) -> Self {
        let cleared = LuckChange::default();
        Self {
            kept: RwLock::new(Kept::since(cleared)),
            latest: watch::Sender::new(cleared),
            most: archive::results_of_one_of(ladders),
            older,
        }
    }

    /// All results are counted anew.
    pub(in crate::ladders) fn clear(&self) {
        let mut kept = self.kept_mut();
        let cleared = if kept.points.is_empty() { kept.cleared } else { self.change() };
        *kept = Kept::since(cleared);
    }

    /// What the sides of a match scored with luck and without, side 0 first; `None` if the match is not rated, or that is not computed, not
    /// kept any more or can't be read.
    pub async fn scores(&self, result: &LoggedResult) -> Option<Arc<[AdjustedScore]>> {
        if !result.is_rated() {
            return None;
        }
        match self.in_memory(result.number) {
            Some(scores) => Some(scores),
            None => self.older.scores(result.number).await,
        }
    }

    /// The same, of those that are in memory.
    pub(in crate::ladders) fn in_memory(&self, result: ResultNumber) -> Option<Arc<[AdjustedScore]>> {
        let kept = self.kept();
        let at = kept.scores.binary_search_by_key(&result, |(number, _)| *number).ok()?;
        kept.scores.get(at).map(|(_, scores)| Arc::clone(scores))
    }

    /// What a bot scores a match, over those of its rated matches whose luck is computed; `None` if there is none.
    pub fn points(&self, bot: &BotName) -> Option<PointsPerMatch> {
        self.kept().points.get(bot).map(|points| points.per_match.clone())
    }

    /// The latest change of what bots score a match. What is read of them after it was seen is as after it, or later.
    pub fn changes(&self) -> watch::Receiver<LuckChange> {
        self.latest.subscribe()
    }

    /// Those of these whose bots' points a match have changed after that change, gone ones too.
    pub fn changed_since<T>(
        &self,
        since: LuckChange,
        of: impl Iterator<Item = T>,
        bot: impl Fn(&T) -> &BotName,
    ) -> Vec<T> {
        let kept = self.kept();
        let changed = |one: &T| kept.points.get(bot(one)).map_or(kept.cleared, |points| points.changed);
        of.filter(|one| changed(one) > since).collect()
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
        let changed = self.change();
        for (bot, side) in seats {
            let Some(score) = scores.get(side.index()) else { continue };
            // Without a copy of the name, if it is there.
            let points = match kept.points.get_mut(bot) {
                Some(points) => points,
                None => kept.points.entry(bot.clone()).or_default(),
            };
            points.per_match.count(*score, times);
            points.changed = changed;
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

    /// The change that is made now, by whoever may write: who sees it before it is made waits to read.
    fn change(&self) -> LuckChange {
        let change = self.latest.borrow().next();
        self.latest.send_replace(change);
        change
    }

    fn kept(&self) -> RwLockReadGuard<'_, Kept> {
        self.kept.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept_mut(&self) -> RwLockWriteGuard<'_, Kept> {
        self.kept.write().unwrap_or_else(PoisonError::into_inner)
    }
}
