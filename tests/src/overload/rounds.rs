//! The same rates again and again: what one round shows, the machine's other work may have done.

use super::Point;

impl Point {
    /// What comes out in the middle, figure by figure. `None`: of no points.
    #[must_use]
    pub fn median(points: &[Self]) -> Option<Self> {
        let middle = |value: fn(&Self) -> f64| median(points.iter().map(value));
        let last = points.last()?;
        Some(Self {
            asked_per_second: middle(|point| point.asked_per_second)?,
            created_per_second: middle(|point| point.created_per_second)?,
            shed_per_second: middle(|point| point.shed_per_second)?,
            joins_shed_per_second: middle(|point| point.joins_shed_per_second)?,
            finished_per_second: middle(|point| point.finished_per_second)?,
            actions_per_second: middle(|point| point.actions_per_second)?,
            // Nothing may be broken off in any round.
            broken: points.iter().map(|point| point.broken).max().unwrap_or_default(),
            problem: points.iter().find_map(|point| point.problem.clone()),
            p50_ms: middle(|point| point.p50_ms)?,
            p99_ms: middle(|point| point.p99_ms)?,
            server_processors: middle(|point| point.server_processors)?,
            server_bytes: points.iter().map(|point| point.server_bytes).max().unwrap_or(last.server_bytes),
        })
    }
}

/// The value in the middle, or the mean of the two there.
pub fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = *values.get((values.len() - 1) / 2)?;
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        let check = |values: &[f64], expected| assert_eq!(median(values.iter().copied()), expected);
        check(&[], None);
        check(&[3.0], Some(3.0));
        check(&[5.0, 1.0], Some(3.0));
        check(&[9.0, 1.0, 2.0], Some(2.0));
    }
}
