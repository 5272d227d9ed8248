//! Events of the game, but for its end and forfeits.

use zetema_rules::{Cards, OwnCards, Seat, SeatEvent};

use super::action::{card, cards, declaration, rank, seat};
use super::fields::{Fields, NotPlain, Plain, Value, narrow, numbers, only};

/// An event of plain play: those that come once in a match or less are not.
pub(super) fn event(bytes: &[u8]) -> Plain<SeatEvent> {
    match only(bytes)? {
        (16, Value::Bytes(bytes)) => deal_started(bytes),
        (17, Value::Bytes(bytes)) => drew(bytes),
        (18, Value::Bytes(bytes)) => declared(bytes),
        (19, Value::Bytes(bytes)) => discarded(bytes),
        (20, Value::Bytes(bytes)) => zetema(bytes),
        (21, Value::Bytes(bytes)) => exposed(bytes),
        (22, Value::Bytes(bytes)) => extra_turn(bytes),
        (23, Value::Bytes(bytes)) => deal_over(bytes),
        _ => Err(NotPlain),
    }
}

fn deal_started(bytes: &[u8]) -> Plain<SeatEvent> {
    let (deal, dealer) = two_numbers(bytes)?;
    Ok(SeatEvent::DealStarted { deal: narrow(deal)?, dealer: seat(dealer)? })
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
    let (who, what) = two_numbers(bytes)?;
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

fn exposed(bytes: &[u8]) -> Plain<SeatEvent> {
    let (who, what) = two_numbers(bytes)?;
    Ok(SeatEvent::Exposed { seat: seat(who)?, card: card(what)? })
}

fn extra_turn(bytes: &[u8]) -> Plain<SeatEvent> {
    let mut fields = Fields::of(bytes);
    let who = match (fields.next()?, fields.next()?) {
        (None, None) => 0,
        (Some((1, Value::Number(number))), None) => number,
        _ => return Err(NotPlain),
    };
    Ok(SeatEvent::ExtraTurn { seat: seat(who)? })
}

fn deal_over(bytes: &[u8]) -> Plain<SeatEvent> {
    let (mut fields, mut deal, mut deal_scores) = (Fields::of(bytes), 0, [0; Seat::MAX]);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Number(number)) => deal = narrow(number)?,
            (2, Value::Bytes(bytes)) => {
                let mut scores = deal_scores.iter_mut();
                for score in numbers(bytes)? {
                    *scores.next().ok_or(NotPlain)? = score;
                }
            }
            _ => return Err(NotPlain),
        }
    }
    Ok(SeatEvent::DealOver { deal, deal_scores })
}

/// The fields 1 and 2 of a message that has no others.
fn two_numbers(bytes: &[u8]) -> Plain<(u64, u64)> {
    let (mut fields, mut first, mut second) = (Fields::of(bytes), 0, 0);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Number(number)) => first = number,
            (2, Value::Number(number)) => second = number,
            _ => return Err(NotPlain),
        }
    }
    Ok((first, second))
}
