//! Cards, and lists of cards read as multisets (R1, R2).

use std::fmt;

/// The rank of an ace; ranks run from here to [`KING`] (R3).
pub const ACE: u8 = 1;
/// The rank of a five.
pub const FIVE: u8 = 5;
/// The rank of a jack.
pub const JACK: u8 = 11;
/// The rank of a queen.
pub const QUEEN: u8 = 12;
/// The rank of a king.
pub const KING: u8 = 13;
/// How many ranks there are (R3).
pub const RANKS: u8 = 13;

/// A suit, in the order of the text form (R2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Suit {
    /// `C`
    Clubs,
    /// `D`
    Diamonds,
    /// `H`
    Hearts,
    /// `S`
    Spades,
}

/// The four suits.
pub const SUITS: [Suit; 4] = [Suit::Clubs, Suit::Diamonds, Suit::Hearts, Suit::Spades];

/// A card, which is its face: the two copies of an imperial card are equal (R2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Card {
    /// From [`ACE`] to [`KING`].
    pub rank: u8,
    /// The suit.
    pub suit: Suit,
}

impl fmt::Display for Card {
    /// The text form: `KS`, `TD` (R2).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rank = match self.rank {
            1 => "A",
            2 => "2",
            3 => "3",
            4 => "4",
            5 => "5",
            6 => "6",
            7 => "7",
            8 => "8",
            9 => "9",
            10 => "T",
            11 => "J",
            12 => "Q",
            13 => "K",
            _ => "?",
        };
        let suit = match self.suit {
            Suit::Clubs => "C",
            Suit::Diamonds => "D",
            Suit::Hearts => "H",
            Suit::Spades => "S",
        };
        write!(f, "{rank}{suit}")
    }
}

impl fmt::Debug for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// All 65 cards: the 52, suit by suit, then the imperial suit once more (R1).
pub fn pack(imperial: Suit) -> Vec<Card> {
    let mut cards = Vec::new();
    for suit in SUITS.into_iter().chain([imperial]) {
        for rank in ACE..=KING {
            cards.push(Card { rank, suit });
        }
    }
    cards
}

/// How often a face lies among the cards.
pub fn count(cards: &[Card], face: Card) -> usize {
    cards.iter().filter(|card| **card == face).count()
}

/// How many cards two multisets of faces have in common (R13).
pub fn shared(left: &[Card], right: &[Card]) -> usize {
    let mut rest = right.to_vec();
    left.iter().filter(|card| take(&mut rest, **card)).count()
}

/// Takes one card of the face away; says whether there was one.
pub(super) fn take(cards: &mut Vec<Card>, face: Card) -> bool {
    match cards.iter().position(|card| *card == face) {
        Some(place) => {
            cards.remove(place);
            true
        }
        None => false,
    }
}

/// The cards in order.
pub(super) fn sorted(mut cards: Vec<Card>) -> Vec<Card> {
    cards.sort_unstable();
    cards
}

/// Every way to pick `size` of the cards, copies of a face told apart.
pub(super) fn picks(cards: &[Card], size: usize) -> impl Iterator<Item = Vec<Card>> + '_ {
    masks(cards).filter(move |mask| mask.count_ones() as usize == size).map(|mask| picked(cards, mask))
}

/// Every way to pick any number of the cards, copies of a face told apart.
pub(super) fn subsets(cards: &[Card]) -> impl Iterator<Item = Vec<Card>> + '_ {
    masks(cards).map(|mask| picked(cards, mask))
}

/// One number for each subset: bit `i` stands for the card at place `i`.
fn masks(cards: &[Card]) -> std::ops::Range<u32> {
    0..(1 << cards.len())
}

/// The cards whose bits are set.
fn picked(cards: &[Card], mask: u32) -> Vec<Card> {
    let with_places = cards.iter().enumerate();
    with_places.filter(|(place, _)| mask >> place & 1 == 1).map(|(_, card)| *card).collect()
}
