//! How likely a count or a mean is that is at least so far out.
//!
//! The functions are of `libm`, which calculates the same bits on every platform. A whole library of statistics would bring
//! what is not needed here, and has no sum of trials of unequal chances, which is most of what is.

use std::f64::consts::SQRT_2;

/// With more trials than this the tail is bounded, not summed: it takes trials times misses.
const EXACT_TRIALS: usize = 1_000;

/// How likely a standard normal number is at least `z`. (Abramowitz and Stegun, 26.2.29: ½ erfc(z/√2).)
pub(super) fn normal(z: f64) -> f64 {
    0.5 * libm::erfc(z / SQRT_2)
}

/// How likely at least `came` of independent trials come, which come with these chances, 0 to 1: of one chance the binomial
/// tail, of several the Poisson binomial one.
///
/// Up to 1,000 trials it is exact, by adding one trial after another (Barlow and Heidtmann 1984; Hong 2013, section 2.5). Beyond
/// that it is Chernoff's bound, which is never less than what is exact. Where fewer came than are expected it is 1, which is
/// never less either: nobody asks how likely that is.
pub(super) fn at_least(came: usize, chances: &[f64]) -> f64 {
    let expected: f64 = chances.iter().sum();
    if whole(came) <= expected {
        1.0
    } else if came > chances.len() {
        0.0
    } else if chances.len() <= EXACT_TRIALS {
        exact(came, chances)
    } else {
        bound(came, chances)
    }
}

/// At least `came` come if at most the rest miss, and of those there are fewer.
fn exact(came: usize, chances: &[f64]) -> f64 {
    let most = chances.len() - came;
    // How likely 0, 1, … of the trials so far missed.
    let mut missed = vec![0.0; most + 1];
    missed[0] = 1.0;
    for &chance in chances {
        for misses in (1..=most).rev() {
            missed[misses] = missed[misses] * chance + missed[misses - 1] * (1.0 - chance);
        }
        missed[0] *= chance;
    }
    missed.iter().sum::<f64>().min(1.0)
}

/// The least that exp(−t·came) · ∏(1 − p + p·eᵗ) is found to be. Any t ≥ 0 gives a bound; its logarithm is convex in t.
fn bound(came: usize, chances: &[f64]) -> f64 {
    let log_bound = |t: f64| {
        let grown = libm::expm1(t);
        chances.iter().map(|&chance| libm::log1p(chance * grown)).sum::<f64>() - t * whole(came)
    };
    let (mut least, mut most) = (0.0, 50.0);
    for _ in 0..60 {
        let third = (most - least) / 3.0;
        if log_bound(least + third) < log_bound(most - third) {
            most -= third;
        } else {
            least += third;
        }
    }
    libm::exp(log_bound(least).min(0.0))
}

/// A count as a number. Counts here are of the matches of a season, far below 2⁵².
#[allow(clippy::cast_precision_loss)]
pub(super) fn whole(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::{at_least, bound, exact, normal, whole};

    fn check(given: f64, right: f64, digits: i32) {
        let off = (given / right - 1.0).abs();
        assert!(off < 10f64.powi(-digits), "{given} is not {right}");
    }

    /// Abramowitz and Stegun, table 26.1, and 26.2 for those far out.
    #[test]
    fn normal_tails_are_those_of_the_tables() {
        check(normal(0.0), 0.5, 12);
        check(normal(1.0), 0.158_655_253_931_457, 12);
        check(normal(-1.0), 0.841_344_746_068_543, 12);
        check(normal(1.959_963_984_540_054), 0.025, 12);
        check(normal(5.0), 2.866_515_718_791_94e-7, 10);
        check(normal(10.0), 7.619_853_024_160_53e-24, 10);
    }

    /// Fractions that can be counted by hand.
    #[test]
    fn binomial_tails_are_those_of_counted_cases() {
        check(at_least(8, &[0.5; 10]), 56.0 / 1024.0, 12);
        check(at_least(10, &[0.5; 10]), 1.0 / 1024.0, 12);
        check(at_least(3, &[1.0 / 6.0; 4]), 21.0 / 1296.0, 12);
        check(at_least(20, &[0.1; 20]), 1e-20, 10);
        check(at_least(1, &[0.1; 2]), 0.19, 12);
    }

    #[test]
    fn unequal_chances_are_multiplied_out() {
        let [a, b, c] = [0.1, 0.2, 0.5];
        let two = a * b * (1.0 - c) + a * c * (1.0 - b) + b * c * (1.0 - a);
        check(at_least(2, &[a, b, c]), two + a * b * c, 12);
        check(at_least(3, &[c, a, b]), a * b * c, 12);
    }

    #[test]
    fn what_is_sure_tells_nothing_and_what_cannot_be_never_comes() {
        for (came, chances, right) in
            [(3, vec![1.0; 3], 1.0), (0, vec![], 1.0), (1, vec![], 0.0), (1, vec![0.0; 3], 0.0)]
        {
            let given = at_least(came, &chances);
            assert!((given - right).abs() < f64::EPSILON, "{came} of {chances:?}: {given}");
        }
    }

    #[test]
    fn the_bound_is_near_and_never_below() {
        for (came, chance, trials) in [(60, 0.4, 100), (95, 0.9, 100), (30, 0.01, 500), (700, 0.5, 1_000)] {
            let chances = vec![chance; trials];
            let (exact, bound) = (exact(came, &chances), bound(came, &chances));
            assert!(bound >= exact, "{bound} is below {exact}");
            assert!(bound <= exact * 100.0, "{bound} is far above {exact}");
        }
    }

    #[test]
    fn more_trials_than_are_summed_are_bounded() {
        let chances = vec![0.5; 10_000];
        let z = |came: usize| (whole(came) - 0.5 - 5_000.0) / 50.0;
        for came in [5_100, 5_300, 6_000] {
            let (given, near) = (at_least(came, &chances), normal(z(came)));
            assert!(given >= near && given < near * 100.0, "{came}: {given}, {near}");
        }
        assert!(at_least(4_000, &chances) > 0.999, "fewer than expected");
    }
}
