//! Events of the game.

use serde::Serialize;
use zetema_rules::{OwnCards, Rules, SeatEvent};

use super::{ActionJson, OutcomeJson, cards};

/// What happened: an object with one key, which says what kind it is.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EventJson {
    DealStarted { deal: u32, dealer: usize },
    Drew { seat: usize, count: u8, cards: Option<Vec<String>> },
    Declared { seat: usize, declaration: ActionJson, points: u16 },
    Discarded { seat: usize, card: String },
    Zetema { seat: usize, rank: String, points: u16 },
    Exposed { seat: usize, card: String },
    ExtraTurn { seat: usize },
    DealOver { deal: u32, deal_scores: Vec<u16> },
    Forfeited { seat: usize },
    MatchOver { outcome: OutcomeJson },
}

impl EventJson {
    /// The JSON form of this event.
    pub(crate) fn new(event: &SeatEvent, rules: &Rules) -> Self {
        match *event {
            SeatEvent::DealStarted { deal, dealer } => Self::DealStarted { deal, dealer: dealer.index() },
            SeatEvent::Drew { seat, count, cards: own } => {
                Self::Drew { seat: seat.index(), count, cards: own.map(|OwnCards(own)| cards(own)) }
            }
            SeatEvent::Declared { seat, declaration, points } => Self::Declared {
                seat: seat.index(),
                declaration: ActionJson::declaration(&declaration),
                points,
            },
            SeatEvent::Discarded { seat, card } => {
                Self::Discarded { seat: seat.index(), card: card.to_string() }
            }
            SeatEvent::Zetema { seat, rank, points } => {
                Self::Zetema { seat: seat.index(), rank: rank.letter().to_string(), points }
            }
            SeatEvent::Exposed { seat, card } => Self::Exposed { seat: seat.index(), card: card.to_string() },
            SeatEvent::ExtraTurn { seat } => Self::ExtraTurn { seat: seat.index() },
            SeatEvent::DealOver { deal, deal_scores } => {
                Self::DealOver { deal, deal_scores: deal_scores[..rules.sides()].to_vec() }
            }
            SeatEvent::Forfeited { seat } => Self::Forfeited { seat: seat.index() },
            SeatEvent::MatchOver { result } => Self::MatchOver { outcome: OutcomeJson::result(&result) },
        }
    }
}
