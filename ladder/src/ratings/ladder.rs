//! The ratings of all bots of a ladder, as its results give them.

use std::collections::BTreeMap;

use thiserror::Error;
use zetema_rules::Seat;

use super::played::Played;
use super::rating::Rating;
use super::result::{Counted, LadderResult, ResultNumber};
use super::settings::RatingSettings;
use super::tally::Tally;
use super::update::RankedSide;

/// The ratings of all bots of a ladder: a pure function of its settings and of its results in the order of their numbers.
///
/// ```
/// # use zetema_ladder::{Counted, Ladder, LadderResult, Played, RatingSettings, ResultNumber};
/// # use zetema_rules::{EndReason, MatchResult, Seats, Teams};
/// let result = MatchResult { reason: EndReason::Target, ranks: [2, 1, 0, 0, 0, 0], totals: [260, 310, 0, 0, 0, 0] };
/// let played = Played::new(vec!["ada", "bob"], Teams::Individual, result, Seats::EMPTY)?;
/// let result = LadderResult { number: ResultNumber::new(7), counted: Counted::Rated(played) };
///
/// let mut ladder = Ladder::new(RatingSettings::default());
/// let changes = ladder.count(&result)?;
/// assert!(changes[0].after.rating.mu < changes[0].before.rating.mu);
/// assert_eq!(*ladder.standings()[0].bot, "bob");
///
/// // What was counted is not counted again.
/// let again = ladder.count(&result).unwrap_err();
/// assert_eq!(again.given.get(), 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Ladder<B> {
    settings: RatingSettings,
    last: ResultNumber,
    bots: BTreeMap<B, Entry>,
}

/// What a ladder knows of one bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// How strong it is.
    pub rating: Rating,
    /// What it did.
    pub tally: Tally,
}

/// What one match changed for one bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RatingChange<B> {
    /// The seat that it had.
    pub seat: Seat,
    /// The bot.
    pub bot: B,
    /// What was known of it before.
    pub before: Entry,
    /// What is known of it now.
    pub after: Entry,
}

/// A result that does not come after the last one that was counted: it is counted already, or out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "result {given} does not come after result {last}, the last that is counted: give each result once, in the order of their numbers"
)]
pub struct LadderError {
    /// The number of the result.
    pub given: ResultNumber,
    /// The last that was counted.
    pub last: ResultNumber,
}

impl<B: Clone + Ord> Ladder<B> {
    /// A ladder without results.
    pub fn new(settings: RatingSettings) -> Self {
        Self { settings, last: ResultNumber::ZERO, bots: BTreeMap::new() }
    }

    /// A ladder that goes on where it was: with what [`Ladder::last`] and [`Ladder::bots`] gave, and the same settings, all
    /// results that follow have the same outcome.
    pub fn resume(settings: RatingSettings, last: ResultNumber, bots: BTreeMap<B, Entry>) -> Self {
        Self { settings, last, bots }
    }

    /// A ladder from all its results.
    ///
    /// # Errors
    /// [`LadderError`] names the first result that is not in order.
    pub fn from_results(
        settings: RatingSettings,
        results: impl IntoIterator<Item = LadderResult<B>>,
    ) -> Result<Self, LadderError> {
        let mut ladder = Self::new(settings);
        for result in results {
            ladder.count(&result)?;
        }
        Ok(ladder)
    }

    /// Counts a result, and gives what it changed, seat 0 first; nothing if it is unrated.
    ///
    /// Numbers grow, but not by one: results of other ladders, which this one is not told of, have those between. So a result that
    /// is left out shows only when all are counted anew ([`differences`](crate::differences)).
    ///
    /// # Errors
    /// [`LadderError`] if it does not come after the last one. Nothing is changed then.
    pub fn count(&mut self, result: &LadderResult<B>) -> Result<Vec<RatingChange<B>>, LadderError> {
        if result.number <= self.last {
            return Err(LadderError { given: result.number, last: self.last });
        }
        self.last = result.number;
        let changes = match &result.counted {
            Counted::Rated(played) => self.changes(played),
            Counted::Unrated(_) => Vec::new(),
        };
        for change in &changes {
            self.bots.insert(change.bot.clone(), change.after);
        }
        Ok(changes)
    }

    fn changes(&self, played: &Played<B>) -> Vec<RatingChange<B>> {
        let ranked: Vec<RankedSide> = played
            .sides()
            .map(|side| RankedSide {
                rank: played.rank(side),
                members: played.members(side).map(|(_, bot)| self.entry(bot).rating).collect(),
            })
            .collect();
        let mut changes = Vec::with_capacity(played.bots().len());
        for (side, ratings) in played.sides().zip(self.settings.rate(&ranked)) {
            for ((seat, bot), rating) in played.members(side).zip(ratings) {
                let before = self.entry(bot);
                let after = Entry { rating, tally: before.tally.with(played, seat, side) };
                changes.push(RatingChange { seat, bot: bot.clone(), before, after });
            }
        }
        changes.sort_by_key(|change| change.seat);
        changes
    }

    /// What is known of a bot; of one that has not played, what is expected.
    pub fn entry(&self, bot: &B) -> Entry {
        let first = || Entry { rating: self.settings.first(), tally: Tally::default() };
        self.bots.get(bot).copied().unwrap_or_else(first)
    }
}

impl<B> Ladder<B> {
    /// The numbers that it rates by.
    pub fn settings(&self) -> &RatingSettings {
        &self.settings
    }

    /// The last result that was counted, unrated ones too; [`ResultNumber::ZERO`] before the first.
    pub fn last(&self) -> ResultNumber {
        self.last
    }

    /// All bots that have played, in their order.
    pub fn bots(&self) -> &BTreeMap<B, Entry> {
        &self.bots
    }
}
