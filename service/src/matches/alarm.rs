//! What wakes a table when its time is out.

use std::future::pending;
use std::pin::Pin;
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

use super::Clock;
use crate::table::Moment;

/// A timer that is set again only for what comes before it. To set one costs more than to look at a clock, and most decisions
/// are taken long before their time is out: so it may wake a table for nothing, which then waits again.
#[derive(Debug, Default)]
pub(super) struct Alarm(Option<Pin<Box<Sleep>>>);

impl Alarm {
    /// Waits until the clock has passed the deadline, or for less. Without a deadline it waits for ever.
    pub(super) async fn wait(&mut self, clock: &dyn Clock, deadline: Option<Moment>) {
        let Some(deadline) = deadline else { return pending().await };
        // A moment more than asked for, so that the deadline has passed for certain.
        let due = Instant::now() + deadline.since(clock.now()) + Duration::from_millis(1);
        let timer = self.0.get_or_insert_with(|| Box::pin(sleep_until(due)));
        if timer.is_elapsed() || timer.deadline() > due {
            timer.as_mut().reset(due);
        }
        timer.await;
    }
}
