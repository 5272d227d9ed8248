//! Whether the deals of a match were fair: the check that each seat makes when the seed is revealed.

mod course;
mod replayed;
mod seen;
mod transcript;

use std::fmt;

use thiserror::Error;
use zetema_rules::fair::{Commitment, NonceHash};
use zetema_rules::{Outcome, PlayError, ReplayError, Seat};

pub(crate) use replayed::Replayed;
pub(crate) use seen::{Latest, Seen};
pub(crate) use transcript::{From, Transcript};

/// Whether the deals of a match were those that server and seats had committed to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DealCheck {
    /// They were: seed, nonces and hashes fit, every card, score and draw that the seat saw follows from them by the
    /// rules, and so does the end that it was told. Fixed and shared deals are never this: see [`Unchecked::Fixed`] and
    /// [`Unchecked::Shared`].
    Verified,
    /// They were not, or the server's record says something else.
    Failed(DealError),
    /// It could not be checked. What could be was, and does not differ.
    Unchecked(Unchecked),
}

/// Why deals could not be checked, or not wholly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unchecked {
    /// Nothing was dealt.
    NotDealt,
    /// The seat's part ended before the seed was revealed.
    NotRevealed,
    /// There was no record to fill in what the seat can't know: what came before it joined, or, where the deals are
    /// shared, the nonces of the other matches.
    NoRecord,
    /// Whoever made the match gave the seed, or the server did and says so: nothing shows that nobody chose the
    /// cards. All else fits, as for [`DealCheck::Verified`]. [`MatchInfo::deals`](crate::MatchInfo::deals) tells a
    /// bot beforehand.
    Fixed,
    /// The deals are shared. A seat is not shown what the seats of the set's other matches have committed to before it
    /// sends its nonce, so nothing shows that an operator who has one of those matches to itself did not choose the
    /// cards by its nonces. All else fits, as for [`DealCheck::Verified`].
    Shared,
    /// The server lost what the seat had seen ([`Fault::LostObservations`](crate::Fault::LostObservations)) from the
    /// middle of a match on: from where that is to be played again nobody knows.
    Lost,
}

/// How deals differ from what was committed to.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DealError {
    /// The seed is not the one of the commitment.
    #[error("the revealed seed is not the one that the server committed to")]
    Commitment,
    /// The hashes or nonces are not one for each seat.
    #[error("there are {hashes} hashes and {nonces} nonces for {players} seats")]
    Seats {
        /// Hashes that came.
        hashes: usize,
        /// Nonces that came.
        nonces: usize,
        /// Seats of the match.
        players: usize,
    },
    /// A nonce is not that of its hash.
    #[error("the nonce of seat {seat} is not the one that it committed to")]
    Nonce {
        /// Whose.
        seat: Seat,
    },
    /// What the seat joined with is not what the server shows for it.
    #[error(
        "this seat joined with the nonce hash {sent}, and the server shows {} for it",
        .shown.map_or_else(|| "none".to_owned(), |shown| shown.to_string())
    )]
    OwnHash {
        /// The hash that the server took with the join.
        sent: NonceHash,
        /// The one that it showed to the seats, or that the record has; `None`: none for this seat, or of shared deals
        /// for any.
        shown: Option<NonceHash>,
    },
    /// The server committed to one seed, and later to another.
    #[error("the server's commitment was {first}, and is {later} now")]
    OtherCommitment {
        /// The first that the seat saw.
        first: Commitment,
        /// What it saw when it had joined again.
        later: Commitment,
    },
    /// What was settled before the deal is shown otherwise later.
    #[error("the server shows another {what} than before")]
    OtherSetup {
        /// What differs: `set of nonce hashes`, for instance.
        what: &'static str,
    },
    /// What the seat saw is not what the seed gives.
    #[error("what came {place} is not what the seed gives by the rules")]
    Event {
        /// Which event of those that the seat saw, from 0.
        place: EventPlace,
    },
    /// The rules don't allow an action that was seen.
    #[error("the rules don't allow what came {place}: {error}")]
    Play {
        /// Which event, from 0.
        place: EventPlace,
        /// What the rules say.
        error: PlayError,
    },
    /// The record does not replay.
    #[error("the record does not replay: {0}")]
    Record(ReplayError),
    /// The record is not of what the seat saw.
    #[error("the record has another {what} than the seat saw")]
    OtherRecord {
        /// What differs: `seed`, for instance.
        what: &'static str,
    },
    /// The match was told to end otherwise than the seat saw it end.
    #[error(
        "the match was told to end as `{told}`, and {}",
        .seen.as_ref().map_or_else(|| "no end was seen".to_owned(), |seen| format!("was seen to end as `{seen}`"))
    )]
    OtherEnd {
        /// How the seat saw it end; `None`: it did not.
        seen: Option<Outcome>,
        /// The last that the server said of it.
        told: Outcome,
    },
}

/// The place of an event among those that a seat saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventPlace(pub usize);

impl fmt::Display for EventPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "as event {}", self.0)
    }
}

impl fmt::Display for DealCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Verified => f.write_str("verified"),
            Self::Failed(error) => write!(f, "NOT FAIR: {error}"),
            Self::Unchecked(Unchecked::NotDealt) => f.write_str("unchecked: nothing was dealt"),
            Self::Unchecked(Unchecked::NotRevealed) => f.write_str("unchecked: the seed was not revealed"),
            Self::Unchecked(Unchecked::NoRecord) => {
                f.write_str("unchecked: there was no record of what the seat did not see")
            }
            Self::Unchecked(Unchecked::Fixed) => {
                f.write_str("unchecked: the cards were fixed by whoever made the match")
            }
            Self::Unchecked(Unchecked::Shared) => f.write_str(
                "unchecked: the deals are shared, and an operator with a match of the set could choose them",
            ),
            Self::Unchecked(Unchecked::Lost) => {
                f.write_str("unchecked: the server lost what was seen in the middle of the match")
            }
        }
    }
}
#[cfg(test)]
mod tests;
