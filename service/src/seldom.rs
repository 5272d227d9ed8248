//! What strangers can bring about as often as they like is told by one line of the log in a second, which says how often it was.

use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

use crate::limits::LOG_PAUSE;

/// When something was told last, and how often it came since.
#[derive(Debug, Default)]
pub(crate) struct Seldom(Mutex<Told>);

#[derive(Debug, Default)]
struct Told {
    at: Option<Instant>,
    untold: u64,
}

impl Seldom {
    /// Of something that was never told.
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Told { at: None, untold: 0 }))
    }

    /// It has come once more. If it is to be told now: how often it came since it was told last.
    pub(crate) fn times(&self) -> Option<u64> {
        let now = Instant::now();
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.untold += 1;
        if told.at.is_some_and(|at| now - at < LOG_PAUSE) {
            return None;
        }
        told.at = Some(now);
        Some(std::mem::take(&mut told.untold))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_comes_again_and_again_is_told_once_in_a_second_with_how_often_it_was() {
        let seldom = Seldom::new();
        assert_eq!(seldom.times(), Some(1), "the first is told at once");
        for _ in 0..999 {
            assert_eq!(seldom.times(), None);
        }
        advance(LOG_PAUSE.saturating_sub(Duration::from_millis(1))).await;
        assert_eq!(seldom.times(), None);
        advance(Duration::from_millis(1)).await;
        assert_eq!(seldom.times(), Some(1_001));
        advance(10 * LOG_PAUSE).await;
        assert_eq!(seldom.times(), Some(1));
    }
}
