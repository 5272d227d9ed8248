//! Who is found to be one program under two names, in matches that house bots and others play by the rules.

#![allow(clippy::panic, clippy::print_stdout, clippy::unwrap_used, reason = "helpers of tests")]

#[path = "../examples/alike/field.rs"]
mod field;

use field::{FIELD, Program, alike, season};
use zetema_bots::House;
use zetema_ladder::{Finding, HonestyOptions, Suspicion};
use zetema_sdk::rules::Preset;

/// How many matches of two each bot has.
const MATCHES: u64 = 600;

/// What it is in the main: a little carelessness is not much of a program, nor is a search where a deal is nearly over.
fn in_the_main(program: Program) -> Program {
    match program {
        Program::House(House::Searcher) => Program::House(House::Appraiser),
        Program::Careless(house, share) if share <= 0.1 => Program::House(house),
        other => other,
    }
}

/// The programs of two that are listed as one, in the order of the field.
fn pairs(found: &[Suspicion<usize>]) -> Vec<[usize; 2]> {
    let mut pairs: Vec<[usize; 2]> = found
        .iter()
        .map(|one| match one.finding {
            Finding::SameDecisions { mut bots, .. } => {
                bots.sort_unstable();
                bots
            }
            _ => panic!("{one}"),
        })
        .collect();
    pairs.sort_unstable();
    pairs
}

#[test]
fn one_program_under_two_names_is_found_and_no_other_two_are() {
    let rules = Preset::Sackson.rules(2, None).unwrap();
    for seed in 1..=3 {
        let found = alike(&season(&FIELD, rules, MATCHES, seed), HonestyOptions::default());
        let listed = pairs(&found);
        for one in &found {
            println!("{one}");
        }
        for (place, one) in FIELD.iter().enumerate() {
            for (other_place, other) in FIELD.iter().enumerate().skip(place + 1) {
                let listed = listed.contains(&[place, other_place]);
                // What a bot does by chance says little of it: that takes longer.
                let found = listed || one != other || *one == Program::House(House::Random);
                assert!(found, "season {seed}: two of {one:?} are not found");
                let akin = in_the_main(*one) == in_the_main(*other);
                assert!(!listed || akin, "season {seed}: {one:?} and {other:?} are listed");
            }
        }
    }
}
