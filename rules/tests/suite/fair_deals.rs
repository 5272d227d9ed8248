//! The design's vectors for fair deals.

use zetema_rules::fair::{MatchSeed, Nonce, NonceTooLong, ServerSeed};
use zetema_rules::{Card, Players, Suit};

use crate::support::seat;

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

fn nonce(text: &str) -> Nonce {
    Nonce::new(text.as_bytes()).unwrap()
}

fn counting_seed() -> ServerSeed {
    ServerSeed::new(std::array::from_fn(|i| u8::try_from(i).unwrap()))
}

fn three_seats() -> MatchSeed {
    MatchSeed::derive(&counting_seed(), &[nonce("alice"), Nonce::EMPTY, nonce("carol")])
}

fn two_seats() -> MatchSeed {
    MatchSeed::derive(&ServerSeed::new([0; 32]), &[Nonce::EMPTY, Nonce::EMPTY])
}

fn check_deck(seed: &MatchSeed, deal: u32, imperial: Suit, expected: &str) {
    let expected: Vec<Card> = expected.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let deck = seed.deck(deal, imperial);
    assert_eq!(deck.reveal()[..expected.len()], expected[..], "deck {deal} with {imperial:?} imperial");
}

#[test]
fn commitment_and_hashes_are_the_designs() {
    assert_eq!(
        counting_seed().commitment().to_string(),
        "9eac32f1d6b7c64c2c4e7f30f0a05c8d7369836af4a345d19e6baf5b4bb9bf65"
    );
    assert_eq!(
        nonce("alice").hash().to_string(),
        "e7770044b365de959564df05179dc95a7ef15bef47b2100bc6d85ce6c6139101"
    );
    assert_eq!(
        hex(three_seats().reveal()),
        "7af24fb12e9089b09e4cacc8843fb1aabc837f29014acb36e27a7ade01eda1fe"
    );
    assert_eq!(hex(two_seats().reveal()), "c26684778bfe26740c3abdd6a8d747865f89f8d51c9700e829e2289f76b07e08");
}

#[test]
fn dealers_are_the_designs() {
    assert_eq!(three_seats().dealer(Players::new(3).unwrap()), seat(1));
    assert_eq!(two_seats().dealer(Players::TWO), seat(0));
}

#[test]
fn decks_are_the_designs() {
    let deck_0 = "2S 5S 5S QD KD JS QS 2H TD 4S 5H 2C 2D 8D KS 6D 8S 3H 3S TH TC JD TS 3D JH 5C 7D 6S KC 7H \
        3C KS AS 9S 6C KH AC 7S AD 3S QC 8H 6H 9D JS 8C 9C 4D AS 7C 7S 6S QH QS 9S 5D 2S 8S 9H 4C 4S TS AH 4H JC";
    assert_eq!(deck_0.split_whitespace().count(), 65);
    check_deck(&three_seats(), 0, Suit::Spades, deck_0);
    check_deck(&three_seats(), 1, Suit::Spades, "QD 2S TC 3D 2S KS 3C 8S");
    check_deck(&two_seats(), 0, Suit::Spades, "6S 9C 4C AS 7S 8C 7D 3C");
    check_deck(&two_seats(), 0, Suit::Hearts, "6S 9C 4C AH 7S 8C 7D 3C");
}

#[test]
fn a_nonce_has_at_most_32_bytes() {
    assert_eq!(Nonce::new(&[7; 32]).unwrap().reveal(), [7; 32]);
    assert_eq!(Nonce::new(&[7; 33]), Err(NonceTooLong { given: 33 }));
}

#[test]
fn a_nonces_length_is_part_of_the_seed() {
    let split = |first, second| MatchSeed::derive(&counting_seed(), &[nonce(first), nonce(second)]);
    assert_ne!(split("ab", "c"), split("a", "bc"));
    assert_ne!(split("", "abc"), split("abc", ""));
}
