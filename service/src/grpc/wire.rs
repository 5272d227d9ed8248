//! The core's types as messages, and the other way. Types are destructured whole, so that a new field breaks the build
//! here.

pub(crate) use crate::encoding::{millis, timestamp};
use zetema_proto::{FieldError, MAX_PANIC_MESSAGE_BYTES, Views, Wire, seat_event_to_wire, v1, view_to_wire};
use zetema_rules::{
    Action, LegalActions, Rules, TimeControl,
    fair::{Nonce, NonceHash, ServerSeed},
};

use crate::{
    journal::{BotName, ClientReference, Visibility},
    table::{
        Choice, ClockReading, DealSpec, LadderRates, MatchSpec, Receipt, SeatSpec, Setup, SetupStage,
        Snapshot, TableEvent,
    },
};

/// One thing that changed a match. It goes out as bytes that are written without it ([`encoded`](super::encoded)).
#[cfg(test)]
pub(crate) fn observation(observation: &crate::table::Observation, rules: &Rules) -> v1::Observation {
    let crate::table::Observation { seq, decision, events, view, to_decide, clock, receipt } = observation;
    v1::Observation {
        seq: *seq,
        decision_number: *decision,
        events: events.iter().map(|event| table_event(event, rules)).collect(),
        view: view.as_deref().map(|view| Box::new(view_to_wire(view))),
        decision: to_decide.as_deref().map(|legal| decision_of(legal, *clock)),
        answered_decision_number: receipt.map(|receipt| receipt.decision),
    }
}

/// Something that happened.
pub(super) fn table_event(event: &TableEvent, rules: &Rules) -> v1::Event {
    use v1::event::Kind;
    let kind = match event {
        TableEvent::Game(event) => return seat_event_to_wire(event, rules),
        TableEvent::NoncesWanted { hashes } => {
            Kind::NoncesWanted(v1::NoncesWanted { hashes: nonce_hashes(hashes) })
        }
        TableEvent::NoncesPublished { nonces } => {
            Kind::NoncesPublished(v1::NoncesPublished { nonces: seat_nonces(nonces) })
        }
        TableEvent::TimedOut { seat, decision, strikes } => Kind::TimedOut(v1::TimedOut {
            seat: seat.to_wire(),
            decision_number: *decision,
            strikes: *strikes,
        }),
        TableEvent::Resigned { seat } => Kind::Resigned(v1::Resigned { seat: seat.to_wire() }),
        TableEvent::Aborted(abort) => Kind::Aborted(v1::Abort {
            reason: abort.reason.to_wire(),
            seats: abort.seats.iter().map(Wire::to_wire).collect(),
        }),
        TableEvent::Revealed { server_seed } => {
            Kind::Revealed(v1::Revealed { server_seed: server_seed.to_wire() })
        }
    };
    v1::Event { kind: Some(kind) }
}

fn nonce_hashes(hashes: &[Option<NonceHash>]) -> Vec<v1::SeatNonceHash> {
    let hash =
        |(seat, hash): (u32, &Option<NonceHash>)| v1::SeatNonceHash { seat, nonce_hash: hash.to_wire() };
    (0..).zip(hashes).map(hash).collect()
}

fn seat_nonces(nonces: &[Nonce]) -> Vec<v1::SeatNonce> {
    (0..).zip(nonces).map(|(seat, nonce)| v1::SeatNonce { seat, nonce: nonce.to_wire() }).collect()
}

fn decision_of(legal: &LegalActions, clock: Option<ClockReading>) -> v1::Decision {
    v1::Decision { legal_actions: Some(legal.to_wire()), clock: clock.map(clock_of) }
}

const fn clock_of(reading: ClockReading) -> v1::Clock {
    let ClockReading { budget_ms, bank_ms, elapsed_ms, strikes_left } = reading;
    v1::Clock { budget_ms, bank_ms, elapsed_ms, strikes_left }
}

/// Proof that an action is durable.
pub(crate) fn receipt(receipt: Receipt) -> v1::Receipt {
    let Receipt { match_id, decision, seq } = receipt;
    v1::Receipt { match_id: match_id.to_string(), decision_number: decision, seq }
}

/// Everything that one viewer may know of a match.
pub(crate) fn snapshot(snapshot: &Snapshot) -> v1::Snapshot {
    let Snapshot { seq, decision, setup, view, to_decide, clock, outcome, revealed } = snapshot;
    let Setup { stage, commitment, hashes, nonces } = setup;
    let stage = match stage {
        SetupStage::WaitingForSeats => v1::SetupStage::WaitingForSeats,
        SetupStage::WaitingForNonces => v1::SetupStage::WaitingForNonces,
        SetupStage::Complete => v1::SetupStage::Complete,
    };
    v1::Snapshot {
        seq: *seq,
        decision_number: *decision,
        setup: Some(v1::Setup {
            stage: stage.into(),
            commitment: commitment.to_wire(),
            hashes: nonce_hashes(hashes),
            nonces: seat_nonces(nonces),
        }),
        view: view.as_deref().map(view_to_wire),
        decision: to_decide.as_deref().map(|legal| decision_of(legal, *clock)),
        outcome: outcome.as_ref().map(Wire::to_wire),
        revealed: revealed.as_ref().map(|seed| v1::Revealed { server_seed: seed.to_wire() }),
    }
}

/// A match that someone asks for. Paths are within the message.
pub(crate) fn match_spec(spec: &v1::MatchSpec) -> Result<MatchSpec, FieldError> {
    let rules = spec.checked_rules()?;
    let v1::MatchSpec { rules: _, seats, time_control, deals, visibility, client_reference } = spec;
    let mut taken = Vec::with_capacity(seats.len());
    for (i, v1::SeatSpec { kind }) in seats.iter().enumerate() {
        match kind {
            Some(v1::seat_spec::Kind::Token(v1::TokenSeat {})) => taken.push(SeatSpec::Token),
            Some(v1::seat_spec::Kind::Bot(v1::BotSeat { name })) => {
                let invalid = |error: crate::journal::JournalValueError| {
                    FieldError::invalid("bot.name", error.to_string()).at(i).within("seats")
                };
                taken.push(SeatSpec::Bot(BotName::new(name.as_str()).map_err(invalid)?));
            }
            None => return Err(FieldError::missing("kind").at(i).within("seats")),
        }
    }
    let time_control = match time_control {
        Some(control) => TimeControl::from_wire(control).map_err(|error| error.within("time_control"))?,
        None => TimeControl::default(),
    };
    let visibility = match visibility {
        Some(value) => visibility_of(*value).map_err(|error| error.within("visibility"))?,
        None => Visibility::Private,
    };
    let deals =
        deals.as_ref().map_or(Ok(DealSpec::Joint), deal_spec).map_err(|error| error.within("deals"))?;
    Ok(MatchSpec {
        rules,
        seats: taken,
        deals,
        time_control,
        visibility,
        client_reference: reference(client_reference)?,
        // A ladder makes its matches itself.
        ladder: None,
        ladder_rates: LadderRates::default(),
        owner: None,
    })
}

fn deal_spec(deals: &v1::Deals) -> Result<DealSpec, FieldError> {
    use v1::deals::Kind;
    match &deals.kind {
        None => Err(FieldError::missing("kind")),
        Some(Kind::Joint(v1::JointDeals {})) => Ok(DealSpec::Joint),
        Some(Kind::Shared(v1::SharedDeals { deal_set: 0 })) => Err(FieldError::missing("shared.deal_set")),
        Some(Kind::Shared(v1::SharedDeals { deal_set })) => Ok(DealSpec::Shared(*deal_set)),
        Some(Kind::Fixed(v1::FixedDeals { server_seed })) => ServerSeed::from_wire(server_seed)
            .map(DealSpec::Fixed)
            .map_err(|error| error.within("fixed.server_seed")),
    }
}

fn visibility_of(value: i32) -> Result<Visibility, FieldError> {
    zetema_proto::Visibility::from_wire(&value).map(|visibility| match visibility {
        zetema_proto::Visibility::Private => Visibility::Private,
        zetema_proto::Visibility::Public => Visibility::Public,
    })
}

/// That a player's program has panicked. Paths are within the message that says so.
pub(crate) fn panic(panic: Option<v1::BotPanic>) -> Result<Option<v1::BotPanic>, FieldError> {
    let Some(v1::BotPanic { message }) = &panic else { return Ok(None) };
    if message.len() > MAX_PANIC_MESSAGE_BYTES {
        let problem = format!("has {} bytes: give at most {MAX_PANIC_MESSAGE_BYTES}", message.len());
        return Err(FieldError::invalid("panic.message", problem));
    }
    Ok(panic)
}

/// The creator's name for a match: empty is none.
pub(crate) fn reference(text: &str) -> Result<Option<ClientReference>, FieldError> {
    if text.is_empty() {
        return Ok(None);
    }
    let reference = ClientReference::new(text);
    reference.map(Some).map_err(|error| FieldError::invalid("client_reference", error.to_string()))
}

/// What a seat commits to at a join.
pub(crate) fn nonce_hash(bytes: &[u8]) -> Result<Option<NonceHash>, FieldError> {
    Option::<NonceHash>::from_wire(&bytes.to_vec()).map_err(|error| error.within("nonce_hash"))
}

/// When a subscription's observations hold the view.
pub(crate) fn views(value: Option<i32>) -> Result<Views, FieldError> {
    let views = value.map(|value| Views::from_wire(&value)).transpose();
    views.map(Option::unwrap_or_default).map_err(|error| error.within("views"))
}

/// What a seat does: the decision's number, and the choice.
pub(crate) fn act(act: &v1::Act) -> Result<(u32, Choice), FieldError> {
    let v1::Act { decision_number, choice } = act;
    let choice = match choice {
        None => return Err(FieldError::missing("choice")),
        Some(v1::act::Choice::LegalIndex(index)) => Choice::LegalIndex(*index),
        Some(v1::act::Choice::Action(action)) => {
            Choice::Action(Action::from_wire(action).map_err(|error| error.within("action"))?)
        }
    };
    match decision_number {
        0 => Err(FieldError::missing("decision_number")),
        number => Ok((*number, choice)),
    }
}
