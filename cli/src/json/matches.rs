//! Matches on a server.

use anyhow::{Result, anyhow};
use serde::Serialize;
use zetema_proto::{Wire, v1};
use zetema_rules::{Outcome, Rules, Seat, TimeControl};

use super::{OutcomeJson, RulesJson, TimeControlJson, hex};

/// A match.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MatchJson {
    pub(crate) match_id: String,
    /// `waiting-for-seats`, `waiting-for-nonces`, `playing`, `finished` or `aborted`.
    pub(crate) state: &'static str,
    rules: RulesJson,
    rules_revision: u32,
    time_control: TimeControlJson,
    pub(crate) seats: Vec<SeatJson>,
    /// `joint`, `shared` or `fixed`.
    pub(crate) deals: &'static str,
    pub(crate) commitment: String,
    /// `private` or `public`.
    pub(crate) visibility: &'static str,
    pub(crate) client_reference: String,
    /// The ladder that rates it, if one does.
    pub(crate) ladder: Option<String>,
    /// As in 2026-11-21T03:04:01.250Z, as is the next.
    pub(crate) create_time: Option<String>,
    pub(crate) end_time: Option<String>,
    outcome: Option<OutcomeJson>,
}

/// Whether a seat has joined, and who plays it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SeatJson {
    pub(crate) seat: u32,
    side: u32,
    /// `open`, `joined` or `forfeited`.
    pub(crate) state: &'static str,
    /// The bot that plays it. `null`: it is played by token, or not told yet.
    pub(crate) bot: Option<String>,
}

/// A match that was created, with the tokens that its seats are played by.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CreatedJson {
    #[serde(rename = "match")]
    pub(crate) created: MatchJson,
    pub(crate) seat_tokens: Vec<SeatTokenJson>,
}

/// The token of a seat, which is a secret.
#[derive(Clone, Serialize)]
pub(crate) struct SeatTokenJson {
    pub(crate) seat: u32,
    pub(crate) token: String,
}

impl std::fmt::Debug for SeatTokenJson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SeatTokenJson({})", self.seat)
    }
}

impl CreatedJson {
    /// The JSON form of what a server created.
    pub(crate) fn new(created: Option<&v1::Match>, tokens: Vec<v1::SeatToken>) -> Result<Self> {
        let created = created.ok_or_else(|| anyhow!("the server sent no match"))?;
        let tokens = tokens.into_iter().map(|v1::SeatToken { seat, token }| SeatTokenJson { seat, token });
        Ok(Self { created: MatchJson::new(created)?, seat_tokens: tokens.collect() })
    }
}

impl MatchJson {
    /// The JSON form of a match.
    pub(crate) fn new(message: &v1::Match) -> Result<Self> {
        Ok(Self {
            match_id: message.match_id.clone(),
            state: state(message.state()),
            rules: RulesJson::new(&rules(message)?),
            rules_revision: message.rules_revision,
            time_control: TimeControlJson::new(&time_control(message)?),
            seats: message.seats.iter().map(SeatJson::new).collect(),
            deals: match message.deals() {
                v1::DealsKind::Joint => "joint",
                v1::DealsKind::Shared => "shared",
                v1::DealsKind::Fixed => "fixed",
                v1::DealsKind::Unspecified => UNKNOWN,
            },
            commitment: hex(&message.commitment),
            visibility: match message.visibility() {
                v1::Visibility::Private => "private",
                v1::Visibility::Public => "public",
                v1::Visibility::Unspecified => UNKNOWN,
            },
            client_reference: message.client_reference.clone(),
            ladder: Some(message.ladder.clone()).filter(|ladder| !ladder.is_empty()),
            create_time: message.create_time.as_ref().map(ToString::to_string),
            end_time: message.end_time.as_ref().map(ToString::to_string),
            outcome: outcome(message)?.as_ref().map(OutcomeJson::new),
        })
    }
}

/// What a server of a later version says and this program does not know.
const UNKNOWN: &str = "unknown";

/// The word for where a match stands.
pub(crate) const fn state(state: v1::MatchState) -> &'static str {
    match state {
        v1::MatchState::WaitingForSeats => "waiting-for-seats",
        v1::MatchState::WaitingForNonces => "waiting-for-nonces",
        v1::MatchState::Playing => "playing",
        v1::MatchState::Finished => "finished",
        v1::MatchState::Aborted => "aborted",
        v1::MatchState::Unspecified => UNKNOWN,
    }
}

/// The rules of a match.
pub(crate) fn rules(message: &v1::Match) -> Result<Rules> {
    let rules = message.rules.as_ref().ok_or_else(|| anyhow!("the server sent a match without rules"))?;
    Rules::from_wire(rules).map_err(|error| anyhow!("the server sent rules that can't be played: {error}"))
}

/// How long a match waits for its players.
pub(crate) fn time_control(message: &v1::Match) -> Result<TimeControl> {
    let control = message.time_control.as_ref();
    let control = control.ok_or_else(|| anyhow!("the server sent a match without a time control"))?;
    TimeControl::from_wire(control)
        .map_err(|error| anyhow!("the server sent a time control that is none: {error}"))
}

/// How a match ended, if it has.
pub(crate) fn outcome(message: &v1::Match) -> Result<Option<Outcome>> {
    let outcome = message.outcome.as_ref().map(Outcome::from_wire).transpose();
    outcome.map_err(|error| anyhow!("the server sent an outcome that is none: {error}"))
}

/// The seats of a match that have joined.
pub(crate) fn joined(message: &v1::Match) -> Vec<Seat> {
    let joined = message.seats.iter().filter(|seat| seat.state() != v1::SeatState::Open);
    joined.filter_map(|seat| Seat::new(usize::try_from(seat.seat).ok()?)).collect()
}

impl SeatJson {
    fn new(message: &v1::MatchSeat) -> Self {
        Self {
            seat: message.seat,
            side: message.side,
            state: match message.state() {
                v1::SeatState::Open => "open",
                v1::SeatState::Joined => "joined",
                v1::SeatState::Forfeited => "forfeited",
                v1::SeatState::Unspecified => UNKNOWN,
            },
            bot: Some(message.bot_name.clone()).filter(|bot| !bot.is_empty()),
        }
    }
}
