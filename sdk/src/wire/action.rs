//! Cards, and what may be done with them.

use zetema_rules::{Card, Cards, Declaration, LegalActions, Rank, Ranks, Seat};

use super::fields::{Fields, NotPlain, Plain, Value, narrow, only};

pub(super) fn seat(number: u64) -> Plain<Seat> {
    Seat::new(narrow(number)?).ok_or(NotPlain)
}

pub(super) fn card(number: u64) -> Plain<Card> {
    let number: usize = narrow(number)?;
    number.checked_sub(1).and_then(Card::from_index).ok_or(NotPlain)
}

pub(super) fn rank(number: u64) -> Plain<Rank> {
    let number: usize = narrow(number)?;
    number.checked_sub(1).and_then(|place| Rank::ALL.get(place)).copied().ok_or(NotPlain)
}

/// The numbers of a list of cards or ranks take a byte each: all that are known are less than 128.
pub(super) fn cards(bytes: &[u8]) -> Plain<Cards> {
    let mut cards = Cards::EMPTY;
    for &number in bytes {
        if !cards.insert(card(number.into())?) {
            return Err(NotPlain);
        }
    }
    Ok(cards)
}

pub(super) fn ranks(bytes: &[u8]) -> Plain<Ranks> {
    let mut ranks = Ranks::EMPTY;
    for &number in bytes {
        let rank = rank(number.into())?;
        if ranks.contains(rank) {
            return Err(NotPlain);
        }
        ranks = ranks.with(rank);
    }
    Ok(ranks)
}

/// The cards of a message that holds nothing else.
pub(super) fn card_list(bytes: &[u8]) -> Plain<Cards> {
    let (mut fields, mut list) = (Fields::of(bytes), Cards::EMPTY);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Bytes(bytes)) => list = cards(bytes)?,
            _ => return Err(NotPlain),
        }
    }
    Ok(list)
}

pub(super) fn declaration(bytes: &[u8]) -> Plain<Declaration> {
    Ok(match only(bytes)? {
        (1, Value::Bytes(bytes)) => Declaration::Sequence(card_list(bytes)?),
        (2, Value::Bytes(bytes)) => Declaration::Flush(card_list(bytes)?),
        (3, Value::Bytes(bytes)) => Declaration::FlushSequence(card_list(bytes)?),
        (4, Value::Number(number)) => Declaration::Assembly(rank(number)?),
        (5, Value::Bytes(bytes)) => marriages(bytes)?,
        _ => return Err(NotPlain),
    })
}

fn marriages(bytes: &[u8]) -> Plain<Declaration> {
    let (mut fields, mut hand, mut tableau) = (Fields::of(bytes), Cards::EMPTY, Cards::EMPTY);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Bytes(bytes)) => hand = cards(bytes)?,
            (2, Value::Bytes(bytes)) => tableau = cards(bytes)?,
            _ => return Err(NotPlain),
        }
    }
    Ok(Declaration::Marriages { hand, tableau })
}

pub(super) fn legal_actions(bytes: &[u8]) -> Plain<LegalActions> {
    let (mut fields, mut legal) = (Fields::with_repeated(bytes, &[2]), LegalActions::default());
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Bytes(bytes)) if bytes.is_sorted_by(|a, b| a < b) => legal.discards = cards(bytes)?,
            (2, Value::Bytes(bytes)) => legal.declarations.push(declaration(bytes)?),
            _ => return Err(NotPlain),
        }
    }
    Ok(legal)
}
