//! Results, and the reasons why matches end.

use zetema_rules::{AbortReason, EndReason, ForfeitReason, MatchResult, Outcome, Seat};

use super::{FieldError, Wire, list, narrow, value, wire_enum};
use crate::v1;
use crate::v1::outcome;

wire_enum! {
    EndReason = EndReason { Target, DealOver, Forfeit }
    AbortReason = AbortReason { NoShow, NonceMissing, Idle, Cancelled, Restored, TooLong }
    ForfeitReason = ForfeitReason { Resigned, OutOfTime, OutOfStrikes }
}

impl Wire for Outcome {
    type Message = v1::Outcome;

    fn to_wire(&self) -> v1::Outcome {
        let kind = match self {
            Self::Result(result) => outcome::Kind::Result(result.to_wire()),
            Self::Aborted { reason, seats } => outcome::Kind::Aborted(v1::Abort {
                reason: reason.to_wire(),
                seats: seats.iter().map(Wire::to_wire).collect(),
            }),
        };
        v1::Outcome { kind: Some(kind) }
    }

    fn from_wire(message: &v1::Outcome) -> Result<Self, FieldError> {
        let v1::Outcome { kind } = message;
        match kind {
            None => Err(FieldError::missing("kind")),
            Some(outcome::Kind::Result(result)) => Ok(Self::Result(value("result", result)?)),
            Some(outcome::Kind::Aborted(v1::Abort { reason, seats })) => Ok(Self::Aborted {
                reason: value("aborted.reason", reason)?,
                seats: list(seats).map_err(|error| error.within("aborted.seats"))?,
            }),
        }
    }
}

/// On the wire there are as many sides as the match has.
impl Wire for MatchResult {
    type Message = v1::MatchResult;

    fn to_wire(&self) -> v1::MatchResult {
        let Self { reason, ranks, totals } = *self;
        let sides = ranks.into_iter().zip(totals).take_while(|&(rank, _)| rank > 0);
        v1::MatchResult {
            reason: reason.to_wire(),
            sides: sides
                .map(|(rank, total)| v1::SideResult { rank: rank.into(), total: total.into() })
                .collect(),
        }
    }

    fn from_wire(message: &v1::MatchResult) -> Result<Self, FieldError> {
        let v1::MatchResult { reason, sides } = message;
        if !(2..=Seat::MAX).contains(&sides.len()) {
            let problem = format!("there are {} sides: give 2 to 6", sides.len());
            return Err(FieldError::invalid("sides", problem));
        }
        let (mut ranks, mut totals) = ([0; Seat::MAX], [0; Seat::MAX]);
        for (i, side) in sides.iter().enumerate() {
            let v1::SideResult { rank, total } = *side;
            let within = |error: FieldError| error.at(i).within("sides");
            if rank == 0 || rank as usize > sides.len() {
                let problem = format!("{rank} is no rank among {}: give 1 and up", sides.len());
                return Err(within(FieldError::invalid("rank", problem)));
            }
            ranks[i] = narrow("rank", rank).map_err(within)?;
            totals[i] = narrow("total", total).map_err(within)?;
        }
        Ok(Self { reason: value("reason", reason)?, ranks, totals })
    }
}
