//! Who is found to play alike among fifty honest bots, season after season, for whoever changes what is compared:
//!
//! - `cargo run --release -p zetema-bots --example alike -- seasons sackson 2 20000 10 0.85`: ten seasons of so many results, in which names of
//!   one program play among the honest, no two of which discard the same in more than 85 of 100 decisions; fails if an honest bot is listed,
//!   or one program under two names is not.
//! - `alike relatives sackson 2 20000`: how near a program is to one whose weights were moved, or that chooses at random now and then, and
//!   which of many authors' programs are listed, by how often they discard the same.
//! - `alike lengths 300`: how many results fifty bots need by each preset, from so many matches of each.

#![allow(clippy::print_stdout, reason = "it is what the program is for")]

mod agreement;
mod field;
#[expect(dead_code, reason = "house bots need more of it")]
#[path = "../../src/policy/mod.rs"]
mod policy;
mod program;
mod relatives;
mod season;
mod seasons;

use std::env;
use std::error::Error;

use field::{Field, HONEST};
use program::Program;
use season::season;
use zetema_bots::House;
use zetema_ladder::FinishedMatch;
use zetema_sdk::rules::{Preset, Rules};

const USAGE: &str = "usage: alike seasons PRESET PLAYERS RESULTS SEASONS NEAREST, alike relatives PRESET PLAYERS RESULTS or alike lengths MATCHES, such as \
                     alike seasons sackson 2 20000 10 0.85";

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["seasons", preset, players, results, seasons, nearest] => {
            let rules = rules(preset, players)?;
            let field = Field::new(rules, nearest.parse()?, POLLED)?;
            seasons::print(&field, rules, results.parse()?, seasons.parse()?)
        }
        ["relatives", preset, players, results] => {
            relatives::print(rules(preset, players)?, results.parse()?)
        }
        ["lengths", matches] => lengths(matches.parse()?),
        _ => Err(USAGE.into()),
    }
}

fn rules(preset: &str, players: &str) -> Result<Rules, Box<dyn Error>> {
    Ok(preset.parse::<Preset>()?.rules(players.parse()?, None)?)
}

/// Matches in which programs are asked what they would discard.
const POLLED: u64 = 40;

/// How many stretches fifty bots need that are all nearer, and how many preferences a stretch has: docs/honesty.md.
const STRETCHES: usize = 20;
const STRETCH: usize = 6_000;

/// How many preferences a seat has by each preset, and how many results it takes until each of fifty bots has enough: of `greedy`, whose matches are
/// short, and of bots that choose at random, whose matches are long.
fn lengths(matches: u64) -> Result<(), Box<dyn Error>> {
    for preset in Preset::ALL {
        for players in [2, 3, 4] {
            let rules = preset.rules(players, None)?;
            for house in [House::Greedy, House::Random] {
                let programs = vec![Program::House(house); players];
                let results = season(&programs, rules, matches, 0);
                let seats = results.iter().flat_map(FinishedMatch::seats);
                let preferences: usize = seats.clone().map(|seat| seat.preferences.len()).sum();
                let a_seat = preferences / seats.count().max(1);
                let a_stretch = STRETCH / a_seat.max(1) + 1;
                let a_bot = STRETCHES * a_stretch;
                let in_all = a_bot * HONEST / players;
                println!(
                    "{preset} of {players} {house}: {a_seat} preferences a seat, {a_bot} matches a bot, {in_all} results"
                );
            }
        }
    }
    Ok(())
}
