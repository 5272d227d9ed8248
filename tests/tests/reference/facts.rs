//! The counts of hands in "Facts for tests", over every hand that there is.

use std::collections::BTreeSet;

use zetema_tests::reference::{
    Ace, Card, Declaration, FlushSuits, Kind, MeldSize, Preset, Rules, SUITS, Suit, Teams, declarations,
    meld_kind, pack,
};

use crate::support::{all_presets, royal};

/// How many hands of some kind there are.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Tally {
    /// The two copies of a face told apart.
    cards: u64,
    /// As multisets of faces.
    faces: u64,
}

impl Tally {
    fn add(&mut self, counts: bool, weight: u64) {
        if counts {
            self.cards += weight;
            self.faces += 1;
        }
    }
}

/// The tallies of all hands of one size.
#[derive(Default, PartialEq, Eq, Debug)]
struct Census {
    hands: Tally,
    sequences_low: Tally,
    sequences_either: Tally,
    flush_sequences_low: Tally,
    flush_sequences_either: Tally,
    plain_flush_sequences_low: Tally,
    plain_flush_sequences_either: Tally,
    plain_flushes: Tally,
    imperial_flushes: Tally,
    assemblies: Tally,
}

/// The four rules that a hand is held against.
struct Readings {
    low_any: Rules,
    either_any: Rules,
    low_plain: Rules,
    either_plain: Rules,
}

impl Readings {
    fn new(size: usize) -> Self {
        let base = Rules {
            hand: size,
            meld_size: MeldSize::Hand,
            ..Preset::Sackson.rules(2, Teams::Individual).unwrap()
        };
        let with = |ace, flush_suits| Rules { ace, flush_suits, ..base.clone() };
        Self {
            low_any: with(Ace::Low, FlushSuits::Any),
            either_any: with(Ace::Either, FlushSuits::Any),
            low_plain: with(Ace::Low, FlushSuits::Plain),
            either_plain: with(Ace::Either, FlushSuits::Plain),
        }
    }
}

/// Goes through every multiset of `size` faces and counts it in.
fn census(size: usize) -> Census {
    let faces: BTreeSet<Card> = pack(Suit::Spades).into_iter().collect();
    let faces: Vec<Card> = faces.into_iter().collect();
    let mut census = Census::default();
    extend(&mut census, &Readings::new(size), &faces, size, &mut Vec::new(), 1);
    census
}

/// Adds none, one or both copies of the first face, and goes on with the other faces. The weight
/// is the number of hands of cards that the faces stand for.
fn extend(
    census: &mut Census,
    readings: &Readings,
    faces: &[Card],
    missing: usize,
    hand: &mut Vec<Card>,
    weight: u64,
) {
    if missing == 0 {
        count_in(census, readings, hand, weight);
        return;
    }
    let Some((face, others)) = faces.split_first() else {
        return;
    };
    extend(census, readings, others, missing, hand, weight);
    let copies = if face.suit == Suit::Spades { 2 } else { 1 };
    hand.push(*face);
    extend(census, readings, others, missing - 1, hand, weight * copies);
    if copies == 2 && missing >= 2 {
        hand.push(*face);
        extend(census, readings, others, missing - 2, hand, weight);
        hand.pop();
    }
    hand.pop();
}

fn count_in(census: &mut Census, readings: &Readings, hand: &[Card], weight: u64) {
    let is_sequence = |rules| {
        let kind = meld_kind(rules, hand);
        matches!(kind, Some(Kind::Sequence | Kind::FlushSequence))
    };
    let is_flush = |rules| {
        let kind = meld_kind(rules, hand);
        matches!(kind, Some(Kind::Flush | Kind::FlushSequence))
    };
    let is_both = |rules| meld_kind(rules, hand) == Some(Kind::FlushSequence);
    let Readings { low_any, either_any, low_plain, either_plain } = readings;
    let all_ranks = |rank: u8| hand.iter().filter(|card| card.rank == rank).count() == 5;
    let flush = is_flush(low_any);
    census.hands.add(true, weight);
    census.sequences_low.add(is_sequence(low_any), weight);
    census.sequences_either.add(is_sequence(either_any), weight);
    census.flush_sequences_low.add(is_both(low_any), weight);
    census.flush_sequences_either.add(is_both(either_any), weight);
    census.plain_flush_sequences_low.add(is_both(low_plain), weight);
    census.plain_flush_sequences_either.add(is_both(either_plain), weight);
    census.plain_flushes.add(is_flush(low_plain), weight);
    census.imperial_flushes.add(flush && !is_flush(low_plain), weight);
    census.assemblies.add((1..=13).any(all_ranks), weight);
}

fn tally(cards: u64, faces: u64) -> Tally {
    Tally { cards, faces }
}

#[test]
fn six_card_hands_number_as_the_facts_say() {
    let expected = Census {
        hands: tally(82_598_880, 23_703_056),
        sequences_low: tally(125_000, 32_768),
        sequences_either: tally(140_625, 36_864),
        flush_sequences_low: tally(536, 32),
        flush_sequences_either: tally(603, 36),
        plain_flush_sequences_low: tally(24, 24),
        plain_flush_sequences_either: tally(27, 27),
        plain_flushes: tally(5_148, 5_148),
        imperial_flushes: tally(230_230, 12_727),
        assemblies: tally(780, 624),
    };
    assert_eq!(census(6), expected);
}

#[test]
fn five_card_hands_number_as_the_facts_say() {
    let expected = Census {
        hands: tally(8_259_888, 2_873_585),
        sequences_low: tally(28_125, 9_216),
        sequences_either: tally(31_250, 10_240),
        flush_sequences_low: tally(315, 36),
        flush_sequences_either: tally(350, 40),
        plain_flush_sequences_low: tally(27, 27),
        plain_flush_sequences_either: tally(30, 30),
        plain_flushes: tally(3_861, 3_861),
        imperial_flushes: tally(65_780, 5_005),
        assemblies: tally(13, 13),
    };
    assert_eq!(census(5), expected);
}

#[test]
fn a_marriage_declaration_has_23_suit_contents() {
    let rules = Preset::Sackson.rules(2, Teams::Individual).unwrap();
    let all = pack(Suit::Spades);
    let royals: Vec<Card> = all.into_iter().filter(|card| royal(*card)).collect();
    let contents = |declaration: Declaration| {
        let of_suit = |suit| declaration.hand.iter().filter(|card| card.suit == suit).count();
        SUITS.map(of_suit)
    };
    let found: BTreeSet<[usize; 4]> = declarations(&rules, &royals, &[], None)
        .into_iter()
        .filter(|declaration| declaration.kind == Kind::Marriages)
        .map(contents)
        .collect();
    assert_eq!(found.len(), 23);
}

#[test]
fn the_stock_after_the_deal_is_as_the_facts_say() {
    for rules in all_presets() {
        let expected = [53, 47, 41, 35, 35][rules.players - 2];
        assert_eq!(65 - rules.players * rules.hand, expected, "{rules:?}");
    }
}
