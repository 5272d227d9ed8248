//! The bot that knows nothing.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use zetema_sdk::{Action, Bot, Decision};

/// Chooses any legal action, all equally likely.
#[derive(Debug)]
pub struct Random {
    random: StdRng,
}

impl Random {
    /// A bot that chooses the same for the same seed and the same decisions.
    pub fn new(seed: u64) -> Self {
        Self { random: StdRng::seed_from_u64(seed) }
    }
}

impl Bot for Random {
    fn choose(&mut self, decision: &Decision) -> Action {
        let index = self.random.random_range(0..decision.legal.len().max(1));
        decision.legal.get(index).unwrap_or(decision.first())
    }
}
