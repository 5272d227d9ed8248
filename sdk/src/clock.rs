//! The clock of a decision.

use std::time::{Duration, Instant};

/// How long a decision may take. The server's clock alone counts; this one follows it, from the moment at which the
/// decision came, so it runs late by the way of the message.
///
/// What goes beyond the budget is drawn from the seat's bank. When that is empty too, the seat's time is out.
///
/// ```
/// use std::time::{Duration, Instant};
/// use zetema_sdk::{Clock, Decision};
///
/// /// How long to search: nine tenths of the budget, and the bank only when the budget is over.
/// fn search_for(decision: &Decision) -> Duration {
///     match decision.clock() {
///         Some(clock) => clock.budget_left().mul_f64(0.9).max(clock.left() / 50),
///         None => Duration::from_secs(1),
///     }
/// }
///
/// let now = Instant::now();
/// let clock = Clock::new(Duration::from_secs(2), Duration::from_secs(60), 3, now);
/// let later = now + Duration::from_secs(5);
/// assert_eq!(clock.left_at(later), Duration::from_secs(57));
/// assert_eq!(clock.budget_left_at(later), Duration::ZERO);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    budget: Duration,
    bank: Duration,
    strikes_left: u32,
    /// When `elapsed` was over.
    came: Instant,
    elapsed: Duration,
}

impl Clock {
    /// The clock of a decision that begins at `began`, for a test of a bot or for play by other means than
    /// this crate's.
    pub const fn new(budget: Duration, bank: Duration, strikes_left: u32, began: Instant) -> Self {
        Self { budget, bank, strikes_left, came: began, elapsed: Duration::ZERO }
    }

    /// The same, of which so much was over when it came.
    pub(crate) const fn with_elapsed(self, elapsed: Duration) -> Self {
        Self { elapsed, ..self }
    }

    /// What the decision has before it draws on the bank.
    pub const fn budget(&self) -> Duration {
        self.budget
    }

    /// What the seat's bank held when the decision began.
    pub const fn bank(&self) -> Duration {
        self.bank
    }

    /// How many time-outs the seat has left: with the last it forfeits. 1 where the first time-out forfeits.
    pub const fn strikes_left(&self) -> u32 {
        self.strikes_left
    }

    /// How long the decision has been open.
    pub fn elapsed(&self) -> Duration {
        self.elapsed_at(Instant::now())
    }

    /// How long the decision has been open at that moment.
    pub fn elapsed_at(&self, now: Instant) -> Duration {
        self.elapsed.saturating_add(now.saturating_duration_since(self.came))
    }

    /// How much of the budget and the bank is left; zero when the time is out.
    pub fn left(&self) -> Duration {
        self.left_at(Instant::now())
    }

    /// How much of the budget and the bank is left at that moment.
    pub fn left_at(&self, now: Instant) -> Duration {
        self.budget.saturating_add(self.bank).saturating_sub(self.elapsed_at(now))
    }

    /// How much of the budget is left; zero when the decision draws on the bank.
    pub fn budget_left(&self) -> Duration {
        self.budget_left_at(Instant::now())
    }

    /// How much of the budget is left at that moment.
    pub fn budget_left_at(&self, now: Instant) -> Duration {
        self.budget.saturating_sub(self.elapsed_at(now))
    }
}
