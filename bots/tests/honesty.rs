//! Who is found to be one program under two names, among fifty honest bots, in matches by the rules.
//! `cargo run --release -p zetema-bots --example alike` plays ten such seasons.

#![allow(dead_code, reason = "the example prints more of it")]
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "helpers of tests")]

#[path = "../examples/alike/agreement.rs"]
mod agreement;
#[path = "../examples/alike/field.rs"]
mod field;
#[path = "../src/policy/mod.rs"]
mod policy;
#[path = "../examples/alike/program.rs"]
mod program;
#[path = "../examples/alike/season.rs"]
mod season;

use field::{Field, HONEST, Level};
use season::{alike, season};
use zetema_ladder::HonestyOptions;
use zetema_sdk::rules::Preset;

/// How many results the season has: some 30 stretches of each bot.
const RESULTS: u64 = 18_000;
/// In how many of 100 discards no two that go by weights are the same.
const NEAREST: f64 = 0.85;

#[test]
fn one_program_under_two_names_is_found_among_fifty_honest_bots_and_no_other_two_are() {
    let rules = Preset::Sackson.rules(2, None).unwrap();
    let field = Field::new(rules, NEAREST, 15).unwrap();
    assert!(
        field.programs[..HONEST]
            .iter()
            .enumerate()
            .all(|(place, one)| { field.programs[..place].iter().all(|other| one != other) })
    );
    let listed = alike(&season(&field.programs, rules, RESULTS, 1), HonestyOptions::default());
    for one in &listed {
        println!("{}", one.found);
        let [first, second] = one.bots.map(|bot| &field.programs[bot]);
        assert!(Field::pair_of(one.bots).is_some(), "{}: {first:?} and {second:?}", one.found);
    }
    for (place, pair) in field.pairs.iter().enumerate() {
        let found = listed.iter().any(|one| Field::pair_of(one.bots) == Some(place));
        println!("{}: {}", pair.kind, if found { "found" } else { "not found" });
        assert!(found || pair.level == Level::Disguised, "{} is not found", pair.kind);
    }
}
