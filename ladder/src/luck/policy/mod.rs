//! The player of reference, version 1. Any change to what it plays is a new version.
//!
//! It looks at its own hand and the table only, and one action ahead. It plays the action that is worth most, in points:
//!
//! - what the action scores;
//! - what the cards that stay in hand promise (`prospects.rs`, `marriages.rs`);
//! - what the pile under a discard promises (`piles.rs`). A declaration that a discard follows is worth its best discard;
//! - up to eight points of chance, so that the playouts of a deck differ.
//!
//! It plays much as the house bot `greedy`, and is a player of its own: that one may change, this one may not. Numbers are added,
//! multiplied, divided and compared only, which every machine does alike.

mod marriages;
mod piles;
mod prospects;

use zetema_rules::{Action, Assembly, Card, Cards, Declaration, LegalActions, Seat, View};

use super::random::Random;
use piles::Piles;
use prospects::Prospects;

/// What the reference plays here; `None` if there is nothing to choose from.
pub(super) fn choose(view: &View, seat: Seat, legal: &LegalActions, random: &mut Random) -> Option<Action> {
    let thought = Thought { view, prospects: Prospects::new(view), piles: Piles { view, seat } };
    let mut best: Option<(f64, Action)> = None;
    for action in legal.iter() {
        let worth = thought.worth(&action) + random.points();
        if best.is_none_or(|(most, _)| worth > most) {
            best = Some((worth, action));
        }
    }
    best.map(|(_, action)| action)
}

/// One decision, thought over.
struct Thought<'a> {
    view: &'a View,
    prospects: Prospects<'a>,
    piles: Piles<'a>,
}

impl Thought<'_> {
    fn worth(&self, action: &Action) -> f64 {
        let hand = self.view.hand;
        match action {
            Action::Discard(card) => self.discard(hand, self.view.public.tableau, *card),
            Action::Declare(declaration) => {
                f64::from(self.view.points(action)) + self.after(hand, declaration)
            }
        }
    }

    /// What is promised after a declaration.
    fn after(&self, hand: Cards, declaration: &Declaration) -> f64 {
        let rules = &self.view.rules;
        let tableau = self.view.public.tableau;
        let cards = declaration.from_hand(rules.imperial_suit);
        match *declaration {
            Declaration::Marriages { tableau: taken, .. } => {
                let (hand, tableau) = (hand.minus(cards), tableau.minus(taken));
                if rules.marriage_then_discard && !hand.is_empty() {
                    self.best_discard(hand, hand, tableau)
                } else {
                    self.prospects.of(hand, tableau)
                }
            }
            Declaration::Assembly(_) if rules.assembly == Assembly::Remove => {
                self.prospects.of(hand.minus(cards), tableau)
            }
            _ => self.best_discard(hand, cards, tableau),
        }
    }

    fn best_discard(&self, hand: Cards, allowed: Cards, tableau: Cards) -> f64 {
        let discards = allowed.faces_in_order().map(|card| self.discard(hand, tableau, card));
        discards.fold(f64::NEG_INFINITY, f64::max)
    }

    fn discard(&self, mut hand: Cards, mut tableau: Cards, card: Card) -> f64 {
        hand.remove(card);
        tableau.insert(card);
        let pile = self.piles.after_discard(hand, tableau, card.rank());
        if tableau.of_rank(card.rank()).len() == 5 {
            tableau = tableau.minus(tableau.of_rank(card.rank()));
        }
        pile + self.prospects.of(hand, tableau)
    }
}

fn to_f64(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}

/// A power by multiplication alone, which is the same to the last bit everywhere.
fn power(base: f64, exponent: u32) -> f64 {
    (0..exponent).fold(1.0, |product, _| product * base)
}
