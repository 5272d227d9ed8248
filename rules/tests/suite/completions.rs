//! What a view refuses as the hidden cards of a match.

use zetema_rules::{Card, Cards, CompleteError, Phase, Preset, Stage, View, Viewer};

use crate::support::{card, cards, hands, seat, stock};
use crate::walk::{Trouble, Walk};

/// A view of seat 0 with the hands and the stock that it does not see.
fn dealt() -> (View, Vec<Cards>, Vec<Card>) {
    let walk = Walk::new(Preset::Victorian.rules(3, None).unwrap(), 11, Trouble::NONE);
    let view = walk.game.view(Viewer::Seat(seat(0)));
    (view, hands(&walk.game), stock(&walk.game, &walk.deck).to_vec())
}

#[test]
fn the_hidden_cards_themselves_are_taken() {
    let (view, hands, stock) = dealt();
    assert!(view.complete(&hands, &stock).is_ok());
}

#[test]
fn there_is_a_hand_for_each_seat() {
    let (view, hands, stock) = dealt();
    assert_eq!(view.complete(&hands[..2], &stock), Err(CompleteError::Hands { given: 2, players: 3 }));
}

#[test]
fn hands_have_the_counts_that_are_seen() {
    let (view, mut hands, mut stock) = dealt();
    hands[2].insert(stock.remove(0));
    let expected = CompleteError::HandCount { seat: seat(2), given: 7, seen: 6 };
    assert_eq!(view.complete(&hands, &stock), Err(expected));
}

#[test]
fn the_stock_has_the_count_that_is_seen() {
    let (view, hands, stock) = dealt();
    assert_eq!(view.complete(&hands, &stock[1..]), Err(CompleteError::StockCount { given: 46, seen: 47 }));
}

#[test]
fn the_viewers_own_hand_is_what_it_sees() {
    let (view, mut hands, stock) = dealt();
    hands.swap(0, 1);
    assert_eq!(view.complete(&hands, &stock), Err(CompleteError::Hand { seat: seat(0) }));
}

#[test]
fn cards_known_to_be_held_are_held() {
    let (mut view, hands, stock) = dealt();
    view.public.known_held[1] = hands[2];
    assert_eq!(view.complete(&hands, &stock), Err(CompleteError::Hand { seat: seat(1) }));
}

#[test]
fn an_exposed_card_is_held() {
    let (mut view, hands, stock) = dealt();
    view.public.exposed[1] = hands[2].iter().next();
    assert_eq!(view.complete(&hands, &stock), Err(CompleteError::Hand { seat: seat(1) }));
}

#[test]
fn the_seat_to_act_holds_a_card_that_it_may_discard() {
    let (mut view, hands, stock) = dealt();
    let other = hands[2].minus(hands[1]);
    view.public.phase = Phase::Turn { seat: seat(1), stage: Stage::DiscardDeclared(other) };
    assert_eq!(view.complete(&hands, &stock), Err(CompleteError::Hand { seat: seat(1) }));
}

#[test]
fn all_cards_together_are_the_pack() {
    let (view, hands, mut stock) = dealt();
    stock[0] = if stock[0] == card("2C") { card("3C") } else { card("2C") };
    assert_eq!(view.complete(&hands, &stock), Err(CompleteError::NotThePack));
    let (view, mut hands, stock) = dealt();
    hands[1] = cards("2C 3C 4C 5C 6C 7C");
    assert_eq!(view.complete(&hands, &stock), Err(CompleteError::NotThePack));
}
