//! When a message is tried again, and when no more.

use std::time::Duration;

use tokio::time::Instant;

use super::post::Attempt;
use crate::limits;

/// How often, and for how long, is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Patience {
    /// The most that is waited after the first attempt. It doubles each time.
    pub(super) first: Duration,
    /// The most that is ever waited.
    pub(super) longest: Duration,
    /// How long a receiver is tried that is not there.
    pub(super) give_up: Duration,
}

/// The attempts at one message.
#[derive(Clone, Debug)]
pub(super) struct Tries {
    patience: Patience,
    begun: Instant,
    /// The attempts so far.
    pub(super) count: u32,
    refused: u32,
}

/// What follows an attempt in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// Another after this time.
    Again(Duration),
    /// No other.
    GiveUp,
}

impl Tries {
    pub(super) fn new(patience: Patience) -> Self {
        Self { patience, begun: Instant::now(), count: 0, refused: 0 }
    }

    /// What follows this attempt, if it was in vain. `chance` is drawn from all numbers, so that those who failed
    /// together don't come back together (full jitter).
    pub(super) fn then(&mut self, attempt: &Attempt, chance: u32) -> Then {
        let mut wait = self.pause(attempt, chance);
        let is_over = match attempt {
            Attempt::Taken => false,
            Attempt::Refused(_) => {
                wait = (limits::WEBHOOK_REFUSED_WAIT + wait).min(self.patience.longest);
                self.refused += 1;
                self.refused >= limits::WEBHOOK_REFUSED_ATTEMPTS
            }
            Attempt::Unavailable { .. } => self.begun.elapsed() >= self.patience.give_up,
        };
        if is_over { Then::GiveUp } else { Then::Again(wait) }
    }

    /// How long is waited after this attempt, if it was in vain and another follows.
    pub(super) fn pause(&mut self, attempt: &Attempt, chance: u32) -> Duration {
        self.count = self.count.saturating_add(1);
        let asked = match attempt {
            Attempt::Taken | Attempt::Refused(_) => None,
            Attempt::Unavailable { retry_after, .. } => *retry_after,
        };
        self.wait(chance).max(asked.unwrap_or_default()).min(self.patience.longest)
    }

    fn wait(&self, chance: u32) -> Duration {
        let Patience { first, longest, .. } = self.patience;
        let doubled = 1_u32.checked_shl(self.count.saturating_sub(1)).filter(|_| self.count <= 32);
        let window = doubled.map_or(longest, |times| first.saturating_mul(times)).min(longest);
        window.mul_f64(f64::from(chance) / f64::from(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Patience = Patience {
        first: Duration::from_secs(1),
        longest: Duration::from_mins(5),
        give_up: Duration::from_hours(24),
    };

    fn gone(retry_after: Option<u64>) -> Attempt {
        Attempt::Unavailable { why: String::new(), retry_after: retry_after.map(Duration::from_secs) }
    }

    #[tokio::test(start_paused = true)]
    async fn the_window_doubles_up_to_the_longest_and_chance_falls_into_all_of_it() {
        let mut tries = Tries::new(PATIENCE);
        for seconds in [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
            let mut never = tries.clone();
            assert_eq!(tries.then(&gone(None), u32::MAX), Then::Again(Duration::from_secs(seconds)));
            assert_eq!(never.then(&gone(None), 0), Then::Again(Duration::ZERO));
        }
        for _ in 0..100 {
            assert_eq!(tries.then(&gone(None), u32::MAX), Then::Again(Duration::from_mins(5)));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_receiver_is_left_alone_as_long_as_it_asks_but_no_longer_than_the_longest() {
        let then = |asked| Tries::new(PATIENCE).then(&gone(Some(asked)), 0);
        assert_eq!(then(7), Then::Again(Duration::from_secs(7)));
        assert_eq!(then(100_000), Then::Again(Duration::from_mins(5)));
        assert_eq!(Tries::new(PATIENCE).then(&gone(Some(0)), u32::MAX), Then::Again(Duration::from_secs(1)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_is_tried_a_few_times_and_one_who_is_gone_for_a_day() {
        let mut refused = Tries::new(PATIENCE);
        let no = Attempt::Refused(String::new());
        // Whatever chance says, it has four minutes to come to its senses.
        assert_eq!(refused.then(&no, 0), Then::Again(Duration::from_mins(2)));
        assert_eq!(refused.then(&no, u32::MAX), Then::Again(Duration::from_secs(122)));
        assert_eq!(refused.then(&no, 0), Then::GiveUp);
        assert_eq!(refused.count, 3);
        let hasty = Patience { longest: Duration::from_secs(5), ..PATIENCE };
        assert_eq!(Tries::new(hasty).then(&no, 0), Then::Again(Duration::from_secs(5)));

        let mut unavailable = Tries::new(PATIENCE);
        tokio::time::advance(Duration::from_secs(86_399)).await;
        assert!(matches!(unavailable.then(&gone(None), 0), Then::Again(_)));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(unavailable.then(&gone(None), 0), Then::GiveUp);
    }
}
