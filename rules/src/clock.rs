//! What the time of a decision costs its seat (`SeatClock`). Arithmetic only: times come in as arguments, so that a server
//! charges and a reader of the record checks by the same code.

use crate::record::ForfeitReason;
use crate::time_control::{DecisionClock, TimeOut};

/// The clock of one seat in one match, between two of its decisions.
///
/// ```
/// use zetema_rules::{NamedTimeControl, SeatClock, TimeControl};
/// let control = TimeControl::named(NamedTimeControl::Bullet);
/// let mut clock = SeatClock::new(*control.clock().unwrap());
/// clock.answer(5_400, None).unwrap(); // The first decision has 5,000 ms.
/// assert_eq!(clock.bank_ms(), 4_600);
/// assert!(clock.answer(4_700, None).is_err()); // The others have 100 ms.
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeatClock {
    control: DecisionClock,
    budget_ms: u32,
    bank_ms: u64,
    credit_left_ms: u32,
    strikes: u32,
}

/// What a decision cost its seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    /// How much was credited to the network, in milliseconds.
    pub credit_ms: u32,
    /// How much was charged, in milliseconds: the budget first, then the bank.
    pub charged_ms: u64,
    /// What the bank holds after it, the increment included, in milliseconds.
    pub bank_ms: u64,
}

/// What becomes of a seat whose time is out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimedOut {
    /// It forfeits, for this reason.
    Forfeits(ForfeitReason),
    /// The server plays for it.
    PlayedFor,
}

/// An answer that came when the time was out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the answer came after {elapsed_ms} ms, and the decision had {allowed_ms} ms")]
pub struct OutOfTime {
    /// When it came.
    pub elapsed_ms: u64,
    /// When the time was out.
    pub allowed_ms: u64,
}

impl SeatClock {
    /// The clock of a seat before its first decision.
    pub fn new(control: DecisionClock) -> Self {
        Self {
            control,
            budget_ms: control.first_budget_ms,
            bank_ms: control.bank_ms.into(),
            credit_left_ms: control.network_credit_total_ms,
            strikes: 0,
        }
    }

    /// What the next decision has before it draws on the bank, in milliseconds.
    pub const fn budget_ms(&self) -> u32 {
        self.budget_ms
    }

    /// What the bank holds, in milliseconds.
    pub const fn bank_ms(&self) -> u64 {
        self.bank_ms
    }

    /// How often its time was out.
    pub const fn strikes(&self) -> u32 {
        self.strikes
    }

    /// How many time-outs it has left: with the last it forfeits.
    pub fn strikes_left(&self) -> u32 {
        match self.control.time_out {
            TimeOut::Forfeit => 1,
            TimeOut::Autoplay { strikes } => strikes.saturating_sub(self.strikes),
        }
    }

    /// How much of the next decision can be credited to the network, in milliseconds, if the answer comes on a
    /// connection with this round trip; `None`: with a round trip that was not measured.
    fn credit_ms(&self, round_trip_ms: Option<u32>) -> u32 {
        round_trip_ms.unwrap_or(0).min(self.control.network_credit_ms).min(self.credit_left_ms)
    }

    /// When the time of the next decision is out, if its answer comes on such a connection. A bank gains a day at most
    /// with each of 2³² decisions, so that no sum here nears the end of the numbers.
    fn allowed_ms(&self, round_trip_ms: Option<u32>) -> u64 {
        u64::from(self.budget_ms) + self.bank_ms + u64::from(self.credit_ms(round_trip_ms))
    }

    /// How long after its beginning the next decision is over for certain, in milliseconds, whatever the connection is
    /// on which its answer comes.
    pub fn over_after_ms(&self) -> u64 {
        self.allowed_ms(Some(u32::MAX))
    }

    /// Charges a decision that was answered after so many milliseconds, on a connection with this round trip (`None`:
    /// without credit). The credit is given only for what goes beyond the budget.
    ///
    /// # Errors
    /// [`OutOfTime`] if budget, bank and credit were used up: then nothing is charged, and [`SeatClock::time_out`] is due.
    pub fn answer(&mut self, elapsed_ms: u64, round_trip_ms: Option<u32>) -> Result<Charge, OutOfTime> {
        let allowed_ms = self.allowed_ms(round_trip_ms);
        if elapsed_ms >= allowed_ms {
            return Err(OutOfTime { elapsed_ms, allowed_ms });
        }
        let overrun_ms = self.overrun_ms(elapsed_ms);
        let credit_ms = self.credit_ms(round_trip_ms).min(u32::try_from(overrun_ms).unwrap_or(u32::MAX));
        self.bank_ms -= overrun_ms - u64::from(credit_ms);
        self.bank_ms += u64::from(self.control.increment_ms);
        self.credit_left_ms -= credit_ms;
        self.budget_ms = self.control.budget_ms;
        Ok(Charge { credit_ms, charged_ms: elapsed_ms - u64::from(credit_ms), bank_ms: self.bank_ms })
    }

    /// Charges a decision as a ledger says that it was: answered after so many milliseconds, and so much of that
    /// credited. The round trip is not in a ledger: this is the charge of one that gives such a credit, or the nearest.
    ///
    /// # Errors
    /// [`OutOfTime`] as for [`SeatClock::answer`].
    pub fn answer_with_credit(&mut self, elapsed_ms: u64, credit_ms: u32) -> Result<Charge, OutOfTime> {
        // Where the credit covers all of the overrun, the round trip may have been longer.
        let covered = u64::from(credit_ms) >= self.overrun_ms(elapsed_ms);
        self.answer(elapsed_ms, Some(if covered { u32::MAX } else { credit_ms }))
    }

    fn overrun_ms(&self, elapsed_ms: u64) -> u64 {
        elapsed_ms.saturating_sub(self.budget_ms.into())
    }

    /// Charges a decision whose time was out: the budget and all of the bank, without an increment.
    pub fn time_out(&mut self) -> (Charge, TimedOut) {
        let charged_ms = u64::from(self.budget_ms) + self.bank_ms;
        self.bank_ms = 0;
        self.budget_ms = self.control.budget_ms;
        self.strikes = self.strikes.saturating_add(1);
        let then = match self.control.time_out {
            TimeOut::Forfeit => TimedOut::Forfeits(ForfeitReason::OutOfTime),
            TimeOut::Autoplay { strikes } if self.strikes >= strikes => {
                TimedOut::Forfeits(ForfeitReason::OutOfStrikes)
            }
            TimeOut::Autoplay { .. } => TimedOut::PlayedFor,
        };
        (Charge { credit_ms: 0, charged_ms, bank_ms: 0 }, then)
    }
}
