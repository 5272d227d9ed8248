//! What a ladder is told of a match that is over.

use std::fmt;

use zetema_rules::AbortReason;

use super::played::Played;

/// The place of a result among all results of a server: 1 for the first, then on without a gap. Each match has one, of
/// whichever ladder it is, or of none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResultNumber(u64);

impl ResultNumber {
    /// Before the first result.
    pub const ZERO: Self = Self(0);

    /// The result with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// As a number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for ResultNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A match of a ladder that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LadderResult<B> {
    /// Its place among all results of the server.
    pub number: ResultNumber,
    /// What it counts for.
    pub counted: Counted<B>,
}

/// What a match counts for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counted<B> {
    /// It moves the ratings of all who played it.
    Rated(Played<B>),
    /// It is passed over.
    Unrated(Unrated),
}

/// Why a match is passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unrated {
    /// It was aborted: there was no deal, or no end, and so no result.
    Aborted(AbortReason),
    /// The ladder rates none of its matches.
    UnratedLadder,
    /// Its deals were given by whoever made it, and known before.
    FixedDeals,
}
