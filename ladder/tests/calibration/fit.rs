//! The strengths under which all matches of a season at once are the most likely, by Bradley–Terry's model: what is to be known of the
//! order of the bots from these results, however they are rated.

use std::cmp::Ordering;

use zetema_ladder::Played;

use crate::season::{BOTS, Bot};

/// In log odds; that of the strengths here is 4 at most. Too wide to have a say, but for a bot that has won, or lost, all its matches.
const PRIOR_VARIANCE: f64 = 16.0;

/// Newton's steps are over when none is longer than this, in log odds.
const NEAR: f64 = 1e-9;

/// Two sides of a match.
struct Comparison {
    one: Vec<Bot>,
    other: Vec<Bot>,
    /// 1 if the one was ahead, 0.5 if they were level.
    came: f64,
}

fn comparisons(played: &Played<Bot>) -> Vec<Comparison> {
    let members = |side| played.members(side).map(|(_, &bot)| bot).collect();
    let met = played.sides().flat_map(|one| played.sides().map(move |other| (one, other)));
    met.filter(|(one, other)| one < other)
        .map(|(one, other)| Comparison {
            one: members(one),
            other: members(other),
            came: match played.rank(one).cmp(&played.rank(other)) {
                Ordering::Less => 1.0,
                Ordering::Equal => 0.5,
                Ordering::Greater => 0.0,
            },
        })
        .collect()
}

/// The strength of each bot, in log odds, by Newton's steps.
pub(crate) fn most_likely(matches: &[Played<Bot>]) -> Vec<f64> {
    let comparisons: Vec<Comparison> = matches.iter().flat_map(comparisons).collect();
    let mut strengths = vec![0.0; BOTS];
    loop {
        let mut gradient: Vec<f64> = strengths.iter().map(|strength| -strength / PRIOR_VARIANCE).collect();
        let mut curvature = vec![vec![0.0; BOTS]; BOTS];
        for (bot, row) in curvature.iter_mut().enumerate() {
            row[bot] = 1.0 / PRIOR_VARIANCE;
        }
        for Comparison { one, other, came } in &comparisons {
            let of = |side: &[Bot]| side.iter().map(|&bot| strengths[bot]).sum::<f64>();
            let chance = 1.0 / (1.0 + (of(other) - of(one)).exp());
            let signed = || one.iter().map(|&bot| (bot, 1.0)).chain(other.iter().map(|&bot| (bot, -1.0)));
            for (bot, sign) in signed() {
                gradient[bot] += sign * (came - chance);
                for (met, met_sign) in signed() {
                    curvature[bot][met] += sign * met_sign * chance * (1.0 - chance);
                }
            }
        }
        let steps = solve(curvature, gradient);
        for (strength, step) in strengths.iter_mut().zip(&steps) {
            *strength += step;
        }
        if steps.iter().all(|step| step.abs() <= NEAR) {
            return strengths;
        }
    }
}

/// x of matrix · x = right, by elimination. The matrix is symmetric and positive, so that no pivot is 0.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    for pivot in 0..right.len() {
        let (above, below) = matrix.split_at_mut(pivot + 1);
        let from = &above[pivot];
        for (row, at) in below.iter_mut().zip(pivot + 1..) {
            let factor = row[pivot] / from[pivot];
            for (own, taken) in row.iter_mut().zip(from) {
                *own -= factor * taken;
            }
            right[at] -= factor * right[pivot];
        }
    }
    for pivot in (0..right.len()).rev() {
        let known: f64 = (pivot + 1..right.len()).map(|at| matrix[pivot][at] * right[at]).sum();
        right[pivot] = (right[pivot] - known) / matrix[pivot][pivot];
    }
    right
}
