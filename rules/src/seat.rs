//! Seats, sides and team forms (R4).

use std::fmt;

use crate::rules::RulesError;

/// A player's place at the table, counted from 0 clockwise (R4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Seat(u8);

impl Seat {
    /// The most seats a match has.
    pub const MAX: usize = 6;

    /// The seat with this 0-based number. `None` from 6 on.
    pub const fn new(index: usize) -> Option<Self> {
        if index < Self::MAX {
            #[allow(clippy::cast_possible_truncation)]
            Some(Self(index as u8))
        } else {
            None
        }
    }

    /// The 0-based number.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The seat so many places clockwise among `players`.
    #[must_use]
    pub const fn clockwise(self, places: usize, players: Players) -> Self {
        let (sum, count) = (self.index() + places, players.count());
        // Nearly always it is once around at most, and a division takes as long as all else of a turn.
        let index = if sum < count {
            sum
        } else if sum < 2 * count {
            sum - count
        } else {
            sum % count
        };
        #[allow(clippy::cast_possible_truncation)]
        Self(index as u8)
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// How many players a match has: 2 to 6 (R4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Players(u8);

impl Players {
    /// Two players.
    pub const TWO: Self = Self(2);

    /// # Errors
    /// [`RulesError::Players`] outside 2–6.
    pub const fn new(count: usize) -> Result<Self, RulesError> {
        match count {
            #[allow(clippy::cast_possible_truncation)]
            2..=6 => Ok(Self(count as u8)),
            _ => Err(RulesError::Players { given: count }),
        }
    }

    /// The number.
    pub const fn count(self) -> usize {
        self.0 as usize
    }

    /// The seats from 0 on.
    pub fn seats(self) -> impl DoubleEndedIterator<Item = Seat> + ExactSizeIterator + Clone {
        (0..self.0).map(Seat)
    }
}

impl fmt::Display for Players {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// One or more seats that share a score, by its 0-based number (R4): `individual` gives each seat
/// the side of its own number, `pairs` gives seat i and seat i + n/2 side i, `trios` gives even
/// seats side 0 and odd seats side 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Side(u8);

impl Side {
    /// The side with this 0-based number. `None` from 6 on.
    pub const fn new(index: usize) -> Option<Self> {
        match Seat::new(index) {
            Some(seat) => Some(Self(seat.0)),
            None => None,
        }
    }

    /// The 0-based number.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// How seats form sides (R4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Teams {
    /// Each seat for itself.
    Individual,
    /// Seat i with seat i + n/2; four or six players.
    Pairs,
    /// Even seats against odd seats; six players.
    Trios,
}

impl Teams {
    /// All forms.
    pub const ALL: [Self; 3] = [Self::Individual, Self::Pairs, Self::Trios];

    /// Whether R4 gives this form for so many players.
    pub const fn allowed(self, players: Players) -> bool {
        match self {
            Self::Individual => true,
            Self::Pairs => matches!(players.0, 4 | 6),
            Self::Trios => players.0 == 6,
        }
    }

    /// How many sides there are.
    pub const fn sides(self, players: Players) -> usize {
        match self {
            Self::Individual => players.count(),
            Self::Pairs => players.count() / 2,
            Self::Trios => 2,
        }
    }

    /// The side of a seat.
    pub const fn side(self, seat: Seat, players: Players) -> Side {
        #[allow(clippy::cast_possible_truncation)]
        Side((seat.index() % self.sides(players)) as u8)
    }
}

/// A set of seats, such as those that forfeited (R25).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seats(u8);

impl Seats {
    /// No seat.
    pub const EMPTY: Self = Self(0);

    /// These seats and one more.
    #[must_use]
    pub const fn with(self, seat: Seat) -> Self {
        Self(self.0 | 1 << seat.0)
    }

    /// Whether the seat is in the set.
    pub const fn contains(self, seat: Seat) -> bool {
        self.0 & 1 << seat.0 != 0
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The seats, lowest first.
    pub fn iter(self) -> impl Iterator<Item = Seat> {
        (0..6).map(Seat).filter(move |&seat| self.contains(seat))
    }
}
