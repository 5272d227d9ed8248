//! How near programs are to one another by what their discards prefer, for whoever changes what is compared:
//! `cargo run --release -p zetema-bots --example alike -- sackson 2 400`, by so many players and matches a bot.

#![allow(clippy::print_stdout, reason = "it is what the program is for")]

mod field;

use std::env;
use std::error::Error;

use field::{FIELD, Program, alike, season};
use zetema_bots::House;
use zetema_ladder::{Finding, FinishedMatch, HonestyOptions};
use zetema_sdk::rules::Preset;

const USAGE: &str = "usage: alike PRESET PLAYERS MATCHES, such as alike sackson 2 400";

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [preset, players, matches] = args.as_slice() else { return Err(USAGE.into()) };
    let rules = preset.parse::<Preset>()?.rules(players.parse()?, None)?;
    let matches = matches.parse()?;
    let mut field = FIELD.to_vec();
    field.extend([
        Program::Careless(House::Greedy, 0.02),
        Program::Careless(House::Greedy, 0.05),
        Program::Careless(House::Greedy, 0.1),
        Program::Careless(House::Greedy, 0.1),
        Program::House(House::Searcher),
        Program::House(House::Searcher),
    ]);
    let results = season(&field, rules, matches, 1);
    let seats = results.iter().flat_map(FinishedMatch::seats);
    let preferences: usize = seats.clone().map(|seat| seat.preferences.len()).sum();
    println!("{} preferences a seat", preferences / seats.count().max(1));
    for alike_at in [0.5, 0.97, 0.98, 0.985, 0.99, 0.993, 0.995] {
        let options = HonestyOptions { false_alarms: 0.5, alike: alike_at, ..HonestyOptions::default() };
        println!("alike {alike_at}:");
        for one in alike(&results, options) {
            if let Finding::SameDecisions { bots: [a, b], stretches, nearer, likeness } = one.finding {
                let same = if field[a] == field[b] { "SAME" } else { "" };
                println!("  {likeness:.4} {nearer}/{stretches} {:?} {:?} {same}", field[a], field[b]);
            }
        }
    }
    Ok(())
}
