//! Actions.

use serde::{Deserialize, Serialize};
use zetema_rules::{Action, Card, Cards, Declaration};

use super::cards;

/// One action: an object with one key, which says what kind it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum ActionJson {
    /// The card.
    Discard(String),
    /// The cards.
    Sequence(Vec<String>),
    /// The cards.
    Flush(Vec<String>),
    /// The cards.
    FlushSequence(Vec<String>),
    /// The rank.
    Assembly(String),
    /// The kings and queens, by where they come from.
    Marriages {
        /// From hand.
        hand: Vec<String>,
        /// From the tableau.
        tableau: Vec<String>,
    },
}

impl ActionJson {
    /// The JSON form of this action.
    pub(crate) fn new(action: &Action) -> Self {
        match *action {
            Action::Discard(card) => Self::Discard(card.to_string()),
            Action::Declare(declaration) => Self::declaration(&declaration),
        }
    }

    /// The JSON form of this declaration.
    pub(crate) fn declaration(declaration: &Declaration) -> Self {
        match *declaration {
            Declaration::Sequence(all) => Self::Sequence(cards(all)),
            Declaration::Flush(all) => Self::Flush(cards(all)),
            Declaration::FlushSequence(all) => Self::FlushSequence(cards(all)),
            Declaration::Assembly(rank) => Self::Assembly(rank.letter().to_string()),
            Declaration::Marriages { hand, tableau } => {
                Self::Marriages { hand: cards(hand), tableau: cards(tableau) }
            }
        }
    }

    /// The action.
    pub(crate) fn action(&self) -> Result<Action, String> {
        Ok(match self {
            Self::Discard(card) => Action::Discard(card.parse::<Card>().map_err(|error| error.to_string())?),
            Self::Sequence(all) => Action::Declare(Declaration::Sequence(read(all)?)),
            Self::Flush(all) => Action::Declare(Declaration::Flush(read(all)?)),
            Self::FlushSequence(all) => Action::Declare(Declaration::FlushSequence(read(all)?)),
            Self::Assembly(rank) => {
                Action::Declare(Declaration::Assembly(rank.parse().map_err(|error| format!("{error}"))?))
            }
            Self::Marriages { hand, tableau } => {
                Action::Declare(Declaration::Marriages { hand: read(hand)?, tableau: read(tableau)? })
            }
        })
    }
}

fn read(texts: &[String]) -> Result<Cards, String> {
    texts.join(" ").parse().map_err(|error| format!("{error}"))
}
