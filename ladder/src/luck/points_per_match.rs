//! What a bot scores a match, with luck and without.

use super::adjusted::AdjustedScore;
use super::estimate::{Estimate, Moments, Slope};

/// When a match was, by the clock of whoever ran it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchTimes {
    /// When it was created, in milliseconds of any epoch: nobody knows a card of it then.
    pub created_ms: u64,
    /// When it was over, in milliseconds of the same epoch.
    pub ended_ms: u64,
}

/// What a bot scores a match, with the luck of its cards and without it.
///
/// Both means estimate the same: what the bot scores in the long run against those that it met. The adjusted one comes near it
/// sooner. How much of the luck a bot makes into points depends on how it plays. So of the luck of a match the share is taken off
/// that the bot's matches before it have shown, from none to all of it. It is settled anew after [`PointsPerMatch::FEWEST`] matches
/// and after twice as many each time, and a match has the share that was settled last before it was created. So no match has a say
/// in its own share, nor has one that runs beside it, and the mean stays what it is: `docs/luck.md` has the proof.
///
/// The intervals take the matches as independent: matches of one deal set are counted together, as one of their mean.
///
/// ```
/// # use zetema_ladder::{AdjustedScore, MatchTimes, PointsPerMatch};
/// let mut points = PointsPerMatch::default();
/// let scores = [(120.0, 80.0), (-40.0, -90.0), (65.0, 50.0), (-85.0, -40.0)].into_iter().cycle();
/// for (minute, (raw, luck)) in (0..100).zip(scores) {
///     let times = MatchTimes { created_ms: 60_000 * minute, ended_ms: 60_000 * minute + 50_000 };
///     points.count(AdjustedScore { raw, luck }, times);
/// }
/// assert_eq!((points.matches(), points.raw().mean.round()), (100, 15.0));
/// assert!(points.adjusted().standard_error < points.raw().standard_error);
/// assert!(points.share() == 1.0 && points.variance_ratio().is_some_and(|ratio| ratio > 2.0));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointsPerMatch {
    raw: Moments,
    adjusted: Moments,
    slope: Slope,
    /// The latest time at which one of the matches was over.
    last_ended_ms: u64,
    /// The shares that were settled, the first first: one more each time that the matches have doubled.
    settled: Vec<Settled>,
}

/// A share, and from when on it holds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Settled {
    /// All matches that it is from were over then.
    known_ms: u64,
    share: f64,
}

impl PointsPerMatch {
    /// How many matches it takes until luck is taken off: fewer show its share too badly.
    pub const FEWEST: u64 = 30;

    /// Counts one more match. Matches are counted in the order of their results, so that the numbers are the same each time.
    pub fn count(&mut self, score: AdjustedScore, times: MatchTimes) {
        let MatchTimes { created_ms, ended_ms } = times;
        self.raw.count(score.raw);
        self.adjusted.count(score.raw - self.share_of(created_ms) * score.luck);
        self.slope.count(score.luck, score.raw);
        // A clock that was set back does not make known earlier what came later.
        self.last_ended_ms = self.last_ended_ms.max(ended_ms);
        if self.matches() == Self::FEWEST << self.settled.len() {
            self.settled.push(Settled { known_ms: self.last_ended_ms, share: self.slope.share() });
        }
    }

    /// The last share that was settled before this time.
    fn share_of(&self, created_ms: u64) -> f64 {
        let known = self.settled.iter().rev().find(|settled| settled.known_ms < created_ms);
        known.map_or(0.0, |settled| settled.share)
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

    /// How much of its luck a match has taken off that is created from now on, from 0 to 1: how many points the bot has made, in the
    /// mean, of each point that its cards were worth, when that was settled last.
    pub fn share(&self) -> f64 {
        self.settled.last().map_or(0.0, |settled| settled.share)
    }

    /// How many times as many matches the raw points need for an interval as narrow: the raw variance over the adjusted one.
    /// `None` for fewer than two matches, and if the adjusted points don't vary at all.
    pub fn variance_ratio(&self) -> Option<f64> {
        let adjusted = self.adjusted.variance().filter(|&variance| variance > 0.0)?;
        self.raw.variance().map(|raw| raw / adjusted)
    }
}
