//! How the deals of a match were made.

use zetema_rules::{Dealing, DealingKind, Entrant, Seat};

use super::{FieldError, Wire, list, value};
use crate::v1;
use crate::v1::dealing;

/// The deal set of a match with shared deals, as its record names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DealSet {
    /// The deal set's id.
    pub id: String,
    /// Match id and seat of each entrant, in the order of [`Dealing::entrants`].
    pub entrants: Vec<(String, Seat)>,
}

/// The message of a dealing. Shared deals need the deal set, other kinds have none.
pub(super) fn to_wire(dealing: &Dealing, deal_set: Option<&DealSet>) -> Result<v1::Dealing, FieldError> {
    let Dealing { kind, commitment, server_seed, entrants } = dealing;
    let kind = match (kind, deal_set) {
        (DealingKind::Joint, None) => dealing::Kind::Joint(joint_to_wire(entrants)),
        (DealingKind::Fixed, None) => dealing::Kind::Fixed(v1::FixedDealing {}),
        (DealingKind::Shared, Some(set)) if set.entrants.len() == entrants.len() => {
            dealing::Kind::Shared(shared_to_wire(entrants, set))
        }
        (DealingKind::Shared, Some(_)) => {
            return Err(FieldError::invalid("shared.entrants", "a deal set names each of its entrants"));
        }
        (DealingKind::Shared, None) => return Err(FieldError::missing("shared.deal_set_id")),
        (DealingKind::Joint | DealingKind::Fixed, Some(_)) => {
            return Err(FieldError::invalid("kind", "only shared deals have a deal set"));
        }
    };
    Ok(v1::Dealing { commitment: commitment.to_wire(), server_seed: server_seed.to_wire(), kind: Some(kind) })
}

/// The dealing of a message, with the deal set of shared deals.
pub(super) fn from_wire(message: &v1::Dealing) -> Result<(Dealing, Option<DealSet>), FieldError> {
    let v1::Dealing { commitment, server_seed, kind } = message;
    let (kind, entrants, deal_set) = match kind {
        None => return Err(FieldError::missing("kind")),
        Some(dealing::Kind::Joint(joint)) => {
            let entrants = joint_from_wire(joint).map_err(|error| error.within("joint"))?;
            (DealingKind::Joint, entrants, None)
        }
        Some(dealing::Kind::Shared(shared)) => {
            let (entrants, set) = shared_from_wire(shared).map_err(|error| error.within("shared"))?;
            (DealingKind::Shared, entrants, Some(set))
        }
        Some(dealing::Kind::Fixed(v1::FixedDealing {})) => (DealingKind::Fixed, Vec::new(), None),
    };
    let dealing = Dealing {
        kind,
        commitment: value("commitment", commitment)?,
        server_seed: value("server_seed", server_seed)?,
        entrants,
    };
    Ok((dealing, deal_set))
}

fn joint_to_wire(entrants: &[Entrant]) -> v1::JointDealing {
    let mut joint = v1::JointDealing::default();
    for (seat, Entrant { hash, nonce }) in (0..).zip(entrants) {
        joint.hashes.push(v1::SeatNonceHash { seat, nonce_hash: hash.to_wire() });
        joint.nonces.extend(nonce.as_ref().map(|nonce| v1::SeatNonce { seat, nonce: nonce.to_wire() }));
    }
    joint
}

fn joint_from_wire(message: &v1::JointDealing) -> Result<Vec<Entrant>, FieldError> {
    let v1::JointDealing { hashes, nonces } = message;
    let mut entrants = Vec::with_capacity(hashes.len());
    let wrong_seat = |seat: u32, expected: usize| {
        FieldError::invalid("seat", format!("is {seat}: seat {expected} comes here"))
    };
    for (i, v1::SeatNonceHash { seat, nonce_hash }) in hashes.iter().enumerate() {
        let within = |error: FieldError| error.at(i).within("hashes");
        if usize::try_from(*seat) != Ok(i) {
            return Err(within(wrong_seat(*seat, i)));
        }
        entrants.push(Entrant { hash: value("nonce_hash", nonce_hash).map_err(within)?, nonce: None });
    }
    let mut least = 0;
    for (i, v1::SeatNonce { seat, nonce }) in nonces.iter().enumerate() {
        let within = |error: FieldError| error.at(i).within("nonces");
        let index = usize::try_from(*seat).ok().filter(|&index| index >= least);
        let Some((index, entrant)) = index.and_then(|i| entrants.get_mut(i).map(|entrant| (i, entrant)))
        else {
            return Err(within(wrong_seat(*seat, least)));
        };
        entrant.nonce = Some(value("nonce", nonce).map_err(within)?);
        least = index + 1;
    }
    Ok(entrants)
}

fn shared_to_wire(entrants: &[Entrant], set: &DealSet) -> v1::SharedDealing {
    let DealSet { id, entrants: names } = set;
    let pairs = names.iter().cloned().zip(entrants.iter().cloned());
    v1::SharedDealing {
        deal_set_id: id.clone(),
        entrants: pairs.map(|(name, entrant)| NamedEntrant { name, entrant }.to_wire()).collect(),
    }
}

/// An entrant of a deal set, with its name.
struct NamedEntrant {
    name: (String, Seat),
    entrant: Entrant,
}

impl Wire for NamedEntrant {
    type Message = v1::Entrant;

    fn to_wire(&self) -> v1::Entrant {
        let Self { name: (match_id, seat), entrant: Entrant { hash, nonce } } = self;
        let seat = seat.to_wire();
        v1::Entrant {
            match_id: match_id.clone(),
            hash: Some(v1::SeatNonceHash { seat, nonce_hash: hash.to_wire() }),
            nonce: nonce.as_ref().map(|nonce| v1::SeatNonce { seat, nonce: nonce.to_wire() }),
        }
    }

    fn from_wire(message: &v1::Entrant) -> Result<Self, FieldError> {
        let v1::Entrant { match_id, hash, nonce } = message;
        let Some(v1::SeatNonceHash { seat: number, nonce_hash }) = hash else {
            return Err(FieldError::missing("hash"));
        };
        let nonce = match nonce {
            None => None,
            Some(v1::SeatNonce { seat, nonce }) if seat == number => Some(value("nonce.nonce", nonce)?),
            Some(v1::SeatNonce { seat, .. }) => {
                let problem = format!("is {seat}, and the hash is of seat {number}");
                return Err(FieldError::invalid("nonce.seat", problem));
            }
        };
        let name = (match_id.clone(), value("hash.seat", number)?);
        Ok(Self { name, entrant: Entrant { hash: value("hash.nonce_hash", nonce_hash)?, nonce } })
    }
}

fn shared_from_wire(message: &v1::SharedDealing) -> Result<(Vec<Entrant>, DealSet), FieldError> {
    let v1::SharedDealing { deal_set_id, entrants } = message;
    if deal_set_id.is_empty() {
        return Err(FieldError::missing("deal_set_id"));
    }
    let pairs: Vec<NamedEntrant> = list(entrants).map_err(|error| error.within("entrants"))?;
    let (names, entrants) = pairs.into_iter().map(|NamedEntrant { name, entrant }| (name, entrant)).unzip();
    Ok((entrants, DealSet { id: deal_set_id.clone(), entrants: names }))
}
