//! What a match is: everything that stands fast from its creation on.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use zetema_rules::fair::ServerSeed;
use zetema_rules::{Rules, Seat, TimeControl};

use crate::journal::{BotName, ClientReference, LadderName, MatchId, Owner, UnixMillis, Visibility};

/// A match that someone asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchSpec {
    /// By which rules. They say how many seats there are.
    pub rules: Rules,
    /// Who takes each seat, seat 0 first.
    pub seats: Vec<SeatSpec>,
    /// How the cards are dealt.
    pub deals: DealSpec,
    /// How long it waits.
    pub time_control: TimeControl,
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
}

/// Whether the ladder of a match rated its matches when this one was made. It does not change: a ladder that is rated from now on does
/// not rate what was played before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LadderRates {
    /// It did, or the match is of none.
    #[default]
    Yes,
    /// It did not.
    No,
}

/// Who takes a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeatSpec {
    /// Whoever holds its token.
    Token,
    /// The bot of this name, by a token of its own.
    Bot(BotName),
}

/// How the deals of a match that someone asks for are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DealSpec {
    /// By the server's seed and the nonces of the match's seats.
    Joint,
    /// As the other matches of the same batch that name this deal set, a number of the creator's choice.
    Shared(u32),
    /// By this seed, and empty nonces: never rated.
    Fixed(ServerSeed),
}

/// The creation of a match. It holds the seed: `Debug` does not show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    /// Its id.
    pub match_id: MatchId,
    /// When, by the wall clock.
    pub at: UnixMillis,
    /// The revision of the rules' implementation that it replays by.
    pub rules_revision: u32,
    /// The rules.
    pub rules: Rules,
    /// Who takes each seat, seat 0 first.
    pub seats: Vec<SeatSpec>,
    /// How the deals are made.
    pub deals: Deals,
    /// The server's part of the seed, drawn or given.
    pub server_seed: ServerSeed,
    /// How long it waits.
    pub time_control: TimeControl,
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
}

impl Created {
    /// The bot that a seat is for. `None`: it is for whoever holds its token.
    pub fn bot(&self, seat: Seat) -> Option<&BotName> {
        match self.seats.get(seat.index()) {
            Some(SeatSpec::Bot(name)) => Some(name),
            Some(SeatSpec::Token) | None => None,
        }
    }
}

/// How the deals of a match are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deals {
    /// By the server's seed and the nonces of the match's seats.
    Joint,
    /// By one seed and the nonces of all seats of all matches of a deal set.
    Shared(DealSet),
    /// By the server's seed, which was given, and empty nonces.
    Fixed,
}

/// The matches that share their deals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DealSet {
    /// Its id.
    pub id: DealSetId,
    /// Its matches, this one among them, in the order of their creation: the order of the nonces.
    pub matches: Arc<[MatchId]>,
}

/// The name of a deal set: 16 random bytes, written as 32 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DealSetId(MatchId);

impl DealSetId {
    /// The id made of these bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(MatchId::from_bytes(bytes))
    }
}

impl fmt::Display for DealSetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for DealSetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DealSetId({self})")
    }
}

/// A text that is no deal set's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a deal set's id is 32 lower-case hexadecimal digits")]
pub struct NoDealSetId;

impl FromStr for DealSetId {
    type Err = NoDealSetId;

    fn from_str(text: &str) -> Result<Self, NoDealSetId> {
        text.parse().map(Self).map_err(|_| NoDealSetId)
    }
}
