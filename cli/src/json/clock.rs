//! Time controls, and how time was charged. Times are in milliseconds.

use serde::{Deserialize, Serialize};
use zetema_rules::{
    Charge, ClockOptions, Clocks, DecisionClock, DecisionTime, LedgerEntry, TimeControl, TimeOut,
};

use super::outcome::read_seat;

/// How long a match waits for its players. Read and written; an unknown key is an error.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimeControlJson {
    join_timeout_ms: u32,
    /// Null with a clock.
    idle_timeout_ms: Option<u32>,
    /// Null without one.
    clock: Option<ClockJson>,
}

/// The clock of every decision.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClockJson {
    budget_ms: u32,
    first_budget_ms: u32,
    bank_ms: u32,
    increment_ms: u32,
    network_credit_ms: u32,
    network_credit_total_ms: u32,
    /// `"forfeit"` or `{"autoplay": {"strikes": 3}}`.
    time_out: TimeOutJson,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum TimeOutJson {
    Forfeit,
    Autoplay { strikes: u32 },
}

/// How the time of one decision was charged. Read and written; an unknown key is an error.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LedgerEntryJson {
    decision: u32,
    seat: usize,
    published_ms: u64,
    /// Null if the time was out before.
    received_ms: Option<u64>,
    credit_ms: u32,
    charged_ms: u64,
    bank_ms: u64,
    interrupted: bool,
    /// Absent where it was answered, or is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attendance: Option<String>,
}

impl TimeControlJson {
    /// The JSON form of a time control.
    pub(crate) fn new(control: &TimeControl) -> Self {
        let (idle_timeout_ms, clock) = match control.decisions() {
            DecisionTime::Unlimited { idle_timeout_ms } => (Some(idle_timeout_ms), None),
            DecisionTime::Clock(clock) => (None, Some(ClockJson::new(&clock))),
        };
        Self { join_timeout_ms: control.join_timeout_ms(), idle_timeout_ms, clock }
    }

    fn control(&self) -> Result<TimeControl, String> {
        let Self { join_timeout_ms, idle_timeout_ms, clock } = self;
        let decisions = match (*idle_timeout_ms, clock) {
            (Some(idle_timeout_ms), None) => DecisionTime::Unlimited { idle_timeout_ms },
            (None, Some(clock)) => DecisionTime::Clock(clock.clock()?),
            (Some(_), Some(_)) | (None, None) => {
                return Err("give either idle_timeout_ms or clock".to_owned());
            }
        };
        TimeControl::new(*join_timeout_ms, decisions).map_err(|error| error.to_string())
    }
}

/// The time control and the ledger of a record. Both are left out where nobody waited.
pub(super) fn clocks(
    control: Option<&TimeControlJson>,
    ledger: Option<&[LedgerEntryJson]>,
) -> Result<Option<Clocks>, String> {
    match (control, ledger) {
        (None, None) => Ok(None),
        (Some(control), Some(ledger)) => {
            let control = control.control().map_err(|error| format!("time_control: {error}"))?;
            let entry = |(i, entry): (usize, &LedgerEntryJson)| {
                entry.entry().map_err(|error| format!("ledger[{i}]: {error}"))
            };
            Ok(Some(Clocks {
                control,
                ledger: ledger.iter().enumerate().map(entry).collect::<Result<_, _>>()?,
            }))
        }
        (Some(_), None) => Err("ledger is missing: give it with time_control".to_owned()),
        (None, Some(_)) => Err("time_control is missing: give it with ledger".to_owned()),
    }
}

impl ClockJson {
    /// The JSON form of a clock.
    pub(crate) fn new(clock: &DecisionClock) -> Self {
        let ClockOptions {
            budget_ms,
            first_budget_ms,
            bank_ms,
            increment_ms,
            network_credit_ms,
            network_credit_total_ms,
            time_out,
        } = **clock;
        Self {
            budget_ms,
            first_budget_ms,
            bank_ms,
            increment_ms,
            network_credit_ms,
            network_credit_total_ms,
            time_out: match time_out {
                TimeOut::Forfeit => TimeOutJson::Forfeit,
                TimeOut::Autoplay { strikes } => TimeOutJson::Autoplay { strikes },
            },
        }
    }

    fn clock(&self) -> Result<DecisionClock, String> {
        let Self {
            budget_ms,
            first_budget_ms,
            bank_ms,
            increment_ms,
            network_credit_ms,
            network_credit_total_ms,
            time_out,
        } = *self;
        let time_out = match time_out {
            TimeOutJson::Forfeit => TimeOut::Forfeit,
            TimeOutJson::Autoplay { strikes } => TimeOut::Autoplay { strikes },
        };
        let checked = DecisionClock::new(ClockOptions {
            budget_ms,
            first_budget_ms,
            bank_ms,
            increment_ms,
            network_credit_ms,
            network_credit_total_ms,
            time_out,
        });
        checked.map_err(|error| format!("clock: {error}"))
    }
}

impl LedgerEntryJson {
    /// The JSON form of an entry.
    pub(super) fn new(entry: &LedgerEntry) -> Self {
        let LedgerEntry { decision, seat, published_ms, received_ms, charge, interrupted, attendance } =
            *entry;
        let Charge { credit_ms, charged_ms, bank_ms } = charge;
        Self {
            decision,
            seat: seat.index(),
            published_ms,
            received_ms,
            credit_ms,
            charged_ms,
            bank_ms,
            interrupted,
            attendance: attendance.map(|attendance| attendance.to_string()),
        }
    }

    fn entry(&self) -> Result<LedgerEntry, String> {
        let &Self {
            decision,
            seat,
            published_ms,
            received_ms,
            credit_ms,
            charged_ms,
            bank_ms,
            interrupted,
            ref attendance,
        } = self;
        let attendance = attendance.as_deref().map(str::parse).transpose();
        Ok(LedgerEntry {
            decision,
            seat: read_seat(seat)?,
            published_ms,
            received_ms,
            charge: Charge { credit_ms, charged_ms, bank_ms },
            interrupted,
            attendance: attendance.map_err(|error| format!("attendance: {error}"))?,
        })
    }
}
