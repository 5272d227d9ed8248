//! What one of several generators has made of a run.

use serde::{Deserialize, Serialize};

use super::{Outcome, Second, Totals};

/// What one of several generators has measured, as far as it is not part of the whole: its machine has its place among
/// [the machines](Outcome::machines).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generator {
    name: String,
    /// All that was measured, as of one long second.
    pub(super) seen: Second,
    faults: u64,
}

impl Generator {
    pub(super) fn of(name: String, outcome: &Outcome) -> Self {
        Self { name, seen: outcome.totals().as_second(), faults: outcome.faults().all() }
    }

    /// Which it was: `generator 2 of 3 (10.0.0.7:40312)`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it has measured.
    pub fn totals(&self) -> Totals {
        std::iter::once(&self.seen).collect()
    }

    /// How many faults it has found.
    pub const fn faults(&self) -> u64 {
        self.faults
    }
}
