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
use crate::journal::{ClientReference, MatchId, NewRecords, RecordBytes, Visibility};
use crate::limits;
use crate::table::{
    Abort, Change, Created, DealSet, Deals, Entrant, Entry, MatchInfo, SeatSpec, Started, Table,
};

/// Bytes of a record for each entry of its match, its part of a deal counted in: no entry takes more.
const BYTES_PER_ENTRY: usize = 128;

/// Bytes of all else: the rules, the seats, and the nonces of a deal set, of which there are
/// [`MAX_DEAL_SET_SEATS`](limits::MAX_DEAL_SET_SEATS).
const BYTES_BESIDE_ENTRIES: usize = 64 * 1024;

// The longest match has a record with room to spare. What is decided at once may make it longer than it may be, by one append.
const _: () = assert!(
    2 * ((limits::MAX_MATCH_ENTRIES + NewRecords::MAX) * BYTES_PER_ENTRY + BYTES_BESIDE_ENTRIES)
        <= RecordBytes::MAX_BYTES
);

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
        ladder: info.ladder.as_ref().map(ToString::to_string),
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
        ladder: info.ladder.clone(),
        ladder_rates: info.ladder_rates,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a deal, in which all 65 cards leave the hands: ten kings and queens once, then five cards of a rank at a time.
    const LEAST_ENTRIES_OF_A_DEAL: usize = 12;

    fn bytes(record: &v1::Record) -> usize {
        record.encoded_len()
    }

    fn of_steps(declaration: v1::declaration::Kind) -> usize {
        let declare = v1::Declaration { kind: Some(declaration) };
        let play = v1::PlayStep {
            seat: 5,
            action: Some(v1::Action { kind: Some(v1::action::Kind::Declare(declare)) }),
            points: u16::MAX.into(),
            played_by: v1::PlayedBy::Autoplay.into(),
        };
        let step = v1::Step { kind: Some(v1::step::Kind::Play(play)) };
        bytes(&v1::Record { steps: vec![step], ..v1::Record::default() })
    }

    #[test]
    fn no_entry_takes_more_of_a_record_than_is_reckoned() {
        let cards = vec![52; 10];
        let marriages = v1::Marriages { hand: cards.clone(), tableau: cards.clone() };
        let step = of_steps(v1::declaration::Kind::Marriages(marriages))
            .max(of_steps(v1::declaration::Kind::FlushSequence(v1::CardList { cards })));
        let entry = v1::LedgerEntry {
            decision_number: u32::MAX,
            seat: 5,
            published_ms: u64::MAX,
            received_ms: Some(u64::MAX),
            credit_ms: u32::MAX,
            charged_ms: u64::MAX,
            bank_ms: u64::MAX,
            interrupted: true,
            attendance: v1::Attendance::Absent.into(),
        };
        let ledger = bytes(&v1::Record { ledger: vec![entry], ..v1::Record::default() });
        let deal = v1::RecordDeal { deck: vec![52; 65], scores: vec![u16::MAX.into(); 6] };
        let deal = bytes(&v1::Record { deals: vec![deal], ..v1::Record::default() });
        let most = step + ledger + deal.div_ceil(LEAST_ENTRIES_OF_A_DEAL);
        assert!((100..=BYTES_PER_ENTRY).contains(&most), "{most}");

        let entrant = v1::Entrant {
            match_id: "f".repeat(32),
            hash: Some(v1::SeatNonceHash { seat: 5, nonce_hash: vec![0xff; 32] }),
            nonce: Some(v1::SeatNonce { seat: 5, nonce: vec![0xff; 32] }),
        };
        let all = limits::MAX_DEAL_SET_SEATS * (entrant.encoded_len() + 2);
        assert!(all + 4096 <= BYTES_BESIDE_ENTRIES, "{all}");
    }
}
