//! What is asked of a ladder: pages of it.

use std::sync::Arc;

use zetema_ladder::HeadToHead;

use super::results::LoggedResult;
use crate::journal::{BotName, ResultNumber, UnixMillis};

/// Where a page begins, and how long it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageFrom<C> {
    /// Behind this one. `None`: at the beginning.
    pub after: Option<C>,
    /// At most so many.
    pub most: usize,
}

/// Results from a place on, the oldest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultsOnward {
    /// Those that are wanted. There may be fewer than asked for, and none, even if more follow.
    pub items: Vec<Arc<LoggedResult>>,
    /// The last one that was looked at; where it began, if there was none.
    pub looked_to: ResultNumber,
    /// Behind which it goes on. `None`: nothing follows for now.
    pub next: Option<ResultNumber>,
    /// Results after where it began, up to this one, can't be looked up any more.
    pub left_out_to: Option<ResultNumber>,
}

/// Which results of a ladder a season is of: the latest of those that meet both conditions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeasonSpan {
    /// That ended then or later.
    pub since: Option<UnixMillis>,
    /// That come before this one.
    pub before: Option<ResultNumber>,
}

impl SeasonSpan {
    /// The last number up to this one that it can have. `None`: it has none of them.
    pub(super) fn up_to(self, number: ResultNumber) -> Option<ResultNumber> {
        let last = self
            .before
            .map_or(number, |before| number.min(ResultNumber::new(before.get().saturating_sub(1))));
        Some(last).filter(|last| *last > ResultNumber::ZERO)
    }
}

/// A page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// Where the next one begins, in the number or name of what was looked at last. `None`: nothing follows.
    pub next: Option<String>,
}

/// How a bot did against another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Met {
    /// The other.
    pub opponent: BotName,
    /// How the one did.
    pub between: HeadToHead,
}

/// Which results of a ladder are wanted: those that meet every condition given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultsFilter {
    /// That this bot played.
    pub bot: Option<BotName>,
    /// In which this one was on another side than `bot`.
    pub opponent: Option<BotName>,
    /// That ended then or later.
    pub since: Option<UnixMillis>,
    /// That ended before.
    pub before: Option<UnixMillis>,
    /// That ended in one of these ways; all if there are none.
    pub reasons: Vec<Reason>,
}

/// How a match of a ladder ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A side reached the target.
    Target,
    /// The only deal was over.
    DealOver,
    /// One side was left without a forfeit.
    Forfeit,
    /// Without a result.
    Aborted,
}

impl ResultsFilter {
    /// Whether it wants this result.
    pub(super) fn wants(&self, result: &LoggedResult) -> bool {
        let Self { bot, opponent, since, before, reasons } = self;
        let seat = |name: &BotName| result.seats.iter().find(|seat| seat.bot == *name);
        let own = bot.as_ref().map(seat);
        own.is_none_or(|own| own.is_some())
            && opponent.as_ref().is_none_or(|opponent| {
                let own_side = own.flatten().map(|own| own.side);
                seat(opponent).is_some_and(|other| own_side.is_none_or(|side| side != other.side))
            })
            && since.is_none_or(|since| result.ended_at >= since)
            && before.is_none_or(|before| result.ended_at < before)
            && (reasons.is_empty() || reasons.contains(&result.reason))
    }
}
