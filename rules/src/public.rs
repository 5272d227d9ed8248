//! Everything about a match that every seat sees (R8).

use crate::card::Card;
use crate::cards::{Cards, Ranks};
use crate::seat::{Seat, Seats};

/// What the seat to act may do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Declare a combination, or discard any card (R10).
    DeclareOrDiscard,
    /// Discard any card: after marriages (R15), in a turn without declarations (R20), or again (R22).
    Discard,
    /// Discard one of the cards just declared (R13).
    DiscardDeclared(Cards),
    /// Discard the card that was exposed (R28).
    DiscardExposed(Card),
}

/// Where a match stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// A seat is to act.
    Turn {
        /// The seat.
        seat: Seat,
        /// What it may do.
        stage: Stage,
    },
    /// The deal is over, the match is not: the next deal is to be dealt (R26).
    DealOver,
    /// The match is over.
    MatchOver,
}

/// Why a match ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndReason {
    /// A side reached the target (R24).
    Target,
    /// The one deal of a match without a target was played (R24).
    DealOver,
    /// Only one side was left without a forfeit (R25).
    Forfeit,
}

/// How a match ended, by side (R25). Entries from the number of sides on are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatchResult {
    /// Why it ended.
    pub reason: EndReason,
    /// The rank of each side from 1; equal totals share a rank and the next is left out (1, 1, 3).
    pub ranks: [u8; Seat::MAX],
    /// The total of each side, in points.
    pub totals: [u16; Seat::MAX],
}

/// Everything about a match that every seat sees (R8). Arrays by seat or side are 0 or empty from
/// the number of seats or sides on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PublicState {
    /// The deal's number, 0 for the first.
    pub deal: u32,
    /// The dealer's seat (R7).
    pub dealer: Seat,
    /// The number of the current decision, 1 for the first of the match, one for each action. Once
    /// the match is over, that of the decision that would have come next.
    pub decision: u32,
    /// Where the match stands.
    pub phase: Phase,
    /// The number of cards in each seat's hand.
    pub hand_counts: [u8; Seat::MAX],
    /// The number of cards in the stock.
    pub stock_count: u8,
    /// For each seat the cards known to be held (R8).
    pub known_held: [Cards; Seat::MAX],
    /// For each seat the card that lies exposed (R28).
    pub exposed: [Option<Card>; Seat::MAX],
    /// For each seat how many cards earlier its draws stop in this deal (R28).
    pub draw_penalties: [u8; Seat::MAX],
    /// For each seat the last sequence, flush or flush sequence that it scored in this deal (R13).
    pub last_melds: [Option<Cards>; Seat::MAX],
    /// The cards of the thirteen rank piles (R6).
    pub tableau: Cards,
    /// The ranks on the zetema pile: five cards each (R16).
    pub zetemas: Ranks,
    /// The cards on the marriage pile (R15).
    pub marriages: Cards,
    /// The ranks on the pile of removed assemblies: five cards each (R14).
    pub removed: Ranks,
    /// The ranks of which an assembly was declared in this deal by anyone (R16).
    pub assemblies: Ranks,
    /// For each side the points of this deal.
    pub deal_scores: [u16; Seat::MAX],
    /// For each side the points of the match.
    pub totals: [u16; Seat::MAX],
    /// The seats that forfeited (R25).
    pub forfeited: Seats,
    /// How the match ended, once it has.
    pub result: Option<MatchResult>,
}
