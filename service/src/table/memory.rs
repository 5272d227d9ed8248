//! How much memory takes what has happened in a match, so that it can be bounded.
//!
//! It depends on how many entries there are and of which kinds, and on no card.

use zetema_rules::fair::Nonce;

use super::log::OPEN_CHUNK_BYTES;
use super::state::Logged;
use super::{Change, Created, Deals, Entrant, Entry, SeatSpec, Started};
use crate::journal::MatchId;

/// What an `Arc` has beside its value: two counts.
const COUNTS: usize = 2 * size_of::<usize>();

/// A nonce may have so many.
const NONCE_BYTES: usize = 32;

impl Entry {
    /// Bytes of memory that it takes as long as its match is not over: its place in the table's log, that in the journal's map, which
    /// may have room for twice as many, and as much again for its parts of a chunk's head and of the bits of live rows. What the
    /// matches of a deal set share is [`Created::shared_bytes`].
    pub fn bytes(&self) -> usize {
        size_of::<Logged>() + 3 * size_of::<i64>() + elsewhere(&self.change)
    }
}

impl Created {
    /// Bytes of memory that the matches of its deal set share once they are dealt; 0 for other deals.
    pub fn shared_bytes(&self) -> usize {
        let Deals::Shared(set) = &self.deals else { return 0 };
        let seats = set.matches.len() * self.rules.player_count().count();
        set.matches.len() * size_of::<MatchId>() + seats * (size_of::<Entrant>() + NONCE_BYTES)
    }
}

/// What a change has elsewhere in memory.
fn elsewhere(change: &Change) -> usize {
    match change {
        // And the chunk of the log that is being filled.
        Change::Created(created) => {
            let seat = |seat: &SeatSpec| match seat {
                SeatSpec::Token => size_of::<SeatSpec>(),
                SeatSpec::Bot(name) => size_of::<SeatSpec>() + name.as_str().len(),
            };
            let seats: usize = created.seats.iter().map(seat).sum();
            let reference = created.client_reference.as_ref().map_or(0, |reference| reference.as_str().len());
            let owner = created.owner.as_ref().map_or(0, |owner| owner.as_str().len());
            let ladder = created.ladder.as_ref().map_or(0, |ladder| ladder.as_str().len());
            OPEN_CHUNK_BYTES + COUNTS + size_of::<Created>() + seats + reference + owner + ladder
        }
        Change::Started(started) => {
            size_of::<Started>() + started.nonces.len() * (size_of::<Nonce>() + NONCE_BYTES)
        }
        Change::NonceGiven { .. } => NONCE_BYTES,
        Change::Aborted(abort) => abort.seats.len(),
        Change::SeatJoined { .. }
        | Change::DealSetJoined
        | Change::Acted { .. }
        | Change::Faulted { .. }
        | Change::SeatForfeited { .. }
        | Change::Ended(_)
        | Change::SeatTokenRotated { .. } => 0,
    }
}
