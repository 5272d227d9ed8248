//! What a view says that an action scores is what it scores.
#![allow(clippy::unwrap_used)]

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use zetema_rules::fair::{MatchSeed, Nonce, ServerSeed};
use zetema_rules::{Game, Phase, Preset, Rules, SeatEvent, Viewer};

fn check_a_match(rules: Rules, number: u8) {
    let mut rng = SmallRng::seed_from_u64(number.into());
    let players = rules.player_count();
    let seed = MatchSeed::derive(&ServerSeed::new([number; 32]), &vec![Nonce::EMPTY; players.count()]);
    let mut events = Vec::new();
    let deck = seed.deck(0, rules.imperial_suit);
    let mut game = Game::new(rules, seed.dealer(players), &deck, &mut events).unwrap();
    while game.public().phase != Phase::MatchOver {
        events.clear();
        let Phase::Turn { seat, .. } = game.public().phase else {
            let deck = seed.deck(game.public().deal + 1, rules.imperial_suit);
            game.deal(&deck, &mut events).unwrap();
            continue;
        };
        let other = seat.clockwise(1, players);
        if let Some(card) = game.faults(other).iter().next().filter(|_| rng.random_ratio(1, 8)) {
            game.fault(other, card, &mut events).unwrap();
        }
        let view = game.view(Viewer::Seat(seat));
        let legal = game.legal_actions();
        let action = legal.get(rng.random_range(0..legal.len())).unwrap();
        events.clear();
        game.play(seat, &action, &mut events).unwrap();
        let scored: u16 = events
            .iter()
            .map(|event| match event.seen_by(Viewer::Spectator) {
                SeatEvent::Declared { points, .. } | SeatEvent::Zetema { points, .. } => points,
                _ => 0,
            })
            .sum();
        assert_eq!(view.points(&action), scored, "{rules}: {action}");
    }
}

#[test]
fn a_view_foretells_the_points_of_every_action() {
    for preset in Preset::ALL {
        for &players in preset.players() {
            for number in 0..20 {
                check_a_match(preset.rules(players.into(), None).unwrap(), number);
            }
        }
    }
}
