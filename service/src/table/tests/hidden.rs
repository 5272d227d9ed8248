//! Nothing hidden leaves before its time (I3).

use std::sync::Arc;

use zetema_rules::fair::MatchSeed;
use zetema_rules::{Action, Card, Deck, PACK, Players, Preset, Seat, Suit, Viewer};

use super::harness::*;
use crate::table::{Choice, Deals, Shuffler, TableEvent};

/// The fair deck, with the hand of seat 1 of two changed for as many cards from the bottom of the stock, or not. Seat 0
/// plays first.
struct Twin {
    swapped: bool,
}

impl Shuffler for Twin {
    fn dealer(&self, _seed: &MatchSeed, _players: Players) -> Seat {
        seat(1)
    }

    fn deck(&self, seed: &MatchSeed, deal: u32, imperial: Suit) -> Deck {
        let mut order: [Card; PACK] = *seed.deck(deal, imperial).reveal();
        if self.swapped {
            // Seat 0 gets the cards 0, 2, 4 …, seat 1 the others.
            for place in 0..6 {
                order.swap(2 * place + 1, PACK - 1 - place);
            }
        }
        Deck::new(&order, imperial).unwrap()
    }
}

#[test]
fn two_matches_that_differ_in_what_a_seat_cannot_see_look_the_same_to_it() {
    let rules = Preset::Victorian.rules(2, None).unwrap();
    let twins = [false, true].map(|swapped| {
        let mut harness = Harness::new(rules, Deals::Joint, 9, Arc::new(Twin { swapped }));
        harness.join_all();
        // Seat 0 tries things, right and wrong, and then acts.
        let hand = harness.table.snapshot(Viewer::Seat(seat(0)), at_ms(0)).view.unwrap().hand;
        let not_held = Card::all().filter(|&card| !hand.contains(card));
        let tried = not_held.map(|card| (1, Choice::Action(Action::Discard(card)))).chain([
            (0, Choice::LegalIndex(0)),
            (1, Choice::LegalIndex(1_000)),
            (2, Choice::LegalIndex(0)),
        ]);
        let rejections: Vec<_> =
            tried.map(|(decision, choice)| harness.act(0, decision, choice).unwrap_err()).collect();
        let receipt = harness.act(0, 1, Choice::LegalIndex(0));
        (harness, rejections, receipt)
    });
    let [(one, one_rejected, one_receipt), (other, other_rejected, other_receipt)] = twins;
    assert_eq!((one_rejected, one_receipt), (other_rejected, other_receipt));
    for viewer in [0, 2] {
        assert!(one.observed[viewer] == other.observed[viewer], "seat 0 and spectators see the same");
    }
    assert!(one.observed[1] != other.observed[1], "seat 1 holds other cards");
}

#[test]
fn no_debug_output_shows_a_card_of_a_hand_a_seed_or_a_nonce() {
    let mut harness = Harness::dealt(Preset::Sackson.rules(2, None).unwrap(), 0xAB);
    harness.act(harness.to_act(), 1, Choice::LegalIndex(0)).unwrap();
    let mut shown = vec![format!("{:?}{:?}", harness.table, harness.table.created())];
    let legal = harness.table.snapshot(Viewer::Seat(seat(harness.to_act())), at_ms(0)).to_decide.unwrap();
    shown.push(format!("{:?}", Choice::Action(legal.get(0).unwrap())));
    for entry in harness.table.entries_from(0).take(6) {
        shown.push(format!("{entry:?}"));
    }
    for (_, observed) in &harness.observed {
        // What came after the deal; before it the nonces were published.
        shown.push(format!("{:?}", observed[1].view));
        shown.push(format!("{:?}", observed[1].to_decide));
        for event in &observed[1].events {
            if let TableEvent::Game(event) = event {
                shown.push(format!("{event:?}"));
            }
        }
    }
    shown.push(format!("{:?}", harness.table.snapshot(Viewer::Seat(seat(0)), at_ms(0)).to_decide));
    let shown = shown.concat();
    assert!(!shown.contains("171, 171"), "the seed");
    assert!(!shown.to_lowercase().contains("abab"), "the seed in hexadecimal");
    let hand = harness.table.snapshot(Viewer::Seat(seat(0)), at_ms(0)).view.unwrap().hand;
    let played = harness.table.snapshot(Viewer::Spectator, at_ms(0)).view.unwrap().public.tableau;
    for card in hand.minus(played).faces_in_order() {
        assert!(!shown.contains(&card.to_string()), "{card}");
        assert!(!shown.contains(&format!("{card:?}")), "{card}");
    }
}
