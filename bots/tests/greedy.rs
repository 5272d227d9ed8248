//! What `greedy` does in positions that tell.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use support::{decision, position};
use zetema_bots::{Greedy, Zetemas};
use zetema_sdk::{Action, Bot, Declaration, View};

fn choice(view: &View) -> Action {
    choice_of(Zetemas::Minded, view)
}

fn choice_of(zetemas: Zetemas, view: &View) -> Action {
    Greedy::new(zetemas).choose(&decision(view))
}

fn check_discards(view: &View, card: &str) {
    assert_eq!(choice(view), Action::Discard(card.parse().unwrap()));
}

/// It keeps the card, which it would discard if it paid no heed to zetemas.
fn check_keeps(view: &View, card: &str) {
    let discard = Action::Discard(card.parse().unwrap());
    assert_eq!(choice_of(Zetemas::Ignored, view), discard);
    assert_ne!(choice(view), discard);
}

#[test]
fn takes_a_zetema() {
    check_discards(&position("JS 2C 9D 3H 7C TD", "JC JD JH JS"), "JS");
}

#[test]
fn plays_the_fourth_card_if_it_holds_the_fifth() {
    check_discards(&position("JS JS 2C 9D 3H 7D", "JC JD JH"), "JS");
}

#[test]
fn keeps_the_fourth_card_if_another_may_hold_the_fifth() {
    let mut view = position("AS 7C 8C 9C TD KD", "AC AD AH");
    view.public.stock_count = 20;
    check_keeps(&view, "AS");
}

#[test]
fn keeps_the_fourth_card_all_the_more_if_the_other_is_known_to_hold_the_fifth() {
    let mut view = position("5S 7C 8C 9C TD JD", "5C 5D 5H");
    view.public.known_held[1] = "5S".parse().unwrap();
    check_keeps(&view, "5S");
}

#[test]
fn hands_over_no_zetema_that_wins_the_match() {
    // A zetema of twos is worth five points, and they are all that the other needs.
    let mut view = position("2S 7C 8C 9C TD JC", "2C 2D 2H");
    view.public.totals[1] = 295;
    check_keeps(&view, "2S");
}

#[test]
fn declares_a_meld_before_the_discard() {
    let view = position("2C 3D 4H 5S 6C 7D", "");
    assert!(matches!(choice(&view), Action::Declare(Declaration::Sequence(_))));
}

#[test]
fn declares_the_flush_sequence_and_no_lesser_thing() {
    let view = position("2C 3C 4C 5C 6C 7C", "");
    assert!(matches!(choice(&view), Action::Declare(Declaration::FlushSequence(_))));
}

#[test]
fn declares_whatever_wins_the_match_at_once() {
    let mut view = position("KH QH 2C 9D 3H 7C", "");
    view.public.totals[0] = 290;
    assert!(matches!(choice(&view), Action::Declare(Declaration::Marriages { .. })));
}

#[test]
fn an_assembly_goes_before_a_marriage() {
    let view = position("9C 9D 9H 9S 9S KH", "QH");
    assert!(matches!(choice(&view), Action::Declare(Declaration::Assembly(_))));
}
