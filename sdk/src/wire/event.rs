//! Events of plain play.

use zetema_rules::{Cards, OwnCards, SeatEvent};

use super::action::{card, cards, declaration, rank, seat};
use super::fields::{Fields, NotPlain, Plain, Value, narrow};

/// An event of plain play: those that come once in a deal or less are not.
pub(super) fn event(bytes: &[u8]) -> Plain<SeatEvent> {
    let mut fields = Fields::of(bytes);
    let event = match fields.next()? {
        Some((17, Value::Bytes(bytes))) => drew(bytes)?,
        Some((18, Value::Bytes(bytes))) => declared(bytes)?,
        Some((19, Value::Bytes(bytes))) => discarded(bytes)?,
        Some((20, Value::Bytes(bytes))) => zetema(bytes)?,
        _ => return Err(NotPlain),
    };
    match fields.next()? {
        None => Ok(event),
        Some(_) => Err(NotPlain),
    }
}

fn drew(bytes: &[u8]) -> Plain<SeatEvent> {
    let (mut fields, mut who, mut count, mut own) = (Fields::of(bytes), 0, 0, Cards::EMPTY);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Number(number)) => who = number,
            (2, Value::Number(number)) => count = number,
            (3, Value::Bytes(bytes)) => own = cards(bytes)?,
            _ => return Err(NotPlain),
        }
    }
    let (seat, count) = (seat(who)?, narrow::<u8>(count)?);
    if own.is_empty() {
        return Ok(SeatEvent::Drew { seat, count, cards: None });
    }
    let fits = own.len() == usize::from(count);
    fits.then_some(SeatEvent::Drew { seat, count, cards: Some(OwnCards(own)) }).ok_or(NotPlain)
}

fn declared(bytes: &[u8]) -> Plain<SeatEvent> {
    let (mut fields, mut who, mut what, mut points) = (Fields::of(bytes), 0, None, 0);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Number(number)) => who = number,
            (2, Value::Bytes(bytes)) => what = Some(declaration(bytes)?),
            (3, Value::Number(number)) => points = number,
            _ => return Err(NotPlain),
        }
    }
    let declaration = what.ok_or(NotPlain)?;
    Ok(SeatEvent::Declared { seat: seat(who)?, declaration, points: narrow(points)? })
}

fn discarded(bytes: &[u8]) -> Plain<SeatEvent> {
    let (mut fields, mut who, mut what) = (Fields::of(bytes), 0, 0);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Number(number)) => who = number,
            (2, Value::Number(number)) => what = number,
            _ => return Err(NotPlain),
        }
    }
    Ok(SeatEvent::Discarded { seat: seat(who)?, card: card(what)? })
}

fn zetema(bytes: &[u8]) -> Plain<SeatEvent> {
    let (mut fields, mut who, mut what, mut points) = (Fields::of(bytes), 0, 0, 0);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Number(number)) => who = number,
            (2, Value::Number(number)) => what = number,
            (3, Value::Number(number)) => points = number,
            _ => return Err(NotPlain),
        }
    }
    Ok(SeatEvent::Zetema { seat: seat(who)?, rank: rank(what)?, points: narrow(points)? })
}
