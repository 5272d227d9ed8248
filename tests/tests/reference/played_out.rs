//! Laws that every deal obeys, played out at random.

use rand::RngExt;
use zetema_tests::reference::{
    Action, Game, ImperialBonus, KING, Kind, MatchEnd, QUEEN, RoyalZetema, Rules, Stage, assembly_score,
    marriage_score,
};

use crate::support::{Taste, all_presets, deal, generator, pick, random_deck, random_rules};

/// What happened in one deal.
#[derive(Default)]
struct Story {
    /// Points of declarations.
    declared: u32,
    /// How many marriages were declared.
    marriages: usize,
    /// Their points, summed.
    marriage_points: u32,
    /// How many assemblies left.
    removed: usize,
    /// Whether a card was exposed.
    exposed: bool,
}

/// Plays one deal of the rules out, with no target, checking the laws at every step.
fn play_out(rules: &Rules, seed: u64) {
    let mut random = generator(seed);
    let rules = Rules { target: None, ..rules.clone() };
    let dealer = random.random_range(0..rules.players);
    let mut game = Game::new(rules.clone(), dealer).unwrap();
    game.deal(&random_deck(&mut random, &rules, dealer)).unwrap();
    let taste = Taste::random(&mut random);
    let faults = pick(&mut random, &[0, 0, 5, 50]);
    let mut story = Story::default();
    while let Stage::ToAct(turn) = &game.stage {
        let seat = turn.seat;
        check_position(&game);
        for other in 0..rules.players {
            let cards: Vec<_> = game.faults(other).into_iter().collect();
            if !cards.is_empty() && random.random_range(0..100) < faults {
                let decision = game.decision;
                game.fault(other, pick(&mut random, &cards)).unwrap();
                assert_eq!(game.decision, decision);
                story.exposed = true;
            }
        }
        let legal: Vec<Action> = game.legal_actions().into_iter().collect();
        assert!(!legal.is_empty(), "a seat to act can act: {game:?}");
        let action = taste.choose(&mut random, &game, &legal);
        tell(&mut story, &game, &action);
        let decision = game.decision;
        game.play(seat, &action).unwrap();
        assert_eq!(game.decision, decision + 1);
    }
    check_position(&game);
    check_end(&game, &story);
}

/// The points of a declaration, found by itself, go into the story.
fn tell(story: &mut Story, game: &Game, action: &Action) {
    let Action::Declare(declaration) = action else {
        return;
    };
    let rules = &game.rules;
    story.declared += match declaration.kind {
        Kind::Sequence => rules.sequence,
        Kind::Flush => rules.flush,
        Kind::FlushSequence => rules.flush_sequence,
        Kind::Assembly => {
            story.removed += 1;
            assembly_score(rules.assembly_scores, declaration.hand[0].rank)
        }
        Kind::Marriages => {
            let cards = || declaration.hand.iter().chain(&declaration.tableau);
            let kings = || cards().filter(|card| card.rank == KING);
            let imperial = kings().filter(|card| card.suit == rules.imperial).count();
            let points = marriage_score(
                rules.imperial_bonus,
                kings().count(),
                u32::try_from(imperial).unwrap(),
                deal(game).imperial_marriages,
            );
            story.marriages += kings().count();
            story.marriage_points += points;
            points
        }
    };
}

/// Conservation, and bounds that hold in every position.
fn check_position(game: &Game) {
    let deal = deal(game);
    assert_eq!(deal.cards(), 65, "{game:?}");
    assert_eq!(deal.zetema_pile.len(), 5 * deal.zetemas);
    assert_eq!(deal.marriage_pile.len() % 2, 0);
    assert_eq!(deal.removed_pile.len() % 5, 0);
    assert!(deal.turns <= 65, "{game:?}");
    for (hand, known) in deal.hands.iter().zip(&deal.known) {
        assert!(hand.len() <= game.rules.hand + 1);
        let mut rest = hand.clone();
        for card in known {
            let place = rest.iter().position(|other| other == card);
            rest.remove(place.expect("what is known to be held is held"));
        }
    }
}

/// What is left of a deal that was played out.
fn check_end(game: &Game, story: &Story) {
    let (rules, deal) = (&game.rules, deal(game));
    assert_eq!(game.stage, Stage::Over);
    assert!(deal.hands.iter().all(Vec::is_empty), "{game:?}");
    assert!(deal.stock.is_empty());
    assert_eq!(deal.marriage_pile.len(), 2 * story.marriages);
    let removed = deal.removed_pile.len() / 5;
    if removed == 0 && !story.exposed && rules.royal_zetema == RoyalZetema::Normal {
        let zetema_points = game.totals.iter().sum::<u32>() - story.declared;
        let left = |rank| deal.pile(rank).len();
        if story.marriages == 0 {
            assert_eq!((deal.zetemas, zetema_points), (13, 190), "{game:?}");
            assert!(deal.tableau.is_empty());
        } else {
            assert_eq!((deal.zetemas, zetema_points), (11, 90), "{game:?}");
            assert_eq!(left(KING), 5 - story.marriages);
            assert_eq!(left(QUEEN), 5 - story.marriages);
            assert_eq!(deal.tableau.len(), 2 * (5 - story.marriages));
        }
    }
    if story.marriages == 5 {
        let least = match rules.imperial_bonus {
            ImperialBonus::Second => 60,
            ImperialBonus::Every => 70,
            ImperialBonus::None => 50,
        };
        assert!((least..=150).contains(&story.marriage_points), "{game:?}");
    }
}

#[test]
fn deals_of_every_preset_obey_the_laws() {
    for rules in all_presets() {
        for seed in 0..150 {
            play_out(&rules, seed);
        }
    }
}

#[test]
fn deals_of_free_rules_obey_the_laws() {
    let mut random = generator(1);
    for seed in 0..4_000 {
        let rules = random_rules(&mut random);
        assert_eq!(rules.refused(), [], "{rules:?}");
        play_out(&rules, seed);
    }
}

/// The least and the most that all five marriages of a deal come to, over every way to divide
/// them into declarations.
fn five_marriages(bonus: ImperialBonus) -> (u32, u32) {
    fn divide(bonus: ImperialBonus, plain: u32, imperial: u32, points: u32, all: &mut Vec<u32>) {
        if plain + imperial == 0 {
            all.push(points);
        }
        for plain_now in 0..=plain {
            for imperial_now in 0..=imperial {
                let now = plain_now + imperial_now;
                if now > 0 {
                    let marriages = usize::try_from(now).unwrap();
                    let scored = marriage_score(bonus, marriages, imperial_now, 2 - imperial);
                    let (plain, imperial) = (plain - plain_now, imperial - imperial_now);
                    divide(bonus, plain, imperial, points + scored, all);
                }
            }
        }
    }
    let mut all = Vec::new();
    divide(bonus, 3, 2, 0, &mut all);
    (*all.iter().min().unwrap(), *all.iter().max().unwrap())
}

#[test]
fn five_marriages_come_to_what_the_facts_say() {
    assert_eq!(five_marriages(ImperialBonus::Second), (60, 150));
    assert_eq!(five_marriages(ImperialBonus::Every), (70, 150));
    assert_eq!(five_marriages(ImperialBonus::None), (50, 150));
}

#[test]
fn under_at_once_a_winner_has_at_most_149_over_the_target() {
    let mut random = generator(2);
    let mut ended_at_once = 0;
    for _ in 0..1_000 {
        let target = random.random_range(1..=200);
        let rules = Rules { target: Some(target), match_end: MatchEnd::AtOnce, ..random_rules(&mut random) };
        let mut game = Game::new(rules.clone(), 0).unwrap();
        for _ in 0..3 {
            let deck = random_deck(&mut random, &rules, game.dealer);
            if game.deal(&deck).is_err() {
                break;
            }
            let taste = Taste::random(&mut random);
            while let Stage::ToAct(turn) = &game.stage {
                let seat = turn.seat;
                let legal: Vec<Action> = game.legal_actions().into_iter().collect();
                let action = taste.choose(&mut random, &game, &legal);
                game.play(seat, &action).unwrap();
            }
        }
        if game.stage == Stage::Over {
            let most = *game.totals.iter().max().unwrap();
            let reached = game.totals.iter().filter(|total| **total >= target).count();
            assert!((target..target + 150).contains(&most), "{game:?}");
            assert_eq!(reached, 1, "{game:?}");
            ended_at_once += 1;
        }
    }
    assert!(ended_at_once > 300, "{ended_at_once}");
}
