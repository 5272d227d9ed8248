//! Journal entries.

use std::sync::Arc;

use prost::Message as _;
use zetema_proto::journal::v1 as wire;
use zetema_proto::journal::v1::entry::Kind;
use zetema_proto::{FieldError, Wire, v1};
use zetema_rules::fair::{Nonce, NonceHash};
use zetema_rules::{Deck, Rules, Seat, Suit};

use super::{DecodeError, id, list, millis_from_wire, millis_to_wire, optional, required, text, value};
use crate::journal::{BotName, ClientReference, LadderName, Owner, UnixMillis, Visibility};
use crate::table::{Abort, Change, Created, DealSet, Deals, Entrant, Entry, LadderRates, SeatSpec, Started};

/// The bytes of an entry.
pub fn encode_entry(entry: &Entry) -> Vec<u8> {
    let kind = match &entry.change {
        Change::Created(created) => Kind::Created(created_to_wire(created)),
        Change::SeatJoined { seat, nonce_hash } => {
            Kind::SeatJoined(wire::SeatJoined { seat: seat.to_wire(), nonce_hash: nonce_hash.to_wire() })
        }
        Change::DealSetJoined => Kind::DealSetJoined(wire::DealSetJoined {}),
        Change::NonceGiven { seat, nonce } => {
            Kind::NonceGiven(wire::NonceGiven { seat: seat.to_wire(), nonce: nonce.to_wire() })
        }
        Change::Started(started) => Kind::Started(started_to_wire(started)),
        Change::Acted { seat, decision, action, by, ledger } => Kind::Acted(wire::Acted {
            seat: seat.to_wire(),
            decision_number: *decision,
            action: Some(action.to_wire()),
            played_by: by.to_wire(),
            ledger: ledger.as_ref().map(Wire::to_wire),
        }),
        Change::Faulted { seat, decision, card } => Kind::Faulted(wire::Faulted {
            seat: seat.to_wire(),
            decision_number: *decision,
            card: card.to_wire(),
        }),
        Change::SeatForfeited { seat, reason, ledger } => Kind::SeatForfeited(wire::SeatForfeited {
            seat: seat.to_wire(),
            reason: reason.to_wire(),
            ledger: ledger.as_ref().map(Wire::to_wire),
        }),
        Change::Aborted(Abort { reason, seats }) => Kind::Aborted(wire::Aborted {
            abort: Some(v1::Abort {
                reason: reason.to_wire(),
                seats: seats.iter().map(Wire::to_wire).collect(),
            }),
        }),
        Change::Ended(result) => Kind::Ended(wire::Ended { result: Some(result.to_wire()) }),
        Change::SeatTokenRotated { seat, generation } => {
            Kind::SeatTokenRotated(wire::SeatTokenRotated { seat: seat.to_wire(), generation: *generation })
        }
    };
    wire::Entry { at_ms: millis_to_wire(entry.at), kind: Some(kind) }.encode_to_vec()
}

/// The entry of these bytes. The pack of a match has this imperial suit twice; it is not needed for the first
/// entry, which says which.
///
/// # Errors
/// [`DecodeError`] if they are no entry, or not one that this release knows.
pub fn decode_entry(bytes: &[u8], imperial: Suit) -> Result<Entry, DecodeError> {
    let wire::Entry { at_ms, kind } = wire::Entry::decode(bytes)?;
    let at = millis_from_wire("at_ms", at_ms)?;
    let change = match kind {
        None => return Err(FieldError::missing("kind").into()),
        Some(Kind::Created(created)) => Change::Created(Arc::new(
            created_from_wire(&created, at).map_err(|error| error.within("created"))?,
        )),
        Some(Kind::SeatJoined(wire::SeatJoined { seat, nonce_hash })) => {
            Change::SeatJoined { seat: value("seat", &seat)?, nonce_hash: value("nonce_hash", &nonce_hash)? }
        }
        Some(Kind::DealSetJoined(wire::DealSetJoined {})) => Change::DealSetJoined,
        Some(Kind::NonceGiven(wire::NonceGiven { seat, nonce })) => {
            Change::NonceGiven { seat: value("seat", &seat)?, nonce: value("nonce", &nonce)? }
        }
        Some(Kind::Started(started)) => Change::Started(Box::new(
            started_from_wire(&started, imperial).map_err(|error| error.within("started"))?,
        )),
        Some(Kind::Acted(wire::Acted { seat, decision_number, action, played_by, ledger })) => {
            Change::Acted {
                seat: value("seat", &seat)?,
                decision: decision_number,
                action: required("action", action.as_ref())?,
                by: value("played_by", &played_by)?,
                ledger: optional("ledger", ledger.as_ref())?,
            }
        }
        Some(Kind::Faulted(wire::Faulted { seat, decision_number, card })) => Change::Faulted {
            seat: value("seat", &seat)?,
            decision: decision_number,
            card: value("card", &card)?,
        },
        Some(Kind::SeatForfeited(wire::SeatForfeited { seat, reason, ledger })) => Change::SeatForfeited {
            seat: value("seat", &seat)?,
            reason: value("reason", &reason)?,
            ledger: optional("ledger", ledger.as_ref())?,
        },
        Some(Kind::Aborted(wire::Aborted { abort })) => {
            let v1::Abort { reason, seats } = abort.ok_or_else(|| FieldError::missing("abort"))?;
            Change::Aborted(Abort { reason: value("reason", &reason)?, seats: list("seats", &seats)? })
        }
        Some(Kind::Ended(wire::Ended { result })) => Change::Ended(required("result", result.as_ref())?),
        Some(Kind::SeatTokenRotated(wire::SeatTokenRotated { seat, generation })) => {
            Change::SeatTokenRotated { seat: value("seat", &seat)?, generation }
        }
    };
    Ok(Entry { at, change })
}

fn created_to_wire(created: &Created) -> wire::Created {
    let Created {
        match_id,
        at: _,
        rules_revision,
        rules,
        seats,
        deals,
        server_seed,
        time_control,
        visibility,
        client_reference,
        owner,
        ladder,
        ladder_rates,
    } = created;
    let (deals, deal_set) = match deals {
        Deals::Joint => (v1::DealsKind::Joint, None),
        Deals::Shared(set) => (v1::DealsKind::Shared, Some(set)),
        Deals::Fixed => (v1::DealsKind::Fixed, None),
    };
    wire::Created {
        match_id: match_id.to_string(),
        rules_revision: *rules_revision,
        rules: Some(rules.to_wire()),
        seats: seats.iter().map(seat_to_wire).collect(),
        time_control: Some(time_control.to_wire()),
        deals: deals.into(),
        server_seed: server_seed.to_wire(),
        visibility: visibility_to_wire(*visibility).into(),
        client_reference: client_reference.as_ref().map(ToString::to_string).unwrap_or_default(),
        owner: owner.as_ref().map(ToString::to_string).unwrap_or_default(),
        deal_set_id: deal_set.map(|set| set.id.to_string()).unwrap_or_default(),
        deal_set_match_ids: deal_set
            .map(|set| set.matches.iter().map(ToString::to_string).collect())
            .unwrap_or_default(),
        ladder: ladder.as_ref().map(ToString::to_string).unwrap_or_default(),
        ladder_unrated: *ladder_rates == LadderRates::No,
    }
}

fn created_from_wire(message: &wire::Created, at: UnixMillis) -> Result<Created, FieldError> {
    let wire::Created {
        match_id,
        rules_revision,
        rules,
        seats,
        time_control,
        deals,
        server_seed,
        visibility,
        client_reference,
        owner,
        deal_set_id,
        deal_set_match_ids,
        ladder,
        ladder_unrated,
    } = message;
    let rules: Rules = required("rules", rules.as_ref())?;
    if seats.len() != rules.player_count().count() {
        return Err(FieldError::invalid("seats", "are not as many as the rules have"));
    }
    let seat = |(i, seat)| seat_from_wire(seat).map_err(|error| error.at(i).within("seats"));
    let seats = seats.iter().enumerate().map(seat).collect::<Result<_, _>>()?;
    let deals = match v1::DealsKind::try_from(*deals) {
        Ok(v1::DealsKind::Joint) => Deals::Joint,
        Ok(v1::DealsKind::Fixed) => Deals::Fixed,
        Ok(v1::DealsKind::Shared) => {
            let matches = deal_set_match_ids.iter().map(|text| id("deal_set_match_ids", text));
            Deals::Shared(DealSet {
                id: id("deal_set_id", deal_set_id)?,
                matches: matches.collect::<Result<_, _>>()?,
            })
        }
        Ok(v1::DealsKind::Unspecified) | Err(_) => {
            return Err(FieldError::invalid("deals", "are of no known kind"));
        }
    };
    Ok(Created {
        match_id: id("match_id", match_id)?,
        at,
        rules_revision: *rules_revision,
        rules,
        seats,
        deals,
        server_seed: value("server_seed", server_seed)?,
        time_control: super::time_control(time_control.as_ref())?,
        visibility: visibility_from_wire(*visibility)?,
        client_reference: text("client_reference", client_reference, ClientReference::new)?,
        owner: text("owner", owner, Owner::new)?,
        ladder: text("ladder", ladder, LadderName::new)?,
        ladder_rates: ladder_rates(*ladder_unrated),
    })
}

/// Entries and summaries of a version that did not say it are of ladders that rate.
pub(super) const fn ladder_rates(unrated: bool) -> LadderRates {
    if unrated { LadderRates::No } else { LadderRates::Yes }
}

fn seat_to_wire(seat: &SeatSpec) -> v1::SeatSpec {
    use v1::seat_spec::Kind;
    let kind = match seat {
        SeatSpec::Token => Kind::Token(v1::TokenSeat {}),
        SeatSpec::Bot(name) => Kind::Bot(v1::BotSeat { name: name.to_string() }),
    };
    v1::SeatSpec { kind: Some(kind) }
}

fn seat_from_wire(message: &v1::SeatSpec) -> Result<SeatSpec, FieldError> {
    use v1::seat_spec::Kind;
    match &message.kind {
        None => Err(FieldError::missing("kind")),
        Some(Kind::Token(v1::TokenSeat {})) => Ok(SeatSpec::Token),
        Some(Kind::Bot(v1::BotSeat { name })) => match BotName::new(name.as_str()) {
            Ok(name) => Ok(SeatSpec::Bot(name)),
            Err(error) => Err(FieldError::invalid("bot.name", error.to_string())),
        },
    }
}

fn started_to_wire(started: &Started) -> wire::Started {
    let Started { nonces, entrants, dealer, deck } = started;
    let nonce = |(seat, nonce): (u32, &Nonce)| v1::SeatNonce { seat, nonce: nonce.to_wire() };
    let entrant = |entrant: &Entrant| {
        let Entrant { match_id, seat, nonce_hash, nonce } = entrant;
        let seat = seat.to_wire();
        v1::Entrant {
            match_id: match_id.to_string(),
            hash: Some(v1::SeatNonceHash { seat, nonce_hash: nonce_hash.to_wire() }),
            nonce: Some(v1::SeatNonce { seat, nonce: nonce.to_wire() }),
        }
    };
    wire::Started {
        nonces: (0..).zip(nonces).map(nonce).collect(),
        dealer: dealer.to_wire(),
        deck: deck.reveal().iter().map(Wire::to_wire).collect(),
        entrants: entrants.iter().map(entrant).collect(),
    }
}

fn started_from_wire(message: &wire::Started, imperial: Suit) -> Result<Started, FieldError> {
    let wire::Started { nonces, dealer, deck, entrants } = message;
    let nonce = |(i, v1::SeatNonce { seat, nonce }): (usize, &v1::SeatNonce)| match usize::try_from(*seat) {
        Ok(seat) if seat == i => value("nonces", nonce),
        _ => Err(FieldError::invalid("nonces", "are not in the order of the seats")),
    };
    let entrant = |message: &v1::Entrant| {
        let v1::Entrant { match_id, hash, nonce } = message;
        let v1::SeatNonceHash { seat, nonce_hash } =
            hash.as_ref().ok_or_else(|| FieldError::missing("hash"))?;
        let v1::SeatNonce { seat: _, nonce } = nonce.as_ref().ok_or_else(|| FieldError::missing("nonce"))?;
        Ok(Entrant {
            match_id: id("match_id", match_id)?,
            seat: value::<Seat>("seat", seat)?,
            nonce_hash: value::<Option<NonceHash>>("nonce_hash", nonce_hash)?,
            nonce: value("nonce", nonce)?,
        })
    };
    let cards: Vec<_> = list("deck", deck)?;
    Ok(Started {
        nonces: nonces.iter().enumerate().map(nonce).collect::<Result<_, _>>()?,
        entrants: entrants.iter().map(entrant).collect::<Result<_, FieldError>>()?,
        dealer: value("dealer", dealer)?,
        deck: Deck::new(&cards, imperial).map_err(|error| FieldError::invalid("deck", error.to_string()))?,
    })
}

pub(super) const fn visibility_to_wire(visibility: Visibility) -> v1::Visibility {
    match visibility {
        Visibility::Private => v1::Visibility::Private,
        Visibility::Public => v1::Visibility::Public,
    }
}

pub(super) fn visibility_from_wire(message: i32) -> Result<Visibility, FieldError> {
    match v1::Visibility::try_from(message) {
        Ok(v1::Visibility::Private) => Ok(Visibility::Private),
        Ok(v1::Visibility::Public) => Ok(Visibility::Public),
        Ok(v1::Visibility::Unspecified) | Err(_) => {
            Err(FieldError::invalid("visibility", "is of no known kind"))
        }
    }
}
