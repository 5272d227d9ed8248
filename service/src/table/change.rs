//! What changes a match, as it is journaled before it is applied.

use std::sync::Arc;

use zetema_rules::fair::{Nonce, NonceHash};
use zetema_rules::{Action, Card, Deck, ForfeitReason, LedgerEntry, MatchResult, PlayedBy, Seat};

use super::{Abort, Created};
use crate::journal::{MatchId, UnixMillis};

/// One thing that changed a match. A match is its entries in order: everything else follows from them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When it was stored, by the wall clock. For people and for records: no rule depends on it.
    pub at: UnixMillis,
    /// What happened.
    pub change: Change,
}

/// What happened. It may hold what a seat or everyone must not see yet: `Debug` shows no seed, no nonce and
/// no deck.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The match was created: the first entry of every match, and no other.
    Created(Arc<Created>),
    /// A seat joined for the first time.
    SeatJoined {
        /// The seat.
        seat: Seat,
        /// What it committed to, if it did.
        nonce_hash: Option<NonceHash>,
    },
    /// Every seat of every match of the deal set has joined (`shared` deals only).
    DealSetJoined,
    /// A seat's nonce came.
    NonceGiven {
        /// The seat.
        seat: Seat,
        /// Its nonce.
        nonce: Nonce,
    },
    /// Every nonce is there, and the first deal is dealt.
    Started(Box<Started>),
    /// A seat acted, or the server for it.
    Acted {
        /// The seat.
        seat: Seat,
        /// The number of the decision.
        decision: u32,
        /// What it did.
        action: Action,
        /// Who chose the action.
        by: PlayedBy,
        /// How the time of the decision was charged; `None` if the seat had forfeited.
        ledger: Option<LedgerEntry>,
    },
    /// A seat offered a discard out of turn (R28).
    Faulted {
        /// The seat.
        seat: Seat,
        /// The number of the decision that it quoted.
        decision: u32,
        /// The card.
        card: Card,
    },
    /// A seat forfeited (R25).
    SeatForfeited {
        /// The seat.
        seat: Seat,
        /// Why.
        reason: ForfeitReason,
        /// How the time of the decision was charged that it did not take, if its time was out.
        ledger: Option<LedgerEntry>,
    },
    /// The match ended without a result.
    Aborted(Abort),
    /// The match was over, with this result.
    Ended(MatchResult),
    /// A seat got a new token.
    SeatTokenRotated {
        /// The seat.
        seat: Seat,
        /// Its token's generation from here on.
        generation: u32,
    },
}

impl Change {
    /// How the time of the decision was charged that it closes, or that its seat did not take.
    pub const fn ledger(&self) -> Option<&LedgerEntry> {
        match self {
            Self::Acted { ledger, .. } | Self::SeatForfeited { ledger, .. } => ledger.as_ref(),
            _ => None,
        }
    }

    /// Whether a match ends with it.
    pub const fn ends_match(&self) -> bool {
        matches!(self, Self::Aborted(_) | Self::Ended(_))
    }
}

/// The first deal. The dealer and the deck follow from the seed and the nonces; they are kept to notice if
/// they ever would not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// The nonces of the match's seats, seat 0 first: empty for a seat that gave no hash.
    pub nonces: Vec<Nonce>,
    /// All seats of the deal set, in the order of their nonces (`shared` deals only).
    pub entrants: Arc<[Entrant]>,
    /// The first dealer (R7).
    pub dealer: Seat,
    /// The first deck.
    pub deck: Deck,
}

/// One seat of one match of a deal set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entrant {
    /// The match.
    pub match_id: MatchId,
    /// The seat.
    pub seat: Seat,
    /// What it committed to, if it did.
    pub nonce_hash: Option<NonceHash>,
    /// Its nonce, empty if it gave no hash.
    pub nonce: Nonce,
}
