//! The record of a match, most of which is lists.

use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint};
use zetema_proto::{Wire, record_from_wire, v1};
use zetema_rules::{
    Action, Attendance, Card, Charge, Deck, LedgerEntry, PlayedBy, Record, RecordDeal, Rules, Step,
};

use super::action::{card, declaration, seat};
use super::fields::{Fields, NotPlain, Plain, Value, narrow, numbers, only};

/// Reads the answer with a record, its lists straight into the types of the rules; `None` if the message has to say what
/// there is, or what is wrong with it.
pub(crate) fn read_record(bytes: &[u8]) -> Option<Box<Record>> {
    read_response(bytes).ok().map(Box::new)
}

fn read_response(bytes: &[u8]) -> Plain<Record> {
    match only(bytes)? {
        (1, Value::Bytes(bytes)) => record(bytes),
        _ => Err(NotPlain),
    }
}

fn record(bytes: &[u8]) -> Plain<Record> {
    let (mut deals, mut steps, mut ledger, mut others) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut fields = Fields::with_repeated(bytes, &[4, 12, 13, 15]);
    loop {
        let before = fields.rest();
        match fields.next()? {
            Some((12, Value::Bytes(bytes))) => deals.push(bytes),
            Some((13, Value::Bytes(bytes))) => steps.push(step(bytes)?),
            Some((15, Value::Bytes(bytes))) => ledger.push(ledger_entry(bytes)?),
            Some(_) => others.extend_from_slice(&before[..before.len() - fields.rest().len()]),
            None => break,
        }
    }
    let message = v1::GetRecordResponse::decode(&within_field_1(&others)[..]).map_err(|_| NotPlain)?;
    let (mut record, _) = record_from_wire(&message.record.ok_or(NotPlain)?).map_err(|_| NotPlain)?;
    match &mut record.clocks {
        Some(clocks) => clocks.ledger = ledger,
        None if ledger.is_empty() => {}
        None => return Err(NotPlain),
    }
    record.deals = deals.into_iter().map(|bytes| deal(bytes, &record.rules)).collect::<Plain<_>>()?;
    record.steps = steps;
    Ok(record)
}

/// The message whose only field is this one: how deep a message may be is counted from the outermost.
fn within_field_1(bytes: &[u8]) -> Vec<u8> {
    let mut outer = Vec::with_capacity(bytes.len() + 6);
    encode_key(1, WireType::LengthDelimited, &mut outer);
    encode_varint(bytes.len() as u64, &mut outer);
    outer.extend_from_slice(bytes);
    outer
}

fn deal(bytes: &[u8], rules: &Rules) -> Plain<RecordDeal> {
    let (mut fields, mut deck, mut scores) = (Fields::of(bytes), Vec::new(), Vec::new());
    while let Some(field) = fields.next()? {
        match field {
            // All cards that are known have numbers of one byte.
            (1, Value::Bytes(bytes)) => {
                deck = bytes.iter().map(|&number| card(number.into())).collect::<Plain<Vec<Card>>>()?;
            }
            (2, Value::Bytes(bytes)) => scores = numbers(bytes)?,
            _ => return Err(NotPlain),
        }
    }
    Ok(RecordDeal { deck: Deck::new(&deck, rules.imperial_suit).map_err(|_| NotPlain)?, scores })
}

/// An action: other steps are rare.
fn step(bytes: &[u8]) -> Plain<Step> {
    let (1, Value::Bytes(play)) = only(bytes)? else { return Err(NotPlain) };
    let (mut fields, mut who, mut what, mut points, mut by) = (Fields::of(play), 0, None, 0, 0);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Number(number)) => who = number,
            (2, Value::Bytes(bytes)) => what = Some(action(bytes)?),
            (3, Value::Number(number)) => points = number,
            (4, Value::Number(number)) => by = narrow(number)?,
            _ => return Err(NotPlain),
        }
    }
    Ok(Step::Play {
        seat: seat(who)?,
        action: what.ok_or(NotPlain)?,
        points: narrow(points)?,
        by: PlayedBy::from_wire(&by).map_err(|_| NotPlain)?,
    })
}

fn action(bytes: &[u8]) -> Plain<Action> {
    match only(bytes)? {
        (1, Value::Number(number)) => Ok(Action::Discard(card(number)?)),
        (2, Value::Bytes(bytes)) => Ok(Action::Declare(declaration(bytes)?)),
        _ => Err(NotPlain),
    }
}

fn ledger_entry(bytes: &[u8]) -> Plain<LedgerEntry> {
    let (mut fields, mut who, mut attendance) = (Fields::of(bytes), 0, None);
    let (mut decision, mut published_ms, mut received_ms, mut interrupted) = (0, 0, None, false);
    let mut charge = Charge { credit_ms: 0, charged_ms: 0, bank_ms: 0 };
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Number(number)) => decision = narrow(number)?,
            (2, Value::Number(number)) => who = number,
            (3, Value::Number(number)) => published_ms = number,
            (4, Value::Number(number)) => received_ms = Some(number),
            (5, Value::Number(number)) => charge.credit_ms = narrow(number)?,
            (6, Value::Number(number)) => charge.charged_ms = number,
            (7, Value::Number(number)) => charge.bank_ms = number,
            (8, Value::Number(1)) => interrupted = true,
            (9, Value::Number(number)) if number > 0 => {
                attendance = Some(Attendance::from_wire(&narrow(number)?).map_err(|_| NotPlain)?);
            }
            _ => return Err(NotPlain),
        }
    }
    Ok(LedgerEntry { decision, seat: seat(who)?, published_ms, received_ms, charge, interrupted, attendance })
}
