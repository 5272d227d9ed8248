//! What the renderers draw, against pictures.

use zetema_rules::fair::{MatchSeed, Nonce, ServerSeed};
use zetema_rules::{AbortReason, Event, Game, Outcome, Phase, Preset, Seat, Teams, Viewer};

use super::{Names, choices, event, help, outcome, view};

/// A match of this preset after so many actions, each the last legal one, which is a declaration if
/// there is any; and what happened on the way.
fn played(preset: Preset, players: usize, actions: usize) -> (Game, Vec<Event>) {
    console::set_colors_enabled(false);
    let rules = preset.rules(players, None).unwrap();
    let seed = MatchSeed::derive(&ServerSeed::new([3; 32]), &vec![Nonce::EMPTY; players]);
    let deck = |deal| seed.deck(deal, rules.imperial_suit);
    let mut events = Vec::new();
    let mut game = Game::new(rules, seed.dealer(rules.player_count()), &deck(0), &mut events).unwrap();
    for _ in 0..actions {
        let Phase::Turn { seat, .. } = game.public().phase else { break };
        let action = game.legal_actions().iter().last().unwrap();
        game.play(seat, &action, &mut events).unwrap();
    }
    (game, events)
}

fn lines(events: &[Event], viewer: Viewer, names: &Names) -> String {
    let lines: Vec<String> =
        events.iter().filter_map(|happened| event(&happened.seen_by(viewer), names)).collect();
    lines.join("\n")
}

#[test]
fn a_spectator_sees_the_table_and_no_hand() {
    let (game, _) = played(Preset::Sackson, 2, 40);
    let names = Names::players(*game.rules(), vec!["greedy".to_owned(), "random".to_owned()]);
    insta::assert_snapshot!(view(&game.view(Viewer::Spectator), &names));
}

#[test]
fn a_seat_sees_its_hand_too() {
    let (game, _) = played(Preset::Fosdick, 4, 0);
    let names = Names::numbers(*game.rules());
    insta::assert_snapshot!(view(&game.view(Viewer::Seat(game.to_act().unwrap())), &names));
}

#[test]
fn six_players_in_teams_fit() {
    let (game, _) = played(Preset::Akagiri, 6, 33);
    let names = Names::numbers(*game.rules());
    insta::assert_snapshot!(view(&game.view(Viewer::Spectator), &names));
}

#[test]
fn no_line_of_any_view_is_too_wide() {
    for preset in Preset::ALL {
        for &players in preset.players() {
            for actions in [0, 20, 60, 90] {
                let (game, _) = played(preset, players.into(), actions);
                let names = Names::players(*game.rules(), vec!["greedy".to_owned(); players.into()]);
                for line in view(&game.view(Viewer::Spectator), &names).lines() {
                    let width = console::measure_text_width(line);
                    assert!(width <= 100, "{preset} {players} {actions}: {width}\n{line}");
                }
            }
        }
    }
}

#[test]
fn a_whole_deal_reads_line_by_line() {
    let (game, events) = played(Preset::Victorian, 2, 200);
    let names = Names::players(*game.rules(), vec!["ann".to_owned(), "bob".to_owned()]);
    insta::assert_snapshot!(lines(&events, Viewer::Spectator, &names));
}

#[test]
fn a_seat_reads_what_it_draws() {
    let (game, events) = played(Preset::Sackson, 2, 4);
    let names = Names::numbers(*game.rules());
    insta::assert_snapshot!(lines(&events, Viewer::Seat(Seat::new(1).unwrap()), &names));
}

#[test]
fn choices_are_numbered_with_the_discards_first() {
    let (mut game, mut events) = played(Preset::Sackson, 2, 0);
    let mut most = (game.view(Viewer::Spectator), game.legal_actions());
    while let Phase::Turn { seat, .. } = game.public().phase {
        let legal = game.legal_actions();
        if legal.declarations.len() > most.1.declarations.len() {
            most = (game.view(Viewer::Seat(seat)), legal.clone());
        }
        let first = legal.get(0).unwrap();
        game.play(seat, &first, &mut events).unwrap();
    }
    assert!(!most.1.declarations.is_empty());
    insta::assert_snapshot!(choices(&most.0, &most.1));
}

#[test]
fn an_end_without_a_result_says_why_and_whose() {
    console::set_colors_enabled(false);
    let rules = Preset::Fosdick.rules(6, Some(Teams::Trios)).unwrap();
    let seats = vec![Seat::new(1).unwrap(), Seat::new(4).unwrap()];
    let ended = Outcome::Aborted { reason: AbortReason::NoShow, seats };
    assert_eq!(
        outcome(&ended, &Names::numbers(rules)),
        "the match ended without a result: not every seat joined in time: seat 1, seat 4"
    );
}

#[test]
fn help_has_the_scores_of_the_match() {
    insta::assert_snapshot!(help(&Preset::Victorian.rules(6, None).unwrap()));
}

#[test]
fn help_fits_a_terminal_of_80_columns() {
    for preset in Preset::ALL {
        for &players in preset.players() {
            for line in help(&preset.rules(players.into(), None).unwrap()).lines() {
                let width = console::measure_text_width(line);
                assert!(width < 80, "{preset} {players}: {width}\n{line}");
            }
        }
    }
}
