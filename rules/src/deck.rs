//! The shuffled pack, which is a secret until the reveal.

use std::fmt;

use thiserror::Error;

use crate::card::{Card, Suit};
use crate::cards::Cards;

/// How many cards a pack has (R1).
pub const PACK: usize = 65;

/// The 65 cards in the order in which they are dealt and drawn. `Debug` shows none of them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Deck([Card; PACK]);

/// Cards that are no pack.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("these {given} cards are no pack of 65 with {letter} doubled (R1)", letter = .imperial.letter())]
pub struct DeckError {
    /// How many cards were given.
    pub given: usize,
    /// The imperial suit.
    pub imperial: Suit,
}

impl Deck {
    /// Checks that these are the 65 cards of the pack with `imperial` doubled.
    ///
    /// # Errors
    /// [`DeckError`] if they are not.
    pub fn new(cards: &[Card], imperial: Suit) -> Result<Self, DeckError> {
        let error = DeckError { given: cards.len(), imperial };
        let order = cards.try_into().map_err(|_| error.clone())?;
        match Cards::collect(cards.iter().copied()) {
            Some(all) if all == Cards::pack(imperial) => Ok(Self(order)),
            _ => Err(error),
        }
    }

    /// The cards in order. Whoever asks holds a secret until the reveal.
    pub const fn reveal(&self) -> &[Card; PACK] {
        &self.0
    }

    pub(crate) const fn from_order(order: [Card; PACK]) -> Self {
        Self(order)
    }
}

impl fmt::Debug for Deck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Deck(hidden)")
    }
}
