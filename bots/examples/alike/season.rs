//! Bots that play seasons by the rules, and which of them are found to play alike.

#![allow(clippy::unwrap_used, reason = "it goes on by what it has made itself")]

use rand::SeedableRng;
use rand::rngs::StdRng;
use zetema_ladder::{
    Finding, FinishedMatch, HonestyOptions, HonestySettings, Ladder, Played, RatingSettings, ResultNumber,
    Suspicion, finished_seats, suspicions,
};
use zetema_sdk::rules::{Rules, Seats};
use zetema_sdk::{MatchInfo, numbered_seed, simulate};

use crate::program::Program;

/// The first of the seeds of the deals.
const FIRST_SEED: u64 = 11_000_000;

pub(crate) type Finished = FinishedMatch<usize, usize>;

/// A season of so many matches, between bots drawn by lot, who are of different owners.
pub(crate) fn season(programs: &[Program], rules: Rules, matches: u64, seed: u64) -> Vec<Finished> {
    let mut dice = StdRng::seed_from_u64(seed);
    let players = rules.player_count().count();
    let first = FIRST_SEED + seed * 1_000_000;
    (0..matches)
        .map(|number| {
            let names = rand::seq::index::sample(&mut dice, programs.len(), players).into_vec();
            let make = |info: &MatchInfo| {
                let name = names[info.seat.index()];
                programs[name].make(info, number * 1_000 + name as u64)
            };
            let played = simulate(rules, &numbered_seed(first + number), make).unwrap();
            assert_eq!(played.faults, []);
            let seats = finished_seats(&played.record().unwrap(), names.clone()).unwrap();
            let result = Played::new(names, rules.teams, played.result, Seats::EMPTY).unwrap();
            FinishedMatch::new(ResultNumber::new(number + 1), number, result, seats).unwrap()
        })
        .collect()
}

/// Two bots that are found to play alike.
pub(crate) struct Alike {
    /// In the order of the field.
    pub(crate) bots: [usize; 2],
    pub(crate) stretches: usize,
    pub(crate) nearer: usize,
    pub(crate) likeness: f64,
    pub(crate) found: Suspicion<usize>,
}

/// Who is found to play alike, the least likely first.
pub(crate) fn alike(results: &[Finished], options: HonestyOptions) -> Vec<Alike> {
    let settings = HonestySettings::new(options).unwrap();
    let found = suspicions(Ladder::new(RatingSettings::default()), results, &settings).unwrap();
    let told = |found: Suspicion<usize>| match found.finding {
        Finding::SameDecisions { mut bots, stretches, nearer, likeness } => {
            bots.sort_unstable();
            Some(Alike { bots, stretches, nearer, likeness, found })
        }
        _ => None,
    };
    found.listed.into_iter().filter_map(told).collect()
}
