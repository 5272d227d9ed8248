//! What everyone may read of the luck in a ladder's results.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tokio::sync::watch;
use zetema_ladder::{
    AdjustedScore, Certainty, Counted, Entry, Ladder, LadderResult, MatchTimes, Played, PointsPerMatch,
    RatingSettings, ResultNumber as Number,
};

use super::older::OlderLuck;
use crate::journal::{BotName, ResultNumber};
use crate::ladders::results::LoggedResult;
use crate::limits;

/// The luck of the cards in one ladder's results, as far as it is computed.
#[derive(Debug)]
pub struct Luck {
    kept: RwLock<Kept>,
    /// The latest change of any bot's points.
    latest: watch::Sender<LuckChange>,
    /// Of how many results.
    most: usize,
    /// That of those before them.
    older: Arc<OlderLuck>,
}

/// A change of what bots score a match: the later one is the greater one, also where all was counted anew in between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LuckChange(u64);

/// What a bot scores and its rating by that, of the same matches.
#[derive(Clone, Debug, PartialEq)]
pub struct LuckOfBot {
    /// What it scores a match, over those of its rated matches whose luck is computed.
    pub points: PointsPerMatch,
    /// Its rating over the same matches, each ranked by the adjusted scores of its sides. It is an estimate of its own, without the proof
    /// that the adjusted points have. `None` if those can't be ranked, which the server's log says.
    pub adjusted_rating: Option<(Entry, Certainty)>,
}

#[derive(Debug)]
struct Kept {
    /// Of the latest results, in the order of their numbers.
    scores: VecDeque<(ResultNumber, Arc<[AdjustedScore]>)>,
    points: HashMap<BotName, Points>,
    /// The ratings of the same matches, each ranked by its adjusted scores.
    ratings: Ladder<BotName>,
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
    fn since(cleared: LuckChange, rating: RatingSettings) -> Self {
        Self {
            scores: VecDeque::new(),
            points: HashMap::new(),
            ratings: Ladder::new(rating),
            seen: ResultNumber::ZERO,
            cleared,
        }
    }

    fn rate(&mut self, result: ResultNumber, played: &Played<BotName>, scores: &[AdjustedScore]) {
        let ranked = match played.ranked_by(scores) {
            Ok(ranked) => ranked,
            Err(error) => {
                tracing::error!(%result, %error, "a result is not in the ratings by adjusted scores");
                return;
            }
        };
        let number = Number::new(result.get());
        if let Err(error) = self.ratings.count(&LadderResult { number, counted: Counted::Rated(ranked) }) {
            tracing::error!(%error, "a result is not in the ratings by adjusted scores");
        }
    }
}

impl Luck {
    /// That of one ladder, of which so many results are in memory. It rates as this one does. The luck of as many as one file has is in
    /// memory at least: while that is written nothing is read from it.
    pub(in crate::ladders) fn new(most: usize, rating: RatingSettings, older: Arc<OlderLuck>) -> Self {
        let cleared = LuckChange::default();
        let of_a_file = usize::try_from(limits::LUCK_BLOCK_RESULTS).unwrap_or(usize::MAX);
        Self {
            kept: RwLock::new(Kept::since(cleared, rating)),
            latest: watch::Sender::new(cleared),
            most: most.max(of_a_file),
            older,
        }
    }

    /// All results are counted anew.
    pub(in crate::ladders) fn clear(&self) {
        let mut kept = self.kept_mut();
        let cleared = if kept.points.is_empty() { kept.cleared } else { self.change() };
        *kept = Kept::since(cleared, *kept.ratings.settings());
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

    /// What a bot scores a match and its rating by that; `None` if the luck of none of its matches is computed.
    pub fn of_bot(&self, bot: &BotName) -> Option<LuckOfBot> {
        let kept = self.kept();
        let points = kept.points.get(bot)?.per_match.clone();
        let adjusted_rating = kept
            .ratings
            .bots()
            .get(bot)
            .map(|entry| (*entry, kept.ratings.settings().certainty(entry.rating)));
        Some(LuckOfBot { points, adjusted_rating })
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

    /// Counts a match, which comes after all that were counted: when it was, how it was played, and what the sides scored.
    pub(in crate::ladders) fn count(
        &self,
        result: ResultNumber,
        times: MatchTimes,
        played: &Played<BotName>,
        scores: Arc<[AdjustedScore]>,
    ) {
        let mut kept = self.kept_mut();
        let changed = self.change();
        kept.rate(result, played, &scores);
        for (_, bot, side) in played.seats() {
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
