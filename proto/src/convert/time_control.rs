//! How long a match waits for its players.

use zetema_rules::{
    Attendance, Charge, ClockOptions, DecisionClock, DecisionTime, LedgerEntry, NamedTimeControl,
    TimeControl, TimeControlError, TimeOut,
};

use super::{FieldError, Wire, value, wire_enum};
use crate::v1;
use crate::v1::decision_clock::TimeOut as WireTimeOut;
use crate::v1::time_control::Decisions;

wire_enum! {
    NamedTimeControl = NamedTimeControl { Bullet, Blitz, Standard, Correspondence, None }
    Attendance = Attendance { Present, Absent }
}

impl From<TimeControlError> for FieldError {
    fn from(error: TimeControlError) -> Self {
        let TimeControlError { field, given, least, most } = error;
        Self::invalid(field, format!("is {given}: give {least} to {most}"))
    }
}

/// What a request leaves out has its default; an answer has every number.
impl Wire for TimeControl {
    type Message = v1::TimeControl;

    fn to_wire(&self) -> v1::TimeControl {
        let (idle_timeout_ms, decisions) = match self.decisions() {
            DecisionTime::Unlimited { idle_timeout_ms } => {
                (Some(idle_timeout_ms), Decisions::Named(NamedTimeControl::None.to_wire()))
            }
            DecisionTime::Clock(clock) => (None, Decisions::Clock(clock.to_wire())),
        };
        let join_timeout_ms = Some(self.join_timeout_ms());
        v1::TimeControl { join_timeout_ms, idle_timeout_ms, decisions: Some(decisions) }
    }

    fn from_wire(message: &v1::TimeControl) -> Result<Self, FieldError> {
        let v1::TimeControl { join_timeout_ms, idle_timeout_ms, decisions } = message;
        let decisions = match decisions {
            None => NamedTimeControl::Standard.decisions(),
            Some(Decisions::Named(named)) => value::<NamedTimeControl>("named", named)?.decisions(),
            Some(Decisions::Clock(clock)) => DecisionTime::Clock(value("clock", clock)?),
        };
        let decisions = match (decisions, *idle_timeout_ms) {
            (decisions, None) => decisions,
            (DecisionTime::Unlimited { .. }, Some(idle_timeout_ms)) => {
                DecisionTime::Unlimited { idle_timeout_ms }
            }
            (DecisionTime::Clock(_), Some(_)) => {
                let problem = "is for matches without a clock: leave it out, or give named NONE";
                return Err(FieldError::invalid("idle_timeout_ms", problem));
            }
        };
        Ok(Self::new(join_timeout_ms.unwrap_or(Self::DEFAULT_JOIN_TIMEOUT_MS), decisions)?)
    }
}

/// How long a match waits, as it was stored. Before there were clocks a match had the two timeouts alone, both always set,
/// and waited for every decision as long as the idle timeout.
///
/// # Errors
/// [`FieldError`] if a number is out of its range.
pub fn stored_time_control(message: &v1::TimeControl) -> Result<TimeControl, FieldError> {
    match *message {
        v1::TimeControl {
            join_timeout_ms: Some(join_timeout_ms),
            idle_timeout_ms: Some(idle_timeout_ms),
            decisions: None,
        } => Ok(TimeControl::new(join_timeout_ms, DecisionTime::Unlimited { idle_timeout_ms })?),
        _ => TimeControl::from_wire(message),
    }
}

impl Wire for DecisionClock {
    type Message = v1::DecisionClock;

    fn to_wire(&self) -> v1::DecisionClock {
        let ClockOptions {
            budget_ms,
            first_budget_ms,
            bank_ms,
            increment_ms,
            network_credit_ms,
            network_credit_total_ms,
            time_out,
        } = **self;
        v1::DecisionClock {
            budget_ms,
            first_budget_ms: Some(first_budget_ms),
            bank_ms,
            increment_ms,
            network_credit_ms: Some(network_credit_ms),
            network_credit_total_ms: Some(network_credit_total_ms),
            time_out: Some(match time_out {
                TimeOut::Forfeit => WireTimeOut::Forfeit(v1::ForfeitOnTimeOut {}),
                TimeOut::Autoplay { strikes } => WireTimeOut::Autoplay(v1::AutoplayOnTimeOut { strikes }),
            }),
        }
    }

    fn from_wire(message: &v1::DecisionClock) -> Result<Self, FieldError> {
        let v1::DecisionClock {
            budget_ms,
            first_budget_ms,
            bank_ms,
            increment_ms,
            network_credit_ms,
            network_credit_total_ms,
            time_out,
        } = *message;
        let checked = Self::new(ClockOptions {
            budget_ms,
            first_budget_ms: first_budget_ms.unwrap_or(budget_ms),
            bank_ms,
            increment_ms,
            network_credit_ms: network_credit_ms.unwrap_or(Self::DEFAULT_NETWORK_CREDIT_MS),
            network_credit_total_ms: network_credit_total_ms.unwrap_or(Self::DEFAULT_NETWORK_CREDIT_TOTAL_MS),
            time_out: match time_out {
                None | Some(WireTimeOut::Forfeit(v1::ForfeitOnTimeOut {})) => TimeOut::Forfeit,
                Some(WireTimeOut::Autoplay(v1::AutoplayOnTimeOut { strikes })) => {
                    TimeOut::Autoplay { strikes }
                }
            },
        });
        checked.map_err(|error| {
            let error = FieldError::from(error);
            if error.path == "strikes" { error.within("autoplay") } else { error }
        })
    }
}

impl Wire for LedgerEntry {
    type Message = v1::LedgerEntry;

    fn to_wire(&self) -> v1::LedgerEntry {
        let Self { decision, seat, published_ms, received_ms, charge, interrupted, attendance } = *self;
        let Charge { credit_ms, charged_ms, bank_ms } = charge;
        v1::LedgerEntry {
            decision_number: decision,
            seat: seat.to_wire(),
            published_ms,
            received_ms,
            credit_ms,
            charged_ms,
            bank_ms,
            interrupted,
            attendance: attendance.map(|attendance| attendance.to_wire()).unwrap_or_default(),
        }
    }

    fn from_wire(message: &v1::LedgerEntry) -> Result<Self, FieldError> {
        let v1::LedgerEntry {
            decision_number,
            seat,
            published_ms,
            received_ms,
            credit_ms,
            charged_ms,
            bank_ms,
            interrupted,
            attendance,
        } = *message;
        let known = attendance != v1::Attendance::Unspecified.into();
        Ok(Self {
            decision: decision_number,
            seat: value("seat", &seat)?,
            published_ms,
            received_ms,
            charge: Charge { credit_ms, charged_ms, bank_ms },
            interrupted,
            attendance: known.then(|| value("attendance", &attendance)).transpose()?,
        })
    }
}

impl From<NamedTimeControl> for v1::TimeControlInfo {
    fn from(named: NamedTimeControl) -> Self {
        Self {
            named: named.to_wire(),
            name: named.name().to_owned(),
            clock: match named.decisions() {
                DecisionTime::Clock(clock) => Some(clock.to_wire()),
                DecisionTime::Unlimited { .. } => None,
            },
        }
    }
}
