//! What can be asked of the finished matches, and the answers.

use super::{BotName, ClientReference, MatchId, Owner, ResultNumber, ResultRow, Visibility};
use crate::encoding::bots_of_summary;

/// Which finished matches to list: those that the reader may see and that have the reference, if one is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedFilter {
    /// Who asks.
    pub reader: Reader,
    /// Only matches with this reference.
    pub client_reference: Option<ClientReference>,
}

impl FinishedFilter {
    /// Whether a match is one of them, by what was written when it ended.
    pub fn wants(&self, row: &ResultRow) -> bool {
        let Self { reader, client_reference } = self;
        let listing = &row.listing;
        let plays = |bot: &BotName| bots_of_summary(row.summary.as_bytes()).contains(bot);
        reader.sees(row.match_id, listing.visibility, listing.owner.as_ref(), plays)
            && (client_reference.is_none() || *client_reference == listing.client_reference)
    }
}

/// Which results to read: those that agree with every field that is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResultFilter {
    /// Only matches of this owner.
    pub owner: Option<Owner>,
    /// Only matches with this reference.
    pub client_reference: Option<ClientReference>,
}

impl ResultFilter {
    /// Whether a result is one of them.
    pub fn wants(&self, row: &ResultRow) -> bool {
        let Self { owner, client_reference } = self;
        (owner.is_none() || *owner == row.listing.owner)
            && (client_reference.is_none() || *client_reference == row.listing.client_reference)
    }
}

/// Results after a number, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultPage {
    /// The results.
    pub rows: Vec<ResultRow>,
    /// After which number it goes on; `None` when these were the last.
    pub more_after: Option<ResultNumber>,
}

/// For whom matches are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reader {
    /// Sees everything.
    Admin,
    /// Sees public matches and its own.
    Owner(Owner),
    /// Sees public matches and those in which it has a seat.
    Bot(BotName),
    /// Sees public matches and this one.
    Seat(MatchId),
    /// Sees public matches.
    Anyone,
}

impl Reader {
    /// Whether it may see this match. `plays` tells whether a bot has a seat in it.
    pub fn sees(
        &self,
        match_id: MatchId,
        visibility: Visibility,
        owner: Option<&Owner>,
        plays: impl FnOnce(&BotName) -> bool,
    ) -> bool {
        visibility == Visibility::Public
            || match self {
                Self::Admin => true,
                Self::Owner(own) => owner == Some(own),
                Self::Bot(bot) => plays(bot),
                Self::Seat(played) => *played == match_id,
                Self::Anyone => false,
            }
    }
}

/// Where the next page of a list starts: with this result, or the next that is listed. It holds for the filter that it came
/// from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PagePosition(u64);

impl From<ResultNumber> for PagePosition {
    fn from(number: ResultNumber) -> Self {
        Self(number.get())
    }
}

impl PagePosition {
    /// The position that [`Self::get`] gave.
    pub const fn new(position: u64) -> Self {
        Self(position)
    }

    /// As a number to put into a page token: it means nothing else.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// A page of finished matches, the latest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedPage {
    /// The matches.
    pub matches: Vec<ResultRow>,
    /// Where the next page starts; `None` when this was the last.
    pub next: Option<PagePosition>,
}
