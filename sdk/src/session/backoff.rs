//! How long to wait before the next attempt.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// The wait before the second attempt.
const FIRST: Duration = Duration::from_millis(100);
/// The longest wait: half of the time for which a server lets all clocks stand when it is back.
const LONGEST: Duration = Duration::from_secs(5);

/// Waits that double from attempt to attempt, each drawn from the upper half of its range, so that
/// clients that were cut off together don't come back together.
#[derive(Debug)]
pub(crate) struct Backoff {
    random: StdRng,
}

impl Backoff {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: StdRng::seed_from_u64(seed) }
    }

    /// The wait after so many attempts in a row that failed, 1 for the first.
    pub(crate) fn wait(&mut self, failed: u32) -> Duration {
        let doubled = FIRST.saturating_mul(1 << failed.saturating_sub(1).min(16)).min(LONGEST);
        doubled.mul_f64(self.random.random_range(0.5..1.0))
    }

    /// A wait that was asked for, made up to a half longer.
    pub(crate) fn spread(&mut self, wait: Duration) -> Duration {
        wait.mul_f64(self.random.random_range(1.0..1.5))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest_and_keep_to_the_upper_half() {
        let mut backoff = Backoff::new(1);
        for (failed, ms) in [(1, 100), (2, 200), (3, 400), (6, 3_200), (7, 5_000), (1_000_000, 5_000)] {
            for _ in 0..100 {
                let wait = backoff.wait(failed);
                let most = Duration::from_millis(ms);
                assert!(wait >= most / 2 && wait < most, "{failed}: {wait:?}");
            }
        }
    }
}
