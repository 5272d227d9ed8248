//! Who plays: a bot, its owner, and how strong it is taken to be.

use std::fmt;

use thiserror::Error;

/// A bot, by the number that it has for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BotId(u64);

impl BotId {
    /// The bot of this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for BotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bot {}", self.0)
    }
}

/// Who owns bots, by the number that it has for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OwnerId(u64);

impl OwnerId {
    /// The owner of this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for OwnerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "owner {}", self.0)
    }
}

/// How strong a bot is taken to be, in rating points.
///
/// ```
/// use zetema_ladder::pairing::Strength;
/// assert_eq!(Strength::new(25.0, 8.3)?.rating(), 25.0);
/// assert_eq!(Strength::new(25.0, -1.0).unwrap_err().field(), "uncertainty");
/// # Ok::<(), zetema_ladder::pairing::StrengthError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strength {
    rating: f64,
    uncertainty: f64,
}

impl Strength {
    /// A rating, or an uncertainty, is at most this many points.
    pub const MAX: f64 = 1e6;

    /// `rating` is the mean, from -1,000,000 to 1,000,000; `uncertainty` its standard deviation, from 0 on.
    ///
    /// # Errors
    /// The first number that is out of its range, or none.
    pub fn new(rating: f64, uncertainty: f64) -> Result<Self, StrengthError> {
        if !(-Self::MAX..=Self::MAX).contains(&rating) {
            return Err(StrengthError::Rating { given: rating });
        }
        if !(0.0..=Self::MAX).contains(&uncertainty) {
            return Err(StrengthError::Uncertainty { given: uncertainty });
        }
        Ok(Self { rating, uncertainty })
    }

    /// The mean.
    pub const fn rating(self) -> f64 {
        self.rating
    }

    /// The standard deviation.
    pub const fn uncertainty(self) -> f64 {
        self.uncertainty
    }
}

/// Numbers that are no strength.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum StrengthError {
    /// The rating is out of its range.
    #[error("rating is {given}: give -1000000 to 1000000 points")]
    Rating {
        /// What was given.
        given: f64,
    },
    /// The uncertainty is out of its range.
    #[error("uncertainty is {given}: give 0 to 1000000 points")]
    Uncertainty {
        /// What was given.
        given: f64,
    },
}

impl StrengthError {
    /// The name of the number.
    pub const fn field(&self) -> &'static str {
        match self {
            Self::Rating { .. } => "rating",
            Self::Uncertainty { .. } => "uncertainty",
        }
    }
}
