//! The bot that looks at its cards in two ways.

use zetema_sdk::rules::{Draw, Rules};
use zetema_sdk::{Action, Bot, Decision, Declaration, LegalActions, Seat, View};

use crate::greedy;
use crate::policy::Policy;

/// Adds what [`Greedy`](crate::Greedy) holds of an action to an appraisal of each card by itself.
///
/// `Greedy` asks which plan a hand is best at; the appraisal asks in how many ways each card may still be of use,
/// which cards of its pile were seen, and what its discard opens to the others. Where one of the two errs the other
/// often does not.
///
/// The weights of the appraisal were found by playing with two players, and they mislead where there are more, or
/// partners: there it plays as `Greedy` does.
#[derive(Clone, Copy, Debug, Default)]
pub struct Appraiser;

/// How what [`Greedy`](crate::Greedy) holds of an action and the appraisal go together.
struct Mix {
    policy: Policy,
    greedy: f64,
    appraisal: f64,
    /// Whether marriages are appraised too: else all declarations are left to `Greedy`.
    marriages: bool,
}

impl Mix {
    fn of(rules: &Rules) -> Self {
        let at_end =
            Self { policy: Policy::HOUSE, greedy: 1.0 / 3.0, appraisal: 2.0 / 3.0, marriages: false };
        match (rules.players, rules.draw_at_start) {
            (2, Draw::ToHandSizePlusOne) => {
                Self { policy: Policy::DRAW_AT_START, greedy: 1.0, appraisal: 1.0, marriages: true }
            }
            (2, _) => at_end,
            _ => Self { greedy: 1.0, appraisal: 0.0, ..at_end },
        }
    }
}

impl Appraiser {
    /// The bot. It draws no lots.
    pub const fn new() -> Self {
        Self
    }

    /// What each action is worth, into `worths` in the order of the legal actions; in points.
    pub(crate) fn worths(view: &View, seat: Seat, legal: &LegalActions, worths: &mut Vec<f64>) {
        let mix = Mix::of(&view.rules);
        mix.policy.worths(view, seat, legal, worths);
        let by_greedy = greedy::worths(view, seat, legal);
        let discards = legal.discards.len().min(worths.len());
        for (worth, by_greedy) in worths.iter_mut().zip(&by_greedy).take(discards) {
            *worth = mix.greedy * by_greedy + mix.appraisal * *worth;
        }
        // A declaration is as much better than the best discard as `Greedy` holds.
        let (best, best_by_greedy) = (highest(&worths[..discards]), highest(&by_greedy[..discards]));
        let declarations = worths.iter_mut().zip(&by_greedy).skip(discards);
        for ((worth, by_greedy), declaration) in declarations.zip(&legal.declarations) {
            let appraised = match declaration {
                Declaration::Marriages { .. } if mix.marriages => mix.appraisal * *worth,
                _ => 0.0,
            };
            *worth = best + (by_greedy - best_by_greedy) + appraised;
        }
    }
}

fn highest(worths: &[f64]) -> f64 {
    worths.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

impl Bot for Appraiser {
    fn choose(&mut self, decision: &Decision) -> Action {
        let mut worths = Vec::new();
        Self::worths(&decision.view, decision.info.seat, &decision.legal, &mut worths);
        let mut worths = worths.into_iter();
        decision.best(|_| worths.next().unwrap_or(f64::NEG_INFINITY))
    }
}
