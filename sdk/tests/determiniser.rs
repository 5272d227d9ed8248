//! Deals of unseen cards: consistent with the view, and all equally likely.

#![allow(clippy::unwrap_used, clippy::panic, clippy::cast_precision_loss, reason = "helpers of tests")]

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use zetema_sdk::rules::fair::{MatchSeed, Nonce};
use zetema_sdk::rules::{
    Card, Cards, Event, Game, LegalActions, Phase, Players, Preset, Seat, SeatEvent, Viewer,
};
use zetema_sdk::{Determiniser, View, numbered_seed};

/// Plays at random, offering discards out of turn where that is a fault, and shows each state.
fn random_states(preset: Preset, players: usize, seed: u64, mut look: impl FnMut(&Game)) {
    let rules = preset.rules(players, None).unwrap();
    let decks = MatchSeed::derive(&numbered_seed(seed), &vec![Nonce::EMPTY; players]);
    let mut random = StdRng::seed_from_u64(seed);
    let mut events: Vec<Event> = Vec::new();
    let mut legal = LegalActions::default();
    let dealer = decks.dealer(rules.player_count());
    let mut game = Game::new(rules, dealer, &decks.deck(0, rules.imperial_suit), &mut events).unwrap();
    while let Phase::Turn { seat, .. } = game.public().phase {
        look(&game);
        let other = seat.clockwise(1, rules.player_count());
        if let Some(card) = game.faults(other).iter().next()
            && random.random_ratio(1, 10)
        {
            game.fault(other, card, &mut events).unwrap();
            continue;
        }
        game.legal_actions_into(&mut legal);
        // The last one is a declaration if there is one, so that cards become known.
        let index = if random.random() { legal.len() - 1 } else { random.random_range(0..legal.len()) };
        game.play(seat, &legal.get(index).unwrap(), &mut events).unwrap();
    }
}

#[test]
fn every_deal_gives_the_same_view_back() {
    let mut determiniser = Determiniser::new(1);
    let mut checked = 0;
    for preset in Preset::ALL {
        for &players in preset.players() {
            let players = usize::from(players);
            random_states(preset, players, players as u64, |game| {
                let seats = Players::new(players).unwrap().seats().map(Viewer::Seat);
                for viewer in seats.chain([Viewer::Spectator]) {
                    let view = game.view(viewer);
                    let dealt = determiniser.deal(&view).unwrap();
                    assert_eq!(dealt.view(viewer), view);
                    checked += 1;
                }
            });
        }
    }
    assert!(checked > 5_000, "{checked}");
}

/// A view in the first turn of a two-player match, in which seat 1 is known to hold these cards.
fn view_with_known(known: &str) -> View {
    let rules = Preset::Sackson.rules(2, None).unwrap();
    let decks = MatchSeed::derive(&numbered_seed(11), &[Nonce::EMPTY, Nonce::EMPTY]);
    let mut events = Vec::new();
    let deck = decks.deck(0, rules.imperial_suit);
    let game = Game::new(rules, Seat::new(1).unwrap(), &deck, &mut events).unwrap();
    let mut view = game.view(Viewer::Seat(Seat::new(0).unwrap()));
    view.public.known_held[1] = known.parse().unwrap();
    view
}

/// The hands that come to seat 1 in so many deals.
fn hands_of_seat_1(view: &View, deals: u32) -> Vec<Cards> {
    let mut determiniser = Determiniser::new(2);
    (0..deals)
        .map(|_| determiniser.deal(view).unwrap().view(Viewer::Seat(Seat::new(1).unwrap())).hand)
        .collect()
}

#[test]
fn each_unseen_card_is_equally_likely_in_a_hand() {
    let view = view_with_known("");
    let deals = 20_000;
    let hands = hands_of_seat_1(&view, deals);
    let unseen = view.unseen();
    // Six of the 59 cards that seat 0 does not see.
    let expected = f64::from(deals) * 6.0 / 59.0;
    let (mut chi_square, mut faces) = (0.0, 0);
    for card in Card::all().filter(|&card| unseen.contains(card)) {
        let copies = unseen.count(card) as f64;
        let times: usize = hands.iter().map(|hand| hand.count(card)).sum();
        chi_square += (times as f64 - copies * expected).powi(2) / (copies * expected);
        faces += 1;
    }
    // About faces - 1 degrees of freedom: mean 46, deviation 9.6.
    assert!((20.0..90.0).contains(&chi_square), "chi-square {chi_square} over {faces} faces");
}

#[test]
fn the_second_copy_of_a_known_card_is_as_likely_as_arrangements_tell() {
    // Some imperial card whose two copies seat 0 does not see.
    let unseen = view_with_known("").unseen();
    let card = Card::all().find(|&card| unseen.count(card) == 2).unwrap();
    let view = view_with_known(&card.to_string());
    let deals = 40_000;
    let hands = hands_of_seat_1(&view, deals);
    assert!(hands.iter().all(|hand| hand.contains(card)));
    let both = hands.iter().filter(|hand| hand.count(card) == 2).count() as f64;
    // Arrangements of 59 cards with 6 in the hand: both copies in it, C(57,4); one of two, 2·C(57,5).
    let choose = |n: u32, k: u32| (0..k).fold(1.0, |c, i| c * f64::from(n - i) / f64::from(i + 1));
    let odds = choose(57, 4) / (choose(57, 4) + 2.0 * choose(57, 5));
    let expected = odds * f64::from(deals);
    let deviation = (expected * (1.0 - odds)).sqrt();
    assert!((both - expected).abs() < 4.0 * deviation, "{both} of {deals}, expected {expected}");
}

#[test]
fn a_view_that_cannot_be_is_refused() {
    let mut view = view_with_known("");
    view.public.stock_count += 1;
    assert!(Determiniser::new(1).deal(&view).is_err());
}

#[test]
fn the_deal_can_be_played_on() {
    let mut game = Determiniser::new(1).deal(&view_with_known("")).unwrap();
    let mut events = Vec::new();
    let action = game.legal_actions().get(0).unwrap();
    game.play(Seat::new(0).unwrap(), &action, &mut events).unwrap();
    let first = events[0].seen_by(Viewer::Spectator);
    assert!(matches!(first, SeatEvent::Discarded { .. } | SeatEvent::Declared { .. }));
}
