//! Records of matches that are over.

use prost_types::Timestamp;
use zetema_rules::{Card, Clocks, Deck, Outcome, PlayedBy, Record, RecordDeal, Rules, Step};

use super::dealing::DealSet;
use super::{FieldError, Visibility, Wire, dealing, list, narrow, optional, required, value, wire_enum};
use crate::v1;
use crate::v1::step;

/// What a record on the wire says beside what replays the match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordHeader {
    /// The match's id.
    pub match_id: String,
    /// Who may read it.
    pub visibility: Visibility,
    /// The creator's name for the match, possibly empty.
    pub client_reference: String,
    /// When the match was created: milliseconds since 1970, UTC.
    pub created_at_ms: i64,
    /// When it ended: milliseconds since 1970, UTC.
    pub ended_at_ms: i64,
    /// The bot that played each seat, seat 0 first; `None`: it was played by token.
    pub bots: Vec<Option<String>>,
    /// The ladder that rates the match, if one does.
    pub ladder: Option<String>,
    /// The deal set, for shared deals only.
    pub deal_set: Option<DealSet>,
}

/// The message of a record.
///
/// # Errors
/// [`FieldError`] if the deals are shared and the header has no deal set with a name for each
/// entrant, or if it has one and they are not; and if it does not say of each seat whether a bot played it.
pub fn record_to_wire(record: &Record, header: &RecordHeader) -> Result<v1::Record, FieldError> {
    let Record { revision, rules, dealing, dealer, deals, steps, outcome, clocks } = record;
    let RecordHeader {
        match_id,
        visibility,
        client_reference,
        created_at_ms,
        ended_at_ms,
        bots,
        ladder,
        deal_set,
    } = header;
    if bots.len() != rules.player_count().count() {
        return Err(FieldError::invalid("seats", "are not those of the rules"));
    }
    let dealing = dealing::to_wire(dealing, deal_set.as_ref());
    Ok(v1::Record {
        match_id: match_id.clone(),
        rules_revision: *revision,
        rules: Some(rules.to_wire()),
        seats: seats_of(rules, bots),
        time_control: clocks.as_ref().map(|clocks| clocks.control.to_wire()),
        visibility: visibility.to_wire(),
        client_reference: client_reference.clone(),
        create_time: Some(timestamp(*created_at_ms)),
        end_time: Some(timestamp(*ended_at_ms)),
        dealing: Some(dealing.map_err(|error| error.within("dealing"))?),
        dealer: dealer.map(|seat| seat.to_wire()),
        deals: deals.iter().map(deal_to_wire).collect(),
        steps: steps.iter().map(Wire::to_wire).collect(),
        outcome: Some(outcome.to_wire()),
        ledger: clocks.iter().flat_map(|clocks| &clocks.ledger).map(Wire::to_wire).collect(),
        ladder: ladder.clone().unwrap_or_default(),
    })
}

/// The record that a message is. Whether it replays, [`Record::verify`] says.
///
/// # Errors
/// [`FieldError`] for what is missing, unknown or out of range.
pub fn record_from_wire(message: &v1::Record) -> Result<(Record, RecordHeader), FieldError> {
    let v1::Record {
        match_id,
        rules_revision,
        rules,
        seats,
        time_control,
        visibility,
        client_reference,
        create_time,
        end_time,
        dealing,
        dealer,
        deals,
        steps,
        outcome,
        ledger,
        ladder,
    } = message;
    let rules: Rules = required("rules", rules.as_ref())?;
    let bots = seats.iter().map(|seat| Some(seat.bot_name.clone()).filter(|name| !name.is_empty()));
    let bots: Vec<Option<String>> = bots.collect();
    if *seats != seats_of(&rules, &bots) {
        return Err(FieldError::invalid("seats", "are not those of the rules, seat 0 first"));
    }
    let dealing = dealing.as_ref().ok_or_else(|| FieldError::missing("dealing"))?;
    let (dealing, deal_set) = dealing::from_wire(dealing).map_err(|error| error.within("dealing"))?;
    let deal = |(i, deal)| deal_from_wire(deal, &rules).map_err(|error| error.at(i).within("deals"));
    let record = Record {
        revision: *rules_revision,
        rules,
        dealing,
        dealer: optional("dealer", dealer.as_ref())?,
        deals: deals.iter().enumerate().map(deal).collect::<Result<_, _>>()?,
        steps: list(steps).map_err(|error| error.within("steps"))?,
        outcome: required::<Outcome>("outcome", outcome.as_ref())?,
        clocks: clocks_from_wire(time_control.as_ref(), ledger)?,
    };
    let header = RecordHeader {
        match_id: match_id.clone(),
        visibility: value("visibility", visibility)?,
        client_reference: client_reference.clone(),
        created_at_ms: milliseconds("create_time", create_time.as_ref())?,
        ended_at_ms: milliseconds("end_time", end_time.as_ref())?,
        bots,
        ladder: Some(ladder.clone()).filter(|name| !name.is_empty()),
        deal_set,
    };
    Ok((record, header))
}

fn clocks_from_wire(
    control: Option<&v1::TimeControl>,
    ledger: &[v1::LedgerEntry],
) -> Result<Option<Clocks>, FieldError> {
    let ledger = list(ledger).map_err(|error| error.within("ledger"))?;
    match control {
        // Before there were clocks, records had no ledger.
        Some(v1::TimeControl { decisions: None, idle_timeout_ms: Some(_), .. }) if ledger.is_empty() => {
            return Ok(None);
        }
        _ => {}
    }
    match optional("time_control", control)? {
        Some(control) => Ok(Some(Clocks { control, ledger })),
        None if ledger.is_empty() => Ok(None),
        None => Err(FieldError::missing("time_control")),
    }
}

fn seats_of(rules: &Rules, bots: &[Option<String>]) -> Vec<v1::RecordSeat> {
    let seat = |seat: zetema_rules::Seat| {
        #[allow(clippy::cast_possible_truncation)]
        let side = rules.side(seat).index() as u32;
        let bot_name = bots.get(seat.index()).cloned().flatten().unwrap_or_default();
        v1::RecordSeat { seat: seat.to_wire(), side, bot_name }
    };
    rules.seats().map(seat).collect()
}

fn deal_to_wire(deal: &RecordDeal) -> v1::RecordDeal {
    let RecordDeal { deck, scores } = deal;
    v1::RecordDeal {
        deck: deck.reveal().iter().map(Wire::to_wire).collect(),
        scores: scores.iter().copied().map(u32::from).collect(),
    }
}

fn deal_from_wire(message: &v1::RecordDeal, rules: &Rules) -> Result<RecordDeal, FieldError> {
    let v1::RecordDeal { deck, scores } = message;
    let cards: Vec<Card> = list(deck).map_err(|error| error.within("deck"))?;
    let deck = Deck::new(&cards, rules.imperial_suit);
    let scores = scores.iter().enumerate();
    let score = |(i, &score)| narrow("", score).map_err(|error| error.at(i).within("scores"));
    Ok(RecordDeal {
        deck: deck.map_err(|error| FieldError::invalid("deck", error.to_string()))?,
        scores: scores.map(score).collect::<Result<_, _>>()?,
    })
}

wire_enum! {
    PlayedBy = PlayedBy { Player, Autoplay }
}

impl Wire for Step {
    type Message = v1::Step;

    fn to_wire(&self) -> v1::Step {
        let kind = match *self {
            Self::Play { seat, action, points, by } => step::Kind::Play(v1::PlayStep {
                seat: seat.to_wire(),
                action: Some(action.to_wire()),
                points: points.into(),
                played_by: by.to_wire(),
            }),
            Self::Fault { seat, card } => {
                step::Kind::Fault(v1::FaultStep { seat: seat.to_wire(), card: card.to_wire() })
            }
            Self::Forfeit { seat, reason } => {
                step::Kind::Forfeit(v1::ForfeitStep { seat: seat.to_wire(), reason: reason.to_wire() })
            }
        };
        v1::Step { kind: Some(kind) }
    }

    fn from_wire(message: &v1::Step) -> Result<Self, FieldError> {
        let v1::Step { kind } = message;
        Ok(match kind {
            None => return Err(FieldError::missing("kind")),
            Some(step::Kind::Play(v1::PlayStep { seat, action, points, played_by })) => Self::Play {
                seat: value("play.seat", seat)?,
                action: required("play.action", action.as_ref())?,
                points: narrow("play.points", *points)?,
                by: value("play.played_by", played_by)?,
            },
            Some(step::Kind::Fault(v1::FaultStep { seat, card })) => {
                Self::Fault { seat: value("fault.seat", seat)?, card: value("fault.card", card)? }
            }
            Some(step::Kind::Forfeit(v1::ForfeitStep { seat, reason })) => {
                Self::Forfeit { seat: value("forfeit.seat", seat)?, reason: value("forfeit.reason", reason)? }
            }
        })
    }
}

/// The timestamp of a time in milliseconds since 1970, UTC.
fn timestamp(ms: i64) -> Timestamp {
    #[allow(clippy::cast_possible_truncation)]
    let below = ms.rem_euclid(1_000) as i32;
    Timestamp { seconds: ms.div_euclid(1_000), nanos: below * 1_000_000 }
}

/// The time of a timestamp, in whole milliseconds: finer ones are cut.
fn milliseconds(field: &'static str, message: Option<&Timestamp>) -> Result<i64, FieldError> {
    let Timestamp { seconds, nanos } = message.ok_or_else(|| FieldError::missing(field))?;
    let below = (0..1_000_000_000).contains(nanos).then_some(i64::from(nanos / 1_000_000));
    let ms = seconds.checked_mul(1_000).zip(below).and_then(|(ms, below)| ms.checked_add(below));
    ms.ok_or_else(|| FieldError::invalid(field, "is no time that a timestamp can have"))
}
