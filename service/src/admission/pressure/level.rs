//! How much the server takes on no more, by how late it is.

use std::time::Duration;

use crate::limits;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// All is done in time.
    Calm,
    /// What is due is done later than it may be.
    High,
    /// More than four times as late.
    Severe,
}

impl Level {
    pub(super) const ALL: [Self; 3] = [Self::Calm, Self::High, Self::Severe];

    /// The level after this one, if the server was usually so late and later than `most` is too late. It is left at much less than it
    /// was begun at, so that it does not change with each thing. What is severe is far from what a part that is refused holds it at: a
    /// match whose seats are refused has been taken on for nothing.
    pub(super) fn then(self, usual: Duration, most: Duration) -> Self {
        let begun = Self::of(usual, most, 4 * most);
        let kept = Self::of(usual, in_time(most).min(most), 2 * most);
        self.clamp(begun, kept)
    }

    /// Calm up to the one, and high up to the other.
    fn of(late: Duration, calm: Duration, high: Duration) -> Self {
        if late > high {
            Self::Severe
        } else if late > calm {
            Self::High
        } else {
            Self::Calm
        }
    }
}

/// What is no later than this is in time again, if later than `most` is too late.
pub(super) fn in_time(most: Duration) -> Duration {
    (most / 4).max(limits::PRESSURE_AT_REST)
}
