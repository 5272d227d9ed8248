//! What can be declared from a hand and a tableau, by trying every subset (R11 to R15).

use std::collections::BTreeSet;

use super::card::{ACE, Card, KING, QUEEN, RANKS, SUITS, count, picks, shared, sorted, subsets};
use super::rules::{Ace, FlushSuits, MarriageHandMin, Rules};

/// The kind of a declaration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// R11
    Sequence,
    /// R12
    Flush,
    /// R12
    FlushSequence,
    /// R14
    Assembly,
    /// R15
    Marriages,
}

/// A declaration: its kind and two multisets of faces, each in order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Declaration {
    /// What it is.
    pub kind: Kind,
    /// The cards from hand, in order.
    pub hand: Vec<Card>,
    /// The cards from the tableau, in order; only marriages have any.
    pub tableau: Vec<Card>,
}

/// Everything that may be declared, with the last meld that the same player scored in this deal.
pub fn declarations(
    rules: &Rules,
    hand: &[Card],
    tableau: &[Card],
    last_meld: Option<&[Card]>,
) -> BTreeSet<Declaration> {
    let mut all = melds(rules, hand, last_meld);
    all.extend(assemblies(hand));
    all.extend(marriages(rules, hand, tableau));
    all
}

/// Sequences, flushes and flush sequences, less those that `max_reused` bars (R13).
fn melds(rules: &Rules, hand: &[Card], last_meld: Option<&[Card]>) -> BTreeSet<Declaration> {
    let mut found = BTreeSet::new();
    for cards in picks(hand, rules.meld_cards()) {
        let Some(kind) = meld_kind(rules, &cards) else {
            continue;
        };
        if let (Some(most), Some(last)) = (rules.max_reused, last_meld)
            && shared(&cards, last) > most
        {
            continue;
        }
        found.insert(Declaration { kind, hand: sorted(cards), tableau: Vec::new() });
    }
    found
}

/// What M cards are: at most one of sequence, flush and flush sequence (R11, R12).
pub fn meld_kind(rules: &Rules, cards: &[Card]) -> Option<Kind> {
    if cards.len() != rules.meld_cards() {
        return None;
    }
    match (is_sequence(rules, cards), is_flush(rules, cards)) {
        (true, true) => Some(Kind::FlushSequence),
        (true, false) => Some(Kind::Sequence),
        (false, true) => Some(Kind::Flush),
        (false, false) => None,
    }
}

/// Consecutive ranks, the ace below the two or, under `either`, above the king (R3, R11).
fn is_sequence(rules: &Rules, cards: &[Card]) -> bool {
    let low: Vec<u8> = cards.iter().map(|card| card.rank).collect();
    let above_king = |rank: u8| if rank == ACE { KING + 1 } else { rank };
    let high: Vec<u8> = low.iter().copied().map(above_king).collect();
    are_consecutive(low) || rules.ace == Ace::Either && are_consecutive(high)
}

/// Whether the numbers, put in order, go up by one.
fn are_consecutive(mut numbers: Vec<u8>) -> bool {
    numbers.sort_unstable();
    numbers.windows(2).all(|pair| pair[1] == pair[0] + 1)
}

/// One suit, and under `plain` not the imperial one (R12).
fn is_flush(rules: &Rules, cards: &[Card]) -> bool {
    SUITS.into_iter().any(|suit| {
        cards.iter().all(|card| card.suit == suit)
            && (rules.flush_suits == FlushSuits::Any || suit != rules.imperial)
    })
}

/// All five cards of a rank, from hand (R14).
fn assemblies(hand: &[Card]) -> Vec<Declaration> {
    (ACE..=RANKS)
        .map(|rank| {
            let of_rank = hand.iter().copied().filter(|card| card.rank == rank);
            sorted(of_rank.collect())
        })
        .filter(|cards| cards.len() == 5)
        .map(|cards| Declaration { kind: Kind::Assembly, hand: cards, tableau: Vec::new() })
        .collect()
}

/// Kings, each with the queen of its suit, from hand and tableau (R15).
fn marriages(rules: &Rules, hand: &[Card], tableau: &[Card]) -> BTreeSet<Declaration> {
    let royal = |card: &Card| card.rank == KING || card.rank == QUEEN;
    let hand: Vec<Card> = hand.iter().copied().filter(royal).collect();
    let tableau: Vec<Card> = tableau.iter().copied().filter(royal).collect();
    let mut found = BTreeSet::new();
    for from_hand in subsets(&hand) {
        for from_tableau in subsets(&tableau) {
            if are_marriages(&from_hand, &from_tableau) && enough_from_hand(rules, &from_hand, &from_tableau)
            {
                found.insert(Declaration {
                    kind: Kind::Marriages,
                    hand: sorted(from_hand.clone()),
                    tableau: sorted(from_tableau),
                });
            }
        }
    }
    found
}

/// Whether the cards are at least one king, and in each suit as many queens as kings (R15).
fn are_marriages(from_hand: &[Card], from_tableau: &[Card]) -> bool {
    let number = |card| count(from_hand, card) + count(from_tableau, card);
    let some = !from_hand.is_empty() || !from_tableau.is_empty();
    some && SUITS.into_iter().all(|suit| {
        let king = Card { rank: KING, suit };
        let queen = Card { rank: QUEEN, suit };
        number(king) == number(queen)
    })
}

/// Whether enough of the marriages comes from hand (R15, `marriage_hand_min`).
fn enough_from_hand(rules: &Rules, from_hand: &[Card], from_tableau: &[Card]) -> bool {
    match rules.marriage_hand_min {
        MarriageHandMin::Any => !from_hand.is_empty(),
        MarriageHandMin::Each => SUITS.into_iter().all(|suit| {
            let of_suit = |cards: &[Card]| cards.iter().filter(|card| card.suit == suit).count();
            let king = Card { rank: KING, suit };
            let marriages = count(from_hand, king) + count(from_tableau, king);
            of_suit(from_hand) >= marriages
        }),
    }
}
