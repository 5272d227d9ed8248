//! How long a match waits for its players (`TimeControl`). Numbers only: nothing here reads a clock.

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use thiserror::Error;

/// How long a match waits for its players.
///
/// ```
/// use zetema_rules::{NamedTimeControl, TimeControl};
/// let control = TimeControl::named("blitz".parse::<NamedTimeControl>()?);
/// assert_eq!(control.clock().map(|clock| clock.budget_ms), Some(500));
/// # Ok::<(), zetema_rules::UnknownTimeControl>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimeControl {
    join_timeout_ms: u32,
    decisions: DecisionTime,
}

/// How long a decision may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DecisionTime {
    /// There is no clock: a match that waits for one decision as long as this, in milliseconds, is aborted.
    Unlimited {
        /// How long.
        idle_timeout_ms: u32,
    },
    /// Each decision has a clock.
    Clock(DecisionClock),
}

impl DecisionTime {
    /// The name of the time control that has these numbers; `None` if none does. Whatever the idle timeout is, without a
    /// clock it is [`NamedTimeControl::None`].
    pub fn name(&self) -> Option<NamedTimeControl> {
        match self {
            Self::Unlimited { .. } => Some(NamedTimeControl::None),
            Self::Clock(_) => NamedTimeControl::ALL.into_iter().find(|named| named.decisions() == *self),
        }
    }
}

impl TimeControl {
    /// How long every seat has to join unless it is said: ten minutes.
    pub const DEFAULT_JOIN_TIMEOUT_MS: u32 = 600_000;
    /// How long a match without a clock waits unless it is said: 24 hours.
    pub const DEFAULT_IDLE_TIMEOUT_MS: u32 = 86_400_000;

    const DAY_MS: u32 = 86_400_000;
    const MONTH_MS: u32 = 30 * Self::DAY_MS;

    /// Checks the times.
    ///
    /// # Errors
    /// [`TimeControlError`] names the first that is out of its range.
    pub fn new(join_timeout_ms: u32, decisions: DecisionTime) -> Result<Self, TimeControlError> {
        within("join_timeout_ms", join_timeout_ms, 1_000, 7 * Self::DAY_MS)?;
        if let DecisionTime::Unlimited { idle_timeout_ms } = decisions {
            within("idle_timeout_ms", idle_timeout_ms, 1_000, Self::MONTH_MS)?;
        }
        Ok(Self { join_timeout_ms, decisions })
    }

    /// The time control of this name, with ten minutes to join.
    pub const fn named(name: NamedTimeControl) -> Self {
        Self { join_timeout_ms: Self::DEFAULT_JOIN_TIMEOUT_MS, decisions: name.decisions() }
    }

    /// How long every seat has to join, and then again to send its nonce, in milliseconds.
    pub const fn join_timeout_ms(&self) -> u32 {
        self.join_timeout_ms
    }

    /// How long a decision may take.
    pub const fn decisions(&self) -> DecisionTime {
        self.decisions
    }

    /// The clock of the decisions; `None` if there is none.
    pub const fn clock(&self) -> Option<&DecisionClock> {
        match &self.decisions {
            DecisionTime::Clock(clock) => Some(clock),
            DecisionTime::Unlimited { .. } => None,
        }
    }
}

/// The usual one: [`NamedTimeControl::Standard`].
impl Default for TimeControl {
    fn default() -> Self {
        Self::named(NamedTimeControl::Standard)
    }
}

/// The numbers of a clock, not checked yet. Times are in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClockOptions {
    /// For each decision, 1 to thirty days.
    pub budget_ms: u32,
    /// For the first decision of each seat instead, 1 to thirty days.
    pub first_budget_ms: u32,
    /// What each seat has for all its decisions that go beyond their budget, 0 to thirty days.
    pub bank_ms: u32,
    /// What the bank gains with each decision that its seat answers, 0 to a day.
    pub increment_ms: u32,
    /// How much of one decision is credited to the network at most, 0 to 1,000.
    pub network_credit_ms: u32,
    /// How much each seat may have of that in the whole match, 0 to an hour.
    pub network_credit_total_ms: u32,
    /// What happens when a seat's time is out.
    pub time_out: TimeOut,
}

/// What happens when a seat's time is out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeOut {
    /// The seat forfeits the match (R25).
    Forfeit,
    /// The server plays for it ([`autoplay`](crate::autoplay)), until that has happened too often.
    Autoplay {
        /// With this time-out of the match the seat forfeits instead, 1 to 1,000.
        strikes: u32,
    },
}

/// The clock of every decision of a match: [`ClockOptions`] that were checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DecisionClock(ClockOptions);

impl Deref for DecisionClock {
    type Target = ClockOptions;

    fn deref(&self) -> &ClockOptions {
        &self.0
    }
}

impl DecisionClock {
    /// How much of one decision is credited to the network at most unless it is said.
    pub const DEFAULT_NETWORK_CREDIT_MS: u32 = 100;
    /// How much of that a seat may have in a whole match unless it is said.
    pub const DEFAULT_NETWORK_CREDIT_TOTAL_MS: u32 = 10_000;

    /// Checks the numbers.
    ///
    /// # Errors
    /// [`TimeControlError`] names the first that is out of its range.
    pub fn new(options: ClockOptions) -> Result<Self, TimeControlError> {
        let month = TimeControl::MONTH_MS;
        within("budget_ms", options.budget_ms, 1, month)?;
        within("first_budget_ms", options.first_budget_ms, 1, month)?;
        within("bank_ms", options.bank_ms, 0, month)?;
        within("increment_ms", options.increment_ms, 0, TimeControl::DAY_MS)?;
        within("network_credit_ms", options.network_credit_ms, 0, 1_000)?;
        within("network_credit_total_ms", options.network_credit_total_ms, 0, 3_600_000)?;
        if let TimeOut::Autoplay { strikes } = options.time_out {
            within("strikes", strikes, 1, 1_000)?;
        }
        Ok(Self(options))
    }
}

/// A time control that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NamedTimeControl {
    /// For programs that answer at once: 100 ms for a decision, 5 s for the first, 5 s in the bank.
    Bullet,
    /// For programs that think for a moment: 500 ms for a decision, 10 s for the first, 20 s in the bank and 200 ms more with
    /// each.
    Blitz,
    /// The usual one: 10 s for a decision, 30 s for the first, two minutes in the bank; the third time-out forfeits.
    Standard,
    /// For days: one for a decision, three in the bank.
    Correspondence,
    /// No clock: only the idle timeout.
    None,
}

impl NamedTimeControl {
    /// All of them, in the order of their numbers on the wire.
    pub const ALL: [Self; 5] = [Self::Bullet, Self::Blitz, Self::Standard, Self::Correspondence, Self::None];

    /// The name, as flags spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bullet => "bullet",
            Self::Blitz => "blitz",
            Self::Standard => "standard",
            Self::Correspondence => "correspondence",
            Self::None => "none",
        }
    }

    /// The numbers.
    pub const fn decisions(self) -> DecisionTime {
        const DAY: u32 = TimeControl::DAY_MS;
        let (budget_ms, first_budget_ms, bank_ms, increment_ms, time_out) = match self {
            Self::Bullet => (100, 5_000, 5_000, 0, TimeOut::Forfeit),
            Self::Blitz => (500, 10_000, 20_000, 200, TimeOut::Forfeit),
            Self::Standard => (10_000, 30_000, 120_000, 0, TimeOut::Autoplay { strikes: 3 }),
            Self::Correspondence => (DAY, DAY, 3 * DAY, 0, TimeOut::Forfeit),
            Self::None => {
                return DecisionTime::Unlimited { idle_timeout_ms: TimeControl::DEFAULT_IDLE_TIMEOUT_MS };
            }
        };
        DecisionTime::Clock(DecisionClock(ClockOptions {
            budget_ms,
            first_budget_ms,
            bank_ms,
            increment_ms,
            network_credit_ms: DecisionClock::DEFAULT_NETWORK_CREDIT_MS,
            network_credit_total_ms: DecisionClock::DEFAULT_NETWORK_CREDIT_TOTAL_MS,
            time_out,
        }))
    }
}

impl fmt::Display for NamedTimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no time control has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no time control {given:?}: give bullet, blitz, standard, correspondence or none")]
pub struct UnknownTimeControl {
    /// What was given.
    pub given: String,
}

impl FromStr for NamedTimeControl {
    type Err = UnknownTimeControl;

    fn from_str(text: &str) -> Result<Self, UnknownTimeControl> {
        let named = Self::ALL.into_iter().find(|named| named.name() == text);
        named.ok_or_else(|| UnknownTimeControl { given: text.to_owned() })
    }
}

/// A number of a time control that is out of its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{field} is {given}: give {least} to {most}")]
pub struct TimeControlError {
    /// Which.
    pub field: &'static str,
    /// What was given.
    pub given: u32,
    /// The least that it may be.
    pub least: u32,
    /// The most that it may be.
    pub most: u32,
}

fn within(field: &'static str, given: u32, least: u32, most: u32) -> Result<(), TimeControlError> {
    if (least..=most).contains(&given) { Ok(()) } else { Err(TimeControlError { field, given, least, most }) }
}
