//! The mean of independent numbers, with an interval.

/// A mean with its interval at 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean of the samples.
    pub mean: f64,
    /// Half the width of the interval: 1.96 standard errors.
    pub half_width: f64,
}

impl Estimate {
    /// The lower end.
    pub fn low(&self) -> f64 {
        self.mean - self.half_width
    }

    /// The upper end.
    pub fn high(&self) -> f64 {
        self.mean + self.half_width
    }
}

/// Numbers that are independent of one another, of which the mean is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Samples {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Samples {
    /// One more of them.
    pub fn add(&mut self, sample: f64) {
        self.count += 1.0;
        self.sum += sample;
        self.squares += sample * sample;
    }

    /// Their mean. Of fewer than two nothing is known about how far they spread: the interval is without end.
    pub fn mean(&self) -> Estimate {
        let mean = self.sum / self.count.max(1.0);
        if self.count < 2.0 {
            return Estimate { mean, half_width: f64::INFINITY };
        }
        let variance = (self.squares - self.count * mean * mean).max(0.0) / (self.count - 1.0);
        Estimate { mean, half_width: 1.96 * (variance / self.count).sqrt() }
    }
}
