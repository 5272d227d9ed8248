//! Waiting by the server's clock, which stands while the server itself does.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use hyper::rt::{Sleep, Timer};
use tokio::time::{Instant, sleep};

use crate::{matches::Clock, table::Moment};

/// Waits until the clock shows this. What came while the server stalled is read before a clock that stood then shows
/// that it is too late.
pub(super) async fn until(clock: &dyn Clock, due: Moment) {
    loop {
        let left = due.since(clock.now());
        if left.is_zero() {
            return;
        }
        sleep(left).await;
    }
}

/// The timers of hyper, by the server's clock.
pub(super) struct ByClock(pub(super) Arc<dyn Clock>);

impl Timer for ByClock {
    fn sleep(&self, time: Duration) -> Pin<Box<dyn Sleep>> {
        let (clock, due) = (Arc::clone(&self.0), self.0.now().after(time));
        Box::pin(Waiting(Box::pin(async move { until(&*clock, due).await })))
    }

    fn sleep_until(&self, deadline: std::time::Instant) -> Pin<Box<dyn Sleep>> {
        self.sleep(deadline.saturating_duration_since(self.now()))
    }

    fn now(&self) -> std::time::Instant {
        Instant::now().into_std()
    }
}

struct Waiting(Pin<Box<dyn Future<Output = ()> + Send + Sync>>);

impl Future for Waiting {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(context)
    }
}

impl Sleep for Waiting {}
