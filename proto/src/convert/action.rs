//! Actions, declarations and lists of legal actions.

use zetema_rules::{Action, Card, Cards, Declaration, LegalActions, Rank};

use super::card::{cards_from_list, cards_to_list};
use super::{FieldError, Wire, list, value};
use crate::v1;
use crate::v1::{action, declaration};

impl Wire for Action {
    type Message = v1::Action;

    fn to_wire(&self) -> v1::Action {
        let kind = match self {
            Self::Discard(card) => action::Kind::Discard(card.to_wire()),
            Self::Declare(declaration) => action::Kind::Declare(declaration.to_wire()),
        };
        v1::Action { kind: Some(kind) }
    }

    fn from_wire(message: &v1::Action) -> Result<Self, FieldError> {
        let v1::Action { kind } = message;
        match kind {
            None => Err(FieldError::missing("kind")),
            Some(action::Kind::Discard(card)) => Ok(Self::Discard(value("discard", card)?)),
            Some(action::Kind::Declare(declaration)) => Ok(Self::Declare(value("declare", declaration)?)),
        }
    }
}

impl Wire for Declaration {
    type Message = v1::Declaration;

    fn to_wire(&self) -> v1::Declaration {
        let kind = match *self {
            Self::Sequence(cards) => declaration::Kind::Sequence(cards_to_list(cards)),
            Self::Flush(cards) => declaration::Kind::Flush(cards_to_list(cards)),
            Self::FlushSequence(cards) => declaration::Kind::FlushSequence(cards_to_list(cards)),
            Self::Assembly(rank) => declaration::Kind::Assembly(rank.to_wire()),
            Self::Marriages { hand, tableau } => declaration::Kind::Marriages(v1::Marriages {
                hand: hand.to_wire(),
                tableau: tableau.to_wire(),
            }),
        };
        v1::Declaration { kind: Some(kind) }
    }

    fn from_wire(message: &v1::Declaration) -> Result<Self, FieldError> {
        let v1::Declaration { kind } = message;
        let cards = |field, message| cards_from_list(message).map_err(|error| error.within(field));
        Ok(match kind {
            None => return Err(FieldError::missing("kind")),
            Some(declaration::Kind::Sequence(list)) => Self::Sequence(cards("sequence", list)?),
            Some(declaration::Kind::Flush(list)) => Self::Flush(cards("flush", list)?),
            Some(declaration::Kind::FlushSequence(list)) => {
                Self::FlushSequence(cards("flush_sequence", list)?)
            }
            Some(declaration::Kind::Assembly(rank)) => Self::Assembly(value::<Rank>("assembly", rank)?),
            Some(declaration::Kind::Marriages(v1::Marriages { hand, tableau })) => Self::Marriages {
                hand: value("marriages.hand", hand)?,
                tableau: value("marriages.tableau", tableau)?,
            },
        })
    }
}

impl Wire for LegalActions {
    type Message = v1::LegalActions;

    fn to_wire(&self) -> v1::LegalActions {
        let Self { discards, declarations } = self;
        v1::LegalActions {
            discards: discards.to_wire(),
            declarations: declarations.iter().map(Wire::to_wire).collect(),
        }
    }

    /// A declaration of a kind that this version does not know is left out: nobody chooses what they
    /// don't know. The indices after it are then others than on the wire, so answer with the action.
    fn from_wire(message: &v1::LegalActions) -> Result<Self, FieldError> {
        let v1::LegalActions { discards, declarations } = message;
        let faces: Vec<Card> = list(discards).map_err(|error| error.within("discards"))?;
        if let Some(i) = faces.windows(2).position(|pair| pair[0] >= pair[1]) {
            let problem =
                format!("{} stands after {}: give each face once, in order", faces[i + 1], faces[i]);
            return Err(FieldError::invalid("", problem).at(i + 1).within("discards"));
        }
        let discards = faces.into_iter().fold(Cards::EMPTY, |all, card| all.sum(card.into()));
        let known = |(_, declaration): &(usize, &v1::Declaration)| declaration.kind.is_some();
        let declarations = declarations.iter().enumerate().filter(known).map(|(i, declaration)| {
            Declaration::from_wire(declaration).map_err(|error| error.at(i).within("declarations"))
        });
        Ok(Self { discards, declarations: declarations.collect::<Result<_, _>>()? })
    }
}
