//! Cards, suits and ranks, and the multisets and sets of them.

use zetema_rules::{Card, Cards, Rank, Ranks, Suit};

use super::{FieldError, Wire, list, wire_enum};
use crate::v1;

wire_enum! {
    Suit = Suit { Clubs, Diamonds, Hearts, Spades }
    Rank = Rank {
        Ace, Two, Three, Four, Five, Six, Seven, Eight, Nine, Ten, Jack, Queen, King
    }
}

/// The number on the wire is the card's index and one.
impl Wire for Card {
    type Message = i32;

    fn to_wire(&self) -> i32 {
        #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]
        let index = self.index() as i32;
        index + 1
    }

    fn from_wire(message: &i32) -> Result<Self, FieldError> {
        match usize::try_from(*message) {
            Ok(0) => Err(FieldError::missing("")),
            Ok(number) => Self::from_index(number - 1).ok_or_else(|| FieldError::unknown(*message)),
            Err(_) => Err(FieldError::unknown(*message)),
        }
    }
}

/// In ascending order on the wire; read in any order.
impl Wire for Cards {
    type Message = Vec<i32>;

    fn to_wire(&self) -> Vec<i32> {
        self.iter().map(|card| card.to_wire()).collect()
    }

    fn from_wire(message: &Vec<i32>) -> Result<Self, FieldError> {
        let mut cards = Self::EMPTY;
        for (i, number) in message.iter().enumerate() {
            let card = Card::from_wire(number).map_err(|error| error.at(i))?;
            if !cards.insert(card) {
                return Err(FieldError::invalid("", format!("{card} stands here a third time")).at(i));
            }
        }
        Ok(cards)
    }
}

/// In ascending order on the wire; read in any order.
impl Wire for Ranks {
    type Message = Vec<i32>;

    fn to_wire(&self) -> Vec<i32> {
        self.iter().map(|rank| rank.to_wire()).collect()
    }

    fn from_wire(message: &Vec<i32>) -> Result<Self, FieldError> {
        let mut ranks = Self::EMPTY;
        for (i, rank) in list::<Rank>(message)?.into_iter().enumerate() {
            if ranks.contains(rank) {
                let problem = format!("the rank {} stands here twice", rank.letter());
                return Err(FieldError::invalid("", problem).at(i));
            }
            ranks = ranks.with(rank);
        }
        Ok(ranks)
    }
}

/// The cards of a message that holds nothing else.
pub(super) fn cards_from_list(message: &v1::CardList) -> Result<Cards, FieldError> {
    let v1::CardList { cards } = message;
    super::value("cards", cards)
}

/// A message that holds these cards and nothing else.
pub(super) fn cards_to_list(cards: Cards) -> v1::CardList {
    v1::CardList { cards: cards.to_wire() }
}
