//! A multiset of faces: a hand, a pile, a declaration.

use std::fmt;
use std::str::FromStr;

use crate::card::{Card, ParseCardError, Rank, Suit};

/// Every rank of one suit: the lowest lane of a card mask.
pub(crate) const LANE: u64 = 0x1FFF;
/// One rank in every suit, as a card mask, for rank 0.
const ACES: u64 = 0x0001_0001_0001_0001;

/// A multiset of faces, none more than twice (R2).
///
/// It is a bit set of the faces with the doubles beside it: sixteen bits for each suit, of which
/// thirteen are used. All operations are a few instructions and none allocates.
///
/// ```
/// use zetema_rules::Cards;
/// let hand: Cards = "KS 2C KS".parse()?;
/// assert_eq!(hand.len(), 3);
/// assert_eq!(hand.count("KS".parse()?), 2);
/// assert_eq!(hand.to_string(), "2C KS KS");
/// # Ok::<(), zetema_rules::ParseCardError>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cards {
    faces: u64,
    doubles: u64,
}

impl Cards {
    /// No card.
    pub const EMPTY: Self = Self { faces: 0, doubles: 0 };

    pub(crate) const fn from_faces(faces: u64) -> Self {
        Self { faces, doubles: 0 }
    }

    /// The doubles must be faces too.
    pub(crate) const fn from_masks(faces: u64, doubles: u64) -> Self {
        Self { faces, doubles }
    }

    /// The 65 cards of the pack, `imperial` doubled (R1).
    pub const fn pack(imperial: Suit) -> Self {
        Self { faces: LANE | LANE << 16 | LANE << 32 | LANE << 48, doubles: LANE << (16 * imperial as u32) }
    }

    pub(crate) const fn faces(self) -> u64 {
        self.faces
    }

    pub(crate) const fn doubles(self) -> u64 {
        self.doubles
    }

    /// How many cards.
    pub const fn len(self) -> usize {
        (self.faces.count_ones() + self.doubles.count_ones()) as usize
    }

    /// How many distinct faces.
    pub(crate) const fn face_count(self) -> usize {
        self.faces.count_ones() as usize
    }

    /// The distinct face with this number in their order, 0 for the first, if there are as many.
    pub(crate) const fn face(self, number: usize) -> Option<Card> {
        let (mut left, mut before) = (self.faces, number);
        while before > 0 && left != 0 {
            left &= left - 1;
            before -= 1;
        }
        if left == 0 { None } else { Some(Card::from_bit_position(left.trailing_zeros())) }
    }

    /// The last of the faces, if there is one.
    pub(crate) fn last_face(self) -> Option<Card> {
        self.faces.checked_ilog2().map(Card::from_bit_position)
    }

    /// How many cards of each suit. All four are counted at once, which is what listing flushes asks for.
    pub(crate) fn suit_counts(self) -> [usize; 4] {
        let counts = lane_counts(self.faces) + lane_counts(self.doubles);
        Suit::ALL.map(|suit| (counts >> (16 * suit.index()) & 0xFF) as usize)
    }

    /// Whether there is no card.
    pub const fn is_empty(self) -> bool {
        self.faces == 0
    }

    /// How many copies of this face: 0, 1 or 2.
    pub const fn count(self, card: Card) -> usize {
        (self.faces & card.bit() != 0) as usize + (self.doubles & card.bit() != 0) as usize
    }

    /// Whether at least one copy of this face is here.
    pub const fn contains(self, card: Card) -> bool {
        self.faces & card.bit() != 0
    }

    /// Adds one copy. A third copy of a face is not added, and the answer is `false`.
    pub const fn insert(&mut self, card: Card) -> bool {
        let bit = card.bit();
        if self.doubles & bit != 0 {
            return false;
        }
        self.doubles |= self.faces & bit;
        self.faces |= bit;
        true
    }

    /// Takes one copy away. The answer is `false` if there was none.
    pub const fn remove(&mut self, card: Card) -> bool {
        let bit = card.bit();
        let held = self.faces & bit != 0;
        self.faces &= !(bit & !self.doubles);
        self.doubles &= !bit;
        held
    }

    /// Both together, each face at most twice.
    #[must_use]
    pub const fn sum(self, other: Self) -> Self {
        Self {
            faces: self.faces | other.faces,
            doubles: self.doubles | other.doubles | (self.faces & other.faces),
        }
    }

    /// What is left when the other's cards are taken away; a copy that is not here is passed over.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self {
            faces: (self.faces & !other.faces) | (self.doubles & !other.doubles),
            doubles: self.doubles & !other.faces,
        }
    }

    /// Of each face the greater number of copies.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self { faces: self.faces | other.faces, doubles: self.doubles | other.doubles }
    }

    /// Of each face the smaller number of copies: what both share.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self { faces: self.faces & other.faces, doubles: self.doubles & other.doubles }
    }

    /// Whether every copy of `other` is here.
    pub const fn contains_all(self, other: Self) -> bool {
        other.faces & !self.faces == 0 && other.doubles & !self.doubles == 0
    }

    /// One copy of each face that is here.
    #[must_use]
    pub const fn distinct(self) -> Self {
        Self::from_faces(self.faces)
    }

    /// The cards of one rank.
    #[must_use]
    pub const fn of_rank(self, rank: Rank) -> Self {
        let mask = ACES << rank as u32;
        Self { faces: self.faces & mask, doubles: self.doubles & mask }
    }

    /// The cards of one suit.
    #[must_use]
    pub const fn of_suit(self, suit: Suit) -> Self {
        let mask = LANE << (16 * suit as u32);
        Self { faces: self.faces & mask, doubles: self.doubles & mask }
    }

    /// The distinct faces, in the order of their numbers.
    pub fn faces_in_order(self) -> impl Iterator<Item = Card> + Clone {
        let mut left = self.faces;
        std::iter::from_fn(move || {
            (left != 0).then(|| {
                let card = Card::from_bit_position(left.trailing_zeros());
                left &= left - 1;
                card
            })
        })
    }

    /// All cards in the order of their numbers, a double twice in a row.
    pub fn iter(self) -> impl Iterator<Item = Card> + Clone {
        self.faces_in_order().flat_map(move |card| std::iter::repeat_n(card, self.count(card)))
    }

    /// Collects cards; `None` if a face comes a third time.
    pub fn collect(cards: impl IntoIterator<Item = Card>) -> Option<Self> {
        let mut all = Self::EMPTY;
        for card in cards {
            if !all.insert(card) {
                return None;
            }
        }
        Some(all)
    }
}

impl From<Card> for Cards {
    fn from(card: Card) -> Self {
        Self::from_faces(card.bit())
    }
}

impl fmt::Display for Cards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, card) in self.iter().enumerate() {
            if i > 0 {
                f.write_str(" ")?;
            }
            write!(f, "{card}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Cards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{self}]")
    }
}

impl FromStr for Cards {
    type Err = ParseCardError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut all = Self::EMPTY;
        for word in text.split_whitespace() {
            if !all.insert(word.parse()?) {
                return Err(ParseCardError {
                    text: text.to_owned(),
                    expected: "list of cards, none more than twice",
                });
            }
        }
        Ok(all)
    }
}

/// How many bits are set in each lane of a card mask.
const fn lane_counts(mask: u64) -> u64 {
    let twos = mask - (mask >> 1 & 0x5555_5555_5555_5555);
    let fours = (twos & 0x3333_3333_3333_3333) + (twos >> 2 & 0x3333_3333_3333_3333);
    let bytes = (fours + (fours >> 4)) & 0x0F0F_0F0F_0F0F_0F0F;
    (bytes + (bytes >> 8)) & 0x00FF_00FF_00FF_00FF
}

/// A set of ranks: which zetemas were made, which assemblies were declared.
///
/// ```
/// use zetema_rules::{Rank, Ranks};
/// let ranks = Ranks::EMPTY.with(Rank::King).with(Rank::Two);
/// assert_eq!(ranks.iter().collect::<Vec<_>>(), [Rank::Two, Rank::King]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ranks(u16);

impl Ranks {
    /// No rank.
    pub const EMPTY: Self = Self(0);

    pub(crate) const fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// These ranks and one more.
    #[must_use]
    pub const fn with(self, rank: Rank) -> Self {
        Self(self.0 | 1 << rank as u16)
    }

    /// Whether the rank is in the set.
    pub const fn contains(self, rank: Rank) -> bool {
        self.0 & 1 << rank as u16 != 0
    }

    /// How many ranks.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The ranks, ace first.
    pub fn iter(self) -> impl Iterator<Item = Rank> {
        Rank::ALL.into_iter().filter(move |&rank| self.contains(rank))
    }
}
