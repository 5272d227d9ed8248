//! What went wrong for a player.

use prost_types::Timestamp;
use serde::Serialize;
use zetema_sdk::{ReportedFault, ReportedKind};

/// Something that went wrong for the player of a seat.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct FaultJson {
    /// As in 2026-11-21T03:04:01.250Z.
    pub(crate) time: String,
    /// How often it came in a row; `time` is the last.
    count: u32,
    match_id: String,
    seat: usize,
    /// `rejected`, `cut`, `lost`, `timed-out`, `panicked`, `no-show` or `other`.
    kind: &'static str,
    reason: Option<&'static str>,
    message: Option<String>,
    decision: Option<u32>,
    strikes: Option<u32>,
}

impl FaultJson {
    /// The JSON form of a fault.
    pub(crate) fn new(fault: &ReportedFault) -> Self {
        let plain = Self {
            time: Timestamp::from(fault.time).to_string(),
            count: fault.count,
            match_id: fault.match_id.clone(),
            seat: fault.seat.index(),
            kind: "other",
            reason: None,
            message: None,
            decision: None,
            strikes: None,
        };
        match &fault.kind {
            ReportedKind::Rejected(refusal) => Self {
                kind: "rejected",
                reason: Some(refusal.reason.name()),
                message: Some(refusal.message.clone()),
                decision: refusal.decision,
                ..plain
            },
            ReportedKind::Cut { reason, message } => {
                Self { kind: "cut", reason: Some(reason.name()), message: Some(message.clone()), ..plain }
            }
            ReportedKind::Lost => Self { kind: "lost", ..plain },
            ReportedKind::TimedOut { decision, strikes } => {
                Self { kind: "timed-out", decision: Some(*decision), strikes: Some(*strikes), ..plain }
            }
            ReportedKind::Panicked { message } => {
                Self { kind: "panicked", message: Some(message.clone()), ..plain }
            }
            ReportedKind::NoShow { .. } => {
                Self { kind: "no-show", message: Some(fault.kind.to_string()), ..plain }
            }
            _ => plain,
        }
    }
}
