//! Laws of whole deals and matches ("Facts for tests").

use proptest::prelude::*;
use zetema_rules::{Action, Assembly, MatchEnd, Options, Preset, Rank, RoyalZetema, Rules, SeatEvent};

use crate::support::{free_rules, preset_rules};
use crate::walk::{Step, Trouble, Walk, ends_turn, public_events};

#[test]
fn stock_after_the_deal() {
    for (players, hand_size, expected) in [(2, 6, 53), (3, 6, 47), (4, 6, 41), (5, 6, 35), (6, 5, 35)] {
        let rules = Preset::Sackson.rules(players, None).unwrap();
        let walk = Walk::new(rules, 0, Trouble::NONE);
        assert_eq!(rules.hand_size, hand_size);
        assert_eq!(rules.stock_after_deal(), expected);
        // Nobody has drawn: in `sackson` a draw ends the turn.
        assert_eq!(usize::from(walk.game.public().stock_count), expected);
        assert!(walk.game.public().hand_counts[..players].iter().all(|&count| count == hand_size));
    }
}

/// Plays the first deal to its end: nothing ends the match before, nobody errs.
fn check_deal_played_out(rules: Rules, seed: u64) {
    let rules = Rules::new(Options {
        target: None,
        match_end: MatchEnd::AfterDeal,
        assembly: Assembly::Keep,
        royal_zetema: RoyalZetema::Normal,
        ..*rules
    })
    .unwrap();
    let mut walk = Walk::new(rules, seed, Trouble::NONE);
    let (mut zetemas, mut points_of_zetemas) = (0, 0);
    while walk.step(1).is_some() {
        for event in public_events(&walk.events) {
            if let SeatEvent::Zetema { points, .. } = event {
                zetemas += 1;
                points_of_zetemas += points;
            }
        }
    }
    let public = walk.game.public();
    let marriages = public.marriages.len() / 2;
    if marriages == 0 {
        assert_eq!((zetemas, points_of_zetemas), (13, 190));
        assert!(public.tableau.is_empty());
    } else {
        assert_eq!((zetemas, points_of_zetemas), (11, 90));
        assert_eq!(public.tableau.of_rank(Rank::King).len(), 5 - marriages);
        assert_eq!(public.tableau.of_rank(Rank::Queen).len(), 5 - marriages);
        assert_eq!(public.tableau.len(), 10 - 2 * marriages);
    }
    assert_eq!(public.zetemas.len(), zetemas);
    assert_eq!((public.stock_count, public.hand_counts), (0, [0; 6]));
}

/// No deal has more turns than cards, extra ones included.
fn check_turns(rules: Rules, seed: u64) {
    let mut walk = Walk::new(rules, seed, Trouble::SOME);
    let mut turns = 0;
    while let Some(step) = walk.step(1) {
        if let Step::Play(seat, action) = step {
            turns += usize::from(ends_turn(&action, &rules, walk.game.public(), seat));
        }
    }
    assert!(turns <= 65, "{turns} turns");
}

/// R24, R25: the score that reaches the target ends the match, and no more than 150 come at once.
fn check_at_once(rules: Rules, seed: u64) {
    let target = rules.target.unwrap_or(200);
    let rules = Rules::new(Options { match_end: MatchEnd::AtOnce, target: Some(target), ..*rules }).unwrap();
    let mut walk = Walk::new(rules, seed, Trouble::NONE);
    let mut scorer = None;
    while let Some(step) = walk.step(20) {
        let totals = walk.game.public().totals;
        let reached = totals.iter().position(|&total| total >= target);
        assert_eq!(reached.is_some(), walk.game.public().result.is_some());
        if let Step::Play(seat, _) = step {
            scorer = Some(rules.side(seat).index());
        }
    }
    if let Some(result) = walk.game.public().result {
        let winner = scorer.unwrap();
        assert_eq!(result.ranks[winner], 1);
        assert!((0..rules.sides()).all(|side| side == winner || result.ranks[side] > 1));
        assert!((target..target + 150).contains(&result.totals[winner]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn every_preset_obeys_the_laws(seed: u64) {
        for rules in preset_rules() {
            check_deal_played_out(rules, seed);
            check_turns(rules, seed);
            check_at_once(rules, seed);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn options_at_random_obey_the_laws(rules in free_rules(), seed: u64) {
        check_deal_played_out(rules, seed);
        check_turns(rules, seed);
        check_at_once(rules, seed);
    }
}

#[test]
fn a_deal_of_discards_alone_takes_65_turns() {
    let rules = Preset::Victorian.rules(3, None).unwrap();
    let mut walk = Walk::new(rules, 1, Trouble::NONE);
    let mut turns = 0;
    while let Some(seat) = walk.game.to_act() {
        let card = walk.game.legal_actions().discards.iter().next().unwrap();
        walk.game.play(seat, &Action::Discard(card), &mut walk.events).unwrap();
        turns += 1;
    }
    assert_eq!(turns, 65);
}
