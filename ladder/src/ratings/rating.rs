//! How strong a bot is, and how sure that is.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use thiserror::Error;

/// A number that is out of its range, or no number at all.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("{field} is {given}: give {least} to {most}")]
pub struct OutOfRange {
    /// Which.
    pub field: &'static str,
    /// What was given.
    pub given: f64,
    /// The least that it may be.
    pub least: f64,
    /// The most that it may be.
    pub most: f64,
}

/// Whether a number is in a range, which NaN is not.
pub(super) fn within(field: &'static str, given: f64, least: f64, most: f64) -> Result<f64, OutOfRange> {
    if (least..=most).contains(&given) {
        // Of the two zeros only one is used, so that equal numbers have equal bits.
        Ok(given + 0.0)
    } else {
        Err(OutOfRange { field, given, least, most })
    }
}

/// Numbers that are never NaN and of which equal ones have equal bits, so that they are ordered and hashed as any other.
macro_rules! ordered {
    ($($name:ident),*) => {$(
        impl $name {
            /// As a number, in rating points.
            pub const fn get(self) -> f64 {
                self.0
            }

            /// The bits of the number, which say it exactly.
            pub const fn to_bits(self) -> u64 {
                self.0.to_bits()
            }

            /// # Errors
            /// [`OutOfRange`] if these are the bits of no such number.
            pub fn from_bits(bits: u64) -> Result<Self, OutOfRange> {
                Self::new(f64::from_bits(bits))
            }

            /// The nearest one to a number that was calculated.
            pub(super) fn nearest(number: f64) -> Self {
                Self(number.clamp(Self::MIN, Self::MAX) + 0.0)
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.to_bits() == other.to_bits()
            }
        }

        impl Eq for $name {}

        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                self.0.total_cmp(&other.0)
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Hash for $name {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.to_bits().hash(state);
            }
        }
    )*};
}

ordered!(Mu, Sigma);

/// The strength that is expected of a bot, in rating points: −10⁶ to 10⁶.
#[derive(Clone, Copy, Debug)]
pub struct Mu(f64);

impl Mu {
    /// The least.
    pub const MIN: f64 = -1e6;
    /// The most.
    pub const MAX: f64 = 1e6;

    /// # Errors
    /// [`OutOfRange`], of NaN too.
    pub fn new(points: f64) -> Result<Self, OutOfRange> {
        within("mu", points, Self::MIN, Self::MAX).map(Self)
    }
}

/// How unsure a strength is: its standard deviation in rating points, 10⁻⁶ to 10⁶.
#[derive(Clone, Copy, Debug)]
pub struct Sigma(f64);

impl Sigma {
    /// The least: nothing is ever certain, and what is divided by it stays a number.
    pub const MIN: f64 = 1e-6;
    /// The most.
    pub const MAX: f64 = 1e6;

    /// # Errors
    /// [`OutOfRange`], of NaN, 0 and negative numbers too.
    pub fn new(points: f64) -> Result<Self, OutOfRange> {
        within("sigma", points, Self::MIN, Self::MAX).map(Self)
    }
}

/// How strong a bot is, and how sure that is.
///
/// ```
/// # use zetema_ladder::{Mu, Rating, Sigma};
/// let rating = Rating { mu: Mu::new(27.5)?, sigma: Sigma::new(1.5)? };
/// assert_eq!(rating.shown(), 23.0);
/// # Ok::<(), zetema_ladder::OutOfRange>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rating {
    /// The strength that is expected.
    pub mu: Mu,
    /// How unsure that is.
    pub sigma: Sigma,
}

impl Rating {
    /// What is shown, and what the standings go by: μ − 3σ, in rating points. A bot is very likely as strong as that, so
    /// that nobody leads by one lucky match.
    pub fn shown(self) -> f64 {
        self.mu.get() - 3.0 * self.sigma.get()
    }
}
