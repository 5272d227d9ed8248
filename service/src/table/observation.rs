//! What leaves a table: observations, snapshots and receipts, each made for one viewer.

use zetema_rules::fair::{Commitment, Nonce, NonceHash, ServerSeed};
use zetema_rules::{LegalActions, Outcome, Seat, SeatEvent, View};

use super::{Abort, ClockReading};
use crate::journal::MatchId;

/// One thing that changed a match, as one seat, or a spectator, may see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Its number, from 1, counted for each seat, and for the spectators as one, without a gap (I4). It follows
    /// from the journal alone.
    pub seq: u64,
    /// The number of the decision that is current after it; `None` while none is open.
    pub decision: Option<u32>,
    /// What happened, in order; never empty.
    pub events: Vec<TableEvent>,
    /// The view after it, if the current decision is another than before.
    pub view: Option<Box<View>>,
    /// Everything that the viewer may do, if it is to act.
    pub to_decide: Option<Box<LegalActions>>,
    /// How long it may take, if it is to act and the match has a clock.
    pub clock: Option<ClockReading>,
    /// The receipt, if the viewer's own action is what happened.
    pub receipt: Option<Receipt>,
}

impl Observation {
    /// How much memory it takes, in bytes, by a rough count.
    pub fn bytes(&self) -> usize {
        /// What a view and a list of actions hold beside themselves.
        const WITHIN: usize = 1024;
        let events = self.events.len() * size_of::<TableEvent>();
        let view = self.view.as_ref().map_or(0, |_| size_of::<View>() + WITHIN);
        let to_decide = self.to_decide.as_ref().map_or(0, |_| size_of::<LegalActions>() + WITHIN);
        size_of::<Self>() + events + view + to_decide
    }
}

/// What happened, as one viewer may see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableEvent {
    /// Every seat has joined: here is what each committed to, seat 0 first; now the nonces are to be sent.
    NoncesWanted {
        /// One for each seat; `None` for a seat that joined without.
        hashes: Vec<Option<NonceHash>>,
    },
    /// Every nonce is durable and the deals are fixed.
    NoncesPublished {
        /// One for each seat, seat 0 first.
        nonces: Vec<Nonce>,
    },
    /// A seat's time was out. That it forfeited, or what was played for it, follows.
    TimedOut {
        /// The seat.
        seat: Seat,
        /// The number of the decision that it did not take.
        decision: u32,
        /// How often that has happened to the seat in this match, from 1.
        strikes: u32,
    },
    /// A seat resigned. That it forfeited follows.
    Resigned {
        /// The seat.
        seat: Seat,
    },
    /// The match ended without a result.
    Aborted(Abort),
    /// The match is over or aborted: here is its seed.
    Revealed {
        /// The seed that the commitment is of.
        server_seed: ServerSeed,
    },
    /// Something in the game.
    Game(SeatEvent),
}

/// Everything that one viewer may know of a match after observation `seq`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The number of the last observation that is included; 0 if there was none yet.
    pub seq: u64,
    /// The number of the current decision; `None` while none is open.
    pub decision: Option<u32>,
    /// How far the setup is.
    pub setup: Setup,
    /// The view, once there was a deal.
    pub view: Option<Box<View>>,
    /// Everything that the viewer may do, if it is to act.
    pub to_decide: Option<Box<LegalActions>>,
    /// How long it may take, if it is to act and the match has a clock.
    pub clock: Option<ClockReading>,
    /// How the match ended, once it has.
    pub outcome: Option<Outcome>,
    /// The seed, once it is revealed.
    pub revealed: Option<ServerSeed>,
}

/// Where the setup of a match stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The step.
    pub stage: SetupStage,
    /// The server's commitment to its seed.
    pub commitment: Commitment,
    /// What each seat committed to, once all have joined; empty before, and for `fixed` deals.
    pub hashes: Vec<Option<NonceHash>>,
    /// Each seat's nonce, once all are durable; empty before, and for `fixed` deals.
    pub nonces: Vec<Nonce>,
}

/// The steps of a match's setup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupStage {
    /// Not every seat has joined.
    WaitingForSeats,
    /// Every seat has joined, not every nonce is there.
    WaitingForNonces,
    /// The deals are fixed.
    Complete,
}

/// Proof that an action, or a fault (R28), is durable and applied. It can be rebuilt from the journal: the same
/// answer to the same decision gets the same receipt, at any time (I2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The match.
    pub match_id: MatchId,
    /// The number of the decision that was answered.
    pub decision: u32,
    /// The number of the seat's own observation that shows it.
    pub seq: u64,
}
