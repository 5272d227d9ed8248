//! The bot that looks at its cards in two ways.

use zetema_sdk::{Action, Bot, Decision, LegalActions, Seat, View};

use crate::greedy;
use crate::policy::Policy;

/// Adds what [`Greedy`](crate::Greedy) holds of an action to an appraisal of each card by itself.
///
/// `Greedy` asks which plan a hand is best at; the appraisal asks in how many ways each card may still be of use,
/// which cards of its pile were seen, and what its discard opens to the others. Where one of the two errs the other
/// often does not.
///
/// The weights of the appraisal were found by playing two-player deals against itself, and they mislead where there
/// are more players or partners: there it plays as `Greedy` does.
#[derive(Clone, Copy, Debug)]
pub struct Appraiser {
    policy: Policy,
}

/// How much the appraisal counts beside what [`Greedy`](crate::Greedy) holds, between two players.
const APPRAISAL: f64 = 2.0;

impl Appraiser {
    /// The bot. It draws no lots.
    pub const fn new() -> Self {
        Self { policy: Policy::HOUSE }
    }

    /// What each action is worth, into `worths` in the order of the legal actions; in points.
    pub(crate) fn worths(self, view: &View, seat: Seat, legal: &LegalActions, worths: &mut Vec<f64>) {
        self.policy.worths(view, seat, legal, worths);
        let by_greedy = greedy::worths(view, seat, legal);
        let appraisal = if view.rules.players == 2 { APPRAISAL } else { 0.0 };
        let discards = legal.discards.len().min(worths.len());
        for (worth, by_greedy) in worths.iter_mut().zip(&by_greedy).take(discards) {
            *worth = (by_greedy + appraisal * *worth) / (1.0 + appraisal);
        }
        // Whether to declare is left to `Greedy`: a declaration is as much better than the best discard.
        let (best, best_by_greedy) = (highest(&worths[..discards]), highest(&by_greedy[..discards]));
        for (worth, by_greedy) in worths.iter_mut().zip(&by_greedy).skip(discards) {
            *worth = best + (by_greedy - best_by_greedy);
        }
    }
}

fn highest(worths: &[f64]) -> f64 {
    worths.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

impl Default for Appraiser {
    fn default() -> Self {
        Self::new()
    }
}

impl Bot for Appraiser {
    fn choose(&mut self, decision: &Decision) -> Action {
        let mut worths = Vec::new();
        self.worths(&decision.view, decision.info.seat, &decision.legal, &mut worths);
        let mut worths = worths.into_iter();
        decision.best(|_| worths.next().unwrap_or(f64::NEG_INFINITY))
    }
}
