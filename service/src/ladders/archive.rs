//! What everyone may look up of a ladder: its results, and how bots did against one another.
//!
//! Whoever looks something up does so itself, beside the task of the ladders, and looks at a bounded number of results.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use tokio::task::yield_now;
use zetema_ladder::{HeadToHeads, Played};

use super::LadderFault;
use super::query::{Met, Page, PageFrom, ResultsFilter, ResultsOnward, SeasonSpan};
use super::results::{LoggedResult, RatingAt};
use crate::journal::{BotName, ResultNumber};
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
    /// The last one before them.
    dropped: Option<ResultNumber>,
    met: HeadToHeads<BotName>,
}

/// How many results are kept of one of so many ladders.
pub(super) fn results_of_one_of(ladders: NonZeroUsize) -> usize {
    limits::MAX_LADDER_RESULTS.min(limits::MAX_RESULTS_OF_ALL_LADDERS / ladders)
}

/// Some of the results, and whether there are any before them.
struct Part {
    results: Vec<Arc<LoggedResult>>,
    more: bool,
}

/// The rated results of a span, the latest first.
#[derive(Debug)]
pub(super) struct RatedResults {
    pub(super) results: Vec<Arc<LoggedResult>>,
    /// Older ones of that span, up to this one, are not among them: they were too many, or are not kept any more.
    pub(super) left_out_to: Option<ResultNumber>,
}

impl Archive {
    /// That of one of so many ladders, which share the memory for results.
    pub(super) fn of_one_of(ladders: NonZeroUsize) -> Self {
        Self { kept: RwLock::default(), most: results_of_one_of(ladders) }
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
            kept.dropped = kept.results.pop_front().map(|dropped| dropped.number);
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

    /// The results that a filter wants, the oldest first, after a result's number.
    pub(super) fn results_after(
        &self,
        filter: &ResultsFilter,
        after: ResultNumber,
        most: usize,
    ) -> ResultsOnward {
        // Copied, so that nobody waits for who looks.
        let (looked_at, dropped, more): (Vec<Arc<LoggedResult>>, _, _) = {
            let kept = self.kept();
            let first = kept.results.partition_point(|result| result.number <= after);
            let end = kept.results.len().min(first + limits::LADDER_RESULTS_LOOKED_AT);
            (kept.results.range(first..end).cloned().collect(), kept.dropped, end < kept.results.len())
        };
        let mut items = Vec::new();
        let mut rest = looked_at.iter();
        let mut looked_to = after;
        while items.len() < most
            && let Some(result) = rest.next()
        {
            looked_to = result.number;
            if filter.wants(result) {
                items.push(Arc::clone(result));
            }
        }
        let next = (more || rest.next().is_some()).then_some(looked_to);
        ResultsOnward { items, looked_to, next, left_out_to: dropped.filter(|&dropped| dropped > after) }
    }

    /// The rated results of a span, the latest first, at most so many. They are looked through a part at a time, as the clock may have
    /// been set back: none that is older says that all before it are.
    pub(super) async fn rated_of(&self, span: SeasonSpan, most: usize) -> RatedResults {
        let is_since = |result: &LoggedResult| span.since.is_none_or(|since| result.ended_at >= since);
        let mut results = Vec::new();
        let mut before = span.before.map(ResultNumber::get);
        loop {
            let Part { results: part, more } = self.part(before);
            for result in part.iter().rev().filter(|result| result.is_rated() && is_since(result)) {
                if results.len() == most {
                    return RatedResults { results, left_out_to: Some(result.number) };
                }
                results.push(Arc::clone(result));
            }
            before = part.first().map(|first| first.number.get());
            if !more {
                let kept = self.kept();
                // Those that are not kept ended before the oldest that is.
                let may_be_since = kept.results.front().is_none_or(|oldest| is_since(oldest));
                let dropped = kept.dropped.filter(|_| may_be_since);
                let left_out_to = dropped.and_then(|dropped| span.up_to(dropped));
                return RatedResults { results, left_out_to };
            }
            yield_now().await;
        }
    }

    /// As many results as are looked at at once, the oldest first: the latest of those before a number.
    fn part(&self, before: Option<u64>) -> Part {
        // Copied, so that nobody waits for who looks.
        let kept = self.kept();
        let end = before.map_or(kept.results.len(), |before| {
            kept.results.partition_point(|result| result.number.get() < before)
        });
        let first = end.saturating_sub(limits::LADDER_RESULTS_LOOKED_AT);
        Part { results: kept.results.range(first..end).cloned().collect(), more: first > 0 }
    }

    /// Looks at results, the latest first, until the page is full or as many were looked at as may be at once.
    fn look<T>(&self, of: &PageFrom<u64>, want: impl Fn(&Arc<LoggedResult>) -> Option<T>) -> Page<T> {
        let Part { results: looked_at, more } = self.part(of.after);
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
