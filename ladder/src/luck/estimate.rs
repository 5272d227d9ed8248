//! A mean, and how sure it is.

/// A mean of points a match, and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean, in points a match; 0 without a match.
    pub mean: f64,
    /// How far the mean may be off, as a standard deviation in points a match; `None` for fewer than two matches.
    pub standard_error: Option<f64>,
    /// Where the true mean is, 95 times of 100; `None` for fewer than [`Estimate::FEWEST`] matches.
    pub interval: Option<Interval>,
}

/// From where to where a mean is, in points a match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub from: f64,
    /// The upper end.
    pub to: f64,
}

impl Estimate {
    /// Of fewer matches there is no interval: points are too far from normal.
    pub const FEWEST: u64 = 10;
}

/// A running mean and spread, by Welford's method: it loses nothing when the mean is large beside the spread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Moments {
    count: u64,
    mean: f64,
    /// The sum of the squared distances from the mean.
    squares: f64,
}

impl Moments {
    pub(super) fn count(&mut self, points: f64) {
        self.count += 1;
        let before = points - self.mean;
        self.mean += before / to_f64(self.count);
        self.squares += before * (points - self.mean);
    }

    pub(super) const fn matches(&self) -> u64 {
        self.count
    }

    /// In squared points; `None` for fewer than two matches.
    pub(super) fn variance(&self) -> Option<f64> {
        (self.count >= 2).then(|| self.squares / to_f64(self.count - 1))
    }

    pub(super) fn estimate(&self) -> Estimate {
        let standard_error = self.variance().map(|variance| (variance / to_f64(self.count)).sqrt());
        let interval = standard_error.filter(|_| self.count >= Estimate::FEWEST).map(|error| {
            let reach = error * student_95(self.count - 1);
            Interval { from: self.mean - reach, to: self.mean + reach }
        });
        Estimate { mean: self.mean, standard_error, interval }
    }
}

/// How much of one number another one shows: the slope of the line through pairs of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Slope {
    count: u64,
    mean: f64,
    mean_shown: f64,
    /// The sum of the squared distances of the first from its mean.
    squares: f64,
    /// The sum of the products of both distances.
    products: f64,
}

impl Slope {
    pub(super) fn count(&mut self, number: f64, shown: f64) {
        self.count += 1;
        let count = to_f64(self.count);
        let before = number - self.mean;
        self.mean += before / count;
        self.mean_shown += (shown - self.mean_shown) / count;
        self.squares += before * (number - self.mean);
        self.products += before * (shown - self.mean_shown);
    }

    /// From 0 to 1; 0 if the first number is always the same.
    pub(super) fn share(&self) -> f64 {
        if self.squares <= 0.0 {
            return 0.0;
        }
        (self.products / self.squares).clamp(0.0, 1.0)
    }
}

/// How many standard errors the interval reaches to each side: Student's t for 95 %, by the expansion of Cornish and
/// Fisher. From nine degrees of freedom on it is right to three digits.
fn student_95(freedom: u64) -> f64 {
    const NORMAL: f64 = 1.959_963_984_540_054;
    let (z, n) = (NORMAL, to_f64(freedom));
    let (z3, z5, z7) = (z.powi(3), z.powi(5), z.powi(7));
    z + (z3 + z) / (4.0 * n)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n.powi(2))
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * n.powi(3))
}

fn to_f64(count: u64) -> f64 {
    #[allow(clippy::cast_precision_loss)]
    let number = count as f64;
    number
}

#[cfg(test)]
mod tests {
    use super::student_95;

    #[test]
    fn the_interval_reaches_as_far_as_the_tables_say() {
        for (freedom, table) in [(9, 2.262), (19, 2.093), (29, 2.045), (99, 1.984), (1_000_000, 1.960)] {
            let reach = student_95(freedom);
            assert!((reach - table).abs() < 0.001, "{freedom}: {reach}, not {table}");
        }
    }
}
