//! A pair of games, compared.

use super::plan::{Plan, Setting};
use super::run::{Twin, run};
use super::tape::{Difference, Leak};
use super::world::Lab;

/// What came of a pair.
pub struct Pair {
    /// How many steps were played in each game.
    pub steps: usize,
    /// How many cards lay elsewhere in the deal that was played last.
    pub moved: usize,
    /// How many answers, and parts of answers that go on, there were in the first game.
    pub answers: usize,
    /// How many bytes they had.
    pub bytes: u64,
    /// Where the games differ first, if they do.
    pub difference: Option<Difference>,
}

/// Plays both games of a pair and compares all that was received in them. A leak is planted in both, if one is given.
///
/// # Panics
/// If the service does not do what the rules say.
pub fn play_pair(lab: &Lab, setting: Setting, mut leak: Option<&mut dyn Leak>) -> Pair {
    let plan = Plan::new(setting);
    let [first, second] = [Twin::First, Twin::Second].map(|twin| {
        let decks = match twin {
            Twin::First => plan.decks[0].clone(),
            Twin::Second => plan.decks[1].clone(),
        };
        let leak = leak.as_mut().map(|leak| &mut **leak as &mut dyn Leak);
        lab.with(plan.dealer, decks, |world| run(world, &plan, twin, leak))
    });
    Pair {
        steps: plan.steps.len(),
        moved: plan.moved,
        answers: first.answers(),
        bytes: first.bytes(),
        difference: first.difference(&second),
    }
}
