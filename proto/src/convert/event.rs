//! Events of the game as one seat sees them.

use zetema_rules::{Cards, OwnCards, Rules, Seat, SeatEvent};

use super::{FieldError, Wire, narrow, required, value};
use crate::v1;
use crate::v1::event::Kind;

/// The message of an event of the game. `rules` says how many sides there are.
pub fn seat_event_to_wire(event: &SeatEvent, rules: &Rules) -> v1::Event {
    let kind = match *event {
        SeatEvent::DealStarted { deal, dealer } => {
            Kind::DealStarted(v1::DealStarted { deal, dealer: dealer.to_wire() })
        }
        SeatEvent::Drew { seat, count, cards } => Kind::Drew(v1::Drew {
            seat: seat.to_wire(),
            count: count.into(),
            cards: cards.map(|OwnCards(cards)| cards.to_wire()).unwrap_or_default(),
        }),
        SeatEvent::Declared { seat, declaration, points } => Kind::Declared(v1::Declared {
            seat: seat.to_wire(),
            declaration: Some(declaration.to_wire()),
            points: points.into(),
        }),
        SeatEvent::Discarded { seat, card } => {
            Kind::Discarded(v1::Discarded { seat: seat.to_wire(), card: card.to_wire() })
        }
        SeatEvent::Zetema { seat, rank, points } => {
            Kind::Zetema(v1::Zetema { seat: seat.to_wire(), rank: rank.to_wire(), points: points.into() })
        }
        SeatEvent::Exposed { seat, card } => {
            Kind::Exposed(v1::Exposed { seat: seat.to_wire(), card: card.to_wire() })
        }
        SeatEvent::ExtraTurn { seat } => Kind::ExtraTurn(v1::ExtraTurnGranted { seat: seat.to_wire() }),
        SeatEvent::DealOver { deal, deal_scores } => Kind::DealOver(v1::DealOver {
            deal,
            deal_scores: deal_scores.into_iter().take(rules.sides()).map(u32::from).collect(),
        }),
        SeatEvent::Forfeited { seat } => Kind::Forfeited(v1::Forfeited { seat: seat.to_wire() }),
        SeatEvent::MatchOver { result } => Kind::MatchOver(v1::MatchOver { result: Some(result.to_wire()) }),
    };
    v1::Event { kind: Some(kind) }
}

/// The event of the game that a message is. `None` for one about the match (a nonce, a resignation,
/// the reveal), and for a kind that this version does not know.
///
/// # Errors
/// [`FieldError`] for what is missing, unknown or out of range.
pub fn seat_event_from_wire(message: &v1::Event) -> Result<Option<SeatEvent>, FieldError> {
    let v1::Event { kind } = message;
    let Some(kind) = kind else { return Ok(None) };
    Ok(Some(match kind {
        Kind::NoncesWanted(_)
        | Kind::NoncesPublished(_)
        | Kind::Resigned(_)
        | Kind::TimedOut(_)
        | Kind::Aborted(_)
        | Kind::Revealed(_) => return Ok(None),
        Kind::DealStarted(message) => in_field("deal_started", deal_started(*message))?,
        Kind::Drew(message) => in_field("drew", drew(message))?,
        Kind::Declared(message) => in_field("declared", declared(message))?,
        Kind::Discarded(message) => in_field("discarded", discarded(*message))?,
        Kind::Zetema(message) => in_field("zetema", zetema(message))?,
        Kind::Exposed(message) => in_field("exposed", exposed(*message))?,
        Kind::ExtraTurn(v1::ExtraTurnGranted { seat }) => {
            SeatEvent::ExtraTurn { seat: value("extra_turn.seat", seat)? }
        }
        Kind::DealOver(message) => in_field("deal_over", deal_over(message))?,
        Kind::Forfeited(v1::Forfeited { seat }) => {
            SeatEvent::Forfeited { seat: value("forfeited.seat", seat)? }
        }
        Kind::MatchOver(v1::MatchOver { result }) => {
            SeatEvent::MatchOver { result: required("match_over.result", result.as_ref())? }
        }
    }))
}

fn in_field(field: &str, event: Result<SeatEvent, FieldError>) -> Result<SeatEvent, FieldError> {
    event.map_err(|error| error.within(field))
}

fn deal_started(message: v1::DealStarted) -> Result<SeatEvent, FieldError> {
    let v1::DealStarted { deal, dealer } = message;
    Ok(SeatEvent::DealStarted { deal, dealer: value("dealer", &dealer)? })
}

fn drew(message: &v1::Drew) -> Result<SeatEvent, FieldError> {
    let v1::Drew { seat, count, cards } = message;
    let cards: Cards = value("cards", cards)?;
    let count: u8 = narrow("count", *count)?;
    if !cards.is_empty() && cards.len() != usize::from(count) {
        let problem = format!("there are {} cards, and count is {count}", cards.len());
        return Err(FieldError::invalid("cards", problem));
    }
    let own = (!cards.is_empty()).then_some(OwnCards(cards));
    Ok(SeatEvent::Drew { seat: value("seat", seat)?, count, cards: own })
}

fn declared(message: &v1::Declared) -> Result<SeatEvent, FieldError> {
    let v1::Declared { seat, declaration, points } = message;
    Ok(SeatEvent::Declared {
        seat: value("seat", seat)?,
        declaration: required("declaration", declaration.as_ref())?,
        points: narrow("points", *points)?,
    })
}

fn discarded(message: v1::Discarded) -> Result<SeatEvent, FieldError> {
    let v1::Discarded { seat, card } = message;
    Ok(SeatEvent::Discarded { seat: value("seat", &seat)?, card: value("card", &card)? })
}

fn zetema(message: &v1::Zetema) -> Result<SeatEvent, FieldError> {
    let v1::Zetema { seat, rank, points } = message;
    Ok(SeatEvent::Zetema {
        seat: value("seat", seat)?,
        rank: value("rank", rank)?,
        points: narrow("points", *points)?,
    })
}

fn exposed(message: v1::Exposed) -> Result<SeatEvent, FieldError> {
    let v1::Exposed { seat, card } = message;
    Ok(SeatEvent::Exposed { seat: value("seat", &seat)?, card: value("card", &card)? })
}

fn deal_over(message: &v1::DealOver) -> Result<SeatEvent, FieldError> {
    let v1::DealOver { deal, deal_scores } = message;
    if deal_scores.len() > Seat::MAX {
        let problem = format!("there are {} sides: give at most 6", deal_scores.len());
        return Err(FieldError::invalid("deal_scores", problem));
    }
    let mut scores = [0; Seat::MAX];
    for (i, &score) in deal_scores.iter().enumerate() {
        scores[i] = narrow("", score).map_err(|error| error.at(i).within("deal_scores"))?;
    }
    Ok(SeatEvent::DealOver { deal: *deal, deal_scores: scores })
}
