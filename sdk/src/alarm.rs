//! A timer for a task that waits for much else, too.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use tokio::time::{Sleep, sleep_until};

/// A timer that is set anew only for what comes before it: so what is put off again and again costs nothing.
///
/// It may ring for what was put off since. Whoever hears it looks at the time, and sets it again.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    sleep: Option<Pin<Box<Sleep>>>,
    set: Option<Instant>,
}

impl Alarm {
    /// Has it ring at this time, or before.
    pub(crate) fn set(&mut self, at: Instant) {
        if self.set.is_some_and(|set| set <= at) {
            return;
        }
        match &mut self.sleep {
            Some(sleep) => sleep.as_mut().reset(at.into()),
            None => self.sleep = Some(Box::pin(sleep_until(at.into()))),
        }
        self.set = Some(at);
    }

    /// Whether it rings, once for each time that it was set.
    pub(crate) fn poll_ring(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let (Some(sleep), Some(_)) = (&mut self.sleep, self.set) else { return Poll::Pending };
        ready!(sleep.as_mut().poll(context));
        self.set = None;
        Poll::Ready(())
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::time::Duration;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// By tokio's clock, which stands still but when all wait.
    fn now() -> Instant {
        tokio::time::Instant::now().into_std()
    }

    #[tokio::test(start_paused = true)]
    async fn an_alarm_rings_once_at_the_earliest_time_for_which_it_was_set() {
        let (began, mut alarm) = (now(), Alarm::default());
        for seconds in [5, 2, 3] {
            alarm.set(began + seconds * SECOND);
        }
        poll_fn(|context| alarm.poll_ring(context)).await;
        assert_eq!((now() - began).as_secs(), 2);
        let again = tokio::time::timeout(60 * SECOND, poll_fn(|context| alarm.poll_ring(context))).await;
        assert!(again.is_err(), "it was not set again");
        alarm.set(now() + SECOND);
        poll_fn(|context| alarm.poll_ring(context)).await;
    }
}
