//! What a bot scores a match, with luck and without.

use super::adjusted::AdjustedScore;
use super::estimate::{Estimate, Moments, Slope};

/// What a bot scores a match, with the luck of its cards and without it.
///
/// Both means estimate the same: what the bot scores in the long run against those that it met. The adjusted one comes near it
/// sooner. How much of the luck a bot makes into points depends on how it plays. So of the luck of a match the share is taken off
/// that the matches before it have shown, from none to all of it; before [`PointsPerMatch::FEWEST`] matches none. A match has no
/// say in its own share, so that the mean stays what it is: `docs/luck.md` has the proof.
///
/// The intervals take the matches as independent: matches of one deal set are counted together, as one of their mean.
///
/// ```
/// # use zetema_ladder::{AdjustedScore, PointsPerMatch};
/// let mut points = PointsPerMatch::default();
/// for _ in 0..25 {
///     for (raw, luck) in [(120.0, 80.0), (-40.0, -90.0), (65.0, 50.0), (-85.0, -40.0)] {
///         points.count(AdjustedScore { raw, luck });
///     }
/// }
/// assert_eq!((points.matches(), points.raw().mean.round()), (100, 15.0));
/// assert!(points.adjusted().standard_error < points.raw().standard_error);
/// assert!(points.share() == 1.0 && points.variance_ratio().is_some_and(|ratio| ratio > 2.0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PointsPerMatch {
    raw: Moments,
    adjusted: Moments,
    slope: Slope,
}

impl PointsPerMatch {
    /// How many matches it takes until luck is taken off: fewer show its share too badly.
    pub const FEWEST: u64 = 30;

    /// Counts one more match. Matches are counted in the order of their results, so that the numbers are the same each time.
    pub fn count(&mut self, score: AdjustedScore) {
        self.raw.count(score.raw);
        self.adjusted.count(score.raw - self.share() * score.luck);
        self.slope.count(score.luck, score.raw);
    }

    /// How many matches were counted.
    pub const fn matches(&self) -> u64 {
        self.raw.matches()
    }

    /// Points a match as they were scored.
    pub fn raw(&self) -> Estimate {
        self.raw.estimate()
    }

    /// Points a match without the luck of the cards.
    pub fn adjusted(&self) -> Estimate {
        self.adjusted.estimate()
    }

    /// How much of the luck the next match has taken off, from 0 to 1: how many points the bot has made, in the mean, of each point
    /// that its cards were worth.
    pub fn share(&self) -> f64 {
        self.slope.share(Self::FEWEST)
    }

    /// How many times as many matches the raw points need for an interval as narrow: the raw variance over the adjusted one.
    /// `None` for fewer than two matches, and if the adjusted points don't vary at all.
    pub fn variance_ratio(&self) -> Option<f64> {
        let adjusted = self.adjusted.variance().filter(|&variance| variance > 0.0)?;
        self.raw.variance().map(|raw| raw / adjusted)
    }
}
