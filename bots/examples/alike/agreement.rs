//! How often two programs discard the same where they are asked the same, whoever plays.

use std::sync::{Arc, Mutex, PoisonError};

use zetema_bots::House;
use zetema_sdk::rules::{PlayError, Rules};
use zetema_sdk::{Action, Bot, Decision, MatchInfo, numbered_seed, simulate};

use crate::program::Program;

/// The first of the seeds of the deals.
const FIRST_SEED: u64 = 10_000_000;

/// How often each pair discarded the same, and how often it was asked what to discard, of more than one card.
#[derive(Default)]
pub(crate) struct Agreed {
    same: Vec<Vec<u32>>,
    asked: u32,
}

impl Agreed {
    /// The share in which two agree.
    pub(crate) fn share(&self, [one, other]: [usize; 2]) -> f64 {
        f64::from(self.same[one][other]) / f64::from(self.asked.max(1))
    }
}

/// Asks all programs in so many matches that `greedy` plays.
///
/// # Errors
/// None that a program could cause.
pub(crate) fn agreed(programs: &[Program], rules: Rules, matches: u64) -> Result<Agreed, PlayError> {
    let none = Agreed { same: vec![vec![0; programs.len()]; programs.len()], asked: 0 };
    let agreed = Arc::new(Mutex::new(none));
    for number in FIRST_SEED..FIRST_SEED + matches {
        let make = |info: &MatchInfo| Poll {
            plays: House::Greedy.make(info, number),
            asked: programs.iter().map(|program| program.make(info, number)).collect(),
            agreed: Arc::clone(&agreed),
        };
        simulate(rules, &numbered_seed(number), make)?;
    }
    let mut agreed = agreed.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(std::mem::take(&mut *agreed))
}

struct Poll {
    plays: Box<dyn Bot>,
    asked: Vec<Box<dyn Bot>>,
    agreed: Arc<Mutex<Agreed>>,
}

impl Bot for Poll {
    fn choose(&mut self, decision: &Decision) -> Action {
        if decision.legal.declarations.is_empty() && decision.legal.discards.distinct().len() > 1 {
            let chosen: Vec<Action> = self.asked.iter_mut().map(|bot| bot.choose(decision)).collect();
            let mut agreed = self.agreed.lock().unwrap_or_else(PoisonError::into_inner);
            agreed.asked += 1;
            for (same, own) in agreed.same.iter_mut().zip(&chosen) {
                for (same, met) in same.iter_mut().zip(&chosen) {
                    *same += u32::from(own == met);
                }
            }
        }
        self.plays.choose(decision)
    }
}
