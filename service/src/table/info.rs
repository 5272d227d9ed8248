//! A match as everyone who may see it sees it.

use zetema_rules::fair::Commitment;
use zetema_rules::{Outcome, Rules, Seat, Side, TimeControl};

use super::{DealSetId, LadderRates, Rejection, SeatAccess};
use crate::journal::{BotName, ClientReference, LadderName, MatchId, Owner, Reader, UnixMillis, Visibility};

/// What everyone who may see a match may know of it besides the game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchInfo {
    /// Its id.
    pub match_id: MatchId,
    /// Where it stands.
    pub stage: MatchStage,
    /// Its rules.
    pub rules: Rules,
    /// The revision of the rules' implementation that it replays by.
    pub rules_revision: u32,
    /// Its seats, seat 0 first.
    pub seats: Vec<SeatInfo>,
    /// How long it waits.
    pub time_control: TimeControl,
    /// How its deals are made.
    pub deals: DealsKind,
    /// The server's commitment to the seed of the deals.
    pub commitment: Commitment,
    /// Who may watch it and read its record.
    pub visibility: Visibility,
    /// What its creator calls it, if anything.
    pub client_reference: Option<ClientReference>,
    /// Whom it belongs to. `None`: the admin.
    pub owner: Option<Owner>,
    /// The ladder that it is of, if it is of one.
    pub ladder: Option<LadderName>,
    /// Whether that ladder rates it.
    pub ladder_rates: LadderRates,
    /// When it was created.
    pub created_at: UnixMillis,
    /// When it ended, once it has.
    pub ended_at: Option<UnixMillis>,
    /// How it ended, once it has.
    pub outcome: Option<Outcome>,
    /// Whether cards were dealt.
    pub dealt: Dealt,
}

/// Whether the cards of a match were dealt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dealt {
    /// They were.
    Yes,
    /// They were not, or not yet.
    No,
}

impl MatchInfo {
    /// Checks that a token speaks for a seat of this match and was not replaced.
    ///
    /// # Errors
    /// [`Rejection::NoSuchSeat`] or [`Rejection::TokenReplaced`].
    pub fn check_access(&self, access: SeatAccess) -> Result<(), Rejection> {
        let SeatAccess { seat, generation } = access;
        match self.seats.get(seat.index()) {
            None => Err(Rejection::NoSuchSeat { seat }),
            Some(of) if of.generation != generation => Err(Rejection::TokenReplaced),
            Some(_) => Ok(()),
        }
    }

    /// Whether this reader may see the match.
    pub fn is_seen_by(&self, reader: &Reader) -> bool {
        let plays = |bot: &BotName| self.seats.iter().any(|seat| seat.bot.as_ref() == Some(bot));
        reader.sees(self.match_id, self.visibility, self.owner.as_ref(), plays)
    }
}

/// Where a match stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatchStage {
    /// Not every seat has joined.
    WaitingForSeats,
    /// Every seat has joined, not every nonce is in.
    WaitingForNonces,
    /// It is being played.
    Playing,
    /// It was played to a result.
    Finished,
    /// It ended without a result.
    Aborted,
}

/// A seat of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatInfo {
    /// The seat.
    pub seat: Seat,
    /// The side that it plays for.
    pub side: Side,
    /// The bot that it is for; `None`: whoever holds its token. Not for every eye before the deal.
    pub bot: Option<BotName>,
    /// Whether it has joined.
    pub state: SeatState,
    /// The generation of its token, from 1. Not for every eye: it is for whoever makes the token.
    pub generation: u32,
}

/// Whether a seat has joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeatState {
    /// It has not.
    Open,
    /// It has.
    Joined,
    /// It has forfeited since.
    Forfeited,
}

/// How a match gets its deals: the kind alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DealsKind {
    /// By the server's seed and the seats' nonces together.
    Joint,
    /// As the other matches of this deal set.
    Shared(DealSetId),
    /// By a given seed.
    Fixed,
}

impl DealsKind {
    /// The deal set, of shared deals.
    pub const fn set(self) -> Option<DealSetId> {
        match self {
            Self::Shared(set) => Some(set),
            Self::Joint | Self::Fixed => None,
        }
    }
}
