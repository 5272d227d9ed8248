//! The house bots by name.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use zetema_bots::{House, by_name};
use zetema_sdk::rules::Preset;
use zetema_sdk::{MatchInfo, numbered_seed, simulate};

#[test]
fn every_name_finds_its_bot() {
    for house in House::ALL {
        assert_eq!(by_name(house.name()), Ok(house));
    }
}

#[test]
fn an_unknown_name_is_an_error_that_lists_the_names() {
    let error = by_name("Greedy").unwrap_err().to_string();
    assert!(error.contains("\"Greedy\""), "{error}");
    for house in House::ALL {
        assert!(error.contains(house.name()), "{error}");
    }
}

#[test]
fn a_seed_gives_the_same_match_again_and_each_seat_its_own_choices() {
    let play = |seed| {
        let rules = Preset::Sackson.rules(3, None).unwrap();
        simulate(rules, &numbered_seed(1), |info: &MatchInfo| House::Random.make(info, seed)).unwrap()
    };
    assert_eq!(play(1), play(1));
    assert_ne!(play(1).steps, play(2).steps);
}
