//! How a match ended for a seat.

use std::fmt;

use zetema_rules::{AbortReason, EndReason, MatchResult, Outcome, Seat};

use crate::error::Error;

/// How a match ended for a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// It was played to a result.
    Result(MatchResult),
    /// It ended without one.
    Aborted {
        /// Why.
        reason: AbortReason,
        /// Whose fault it was; possibly nobody's.
        seats: Vec<Seat>,
    },
    /// Another program took the seat with the same token, or the token was replaced. The match may
    /// go on without this one.
    Superseded,
    /// The session was stopped. The match may go on, and the seat may be joined again.
    Stopped,
    /// The seat could not be played, or not played on.
    Failed(Error),
}

impl End {
    /// How the match ended, if it did.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        match self {
            Self::Result(result) => Some(Outcome::Result(*result)),
            Self::Aborted { reason, seats } => {
                Some(Outcome::Aborted { reason: *reason, seats: seats.clone() })
            }
            Self::Superseded | Self::Stopped | Self::Failed(_) => None,
        }
    }

    /// As `Display` has it, for a log.
    pub(crate) fn in_log(&self) -> String {
        match self {
            Self::Failed(error) => format!("failed: {}", error.in_log()),
            end => end.to_string(),
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Result(result) => {
                let sides = result.ranks.iter().zip(result.totals).filter(|(rank, _)| **rank > 0);
                let totals: Vec<String> =
                    sides.map(|(rank, total)| format!("{total} (rank {rank})")).collect();
                let reason = match result.reason {
                    EndReason::Target => "target reached",
                    EndReason::DealOver => "deal over",
                    EndReason::Forfeit => "forfeit",
                };
                write!(f, "{reason}, points by side: {}", totals.join(", "))
            }
            Self::Aborted { reason, .. } => {
                let reason = match reason {
                    AbortReason::NoShow => "a seat did not join",
                    AbortReason::NonceMissing => "a nonce was not sent",
                    AbortReason::Idle => "nothing happened for too long",
                    AbortReason::Cancelled => "it was cancelled",
                    AbortReason::Restored => "the server was restored from a backup",
                    AbortReason::TooLong => "it was longer than the server keeps a match",
                };
                write!(f, "aborted: {reason}")
            }
            Self::Superseded => f.write_str("the seat was taken by another program with the same token"),
            Self::Stopped => f.write_str("stopped"),
            Self::Failed(error) => write!(f, "failed: {error}"),
        }
    }
}
