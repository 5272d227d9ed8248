//! What a player may do in a turn (R9–R15).

use crate::card::{Card, Rank};
use crate::cards::Cards;

/// A combination that is laid open for points. At most one a turn (R10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Declaration {
    /// Consecutive ranks, suits free (R11).
    Sequence(Cards),
    /// Cards of one suit (R12).
    Flush(Cards),
    /// Both at once (R12).
    FlushSequence(Cards),
    /// All five cards of a rank, from hand (R14).
    Assembly(Rank),
    /// Kings, each with the queen of its suit (R15).
    Marriages {
        /// The kings and queens from hand.
        hand: Cards,
        /// The kings and queens from the tableau.
        tableau: Cards,
    },
}

impl Declaration {
    /// The cards from hand that it shows. `imperial` tells which face of an assembly is doubled.
    pub fn from_hand(&self, imperial: crate::Suit) -> Cards {
        match *self {
            Self::Sequence(cards) | Self::Flush(cards) | Self::FlushSequence(cards) => cards,
            Self::Assembly(rank) => Cards::pack(imperial).of_rank(rank),
            Self::Marriages { hand, .. } => hand,
        }
    }
}

/// One action, which answers one decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Play one card to the tableau (R9).
    Discard(Card),
    /// Declare a combination (R10).
    Declare(Declaration),
}
