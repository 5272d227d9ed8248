//! What a server does that would choose the deals, or that has lost its storage.

use zetema_proto::Wire;
use zetema_rules::fair::NonceHash;
use zetema_rules::{AbortReason, DealingKind, Outcome};

use super::Table;

impl Table {
    /// Chooses the cards, and says so.
    pub(in super::super) fn fix_deals(&mut self) {
        self.deals = DealingKind::Fixed;
    }

    /// Loses the last observations of a seat, as after a restored backup.
    pub(in super::super) fn lose_observations(&mut self, seat: usize, count: usize) {
        let log = &mut self.seats[seat].log;
        log.truncate(log.len() - count);
    }

    /// Has a seat commit to something else than it did.
    pub(in super::super) fn replace_hash(&mut self, seat: usize, hash: Option<NonceHash>) {
        self.seats[seat].hash = hash;
    }

    /// Answers every join with a snapshot, as if the seat had seen nothing.
    pub(in super::super) fn begin_anew(&mut self) {
        self.begins_anew = true;
    }

    /// Shows every seat that the match is over, and plays it all the same.
    pub(in super::super) fn claim_to_be_over(&mut self) {
        let aborted = Outcome::Aborted { reason: AbortReason::Cancelled, seats: Vec::new() };
        self.claimed = Some(aborted.to_wire());
    }
}
