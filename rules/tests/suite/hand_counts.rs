//! The hand counts of "Facts for tests": every hand there is, judged by the list of legal actions.

use zetema_rules::fair::{MatchSeed, Nonce, ServerSeed};
use zetema_rules::{
    Ace, Card, Cards, Declaration, FlushSuits, Game, Options, Preset, Rules, Suit, View, Viewer,
};

/// How many hands, with the two copies of a face told apart, and as multisets of faces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    apart: u64,
    multisets: u64,
}

impl Count {
    fn add(&mut self, weight: u64) {
        self.apart += weight;
        self.multisets += 1;
    }
}

/// Sequences and flushes include flush sequences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    hands: Count,
    sequences: Count,
    flush_sequences: Count,
    plain_flush_sequences: Count,
    plain_flushes: Count,
    imperial_flushes: Count,
    assemblies: Count,
}

impl Counts {
    fn add(&mut self, hand: Cards, view: &View) {
        // Of a face with two copies and one in hand, either copy may be the one.
        let imperial = hand.of_suit(Suit::Spades);
        let singles = imperial.faces_in_order().filter(|&card| imperial.count(card) == 1).count();
        let weight = 1 << singles;
        self.hands.add(weight);
        for declaration in view.legal_actions().declarations {
            match declaration {
                Declaration::Sequence(_) => self.sequences.add(weight),
                Declaration::Flush(cards) => self.add_flush(cards, weight),
                Declaration::FlushSequence(cards) => {
                    self.sequences.add(weight);
                    self.flush_sequences.add(weight);
                    if cards.of_suit(Suit::Spades).is_empty() {
                        self.plain_flush_sequences.add(weight);
                    }
                    self.add_flush(cards, weight);
                }
                Declaration::Assembly(_) => self.assemblies.add(weight),
                Declaration::Marriages { .. } => {}
            }
        }
    }

    fn add_flush(&mut self, cards: Cards, weight: u64) {
        if cards.of_suit(Suit::Spades).is_empty() {
            self.plain_flushes.add(weight);
        } else {
            self.imperial_flushes.add(weight);
        }
    }
}

fn count_hands(hand_size: u8, ace: Ace) -> Counts {
    let sackson: Options = *Preset::Sackson.rules(2, None).unwrap();
    let rules = Rules::new(Options { hand_size, ace, flush_suits: FlushSuits::Any, ..sackson }).unwrap();
    let seed = MatchSeed::derive(&ServerSeed::new([0; 32]), &[Nonce::EMPTY, Nonce::EMPTY]);
    let dealer = seed.dealer(rules.player_count());
    let game = Game::new(rules, dealer, &seed.deck(0, Suit::Spades), &mut Vec::new()).unwrap();
    let mut view = game.view(Viewer::Seat(game.to_act().unwrap()));
    let mut counts = Counts::default();
    every_hand(0, usize::from(hand_size), Cards::EMPTY, &mut |hand| {
        view.hand = hand;
        counts.add(hand, &view);
    });
    counts
}

/// Every multiset of `left` cards of the faces from `face` on, with those chosen.
fn every_hand(face: usize, left: usize, chosen: Cards, visit: &mut impl FnMut(Cards)) {
    if left == 0 {
        return visit(chosen);
    }
    let Some(card) = Card::from_index(face) else { return };
    let mut with = chosen;
    for copies in 1..=Cards::pack(Suit::Spades).count(card).min(left) {
        with.insert(card);
        every_hand(face + 1, left - copies, with, visit);
    }
    every_hand(face + 1, left, chosen, visit);
}

const fn count(apart: u64, multisets: u64) -> Count {
    Count { apart, multisets }
}

#[test]
fn six_card_hands() {
    let low = Counts {
        hands: count(82_598_880, 23_703_056),
        sequences: count(125_000, 32_768),
        flush_sequences: count(536, 32),
        plain_flush_sequences: count(24, 24),
        plain_flushes: count(5_148, 5_148),
        imperial_flushes: count(230_230, 12_727),
        assemblies: count(780, 624),
    };
    assert_eq!(count_hands(6, Ace::Low), low);
    let either = Counts {
        sequences: count(140_625, 36_864),
        flush_sequences: count(603, 36),
        plain_flush_sequences: count(27, 27),
        ..low
    };
    assert_eq!(count_hands(6, Ace::Either), either);
}

#[test]
fn five_card_hands() {
    let low = Counts {
        hands: count(8_259_888, 2_873_585),
        sequences: count(28_125, 9_216),
        flush_sequences: count(315, 36),
        plain_flush_sequences: count(27, 27),
        plain_flushes: count(3_861, 3_861),
        imperial_flushes: count(65_780, 5_005),
        assemblies: count(13, 13),
    };
    assert_eq!(count_hands(5, Ace::Low), low);
    let either = Counts {
        sequences: count(31_250, 10_240),
        flush_sequences: count(350, 40),
        plain_flush_sequences: count(30, 30),
        ..low
    };
    assert_eq!(count_hands(5, Ace::Either), either);
}
