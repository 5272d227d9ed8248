//! Suits, ranks and faces (R1–R3).

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// One of the four suits, in the order that card numbers use (R2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Suit {
    /// Clubs, written `C`.
    Clubs,
    /// Diamonds, written `D`.
    Diamonds,
    /// Hearts, written `H`.
    Hearts,
    /// Spades, written `S`; the imperial suit unless a match says otherwise (R1).
    Spades,
}

impl Suit {
    /// All four suits in order.
    pub const ALL: [Self; 4] = [Self::Clubs, Self::Diamonds, Self::Hearts, Self::Spades];

    /// The letter of the text form.
    pub const fn letter(self) -> char {
        match self {
            Self::Clubs => 'C',
            Self::Diamonds => 'D',
            Self::Hearts => 'H',
            Self::Spades => 'S',
        }
    }

    /// 0 for clubs to 3 for spades.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// One of the thirteen ranks, ace low (R3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Rank {
    Ace,
    Two,
    Three,
    Four,
    Five,
    Six,
    Seven,
    Eight,
    Nine,
    Ten,
    Jack,
    Queen,
    King,
}

impl Rank {
    /// All thirteen ranks, ace first.
    pub const ALL: [Self; 13] = [
        Self::Ace,
        Self::Two,
        Self::Three,
        Self::Four,
        Self::Five,
        Self::Six,
        Self::Seven,
        Self::Eight,
        Self::Nine,
        Self::Ten,
        Self::Jack,
        Self::Queen,
        Self::King,
    ];

    /// The rank at each place of a suit. At those that are not used is no card.
    const AT: [Self; PLACES_OF_A_SUIT as usize] = {
        let mut at = [Self::King; PLACES_OF_A_SUIT as usize];
        let mut rank = 0;
        while rank < Self::ALL.len() {
            at[rank] = Self::ALL[rank];
            rank += 1;
        }
        at
    };

    /// The letter of the text form: one of `A23456789TJQK`.
    pub const fn letter(self) -> char {
        b"A23456789TJQK"[self as usize] as char
    }

    /// 0 for the ace to 12 for the king.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Places for the ranks of a suit in a card mask.
const PLACES_OF_A_SUIT: u8 = 16;

/// A card, which is its face (R2): the two copies of an imperial card are the same `Card`.
///
/// ```
/// use zetema_rules::{Card, Rank, Suit};
/// let card: Card = "KS".parse()?;
/// assert_eq!(card, Card::new(Rank::King, Suit::Spades));
/// assert_eq!(card.index(), 51);
/// # Ok::<(), zetema_rules::ParseCardError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Card {
    /// The place of its bit in a card mask: sixteen for each suit, of which thirteen are used.
    place: u8,
}

impl Card {
    /// How many faces there are.
    pub const FACES: usize = 52;

    /// The card of this rank and suit.
    pub const fn new(rank: Rank, suit: Suit) -> Self {
        Self { place: suit as u8 * PLACES_OF_A_SUIT + rank as u8 }
    }

    /// The card with this number: suit × 13 + rank, so `AC` is 0 and `KS` is 51. `None` from 52 on.
    pub const fn from_index(index: usize) -> Option<Self> {
        if index < Self::FACES { Some(Self::NUMBERED[index]) } else { None }
    }

    /// All of them, by their numbers.
    const NUMBERED: [Self; Self::FACES] = {
        let mut cards = [Self { place: 0 }; Self::FACES];
        let mut index = 0;
        while index < Self::FACES {
            cards[index] = Self::new(Rank::ALL[index % 13], Suit::ALL[index / 13]);
            index += 1;
        }
        cards
    };

    /// All 52 faces in order.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator {
        Self::NUMBERED.into_iter()
    }

    /// The card's number, see [`Card::from_index`].
    pub const fn index(self) -> usize {
        self.suit().index() * 13 + self.rank().index()
    }

    /// The rank.
    pub const fn rank(self) -> Rank {
        Rank::AT[(self.place % PLACES_OF_A_SUIT) as usize]
    }

    /// The suit.
    pub const fn suit(self) -> Suit {
        Suit::ALL[(self.place / PLACES_OF_A_SUIT % 4) as usize]
    }

    pub(crate) const fn bit(self) -> u64 {
        1 << (self.place % 64)
    }

    pub(crate) const fn from_bit_position(position: u32) -> Self {
        #[allow(clippy::cast_possible_truncation)]
        Self { place: position as u8 }
    }
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.rank().letter(), self.suit().letter())
    }
}

impl fmt::Debug for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is no card, suit or rank.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text:?} is no {expected} (R2)")]
pub struct ParseCardError {
    /// What was given.
    pub text: String,
    /// What would have been right.
    pub expected: &'static str,
}

fn parse_letter<T: Copy>(
    text: &str,
    all: &[T],
    letter: impl Fn(T) -> char,
    expected: &'static str,
) -> Result<T, ParseCardError> {
    let mut chars = text.chars();
    let found = match (chars.next(), chars.next()) {
        (Some(only), None) => all.iter().copied().find(|&value| letter(value) == only),
        _ => None,
    };
    found.ok_or_else(|| ParseCardError { text: text.to_owned(), expected })
}

impl FromStr for Suit {
    type Err = ParseCardError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_letter(text, &Self::ALL, Self::letter, "suit: one of C D H S")
    }
}

impl FromStr for Rank {
    type Err = ParseCardError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_letter(text, &Self::ALL, Self::letter, "rank: one of A 2 3 4 5 6 7 8 9 T J Q K")
    }
}

impl FromStr for Card {
    type Err = ParseCardError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseCardError {
            text: text.to_owned(),
            expected: "card: a rank of A23456789TJQK, then a suit of CDHS",
        };
        let (rank, suit) = text.split_at_checked(1).ok_or_else(error)?;
        Ok(Self::new(rank.parse().map_err(|_| error())?, suit.parse().map_err(|_| error())?))
    }
}
