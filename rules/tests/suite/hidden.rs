//! `Debug` and `Display` show no hidden card, seed or nonce.

use std::fmt::Debug;

use zetema_rules::fair::{MatchSeed, Nonce, ServerSeed};
use zetema_rules::{
    Action, Card, Cards, Deck, Declaration, Event, Game, OwnCards, Phase, PlayError, Preset, Rank, Suit,
    Viewer,
};

use crate::support::{card, cards, preset_rules, seat};
use crate::walk::{Trouble, Walk};

/// The cards that a text names.
fn named(text: &str) -> Vec<Card> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter_map(|word| word.parse().ok()).collect()
}

fn check(what: &str, value: &impl Debug) {
    for text in [format!("{value:?}"), format!("{value:#?}")] {
        assert_eq!(named(&text), [], "{what} shows a card: {text}");
    }
}

#[test]
fn named_finds_cards() {
    assert_eq!(named("Hand([2C KS]), TD"), [card("2C"), card("KS"), card("TD")]);
    let rules = Preset::Sackson.rules(2, None).unwrap();
    assert!(!named(&format!("{:?}", cards("KS KS"))).is_empty());
    assert_eq!(rules.imperial_suit, Suit::Spades);
}

#[test]
fn a_match_just_dealt_shows_no_card() {
    for rules in preset_rules() {
        let walk = Walk::new(rules, 7, Trouble::NONE);
        check("Deck", &walk.deck);
        check("Game", &walk.game);
        check("LegalActions", &walk.game.legal_actions());
        for event in &walk.events {
            check("Event", event);
        }
        for viewer in rules.seats().map(Viewer::Seat).chain([Viewer::Spectator]) {
            check("View", &walk.game.view(viewer));
            for event in &walk.events {
                check("SeatEvent", &event.seen_by(viewer));
            }
        }
    }
}

/// Two matches that differ in hidden cards alone show the same.
#[test]
fn a_match_in_play_shows_public_cards_only() {
    let mut walk = Walk::new(Preset::Victorian.rules(3, None).unwrap(), 5, Trouble::SOME);
    while walk.step(1).is_some() {
        let open = {
            let public = walk.game.public();
            let held = public.known_held.into_iter().chain(public.last_melds.into_iter().flatten());
            let exposed = public.exposed.into_iter().flatten().map(Cards::from);
            held.chain(exposed).fold(public.played(walk.game.rules()), Cards::union)
        };
        let declared = match walk.game.public().phase {
            Phase::Turn { stage: zetema_rules::Stage::DiscardDeclared(declared), .. } => declared,
            _ => Cards::EMPTY,
        };
        let view = walk.game.view(Viewer::Seat(seat(0)));
        for shown in named(&format!("{:?} {view:?}", walk.game)) {
            assert!(open.contains(shown) || declared.contains(shown), "{shown} is hidden");
        }
        check("LegalActions", &walk.game.legal_actions());
        for event in walk.events.iter().filter(|event| is_draw(event)) {
            check("Event", event);
            check("SeatEvent", &event.seen_by(Viewer::Seat(seat(0))));
        }
    }
}

fn is_draw(event: &Event) -> bool {
    matches!(event.seen_by(Viewer::Spectator), zetema_rules::SeatEvent::Drew { .. })
}

/// An error's message is for the seat that asked; its `Debug`, which logs show, names the kind alone.
#[test]
fn an_error_shows_its_kind_only() {
    let game = Walk::new(Preset::Sackson.rules(2, None).unwrap(), 3, Trouble::NONE).game;
    let to_act = game.to_act().unwrap();
    let hand = game.view(Viewer::Seat(to_act)).hand;
    let not_held = Card::all().find(|&card| !hand.contains(card)).unwrap();
    let play = |action: Action| game.clone().play(to_act, &action, &mut Vec::new()).unwrap_err();
    let refused: [PlayError; 4] = [
        play(Action::Discard(not_held)),
        play(Action::Declare(Declaration::Flush(not_held.into()))),
        play(Action::Declare(Declaration::Assembly(Rank::Four))),
        play(Action::Declare(Declaration::Marriages { hand, tableau: Cards::EMPTY })),
    ];
    for error in refused {
        check("PlayError", &error);
        assert_eq!(format!("{error:?}"), error.kind());
        assert!(!error.to_string().is_empty());
    }
}

/// The answer to hands that don't fit a view names no card.
#[test]
fn a_failed_completion_shows_no_card() {
    let walk = Walk::new(Preset::Sackson.rules(2, None).unwrap(), 3, Trouble::NONE);
    let view = walk.game.view(Viewer::Seat(seat(0)));
    let wrong = [cards("2C 3C 4C 5C 6C 7C"), cards("2D 3D 4D 5D 6D 7D")];
    let stock = crate::support::stock(&walk.game, &walk.deck);
    let error = view.complete(&wrong, stock).unwrap_err();
    assert_eq!(named(&format!("{error} {error:?}")), []);
}

#[test]
fn seeds_and_nonces_are_not_shown() {
    let server = ServerSeed::new([0xAB; 32]);
    let nonce = Nonce::new(b"alice").unwrap();
    let seed = MatchSeed::derive(&server, std::slice::from_ref(&nonce));
    assert_eq!(format!("{server:?}"), "ServerSeed(hidden)");
    assert_eq!(format!("{seed:?}"), "MatchSeed(hidden)");
    assert_eq!(format!("{nonce:?}"), "Nonce(5 bytes)");
    assert_eq!(format!("{:?}", seed.deck(0, Suit::Spades)), "Deck(hidden)");
    assert_eq!(format!("{:?}", OwnCards(cards("KS KS"))), "[2 hidden]");
}

/// These are what holds hidden cards: none can be printed by `Display`, or it would be shown here.
#[test]
fn a_deck_of_the_wrong_cards_is_refused_without_showing_them() {
    let error = Deck::new(&[card("KS"); 65], Suit::Hearts).unwrap_err();
    assert_eq!(error.to_string(), "these 65 cards are no pack of 65 with H doubled (R1)");
    assert_eq!(named(&format!("{error:?}")), []);
    let _: fn(&Game) -> &dyn Debug = |game| game;
}
