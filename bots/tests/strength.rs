//! How strong the house bots are, in figures.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "helpers of tests")]

use zetema_bots::{Duel, House};
use zetema_sdk::rules::{Options, Players, Preset, Rules};

/// The first of the seeds. By none from here on was anything chosen, neither weights nor budgets; `docs/house-bots.md` has figures of
/// others, from 8,000,000 on.
const FIRST_SEED: u64 = 8_500_000;

/// Plays so many decks, each once for each side: a deck is one sample, as its matches are not independent.
fn duel(rules: Rules, first: House, second: House, decks: u64) -> Duel {
    let seeds = FIRST_SEED..FIRST_SEED + decks;
    Duel::play(rules, seeds, |info| first.make(info, 1), |info| second.make(info, 2)).unwrap()
}

/// The first is ahead by wins and by points, as surely as an interval at 95 % says.
fn check_stronger(says: &str, duel: &Duel) {
    println!("{says}: {duel}");
    assert_eq!(duel.faults(), 0, "{says}");
    assert!(duel.margin().low() > 0.0 && duel.wins().low() > duel.chance(), "{says}: {duel}");
}

fn whole(preset: Preset, players: usize) -> Rules {
    preset.rules(players, None).unwrap()
}

/// A match of one deal.
fn one_deal(preset: Preset, players: usize) -> Rules {
    Rules::new(Options { target: None, ..*whole(preset, players) }).unwrap()
}

#[test]
fn greedy_beats_random_in_at_least_99_of_100_matches() {
    let duel = duel(whole(Preset::Sackson, 2), House::Greedy, House::Random, 500);
    check_stronger("greedy against random, sackson, 2 players", &duel);
    assert!(duel.wins().mean >= 0.99, "{duel}");
}

#[test]
fn minding_zetemas_pays() {
    let duel = duel(whole(Preset::Sackson, 2), House::Greedy, House::GreedyWithoutZetemas, 500);
    check_stronger("greedy against itself without zetemas, sackson, 2 players", &duel);
}

#[test]
fn appraiser_is_stronger_than_greedy() {
    let duel = duel(one_deal(Preset::Sackson, 2), House::Appraiser, House::Greedy, 600);
    check_stronger("appraiser against greedy, a deal of sackson, 2 players", &duel);
}

#[test]
fn searcher_is_stronger_than_appraiser() {
    let duel = duel(one_deal(Preset::Sackson, 2), House::Searcher, House::Appraiser, 200);
    check_stronger("searcher against appraiser, a deal of sackson, 2 players", &duel);
}

#[test]
fn appraiser_is_stronger_than_greedy_in_quick() {
    let duel = duel(whole(Preset::Quick, 2), House::Appraiser, House::Greedy, 1000);
    check_stronger("appraiser against greedy, quick, 2 players", &duel);
}

#[test]
fn searcher_is_stronger_than_appraiser_in_quick() {
    let duel = duel(whole(Preset::Quick, 2), House::Searcher, House::Appraiser, 400);
    check_stronger("searcher against appraiser, quick, 2 players", &duel);
}

#[test]
fn greedy_beats_random_in_every_preset_and_number_of_players() {
    for preset in Preset::ALL {
        for &players in preset.players() {
            let players = Players::new(players.into()).unwrap();
            for &teams in preset.teams(players) {
                let rules = preset.rules(players.count(), Some(teams)).unwrap();
                let duel = duel(rules, House::Greedy, House::Random, 20);
                check_stronger(&format!("greedy against random, {preset} {players} {teams}"), &duel);
            }
        }
    }
}
