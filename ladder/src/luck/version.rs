//! Which player of reference, and how often it plays.

use std::fmt;

use thiserror::Error;
use zetema_rules::fair::{MatchSeed, ServerSeed};

/// Which player of reference, how many playouts of a deck, and which sample of decks. Whatever would change a value is a new
/// version, and values of two versions are never mixed.
///
/// ```
/// # use zetema_ladder::ReferenceVersion;
/// assert_eq!(ReferenceVersion::try_from(1)?, ReferenceVersion::One);
/// assert_eq!(ReferenceVersion::try_from(7).unwrap_err().to_string(), "there is no reference 7: give 1");
/// # Ok::<(), zetema_ladder::UnknownReferenceVersion>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ReferenceVersion {
    /// The first: 16 playouts, a sample of 2,048 decks.
    One,
}

impl ReferenceVersion {
    /// The one that new results are adjusted by.
    pub const CURRENT: Self = Self::One;

    /// Its number, from 1.
    pub const fn number(self) -> u32 {
        match self {
            Self::One => 1,
        }
    }

    /// How many times a deck is played out.
    pub const fn playouts(self) -> u32 {
        match self {
            Self::One => 16,
        }
    }

    /// How many decks the sample has that the usual worth of a place is taken from.
    pub const fn sample_decks(self) -> u32 {
        match self {
            Self::One => 2_048,
        }
    }

    /// The seed of the sample's decks, which is public: 32 letters as the server's part, and no nonce.
    pub fn sample_seed(self) -> MatchSeed {
        match self {
            Self::One => MatchSeed::derive(&ServerSeed::new(*b"zetema luck, sample of decks  #1"), &[]),
        }
    }
}

impl fmt::Display for ReferenceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number().fmt(f)
    }
}

impl TryFrom<u32> for ReferenceVersion {
    type Error = UnknownReferenceVersion;

    fn try_from(given: u32) -> Result<Self, UnknownReferenceVersion> {
        match given {
            1 => Ok(Self::One),
            _ => Err(UnknownReferenceVersion { given }),
        }
    }
}

/// A number that is no reference's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("there is no reference {given}: give 1")]
pub struct UnknownReferenceVersion {
    /// What was given.
    pub given: u32,
}
