//! Why an action is refused (R27).

use thiserror::Error;

use crate::card::{Card, Rank};
use crate::cards::Cards;
use crate::seat::Seat;

/// Why an action is refused. Nothing changed (R27). It tells no more than the seat itself sees.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlayError {
    /// The match has no such seat (R4).
    #[error("the match has no seat {seat}: seats are 0 to {last} (R4)")]
    NoSuchSeat {
        /// What was given.
        seat: Seat,
        /// The last seat.
        last: Seat,
    },
    /// Another seat is to act (R9).
    #[error("seat {to_act} is to act (R9): wait for a decision of your own")]
    NotYourTurn {
        /// The seat to act.
        to_act: Seat,
    },
    /// The deal is over and the next not dealt (R23).
    #[error("the deal is over (R23): wait for the next")]
    DealOver,
    /// The match is over (R24).
    #[error("the match is over (R24): its record has the result")]
    MatchOver,
    /// The card is not in the hand (R9).
    #[error("{card} is not in the hand (R9): discard a card of the legal actions")]
    CardNotHeld {
        /// What was given.
        card: Card,
    },
    /// One of the declared cards must be discarded (R13).
    #[error("{card} was not declared (R13): discard one of {declared}")]
    NotDeclared {
        /// What was given.
        card: Card,
        /// What was declared.
        declared: Cards,
    },
    /// The exposed card must be discarded (R28).
    #[error("{card} is not the exposed card (R28): discard {exposed}")]
    NotExposed {
        /// What was given.
        card: Card,
        /// What lies exposed.
        exposed: Card,
    },
    /// Nothing may be declared at this point: after a declaration (R10, R15), in an extra discard (R22), in a
    /// turn that began with an empty stock (R20), or with an exposed card (R28).
    #[error("nothing may be declared now ({clause}): discard")]
    NoDeclarationNow {
        /// The clause: `R10`, `R28`, or those that a stage of a discard alone can come from.
        clause: &'static str,
    },
    /// The cards of a declaration are not in the hand (R11–R15).
    #[error("{cards} are not all in the hand (R10): declare cards that are held")]
    CardsNotHeld {
        /// What was given.
        cards: Cards,
    },
    /// The cards of a declaration are not in the tableau (R15).
    #[error("{cards} are not all in the tableau (R15): take cards that lie there")]
    CardsNotInTableau {
        /// What was given.
        cards: Cards,
    },
    /// The cards are not what the declaration calls them (R11, R12).
    #[error("{cards} are no {called} of {size} cards (R11, R12): declare one of the legal actions")]
    NotTheMeld {
        /// What was given.
        cards: Cards,
        /// `sequence`, `flush` or `flush sequence`.
        called: &'static str,
        /// M.
        size: usize,
    },
    /// The meld shares too many cards with the seat's last one (R13).
    #[error("the meld shares {shared} cards with the last one: at most {most} may be reused (R13)")]
    ReusesTooMany {
        /// How many are shared.
        shared: usize,
        /// How many may be.
        most: u8,
    },
    /// The five cards of the rank are not all held (R14).
    #[error("the five cards of rank {rank} are not all in the hand (R14): declare one of the legal actions", rank = .rank.letter())]
    AssemblyNotHeld {
        /// What was given.
        rank: Rank,
    },
    /// The cards are no marriages (R15).
    #[error(
        "{hand} from hand and {tableau} from the tableau are no marriages: give kings, each with the queen of its suit (R15)"
    )]
    NotMarriages {
        /// From hand.
        hand: Cards,
        /// From the tableau.
        tableau: Cards,
    },
    /// Too few of the cards of marriages come from hand (R15).
    #[error("too few of the cards come from hand (R15): give {needed}")]
    TooFewFromHand {
        /// What `marriage_hand_min` asks for.
        needed: &'static str,
    },
    /// The seat itself is to act, so a discard is no fault (R28).
    #[error("seat {seat} is to act: its discard is an action, no fault (R28)")]
    OwnTurn {
        /// The seat.
        seat: Seat,
    },
    /// A card of the seat lies exposed already (R28).
    #[error("{card} lies exposed already: a seat can't expose another (R28)")]
    AlreadyExposed {
        /// What lies exposed.
        card: Card,
    },
    /// The next deal was given while a deal is going on, or after the match (R26).
    #[error("no deal is due: the deal goes on, or the match is over (R26)")]
    NoDealDue,
    /// The seat has forfeited already (R25).
    #[error("seat {seat} has forfeited already (R25)")]
    AlreadyForfeited {
        /// The seat.
        seat: Seat,
    },
}

/// An error may quote the cards that a seat sent: `Debug` names its kind only, so that a log of it
/// is no leak. `Display` is for the seat itself.
impl std::fmt::Debug for PlayError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.kind())
    }
}

impl PlayError {
    /// The kind of the error as a word, such as `NotYourTurn`: fit for logs and metrics.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::NoSuchSeat { .. } => "NoSuchSeat",
            Self::NotYourTurn { .. } => "NotYourTurn",
            Self::DealOver => "DealOver",
            Self::MatchOver => "MatchOver",
            Self::CardNotHeld { .. } => "CardNotHeld",
            Self::NotDeclared { .. } => "NotDeclared",
            Self::NotExposed { .. } => "NotExposed",
            Self::NoDeclarationNow { .. } => "NoDeclarationNow",
            Self::CardsNotHeld { .. } => "CardsNotHeld",
            Self::CardsNotInTableau { .. } => "CardsNotInTableau",
            Self::NotTheMeld { .. } => "NotTheMeld",
            Self::ReusesTooMany { .. } => "ReusesTooMany",
            Self::AssemblyNotHeld { .. } => "AssemblyNotHeld",
            Self::NotMarriages { .. } => "NotMarriages",
            Self::TooFewFromHand { .. } => "TooFewFromHand",
            Self::OwnTurn { .. } => "OwnTurn",
            Self::AlreadyExposed { .. } => "AlreadyExposed",
            Self::NoDealDue => "NoDealDue",
            Self::AlreadyForfeited { .. } => "AlreadyForfeited",
        }
    }
}
