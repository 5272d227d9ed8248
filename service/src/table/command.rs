//! What is asked of a table.

use std::fmt;
use std::sync::Arc;

use zetema_rules::fair::{Nonce, NonceHash};
use zetema_rules::{Action, Seat};

use super::{Abort, Change, Entrant, Receipt};

/// The seat that a checked token speaks for. The table refuses a token of an earlier generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeatAccess {
    /// The seat.
    pub seat: Seat,
    /// The generation of the token, from 1.
    pub generation: u32,
}

/// What a seat chose for a decision. It may name cards of a hand: `Debug` shows none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// This action.
    Action(Action),
    /// The legal action with this index, from 0, in the order of [`zetema_rules::LegalActions`]. Only for the
    /// current decision, or one that the seat itself answered.
    LegalIndex(u32),
}

impl fmt::Debug for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Action(_) => "Action(hidden)",
            Self::LegalIndex(_) => "LegalIndex(hidden)",
        })
    }
}

/// Something that is asked of a table, and that changes the match if it is new and allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// A seat joins. Joining again changes nothing in the match.
    Join {
        /// By which token.
        access: SeatAccess,
        /// What the seat commits to, if it does.
        nonce_hash: Option<NonceHash>,
    },
    /// A seat sends the nonce that it promised.
    GiveNonce {
        /// By which token.
        access: SeatAccess,
        /// The nonce.
        nonce: Nonce,
    },
    /// A seat answers a decision, or offers a discard out of turn (R28).
    Act {
        /// By which token.
        access: SeatAccess,
        /// The number of the decision.
        decision: u32,
        /// The answer.
        choice: Choice,
    },
    /// A seat forfeits.
    Resign {
        /// By which token.
        access: SeatAccess,
    },
    /// The match is to end without a result.
    Cancel,
    /// The match is of a backup, and is to end without a result.
    AbortRestored,
    /// A seat is to get a new token.
    RotateToken {
        /// The seat.
        seat: Seat,
    },
    /// Every seat of the deal set has joined.
    DealSetJoined,
    /// Every nonce of the deal set is durable.
    DealSetComplete {
        /// All its seats, in the order of their nonces.
        entrants: Arc<[Entrant]>,
    },
    /// Another match of the deal set was aborted before the deal.
    DealSetAborted(Abort),
}

impl Command {
    /// What it is called.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Join { .. } => "join",
            Self::GiveNonce { .. } => "nonce",
            Self::Act { .. } => "act",
            Self::Resign { .. } => "resign",
            Self::Cancel => "cancel",
            Self::AbortRestored => "abort restored",
            Self::RotateToken { .. } => "rotate token",
            Self::DealSetJoined => "deal set joined",
            Self::DealSetComplete { .. } => "deal set complete",
            Self::DealSetAborted(_) => "deal set aborted",
        }
    }

    /// The seat that it is of or about.
    pub(crate) const fn seat(&self) -> Option<Seat> {
        match self {
            Self::Join { access, .. }
            | Self::GiveNonce { access, .. }
            | Self::Act { access, .. }
            | Self::Resign { access } => Some(access.seat),
            Self::RotateToken { seat } => Some(*seat),
            Self::Cancel
            | Self::AbortRestored
            | Self::DealSetJoined
            | Self::DealSetComplete { .. }
            | Self::DealSetAborted(_) => None,
        }
    }
}

/// What a command came to, now or earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// The seat has joined.
    Joined,
    /// The nonce is durable.
    NonceAccepted,
    /// The action is durable and applied.
    Acted(Receipt),
    /// The seat has forfeited.
    Resigned {
        /// The number of the seat's own observation that shows it.
        seq: u64,
    },
    /// The match has ended without a result.
    Cancelled,
    /// The seat's token is of this generation.
    TokenRotated {
        /// The generation.
        generation: u32,
    },
    /// The match follows its deal set.
    DealSetFollowed,
}

/// What a table makes of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decided {
    /// It was done before: nothing is to be written.
    Already(Done),
    /// These changes are to be made durable, together, and then applied. One at least.
    Write(Vec<Change>),
    /// It came when the time was out: these changes, which close the decision by the clock, are to be made durable and
    /// applied first. Then it is to be decided again.
    TimedOut(Vec<Change>),
}
