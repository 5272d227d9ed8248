//! How much a bot that searches may think about one decision.

use std::time::Duration;

use zetema_sdk::{Clock, Decision};

/// How many playouts a bot may spend on a decision. On a clock it also keeps to half of the decision's
/// budget, or to a fiftieth of all that is left when that is more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    playouts: u32,
}

impl Budget {
    /// So many playouts for each decision.
    pub const fn playouts(playouts: u32) -> Self {
        Self { playouts }
    }

    pub(crate) fn for_decision(self, decision: &Decision) -> Spending {
        let clock = decision.clock();
        Spending { playouts: self.playouts, limit: clock.map(|clock| (clock, until(&clock))) }
    }
}

/// When, on its clock, a decision is to be taken.
fn until(clock: &Clock) -> Duration {
    clock.elapsed() + (clock.budget_left() / 2).max(clock.left() / 50)
}

/// The budget of one decision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spending {
    playouts: u32,
    limit: Option<(Clock, Duration)>,
}

impl Spending {
    pub(crate) const fn playouts(&self) -> u32 {
        self.playouts
    }

    /// Whether there is still something to spend.
    pub(crate) fn goes_on(&self, spent: u32) -> bool {
        spent < self.playouts && self.limit.is_none_or(|(clock, until)| clock.elapsed() < until)
    }
}
