//! What a message says: JSON, in the words of `zetema match results --format json`. docs/embedding.md shows it whole.

use serde::Serialize;
use zetema_rules::{MatchResult, Outcome};

use crate::encoding::timestamp;
use crate::journal::{BotName, ClientReference, UnixMillis, Visibility};
use crate::matches::{EndedMatch, ResultCursor};
use crate::table::{DealsKind, MatchInfo, MatchStage, SeatInfo, SeatState};

/// The kind of message that there is.
const MATCH_ENDED: &str = "match.ended";

#[derive(Serialize)]
struct Body {
    r#type: &'static str,
    /// When the match ended.
    timestamp: String,
    data: Data,
}

#[derive(Serialize)]
struct Data {
    result_number: u64,
    cursor: String,
    r#match: Match,
}

#[derive(Serialize)]
struct Match {
    #[serde(rename = "match_id")]
    id: String,
    state: &'static str,
    rules_revision: u32,
    seats: Vec<Seat>,
    deals: &'static str,
    deal_set_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ladder: Option<String>,
    visibility: &'static str,
    client_reference: String,
    create_time: String,
    end_time: String,
    outcome: Option<Ended>,
}

#[derive(Serialize)]
struct Seat {
    #[serde(rename = "seat")]
    number: usize,
    side: usize,
    state: &'static str,
    bot: Option<String>,
}

/// An object with one key.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Ended {
    Result { reason: String, sides: Vec<Side> },
    Aborted { reason: String, seats: Vec<usize> },
}

#[derive(Serialize)]
struct Side {
    rank: u8,
    total: u16,
}

/// The body of the message of a result, always the same for the same result.
pub(super) fn body(ended: &EndedMatch, cursor: ResultCursor) -> Result<Vec<u8>, serde_json::Error> {
    let EndedMatch { number, info } = ended;
    let body = Body {
        r#type: MATCH_ENDED,
        timestamp: time(info.ended_at.unwrap_or(info.created_at)),
        data: Data { result_number: number.get(), cursor: cursor.to_string(), r#match: Match::new(info) },
    };
    serde_json::to_vec(&body)
}

/// As in 2026-11-21T03:04:01.250Z.
fn time(at: UnixMillis) -> String {
    timestamp(at).to_string()
}

impl Match {
    fn new(info: &MatchInfo) -> Self {
        let MatchInfo {
            match_id,
            stage,
            rules: _,
            rules_revision,
            seats,
            time_control: _,
            deals,
            commitment: _,
            visibility,
            client_reference,
            owner: _,
            ladder,
            ladder_rates: _,
            created_at,
            ended_at,
            outcome,
            dealt: _,
        } = info;
        Self {
            id: match_id.to_string(),
            state: match stage {
                MatchStage::WaitingForSeats => "waiting-for-seats",
                MatchStage::WaitingForNonces => "waiting-for-nonces",
                MatchStage::Playing => "playing",
                MatchStage::Finished => "finished",
                MatchStage::Aborted => "aborted",
            },
            rules_revision: *rules_revision,
            seats: seats.iter().map(Seat::new).collect(),
            deals: match deals {
                DealsKind::Joint => "joint",
                DealsKind::Shared(_) => "shared",
                DealsKind::Fixed => "fixed",
            },
            deal_set_id: match deals {
                DealsKind::Shared(set) => Some(set.to_string()),
                DealsKind::Joint | DealsKind::Fixed => None,
            },
            ladder: ladder.as_ref().map(ToString::to_string),
            visibility: match visibility {
                Visibility::Private => "private",
                Visibility::Public => "public",
            },
            client_reference: client_reference.as_ref().map(ClientReference::to_string).unwrap_or_default(),
            create_time: time(*created_at),
            end_time: time(ended_at.unwrap_or(*created_at)),
            outcome: outcome.as_ref().map(Ended::new),
        }
    }
}

impl Seat {
    fn new(info: &SeatInfo) -> Self {
        let SeatInfo { seat, side, bot, state, generation: _ } = info;
        Self {
            number: seat.index(),
            side: side.index(),
            state: match state {
                SeatState::Open => "open",
                SeatState::Joined => "joined",
                SeatState::Forfeited => "forfeited",
            },
            bot: bot.as_ref().map(BotName::to_string),
        }
    }
}

impl Ended {
    fn new(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Result(MatchResult { reason, ranks, totals }) => {
                let sides = ranks.iter().zip(totals).take_while(|&(rank, _)| *rank > 0);
                Self::Result {
                    reason: reason.to_string(),
                    sides: sides.map(|(&rank, &total)| Side { rank, total }).collect(),
                }
            }
            Outcome::Aborted { reason, seats } => Self::Aborted {
                reason: reason.to_string(),
                seats: seats.iter().map(|seat| seat.index()).collect(),
            },
        }
    }
}
