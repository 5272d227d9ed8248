//! Time controls and how time was charged, as text.

use std::fmt;
use std::str::FromStr;

use super::fields::{Fields, ParseFieldError};
use super::outcome::read_seat;
use crate::clock::Charge;
use crate::ledger::LedgerEntry;
use crate::seat::Seat;
use crate::time_control::{
    ClockOptions, DecisionClock, DecisionTime, TimeControl, TimeControlError, TimeOut,
};

/// `forfeit`, or `autoplay:3`.
impl fmt::Display for TimeOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Forfeit => f.write_str("forfeit"),
            Self::Autoplay { strikes } => write!(f, "autoplay:{strikes}"),
        }
    }
}

impl FromStr for TimeOut {
    type Err = String;

    /// Reads what `Display` prints. Whether the strikes are in their range, [`DecisionClock::new`] says.
    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "forfeit" => Ok(Self::Forfeit),
            Some(("autoplay", strikes)) => match strikes.parse() {
                Ok(strikes) => Ok(Self::Autoplay { strikes }),
                Err(error) => Err(format!("{strikes:?}: {error}: give a number of strikes")),
            },
            _ => Err(format!("{text:?} is neither forfeit nor autoplay:STRIKES")),
        }
    }
}

impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "join_timeout_ms={} ", self.join_timeout_ms())?;
        match self.decisions() {
            DecisionTime::Unlimited { idle_timeout_ms } => write!(f, "idle_timeout_ms={idle_timeout_ms}"),
            DecisionTime::Clock(clock) => write!(f, "{clock}"),
        }
    }
}

impl fmt::Display for DecisionClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ClockOptions {
            budget_ms,
            first_budget_ms,
            bank_ms,
            increment_ms,
            network_credit_ms,
            network_credit_total_ms,
            time_out,
        } = **self;
        write!(f, "budget_ms={budget_ms} first_budget_ms={first_budget_ms} bank_ms={bank_ms} ")?;
        write!(f, "increment_ms={increment_ms} network_credit_ms={network_credit_ms} ")?;
        write!(f, "network_credit_total_ms={network_credit_total_ms} time_out={time_out}")
    }
}

/// The names of a clock's numbers.
const CLOCK: [&str; 7] = [
    "budget_ms",
    "first_budget_ms",
    "bank_ms",
    "increment_ms",
    "network_credit_ms",
    "network_credit_total_ms",
    "time_out",
];

impl FromStr for TimeControl {
    type Err = ParseFieldError;

    /// Reads what `Display` prints. Nothing may be left out.
    fn from_str(text: &str) -> Result<Self, ParseFieldError> {
        let names = [&["join_timeout_ms", "idle_timeout_ms"], CLOCK.as_slice()].concat();
        let fields = Fields::new(text, &names)?;
        let decisions = match fields.optional("idle_timeout_ms")? {
            Some(idle_timeout_ms) => {
                if let Some(name) = CLOCK.into_iter().find(|name| fields.has(name)) {
                    return Err(ParseFieldError::new(name, "has no place beside idle_timeout_ms"));
                }
                DecisionTime::Unlimited { idle_timeout_ms }
            }
            None => DecisionTime::Clock(read_clock(&fields)?),
        };
        Ok(Self::new(fields.required("join_timeout_ms")?, decisions)?)
    }
}

fn read_clock(fields: &Fields<'_>) -> Result<DecisionClock, ParseFieldError> {
    Ok(DecisionClock::new(ClockOptions {
        budget_ms: fields.required("budget_ms")?,
        first_budget_ms: fields.required("first_budget_ms")?,
        bank_ms: fields.required("bank_ms")?,
        increment_ms: fields.required("increment_ms")?,
        network_credit_ms: fields.required("network_credit_ms")?,
        network_credit_total_ms: fields.required("network_credit_total_ms")?,
        time_out: fields.required("time_out")?,
    })?)
}

impl From<TimeControlError> for ParseFieldError {
    fn from(error: TimeControlError) -> Self {
        let TimeControlError { field, given, least, most } = error;
        Self::new(field, format!("is {given}: give {least} to {most}"))
    }
}

impl fmt::Display for LedgerEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { decision, seat, published_ms, received_ms, charge, interrupted, attendance } = self;
        let Charge { credit_ms, charged_ms, bank_ms } = charge;
        write!(f, "decision={decision} seat={seat} published_ms={published_ms} ")?;
        if let Some(received_ms) = received_ms {
            write!(f, "received_ms={received_ms} ")?;
        }
        write!(f, "credit_ms={credit_ms} charged_ms={charged_ms} bank_ms={bank_ms}")?;
        if *interrupted {
            f.write_str(" interrupted=yes")?;
        }
        attendance.map_or(Ok(()), |attendance| write!(f, " attendance={attendance}"))
    }
}

impl FromStr for LedgerEntry {
    type Err = ParseFieldError;

    /// Reads what `Display` prints.
    fn from_str(text: &str) -> Result<Self, ParseFieldError> {
        let names = [
            "decision",
            "seat",
            "published_ms",
            "received_ms",
            "credit_ms",
            "charged_ms",
            "bank_ms",
            "interrupted",
            "attendance",
        ];
        let fields = Fields::new(text, &names)?;
        Ok(Self {
            decision: fields.required("decision")?,
            seat: fields.required::<SeatWord>("seat")?.0,
            published_ms: fields.required("published_ms")?,
            received_ms: fields.optional("received_ms")?,
            charge: Charge {
                credit_ms: fields.required("credit_ms")?,
                charged_ms: fields.required("charged_ms")?,
                bank_ms: fields.required("bank_ms")?,
            },
            interrupted: fields.optional::<Yes>("interrupted")?.is_some(),
            attendance: fields.optional("attendance")?,
        })
    }
}

struct SeatWord(Seat);

impl FromStr for SeatWord {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        read_seat(word).map(Self)
    }
}

/// What is only said where it is so.
struct Yes;

impl FromStr for Yes {
    type Err = &'static str;

    fn from_str(word: &str) -> Result<Self, &'static str> {
        if word == "yes" { Ok(Self) } else { Err("give yes, or leave it out") }
    }
}
