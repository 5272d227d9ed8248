//! What happened, as each seat may see it (R8).

use std::fmt;

use crate::action::Declaration;
use crate::card::{Card, Rank};
use crate::cards::Cards;
use crate::public::MatchResult;
use crate::seat::Seat;

/// Whose eyes a view or an event is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Viewer {
    /// A seat, which sees its own hand.
    Seat(Seat),
    /// Someone who sees what all seats see.
    Spectator,
}

/// Something that happened. It may hold hidden cards, so it shows nothing of itself:
/// [`Event::seen_by`] is the only way in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Event(Happening);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Happening {
    Drew { seat: Seat, cards: Cards },
    Public(SeatEvent),
}

impl Event {
    pub(crate) const fn public(event: SeatEvent) -> Self {
        Self(Happening::Public(event))
    }

    pub(crate) const fn drew(seat: Seat, cards: Cards) -> Self {
        Self(Happening::Drew { seat, cards })
    }

    /// The event as this viewer sees it.
    pub fn seen_by(&self, viewer: Viewer) -> SeatEvent {
        match self.0 {
            Happening::Public(event) => event,
            Happening::Drew { seat, cards } => SeatEvent::Drew {
                seat,
                #[allow(clippy::cast_possible_truncation)]
                count: cards.len() as u8,
                cards: (viewer == Viewer::Seat(seat)).then_some(OwnCards(cards)),
            },
        }
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.seen_by(Viewer::Spectator), f)
    }
}

/// Cards that only one seat may see. `Debug` shows how many, not which.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct OwnCards(pub Cards);

impl fmt::Debug for OwnCards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{} hidden]", self.0.len())
    }
}

/// An event as one seat or a spectator sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeatEvent {
    /// A deal began; the hands follow as draws, clockwise from the seat after the dealer.
    DealStarted {
        /// The deal's number, from 0.
        deal: u32,
        /// The dealer.
        dealer: Seat,
    },
    /// A seat was dealt its hand, or drew from the stock.
    Drew {
        /// Who drew.
        seat: Seat,
        /// How many cards.
        count: u8,
        /// Which, for the seat itself only.
        cards: Option<OwnCards>,
    },
    /// A seat declared a combination (R10).
    Declared {
        /// Who declared.
        seat: Seat,
        /// What.
        declaration: Declaration,
        /// The points that it scored, bonus included.
        points: u16,
    },
    /// A seat played a card to the tableau (R9).
    Discarded {
        /// Who.
        seat: Seat,
        /// What.
        card: Card,
    },
    /// A rank pile was completed and its five cards left (R16).
    Zetema {
        /// Who completed it.
        seat: Seat,
        /// The rank.
        rank: Rank,
        /// The points; 0 for an exposed card (R28).
        points: u16,
    },
    /// A seat offered a discard out of turn and exposed the card (R28).
    Exposed {
        /// Who.
        seat: Seat,
        /// The card, which is still in the hand.
        card: Card,
    },
    /// A seat goes on after a zetema with the stock empty (R22).
    ExtraTurn {
        /// Who.
        seat: Seat,
    },
    /// No seat can play on (R23).
    DealOver {
        /// The deal's number, from 0.
        deal: u32,
        /// The points of the deal by side.
        deal_scores: [u16; Seat::MAX],
    },
    /// A seat forfeited (R25).
    Forfeited {
        /// Who.
        seat: Seat,
    },
    /// The match is over.
    MatchOver {
        /// How it ended.
        result: MatchResult,
    },
}
