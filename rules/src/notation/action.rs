//! Actions as text.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::action::{Action, Declaration};
use crate::card::ParseCardError;
use crate::cards::Cards;

impl fmt::Display for Declaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sequence(cards) => write!(f, "sequence {cards}"),
            Self::Flush(cards) => write!(f, "flush {cards}"),
            Self::FlushSequence(cards) => write!(f, "flush-sequence {cards}"),
            Self::Assembly(rank) => write!(f, "assembly {}", rank.letter()),
            Self::Marriages { hand, tableau } => {
                f.write_str("marriages")?;
                for (source, cards) in [("hand", hand), ("tableau", tableau)] {
                    if !cards.is_empty() {
                        write!(f, " {source} {cards}")?;
                    }
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Discard(card) => write!(f, "discard {card}"),
            Self::Declare(declaration) => declaration.fmt(f),
        }
    }
}

/// A text that is no action.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseActionError {
    /// The first word is no action's.
    #[error("{word:?} is no action: give discard, sequence, flush, flush-sequence, assembly or marriages")]
    Unknown {
        /// What was given.
        word: String,
    },
    /// A card or rank is none.
    #[error(transparent)]
    Card(#[from] ParseCardError),
}

impl FromStr for Action {
    type Err = ParseActionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        match text.split_once(char::is_whitespace) {
            Some(("discard", card)) => Ok(Self::Discard(card.trim().parse()?)),
            _ => text.parse().map(Self::Declare),
        }
    }
}

impl FromStr for Declaration {
    type Err = ParseActionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let (word, cards) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match word {
            "sequence" => Ok(Self::Sequence(cards.parse()?)),
            "flush" => Ok(Self::Flush(cards.parse()?)),
            "flush-sequence" => Ok(Self::FlushSequence(cards.parse()?)),
            "assembly" => Ok(Self::Assembly(cards.trim().parse()?)),
            "marriages" => {
                let (hand, tableau) = cards.split_once("tableau").unwrap_or((cards, ""));
                let hand = hand.trim();
                let hand = hand.strip_prefix("hand").unwrap_or(hand);
                Ok(Self::Marriages { hand: hand.parse::<Cards>()?, tableau: tableau.parse()? })
            }
            _ => Err(ParseActionError::Unknown { word: word.to_owned() }),
        }
    }
}
