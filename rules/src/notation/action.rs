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
    /// The cards of marriages don't say where they come from (R15).
    #[error("{word:?} stands where \"hand\" or \"tableau\" must: say where the cards come from (R15)")]
    Source {
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
                let words: Vec<&str> = cards.split_whitespace().collect();
                let sources =
                    words.split_at(words.iter().position(|&word| word == "tableau").unwrap_or(words.len()));
                Ok(Self::Marriages {
                    hand: source("hand", sources.0)?,
                    tableau: source("tableau", sources.1)?,
                })
            }
            _ => Err(ParseActionError::Unknown { word: word.to_owned() }),
        }
    }
}

/// The cards after the word that says where they come from; none without any word.
fn source(name: &str, words: &[&str]) -> Result<Cards, ParseActionError> {
    match words.split_first() {
        None => Ok(Cards::EMPTY),
        Some((&word, cards)) if word == name => Ok(cards.join(" ").parse()?),
        Some((&word, _)) => Err(ParseActionError::Source { word: word.to_owned() }),
    }
}
