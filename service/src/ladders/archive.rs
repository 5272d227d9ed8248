//! What everyone may look up of a ladder: its results, and how bots did against one another.
//!
//! Whoever looks something up does so itself, beside the task of the ladders, and looks at a bounded number of results.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use zetema_ladder::{HeadToHeads, Played};

use super::LadderFault;
use super::query::{Met, Page, PageFrom, ResultsFilter};
use super::results::{LoggedResult, RatingAt};
use crate::journal::BotName;
use crate::limits;

/// One ladder's.
#[derive(Debug)]
pub(super) struct Archive {
    kept: RwLock<Kept>,
    /// How many results can be looked up.
    most: usize,
}

#[derive(Debug, Default)]
struct Kept {
    /// The latest ones, the oldest first.
    results: VecDeque<Arc<LoggedResult>>,
    met: HeadToHeads<BotName>,
}

impl Archive {
    /// That of one of so many ladders, which share the memory for results.
    pub(super) fn of_one_of(ladders: NonZeroUsize) -> Self {
        let most = limits::MAX_LADDER_RESULTS.min(limits::MAX_RESULTS_OF_ALL_LADDERS / ladders);
        Self { kept: RwLock::default(), most }
    }

    /// All results are counted anew.
    pub(super) fn clear(&self) {
        *self.kept.write().unwrap_or_else(PoisonError::into_inner) = Kept::default();
    }

    /// A match was rated.
    pub(super) fn rated(&self, played: &Played<BotName>) {
        self.kept.write().unwrap_or_else(PoisonError::into_inner).met.count(played);
    }

    /// A result came, which is after all that came before.
    pub(super) fn keep(&self, result: LoggedResult) {
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        if kept.results.len() >= self.most {
            kept.results.pop_front();
        }
        kept.results.push_back(Arc::new(result));
    }

    /// How a bot did against those that it met, or against this one alone, by their names.
    pub(super) fn met(
        &self,
        bot: &BotName,
        only: Option<&BotName>,
        of: &PageFrom<BotName>,
    ) -> Result<Page<Met>, LadderFault> {
        let kept = self.kept();
        let mut met = kept.met.met_by(bot).peekable();
        if met.peek().is_none() {
            return Err(LadderFault::NoBot(bot.clone()));
        }
        let wanted = |opponent: &BotName| {
            only.is_none_or(|only| opponent == only) && of.after.as_ref().is_none_or(|after| opponent > after)
        };
        let mut met = met.filter(|(opponent, _)| wanted(opponent));
        let items: Vec<Met> = met
            .by_ref()
            .take(of.most)
            .map(|(opponent, between)| Met { opponent: opponent.clone(), between })
            .collect();
        let next = items.last().map(|last| last.opponent.to_string()).filter(|_| met.next().is_some());
        Ok(Page { items, next })
    }

    /// How the rating of a bot went, the latest first, before a result's number.
    pub(super) fn history(&self, bot: &BotName, of: &PageFrom<u64>) -> Result<Page<RatingAt>, LadderFault> {
        if self.kept().met.met_by(bot).next().is_none() {
            return Err(LadderFault::NoBot(bot.clone()));
        }
        Ok(self.look(of, |result| {
            let seat = result.seats.iter().find(|seat| seat.bot == *bot)?;
            let (_, rating) = seat.rating?;
            let LoggedResult { number, match_id, ended_at, .. } = **result;
            Some(RatingAt { number, match_id, ended_at, rating })
        }))
    }

    /// The results that a filter wants, the latest first, before a result's number.
    pub(super) fn results(&self, filter: &ResultsFilter, of: &PageFrom<u64>) -> Page<Arc<LoggedResult>> {
        self.look(of, |result| filter.wants(result).then(|| Arc::clone(result)))
    }

    /// Looks at results, the latest first, until the page is full or as many were looked at as may be at once.
    fn look<T>(&self, of: &PageFrom<u64>, want: impl Fn(&Arc<LoggedResult>) -> Option<T>) -> Page<T> {
        // Copied, so that nobody waits for who looks.
        let (looked_at, more): (Vec<Arc<LoggedResult>>, bool) = {
            let kept = self.kept();
            let end = of.after.map_or(kept.results.len(), |before| {
                kept.results.partition_point(|result| result.number.get() < before)
            });
            let first = end.saturating_sub(limits::LADDER_RESULTS_LOOKED_AT);
            (kept.results.range(first..end).cloned().collect(), first > 0)
        };
        let mut items = Vec::new();
        let mut rest = looked_at.iter().rev();
        let mut last = None;
        while items.len() < of.most
            && let Some(result) = rest.next()
        {
            last = Some(result.number.get().to_string());
            items.extend(want(result));
        }
        Page { items, next: last.filter(|_| more || rest.next().is_some()) }
    }

    fn kept(&self) -> RwLockReadGuard<'_, Kept> {
        self.kept.read().unwrap_or_else(PoisonError::into_inner)
    }
}
