//! Records of finished matches, and the entries that they stand for.

use std::sync::Arc;

use prost::Message as _;
use zetema_proto::{
    DealSet as WireDealSet, FieldError, RecordHeader, Visibility as WireVisibility, record_from_wire,
    record_to_wire, v1,
};
use zetema_rules::fair::{Nonce, NonceHash};
use zetema_rules::{Dealing, DealingKind, ForfeitReason, LedgerEntry, Outcome, Record, Seat, Step};

use super::{DecodeError, id, millis_from_wire, millis_to_wire, text};
use crate::journal::{ClientReference, MatchId, Visibility};
use crate::table::{
    Abort, Change, Created, DealSet, Deals, Entrant, Entry, MatchInfo, SeatSpec, Started, Table,
};

/// The bytes of the record of a match that is over.
///
/// # Errors
/// [`FieldError`] if the match is not over, or its record does not fit together: a bug.
pub fn encode_record(table: &Table) -> Result<Vec<u8>, FieldError> {
    let (Some(record), info) = (table.record(), table.info()) else {
        return Err(FieldError::missing("outcome"));
    };
    let deal_set = match &table.created().deals {
        Deals::Shared(set) => Some(WireDealSet {
            id: set.id.to_string(),
            entrants: match &*table.entrants() {
                [] => {
                    let own = record.rules.seats().take(record.dealing.entrants.len());
                    own.map(|seat| (info.match_id.to_string(), seat)).collect()
                }
                all => all.iter().map(|entrant| (entrant.match_id.to_string(), entrant.seat)).collect(),
            },
        }),
        Deals::Joint | Deals::Fixed => None,
    };
    let header = RecordHeader {
        match_id: info.match_id.to_string(),
        visibility: match info.visibility {
            Visibility::Private => WireVisibility::Private,
            Visibility::Public => WireVisibility::Public,
        },
        client_reference: info.client_reference.as_ref().map(ToString::to_string).unwrap_or_default(),
        created_at_ms: millis_to_wire(info.created_at),
        ended_at_ms: millis_to_wire(info.ended_at.unwrap_or(info.created_at)),
        bots: info.seats.iter().map(|seat| seat.bot.as_ref().map(ToString::to_string)).collect(),
        deal_set,
    };
    Ok(record_to_wire(&record, &header)?.encode_to_vec())
}

/// The record of these bytes.
///
/// # Errors
/// [`DecodeError`] if they are no record.
pub fn decode_record(bytes: &[u8]) -> Result<(Record, RecordHeader), DecodeError> {
    Ok(record_from_wire(&v1::Record::decode(bytes)?)?)
}

/// The entries that a record stands for: replayed, they give every viewer the same observations, with the same
/// numbers, and every answer the same receipt, as the match itself did. What nobody observed (who had joined, or sent
/// a nonce, before a match was aborted) is not in a record.
///
/// # Errors
/// [`DecodeError`] if the record does not fit the match.
pub fn record_entries(
    record: &Record,
    header: &RecordHeader,
    info: &MatchInfo,
) -> Result<Vec<Entry>, DecodeError> {
    let match_id: MatchId = id("match_id", &header.match_id)?;
    let created_at = millis_from_wire("create_time", header.created_at_ms)?;
    let ended_at = millis_from_wire("end_time", header.ended_at_ms)?;
    // What began before there were clocks has no ledger.
    let (time_control, ledger) = match &record.clocks {
        Some(clocks) => (clocks.control, clocks.ledger.as_slice()),
        None => (info.time_control, &[][..]),
    };
    let entrants = entrants(&record.dealing, header)?;
    let deals = match record.dealing.kind {
        DealingKind::Joint => Deals::Joint,
        DealingKind::Fixed => Deals::Fixed,
        DealingKind::Shared => {
            let set = header.deal_set.as_ref().ok_or_else(|| FieldError::missing("deal_set"))?;
            let mut matches: Vec<MatchId> = entrants.iter().map(|entrant| entrant.match_id).collect();
            matches.dedup();
            Deals::Shared(DealSet { id: id("deal_set_id", &set.id)?, matches: matches.into() })
        }
    };
    let mut changes = vec![Change::Created(Arc::new(Created {
        match_id,
        at: created_at,
        rules_revision: record.revision,
        rules: record.rules,
        seats: info
            .seats
            .iter()
            .map(|seat| seat.bot.clone().map_or(SeatSpec::Token, SeatSpec::Bot))
            .collect(),
        deals,
        server_seed: record.dealing.server_seed.clone(),
        time_control,
        visibility: info.visibility,
        client_reference: text("client_reference", &header.client_reference, ClientReference::new)?,
        owner: info.owner.clone(),
    }))];
    setup(record, &entrants, match_id, &mut changes)?;
    steps(&record.steps, ledger, &mut changes);
    changes.push(match &record.outcome {
        Outcome::Result(result) => Change::Ended(*result),
        Outcome::Aborted { reason, seats } => {
            Change::Aborted(Abort { reason: *reason, seats: seats.clone() })
        }
    });
    for seat in &info.seats {
        changes.extend(
            (2..=seat.generation).map(|generation| Change::SeatTokenRotated { seat: seat.seat, generation }),
        );
    }
    Ok(changes.into_iter().map(|change| Entry { at: ended_at, change }).collect())
}

/// An entrant of a deal set as its record names it. Without a nonce the set was aborted before it was in.
struct NamedEntrant {
    match_id: MatchId,
    seat: Seat,
    nonce_hash: Option<NonceHash>,
    nonce: Option<Nonce>,
}

impl NamedEntrant {
    fn dealt(&self) -> Result<Entrant, FieldError> {
        let Self { match_id, seat, nonce_hash, nonce } = self;
        let nonce = nonce.clone().ok_or_else(|| FieldError::missing("deal_set.entrants.nonce"))?;
        Ok(Entrant { match_id: *match_id, seat: *seat, nonce_hash: *nonce_hash, nonce })
    }
}

/// The entrants of a deal set with their matches; empty for other deals.
fn entrants(dealing: &Dealing, header: &RecordHeader) -> Result<Vec<NamedEntrant>, FieldError> {
    let Some(set) = &header.deal_set else { return Ok(Vec::new()) };
    let entrant = |((match_id, seat), entrant): (&(String, Seat), &zetema_rules::Entrant)| {
        Ok(NamedEntrant {
            match_id: id("deal_set.entrants", match_id)?,
            seat: *seat,
            nonce_hash: entrant.hash,
            nonce: entrant.nonce.clone(),
        })
    };
    set.entrants.iter().zip(&dealing.entrants).map(entrant).collect()
}

/// The joins, the nonces and the first deal.
fn setup(
    record: &Record,
    set_entrants: &[NamedEntrant],
    match_id: MatchId,
    changes: &mut Vec<Change>,
) -> Result<(), FieldError> {
    let seats = record.rules.seats();
    let own: Vec<(Seat, Option<NonceHash>, Option<Nonce>)> = match record.dealing.kind {
        DealingKind::Joint => {
            let entrants = record.dealing.entrants.iter();
            seats.zip(entrants).map(|(seat, entrant)| (seat, entrant.hash, entrant.nonce.clone())).collect()
        }
        DealingKind::Shared => {
            let own = set_entrants.iter().filter(|entrant| entrant.match_id == match_id);
            own.map(|entrant| (entrant.seat, entrant.nonce_hash, entrant.nonce.clone())).collect()
        }
        DealingKind::Fixed if record.dealer.is_some() => seats.map(|seat| (seat, None, None)).collect(),
        DealingKind::Fixed => Vec::new(),
    };
    changes.extend(own.iter().map(|&(seat, nonce_hash, _)| Change::SeatJoined { seat, nonce_hash }));
    if record.dealing.kind == DealingKind::Shared && !own.is_empty() {
        changes.push(Change::DealSetJoined);
    }
    changes.extend(own.iter().filter_map(|(seat, hash, nonce)| {
        let nonce = nonce.clone().filter(|_| hash.is_some())?;
        Some(Change::NonceGiven { seat: *seat, nonce })
    }));
    if let (Some(dealer), Some(deal)) = (record.dealer, record.deals.first()) {
        changes.push(Change::Started(Box::new(Started {
            nonces: own.into_iter().map(|(_, _, nonce)| nonce.unwrap_or(Nonce::EMPTY)).collect(),
            entrants: set_entrants.iter().map(NamedEntrant::dealt).collect::<Result<_, _>>()?,
            dealer,
            deck: deal.deck,
        })));
    }
    Ok(())
}

/// What was played, and how its time was charged. Each action answers a decision, a fault quotes the one that is open,
/// and a forfeit for want of time has the ledger of the decision that the seat did not take.
fn steps(steps: &[Step], ledger: &[LedgerEntry], changes: &mut Vec<Change>) {
    let mut decision = 1;
    let mut ledger = ledger.iter().copied().peekable();
    for step in steps {
        let mut charged = || ledger.next_if(|entry| entry.decision == decision);
        changes.push(match *step {
            Step::Play { seat, action, by, .. } => {
                let ledger = charged();
                decision += 1;
                Change::Acted { seat, decision: decision - 1, action, by, ledger }
            }
            Step::Fault { seat, card } => Change::Faulted { seat, decision, card },
            Step::Forfeit { seat, reason: ForfeitReason::Resigned } => {
                Change::SeatForfeited { seat, reason: ForfeitReason::Resigned, ledger: None }
            }
            Step::Forfeit { seat, reason } => Change::SeatForfeited { seat, reason, ledger: charged() },
        });
    }
}
