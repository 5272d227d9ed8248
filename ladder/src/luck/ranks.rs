//! A match as its luck-adjusted scores rank it.

use zetema_rules::{MatchResult, Seat, Side};

use super::adjusted::AdjustedScore;
use crate::ratings::Played;

/// Adjusted scores that are no farther apart are level, in points: far less than any two that differ, and far more than they are
/// rounded by.
const LEVEL: f64 = 1e-6;

/// Scores that are not one for each side of the match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{given} adjusted scores were given: give one for each of the {sides} sides")]
pub struct ScoresMissing {
    /// How many were given.
    pub given: usize,
    /// How many sides there are.
    pub sides: usize,
}

impl<B: Clone> Played<B> {
    /// The same match, its sides ranked by their adjusted scores in the place of their totals. Scores that differ by at most a
    /// millionth of a point are level. Sides with a forfeit are below all others, as the rules have it (R25): else who is lucky
    /// in its cards would gain by giving up what it has to lose.
    ///
    /// Rated so, results give an estimate of its own. What is proved of the mean of adjusted scores is not of it: ranks are no
    /// means.
    ///
    /// # Errors
    /// [`ScoresMissing`] if there is not one score for each side, side 0 first.
    pub fn ranked_by(&self, scores: &[AdjustedScore]) -> Result<Self, ScoresMissing> {
        let sides: Vec<Side> = self.sides().collect();
        if scores.len() != sides.len() {
            return Err(ScoresMissing { given: scores.len(), sides: sides.len() });
        }
        let forfeited = |side: Side| self.members(side).any(|(seat, _)| self.forfeited().contains(seat));
        let mut best_first: Vec<(Side, bool, f64)> = sides
            .into_iter()
            .zip(scores)
            .map(|(side, score)| (side, forfeited(side), score.adjusted()))
            .collect();
        best_first.sort_by(|one, other| one.1.cmp(&other.1).then(other.2.total_cmp(&one.2)));
        let mut result = MatchResult { ranks: [0; Seat::MAX], ..*self.result() };
        let mut above: Option<(bool, f64, u8)> = None;
        for (place, (side, forfeited, score)) in (1..).zip(best_first) {
            let rank = match above {
                Some((as_well, of, rank)) if as_well == forfeited && of - score <= LEVEL => rank,
                _ => place,
            };
            result.ranks[side.index()] = rank;
            above = Some((forfeited, score, rank));
        }
        Ok(self.with_result(result))
    }
}
