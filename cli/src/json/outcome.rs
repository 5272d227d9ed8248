//! How matches end.

use serde::{Deserialize, Serialize};
use zetema_rules::{MatchResult, Outcome, Seat};

/// How a match ended: an object with one key, `result` or `aborted`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum OutcomeJson {
    /// Played to a result.
    Result {
        /// `target`, `deal-over` or `forfeit`.
        reason: String,
        /// Side 0 first.
        sides: Vec<SideJson>,
    },
    /// Ended without a result.
    Aborted {
        /// `no-show`, `nonce-missing`, `idle`, `cancelled`, `restored` or `too-long`.
        reason: String,
        /// Whose fault it was, possibly nobody's.
        seats: Vec<usize>,
    },
}

/// What a side reached.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SideJson {
    /// From 1; equal totals share a rank.
    pub(crate) rank: u8,
    /// In points.
    pub(crate) total: u16,
}

impl OutcomeJson {
    /// The JSON form of this outcome.
    pub(crate) fn new(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Result(result) => Self::result(result),
            Outcome::Aborted { reason, seats } => Self::Aborted {
                reason: reason.to_string(),
                seats: seats.iter().map(|seat| seat.index()).collect(),
            },
        }
    }

    /// The JSON form of this result.
    pub(crate) fn result(result: &MatchResult) -> Self {
        let MatchResult { reason, ranks, totals } = *result;
        let sides = ranks.into_iter().zip(totals).take_while(|&(rank, _)| rank > 0);
        Self::Result {
            reason: reason.to_string(),
            sides: sides.map(|(rank, total)| SideJson { rank, total }).collect(),
        }
    }

    /// The outcome.
    pub(crate) fn outcome(&self) -> Result<Outcome, String> {
        match self {
            Self::Result { reason, sides } => {
                if sides.len() > Seat::MAX {
                    return Err(format!("outcome: {} sides: give at most {}", sides.len(), Seat::MAX));
                }
                let (mut ranks, mut totals) = ([0; Seat::MAX], [0; Seat::MAX]);
                for (i, side) in sides.iter().enumerate() {
                    ranks[i] = side.rank;
                    totals[i] = side.total;
                }
                let reason = reason.parse().map_err(|error| format!("outcome: {error}"))?;
                Ok(Outcome::Result(MatchResult { reason, ranks, totals }))
            }
            Self::Aborted { reason, seats } => Ok(Outcome::Aborted {
                reason: reason.parse().map_err(|error| format!("outcome: {error}"))?,
                seats: seats.iter().map(|&seat| read_seat(seat)).collect::<Result<_, _>>()?,
            }),
        }
    }
}

pub(super) fn read_seat(index: usize) -> Result<Seat, String> {
    Seat::new(index).ok_or_else(|| format!("{index} is no seat: give 0 to 5"))
}
