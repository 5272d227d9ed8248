//! Points of many playouts, summed.

use thiserror::Error;
use zetema_rules::{Rules, Seat, Side};

use super::reference::Reference;

/// The points that each side made over a number of playouts. They are whole numbers, so that what follows from them is
/// the same to the last bit, in whatever order they came.
///
/// The dealer of every playout is the last seat, so that seat 0 plays first: side 0 is the side that plays first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sums {
    pub(super) reference: Reference,
    /// In points, by side; 0 from the number of sides on.
    pub(super) points: [u64; Seat::MAX],
    /// How many playouts.
    pub(super) playouts: u32,
}

/// Sums that a store gave back, and that can't be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SumsError {
    /// Not one for each side.
    #[error("{given} sums were given: give one for each of the {sides} sides")]
    Sides {
        /// How many were given.
        given: usize,
        /// How many sides there are.
        sides: usize,
    },
    /// More than so many playouts can score.
    #[error("side {side} has {given} points in {playouts} playouts: a playout has {most} at most")]
    TooMany {
        /// Whose.
        side: usize,
        /// In points.
        given: u64,
        /// Of how many playouts.
        playouts: u32,
        /// In points.
        most: u64,
    },
}

impl Sums {
    /// The most points of a deal: 65 turns, each with a declaration of 150 and a zetema of 50 at most.
    pub(super) const MOST: u64 = 65 * (150 + 50);

    pub(super) fn new(reference: Reference, playouts: u32, given: &[u64]) -> Result<Self, SumsError> {
        let sides = reference.rules().sides();
        if given.len() != sides {
            return Err(SumsError::Sides { given: given.len(), sides });
        }
        let mut points = [0; Seat::MAX];
        for (side, &sum) in given.iter().enumerate() {
            if sum > Self::MOST * u64::from(playouts) {
                return Err(SumsError::TooMany { side, given: sum, playouts, most: Self::MOST });
            }
            points[side] = sum;
        }
        Ok(Self { reference, points, playouts })
    }

    /// By side, of those that the match has.
    pub(super) fn by_side(&self) -> &[u64] {
        &self.points[..self.reference.rules().sides()]
    }

    /// What the cards of a side's place are worth to it: a fraction over [`Sums::denominator`].
    pub(super) fn worth(&self, side: Side, dealer: Seat) -> i64 {
        ahead(self.by_side(), place(self.reference.rules(), side, dealer))
    }

    /// What [`Sums::worth`] is divided by, to have points a deal.
    pub(super) fn denominator(&self) -> i64 {
        others(self.reference.rules()) * i64::from(self.playouts)
    }
}

/// How far a side is ahead of the mean of the others, times the number of the others.
pub(super) fn ahead<T: Copy + Into<u64>>(points: &[T], side: usize) -> i64 {
    let sum: u64 = points.iter().map(|&points| points.into()).sum();
    let own = points.get(side).map_or(0, |&points| points.into()) * points.len() as u64;
    own.cast_signed() - sum.cast_signed()
}

/// How many other sides a side has.
pub(super) fn others(rules: &Rules) -> i64 {
    i64::try_from(rules.sides()).unwrap_or(2) - 1
}

/// Counted from the seat that plays first, which side this is. The number of players is a multiple of the number of sides.
pub(super) fn place(rules: &Rules, side: Side, dealer: Seat) -> usize {
    let players = rules.player_count().count();
    (side.index() + 2 * players - dealer.index() - 1) % rules.sides()
}

/// A fraction of whole numbers below 2⁵³ as a number.
pub(super) fn quotient(above: i64, below: i64) -> f64 {
    #[allow(clippy::cast_precision_loss)]
    let quotient = above as f64 / below as f64;
    quotient
}
