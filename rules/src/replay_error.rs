//! Where a record differs from what it follows from (`ReplayError`).

use std::fmt;

use thiserror::Error;

use crate::error::PlayError;

/// Where a record differs from what its seed, its steps, its time control and the rules give.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}: {problem}")]
pub struct ReplayError {
    /// Where.
    pub place: Place,
    /// What is wrong there.
    pub problem: Problem,
}

/// A place in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The revision of the rules.
    Revision,
    /// The commitment to the server's seed.
    Commitment,
    /// The list of entrants.
    Entrants,
    /// The nonce of an entrant, from 0.
    Nonce(usize),
    /// The first dealer.
    Dealer,
    /// A deal, from 0.
    Deal(u32),
    /// A step, from 0.
    Step(usize),
    /// An entry of the ledger, from 0.
    Ledger(usize),
    /// The outcome.
    Outcome,
}

impl Place {
    pub(crate) const fn problem(self, problem: Problem) -> ReplayError {
        ReplayError { place: self, problem }
    }

    pub(crate) fn differs(self, expected: impl fmt::Display, given: impl fmt::Display) -> ReplayError {
        self.problem(Problem::Differs { expected: expected.to_string(), given: given.to_string() })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Revision => f.write_str("the rules' revision"),
            Self::Commitment => f.write_str("the commitment"),
            Self::Entrants => f.write_str("the entrants"),
            Self::Nonce(entrant) => write!(f, "the nonce of entrant {entrant}"),
            Self::Dealer => f.write_str("the dealer"),
            Self::Deal(deal) => write!(f, "deal {deal}"),
            Self::Step(step) => write!(f, "step {step}"),
            Self::Ledger(entry) => write!(f, "ledger entry {entry}"),
            Self::Outcome => f.write_str("the outcome"),
        }
    }
}

/// What is wrong at a place of a record.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// A value is not what it has to be.
    #[error("{given} is recorded, {expected} is right")]
    Differs {
        /// What is right.
        expected: String,
        /// What is recorded.
        given: String,
    },
    /// A value is not that of its hash.
    #[error("it is not what its hash says")]
    Hash,
    /// A deck is not that of the seed.
    #[error("the deck is not the one that the seed gives")]
    Deck,
    /// The rules don't allow a step.
    #[error("the rules don't allow it: {0}")]
    Play(PlayError),
    /// A step before the first deal.
    #[error("nothing was dealt before it")]
    Undealt,
    /// A step that was not replayed.
    #[error("it was not replayed: call `step` until it gives none")]
    Unplayed,
}
