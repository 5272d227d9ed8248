//! Everything that replays a match that is over (`Record`).

use crate::action::Action;
use crate::card::Card;
use crate::deck::Deck;
use crate::fair::{Commitment, MatchSeed, Nonce, NonceHash, ServerSeed};
use crate::ledger::LedgerEntry;
use crate::public::MatchResult;
use crate::replay::{Replay, complete};
use crate::replay_error::ReplayError;
use crate::rules::Rules;
use crate::seat::Seat;
use crate::time_control::TimeControl;

/// A match that is over: the rules, how the deals were made, each step and the outcome.
///
/// Deals, points and the outcome follow from the rest; they are here to be checked
/// ([`Record::verify`]). The text form is described in [`notation`](crate::notation).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The revision of the rules that it replays by.
    pub revision: u32,
    /// The rules.
    pub rules: Rules,
    /// How the deals were made.
    pub dealing: Dealing,
    /// The first dealer; `None` if the match was aborted before the first deal.
    pub dealer: Option<Seat>,
    /// The deals that were made, first one first.
    pub deals: Vec<RecordDeal>,
    /// Everything that changed the game, in the order played, over all deals.
    pub steps: Vec<Step>,
    /// How it ended.
    pub outcome: Outcome,
    /// How long it waited for its players; `None` if it was played without a server, where nobody waits.
    pub clocks: Option<Clocks>,
}

impl Record {
    /// The record of a match from what it followed from: the dealer, the deals, the points of each step
    /// and the result are filled in by playing the steps. `aborted` says why the match ended without a
    /// result, if it did. It has no clocks: they don't follow from the steps.
    ///
    /// # Errors
    /// [`ReplayError`] if the rules don't allow a step, or if the steps leave the match unfinished and
    /// nothing says why.
    pub fn complete(
        rules: Rules,
        dealing: Dealing,
        steps: Vec<Step>,
        aborted: Option<Outcome>,
    ) -> Result<Self, ReplayError> {
        complete(rules, dealing, steps, aborted)
    }

    /// Replays the record from its seed and checks every part of it.
    ///
    /// If it has [`Clocks`], each entry of the ledger is charged anew. Five things follow from nothing, and are only checked
    /// against their bounds: when a decision was published (not before the last was over), when its answer was received
    /// (not before it was published, nor when the time was out), how much was credited of an overrun (within the control's
    /// numbers), whether the server was down, and whether the player was there when the time was out. So a ledger whose times are all shifted from some decision on, or whose
    /// credit was given at the cost of what was charged, with every later bank, is as right as the true one.
    ///
    /// # Errors
    /// [`ReplayError`] names the first place that differs.
    pub fn verify(&self) -> Result<(), ReplayError> {
        let mut replay = Replay::new(self)?;
        while replay.step()?.is_some() {}
        replay.finish()
    }
}

/// How long a match waited for its players.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clocks {
    /// How long it could.
    pub control: TimeControl,
    /// How the time of each decision was charged, ascending: one entry for each that its seat answered, or that ran
    /// out of time. A decision in which its seat resigned, or the match was aborted, has none, nor has one of a
    /// seat that had forfeited.
    pub ledger: Vec<LedgerEntry>,
}

/// How the deals of a match were made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dealing {
    /// Which way.
    pub kind: DealingKind,
    /// What was published when the match was created.
    pub commitment: Commitment,
    /// The seed that was committed to.
    pub server_seed: ServerSeed,
    /// Whose nonces made the match's seed, in their order: the seats of the match (`joint`), those of
    /// all matches of the deal set (`shared`), or none (`fixed`).
    pub entrants: Vec<Entrant>,
}

impl Dealing {
    /// The seed of all deals. `None` if the match was aborted before every seat had joined and every
    /// nonce was in.
    ///
    /// `fixed` deals are made with an empty nonce for each of the seats.
    pub fn match_seed(&self, rules: &Rules) -> Option<MatchSeed> {
        let nonces: Option<Vec<Nonce>> = match self.kind {
            DealingKind::Fixed => Some(rules.seats().map(|_| Nonce::EMPTY).collect()),
            DealingKind::Joint | DealingKind::Shared if self.entrants.is_empty() => None,
            DealingKind::Joint | DealingKind::Shared => {
                self.entrants.iter().map(|entrant| entrant.nonce.clone()).collect()
            }
        };
        nonces.map(|nonces| MatchSeed::derive(&self.server_seed, &nonces))
    }
}

/// The ways to make deals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DealingKind {
    /// By the server's seed and the seats' nonces together.
    Joint,
    /// As the other matches of a deal set.
    Shared,
    /// By a seed that the match's creator gave.
    Fixed,
}

/// One who had a part in the deals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entrant {
    /// What was committed to with the join; `None` without a commitment, and then the nonce is empty.
    pub hash: Option<NonceHash>,
    /// The nonce; `None` if the match was aborted before it was in.
    pub nonce: Option<Nonce>,
}

/// One deal of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordDeal {
    /// The cards as shuffled.
    pub deck: Deck,
    /// The points that each side made in it, side 0 first.
    pub scores: Vec<u16>,
}

/// Something that changed the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A seat acted.
    Play {
        /// The seat.
        seat: Seat,
        /// What it did.
        action: Action,
        /// The points that it scored by it, its zetema's included.
        points: u16,
        /// Who chose the action.
        by: PlayedBy,
    },
    /// A discard was offered out of turn (R28).
    Fault {
        /// The seat.
        seat: Seat,
        /// The card.
        card: Card,
    },
    /// A seat forfeited (R25).
    Forfeit {
        /// The seat.
        seat: Seat,
        /// Why.
        reason: ForfeitReason,
    },
}

impl Step {
    /// Whose step it is.
    pub const fn seat(&self) -> Seat {
        match *self {
            Self::Play { seat, .. } | Self::Fault { seat, .. } | Self::Forfeit { seat, .. } => seat,
        }
    }
}

/// Who chose an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlayedBy {
    /// The seat's player.
    Player,
    /// The server, for a seat that had forfeited (R25) or whose time was out.
    Autoplay,
}

/// Why a seat forfeited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForfeitReason {
    /// It resigned.
    Resigned,
    /// Its time was out.
    OutOfTime,
    /// Its time was out as often as the time control allows.
    OutOfStrikes,
}

/// How a match ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Played to a result.
    Result(MatchResult),
    /// Ended without a result.
    Aborted {
        /// Why.
        reason: AbortReason,
        /// Whose fault it was, ascending; possibly nobody's.
        seats: Vec<Seat>,
    },
}

/// Why a match had no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbortReason {
    /// A seat had not joined in time.
    NoShow,
    /// A seat had not sent its nonce in time.
    NonceMissing,
    /// Nothing happened for too long.
    Idle,
    /// It was cancelled, or before its deal a match of its deal set could not go on.
    Cancelled,
    /// It had not ended when the backup was taken that its server was restored from.
    Restored,
    /// It had not ended when as much had happened in it as its server keeps of one match.
    TooLong,
}
