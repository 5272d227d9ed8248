//! What metrics tell of webhooks.

use std::collections::BTreeMap;
use std::time::Duration;

use metrics::gauge;
use tokio::time::{Instant, sleep};

use super::{Running, Webhooks};
use crate::journal::{ResultNumber, WebhookId};
use crate::limits;
use crate::metrics::{WEBHOOK_LAG, WEBHOOK_STUCK};

/// Since when each webhook that is behind has been at the result at which it is.
#[derive(Debug, Default)]
struct Standing(BTreeMap<WebhookId, (ResultNumber, Instant)>);

impl Standing {
    /// How long the one has stood that has stood longest, as it is now: each with the result that it has done with last, and
    /// how many have come since.
    fn longest(
        &mut self,
        now: Instant,
        webhooks: impl Iterator<Item = (WebhookId, ResultNumber, u64)>,
    ) -> Duration {
        let behind = webhooks.filter(|(_, _, behind)| *behind > 0).map(|(id, done, _)| {
            let before = self.0.get(&id).filter(|(before, _)| *before == done);
            (id, (done, before.map_or(now, |(_, since)| *since)))
        });
        self.0 = behind.collect();
        self.0.values().map(|(_, since)| now.duration_since(*since)).max().unwrap_or_default()
    }
}

impl Webhooks {
    /// Keeps the metrics up to date, and memory.
    pub(super) async fn measure(&self) {
        let mut standing = Standing::default();
        loop {
            if let Err(error) = self.refresh(&mut *self.shared.changing.lock().await).await {
                tracing::debug!(%error, "webhooks are read again later");
            }
            let latest = self.shared.config.matches.latest_result();
            let now = |running: &Running| {
                let done = running.progress.now().done;
                (running.webhook.id, done, latest.get().saturating_sub(done.get()))
            };
            let all: Vec<(WebhookId, ResultNumber, u64)> = self.running().values().map(now).collect();
            let behind = all.iter().map(|(_, _, behind)| *behind).max().unwrap_or(0);
            #[allow(clippy::cast_precision_loss, reason = "a gauge is no exact number")]
            gauge!(WEBHOOK_LAG).set(behind as f64);
            gauge!(WEBHOOK_STUCK).set(standing.longest(Instant::now(), all.into_iter()).as_secs_f64());
            sleep(limits::METRICS_UPKEEP_INTERVAL).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_webhook_stands_that_is_behind_and_has_done_with_nothing() {
        let mut standing = Standing::default();
        let mut look = async |webhooks: &[(u8, u64, u64)]| {
            tokio::time::advance(Duration::from_secs(10)).await;
            let webhooks = webhooks.iter().map(|(id, done, behind)| {
                (WebhookId::from_bytes([*id; 16]), ResultNumber::new(*done), *behind)
            });
            standing.longest(Instant::now(), webhooks).as_secs()
        };
        assert_eq!(look(&[]).await, 0);
        // One that has nothing to do has not stood however long that is.
        assert_eq!(look(&[(1, 5, 0), (2, 5, 0)]).await, 0);
        assert_eq!(look(&[(1, 5, 0), (2, 5, 0)]).await, 0);
        // One that is behind and goes on does not stand, however far it is behind.
        assert_eq!(look(&[(1, 5, 1), (2, 6, 100)]).await, 0);
        assert_eq!(look(&[(1, 5, 2), (2, 7, 200)]).await, 10);
        assert_eq!(look(&[(1, 5, 2), (2, 8, 300)]).await, 20);
        assert_eq!(look(&[(1, 6, 2), (2, 8, 300)]).await, 10);
        assert_eq!(look(&[(1, 8, 0), (2, 8, 300)]).await, 20);
        assert_eq!(look(&[(1, 8, 0)]).await, 0);
    }
}
