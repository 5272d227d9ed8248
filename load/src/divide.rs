//! A plan that several generators run together.

use std::num::NonZeroU32;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::plan::{Load, Plan, PlanError, Rate, Stage};

/// Bits of a seed below those that tell generators apart: more than one has matches.
const SEED_BITS: u32 = 40;

/// Which generator of a run this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Share {
    /// Its number, from 0.
    pub(crate) number: u32,
    /// How many there are.
    pub(crate) of: NonZeroU32,
}

impl Default for Share {
    /// The only one.
    fn default() -> Self {
        Self { number: 0, of: NonZeroU32::MIN }
    }
}

impl Share {
    /// This part of so many. All parts together are the whole.
    pub(crate) const fn count(self, all: u32) -> u32 {
        let is_larger = self.number < all % self.of.get();
        all / self.of.get() + if is_larger { 1 } else { 0 }
    }

    /// This part of a rate. All parts, added up in their order, are the whole: the last one is what the others leave.
    fn rate(self, all: Rate) -> Result<Rate, PlanError> {
        let [all, parts] = [all.per_second(), f64::from(self.of.get())];
        if self.number + 1 < self.of.get() {
            return Rate::new(all / parts);
        }
        let others = (1..self.of.get()).fold(0.0, |sum, _| sum + all / parts);
        Rate::new(all - others)
    }

    /// When something is done for the first time that all generators together do so often, and how often by this one: in turn.
    pub(crate) const fn turns(self, every: Duration) -> (Duration, Duration) {
        (every.saturating_mul(self.number.saturating_add(1)), every.saturating_mul(self.of.get()))
    }

    /// The seed of this generator.
    pub(crate) fn seed(self, seed: u64) -> u64 {
        seed.wrapping_add(u64::from(self.number) << SEED_BITS)
    }
}

impl Plan {
    /// The parts that so many generators run, which together are this plan: matches and rates, spectators and readers are divided
    /// between them, connections too, of which each has one at least, and connections are dropped in turn.
    ///
    /// # Errors
    /// If there is less than one match for each.
    pub fn divided(&self, generators: NonZeroU32) -> Result<Vec<Self>, PlanError> {
        (0..generators.get())
            .map(|number| {
                let share = Share { number, of: generators };
                let stages: Result<Vec<Stage>, PlanError> =
                    self.stages().iter().map(|stage| stage.part(share)).collect();
                let connections = NonZeroU32::new(share.count(self.connections.get()));
                let mut part = self.with_stages(stages?);
                part.connections = connections.unwrap_or(NonZeroU32::MIN);
                part.seed = share.seed(self.seed);
                part.share = share;
                Ok(part)
            })
            .collect()
    }
}

impl Stage {
    fn part(&self, share: Share) -> Result<Self, PlanError> {
        let matches = |all: NonZeroU32| {
            NonZeroU32::new(share.count(all.get())).ok_or_else(|| PlanError::Divide {
                name: self.name.clone(),
                matches: all.get(),
                generators: share.of.get(),
            })
        };
        let load = match self.load {
            Load::Closed(live) => Load::Closed(matches(live)?),
            Load::Matches(rate) => Load::Matches(share.rate(rate)?),
            Load::Actions(rate, live) => Load::Actions(share.rate(rate)?, matches(live)?),
        };
        Ok(Self {
            load,
            spectators: share.count(self.spectators),
            slow_readers: share.count(self.slow_readers),
            ..self.clone()
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plan(load: &str) -> Plan {
        let text =
            format!("[[phase]]\nname = \"p\"\nduration = \"10s\"\nspectators = 7\nslow_readers = 1\n{load}");
        crate::scenario(&text).unwrap()
    }

    fn parts(plan: &Plan, generators: u32) -> Result<Vec<Plan>, PlanError> {
        plan.divided(NonZeroU32::new(generators).unwrap())
    }

    proptest! {
        #[test]
        fn the_parts_of_a_plan_are_the_plan(
            generators in 1_u32..65, matches in 65_u32..100_000, rate in 0.001_f64..1e7, spectators in 0_u32..1_000,
        ) {
            let mut whole = plan(&format!("rate = \"{rate}actions/s\"\nmatches = {matches}"));
            let stage = Stage { spectators, ..whole.stages()[0].clone() };
            whole = whole.with_stages(vec![stage]);
            let parts = parts(&whole, generators).unwrap();
            let stages: Vec<&Stage> = parts.iter().map(|part| &part.stages()[0]).collect();
            let live: Vec<u32> = stages.iter().map(|stage| stage.load.live().unwrap()).collect();
            prop_assert_eq!(live.iter().sum::<u32>(), matches);
            prop_assert!(live.iter().max().unwrap() - live.iter().min().unwrap() <= 1);
            let rates = stages.iter().map(|stage| stage.load.rate().unwrap().per_second());
            let sum = rates.fold(0.0, |sum, rate| sum + rate);
            prop_assert_eq!(sum.to_bits(), rate.to_bits());
            prop_assert_eq!(stages.iter().map(|stage| stage.spectators).sum::<u32>(), spectators);
        }

        #[test]
        fn what_is_done_in_turn_is_done_as_often_as_by_one(generators in 1_u32..10, every_ms in 1_u64..10_000) {
            let every = Duration::from_millis(every_ms);
            let of = NonZeroU32::new(generators).unwrap();
            let mut moments: Vec<Duration> = (0..generators)
                .flat_map(|number| {
                    let (first, period) = Share { number, of }.turns(every);
                    (0..5).map(move |turn| first + turn * period)
                })
                .collect();
            moments.sort_unstable();
            let expected: Vec<Duration> = (1..=5 * generators).map(|turn| turn * every).collect();
            prop_assert_eq!(moments, expected);
        }
    }

    #[test]
    fn each_generator_has_a_seed_and_a_connection_of_its_own() {
        let parts = parts(&plan("rate = \"5matches/s\""), 6).unwrap();
        let connections: Vec<u32> = parts.iter().map(|part| part.connections.get()).collect();
        assert_eq!(connections, [1; 6]);
        let mut seeds: Vec<u64> = parts.iter().map(|part| part.seed).collect();
        seeds.dedup();
        assert_eq!(seeds.len(), 6);
        assert_eq!(self::parts(&plan("matches = 5"), 1).unwrap(), [plan("matches = 5")]);
    }

    #[test]
    fn a_load_that_is_too_small_to_divide_says_so() {
        for load in ["matches = 2", "rate = \"100actions/s\"\nmatches = 2"] {
            let error = parts(&plan(load), 3).unwrap_err().to_string();
            assert_eq!(
                error,
                "phase \"p\": 2 matches can't be divided between 3 generators: give each one at least"
            );
        }
    }
}
