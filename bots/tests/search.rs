//! What the stronger house bots do in positions that tell, and what the one that searches does with its time.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use std::time::{Duration, Instant};

use support::{decision, position};
use zetema_bots::{Appraiser, Budget, Searcher};
use zetema_sdk::rules::{Cards, Preset};
use zetema_sdk::{Action, Bot, Clock, Declaration, MatchInfo, View, numbered_seed, simulate};

/// Each bot chooses such an action. The budget is large enough that `searcher` searches from the first card on.
fn check(view: &View, says: &str, right: impl Fn(&Action) -> bool) {
    let bots: [(&str, Box<dyn Bot>); 2] = [
        ("appraiser", Box::new(Appraiser::new())),
        ("searcher", Box::new(Searcher::new(1, Budget::playouts(4000)))),
    ];
    for (name, mut bot) in bots {
        let action = bot.choose(&decision(view));
        assert!(right(&action), "{name} chooses {action:?}: {says}");
    }
}

#[test]
fn a_flush_sequence_goes_before_all_discards() {
    check(&position("2C 3C 4C 5C 6C 7C", ""), "50 points", |action| {
        matches!(action, Action::Declare(Declaration::FlushSequence(_)))
    });
}

#[test]
fn whatever_wins_the_match_at_once_is_declared() {
    let mut view = position("KH QH 2C 9D 3H 7C", "");
    view.public.totals = [290, 290, 0, 0, 0, 0];
    check(&view, "10 points win", |action| matches!(action, Action::Declare(Declaration::Marriages { .. })));
}

#[test]
fn a_zetema_that_wins_the_match_is_played() {
    let mut view = position("JS 2C 9D 3H 7C TD", "JC JD JH JS");
    view.public.totals = [280, 290, 0, 0, 0, 0];
    check(&view, "20 points win", |action| *action == Action::Discard("JS".parse().unwrap()));
}

#[test]
fn a_zetema_by_which_another_wins_is_not_handed_over() {
    let mut view = position("2S 7C 8C 9C TD JC", "2C 2D 2H");
    view.public.known_held[1] = "2S".parse().unwrap();
    view.public.totals[1] = 295;
    check(&view, "five points lose", |action| *action != Action::Discard("2S".parse().unwrap()));
}

#[test]
fn a_royal_zetema_is_taken_while_it_lies_there() {
    check(&position("KS 2C 9D 3H 7C TD", "KC KD KH KS"), "50 points", |action| {
        *action == Action::Discard("KS".parse().unwrap())
    });
}

/// A bot with a small budget, which searches when the stock is all but gone, so that whole matches take no time.
fn hasty(info: &MatchInfo) -> Searcher {
    Searcher::new(info.seat.index() as u64, Budget::playouts(120))
}

#[test]
fn when_the_stock_is_empty_the_rest_of_the_deal_is_played_out() {
    // Who plays the fourth jack gives the fifth away. There are two other cards to wait with, and the other has but one.
    let mut view = position("JH 2C 3C", "");
    let other: Cards = "JS 4C".parse().unwrap();
    let pack = Cards::pack(view.rules.imperial_suit);
    view.public.stock_count = 0;
    view.public.hand_counts = [3, 2, 0, 0, 0, 0];
    view.public.tableau = "JC JD JS".parse().unwrap();
    view.public.marriages = pack.minus(view.hand).minus(other).minus(view.public.tableau);
    let mut searcher = Searcher::new(1, Budget::playouts(200));
    let action = searcher.choose(&decision(&view));
    assert_ne!(action, Action::Discard("JH".parse().unwrap()), "the other would score the jacks");
}

#[test]
fn the_same_seed_plays_the_same_match() {
    for (preset, players) in [(Preset::Sackson, 2), (Preset::Victorian, 4), (Preset::Fosdick, 3)] {
        let rules = preset.rules(players, None).unwrap();
        let play = |make: fn(&MatchInfo) -> Searcher| simulate(rules, &numbered_seed(3), make).unwrap();
        let (once, again) = (play(hasty), play(hasty));
        assert_eq!(once.faults, []);
        assert_eq!(once, again, "{preset}");
    }
}

#[test]
fn every_preset_and_number_of_players_is_played_without_a_fault() {
    for preset in Preset::ALL {
        for &players in preset.players() {
            let rules = preset.rules(players.into(), None).unwrap();
            let searched = simulate(rules, &numbered_seed(5), hasty).unwrap();
            let appraised = simulate(rules, &numbered_seed(5), |_| Appraiser::new()).unwrap();
            for played in [searched, appraised] {
                assert_eq!(played.faults, [], "{preset}, {players} players");
            }
        }
    }
}

#[test]
fn on_a_clock_a_decision_takes_its_share_and_no_more() {
    let view = position("JS 2C 9D 3H 7C TD", "JC 4D 8H");
    for (budget, bank) in [(1000, 5_000), (400, 10_000), (0, 20_000)] {
        let mut bot = Searcher::new(1, Budget::playouts(u32::MAX));
        let (budget, bank) = (Duration::from_millis(budget), Duration::from_millis(bank));
        let clock = Clock::new(budget, bank, 1, Instant::now());
        let decision = decision(&view).with_clock(clock);
        let action = bot.choose(&decision);
        assert!(decision.legal.contains(&action));
        assert!(!clock.left().is_zero(), "ran out of {budget:?} and {bank:?}");
        // A little of it was over before the bot looked.
        let share = (budget / 2).max((budget + bank) / 50).mul_f64(0.9);
        assert!(clock.elapsed() >= share, "left off early with {budget:?} and {bank:?}");
    }
}

#[test]
fn a_decision_whose_time_is_out_is_taken_at_once() {
    let view = position("JS 2C 9D 3H 7C TD", "");
    let clock = Clock::new(Duration::ZERO, Duration::ZERO, 1, Instant::now());
    let decision = decision(&view).with_clock(clock);
    let action = Searcher::new(1, Budget::playouts(u32::MAX)).choose(&decision);
    assert!(decision.legal.contains(&action));
}
