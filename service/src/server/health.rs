//! What the health service says, and the journal's part of the metrics.

use std::sync::Arc;

use ::metrics::{counter, gauge};
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use tonic_health::{ServingStatus, server::HealthReporter};
use zetema_proto::v1;

use crate::{
    grpc::Drain,
    journal::{Health, Journal, JournalStats, ServerJournal},
    limits,
    matches::Matches,
    metrics,
};

/// The services whose health is told, beside that of the whole server, which has no name.
const SERVICES: [&str; 4] = [
    "",
    v1::match_service_server::SERVICE_NAME,
    v1::play_service_server::SERVICE_NAME,
    v1::rules_service_server::SERVICE_NAME,
];

/// Sets the health of the server and of every service.
async fn set(reporter: &HealthReporter, status: ServingStatus) {
    for service in SERVICES {
        reporter.set_service_status(service, status).await;
    }
}

/// Follows the journal: serving exactly while writes go through, until the server drains, and from then on not. When
/// it closes, the streams of those who watch end.
pub(super) async fn follow(mut reporter: HealthReporter, journal: Arc<dyn ServerJournal>, drain: Drain) {
    let mut health = journal.health();
    loop {
        let status = match &*health.borrow_and_update() {
            Health::Writing => ServingStatus::Serving,
            Health::Failing(cause) => {
                tracing::error!(%cause, "the journal takes no writes");
                ServingStatus::NotServing
            }
            Health::Closed => ServingStatus::NotServing,
        };
        set(&reporter, status).await;
        if !matches!(drain.draining().run_until_cancelled(health.changed()).await, Some(Ok(()))) {
            break;
        }
    }
    set(&reporter, ServingStatus::NotServing).await;
    drain.closing().cancelled().await;
    for service in SERVICES {
        reporter.clear_service_status(service).await;
    }
}

/// Keeps the metrics of the page tidy, and counts what the journal has done, until `closing`.
pub(super) async fn upkeep(
    journal: Arc<dyn Journal>,
    matches: Matches,
    page: Option<PrometheusHandle>,
    closing: CancellationToken,
) {
    let (mut before, mut due) = (JournalStats::default(), Due::now());
    let mut ticks = interval(limits::METRICS_LOOK_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while let Some(at) = closing.run_until_cancelled(ticks.tick()).await {
        let now = journal.stats();
        if !due.has_come(at, now.rows - before.rows) {
            continue;
        }
        #[expect(
            clippy::cast_precision_loss,
            reason = "a gauge is a float, and so many matches or segments there are not"
        )]
        {
            gauge!(metrics::LIVE_MATCHES).set(matches.live() as f64);
            gauge!(metrics::JOURNAL_DAMAGED_SEGMENTS).set(now.damaged_segments as f64);
        }
        counter!(metrics::JOURNAL_COMMITS).increment(now.commits - before.commits);
        counter!(metrics::JOURNAL_FAILED_COMMITS).increment(now.failed_commits - before.failed_commits);
        counter!(metrics::JOURNAL_RECORDS).increment(now.rows - before.rows);
        before = now;
        if let Some(page) = page.clone() {
            // As long as it takes to go through all that was measured, nothing else waits for it.
            let tidied = tokio::task::spawn_blocking(move || page.run_upkeep());
            if let Err(error) = tidied.await {
                tracing::warn!(%error, "the metrics could not be tidied");
            }
        }
    }
}

/// When the metrics are tidied next: some time after it was done last, or when much was measured since.
struct Due(Instant);

impl Due {
    fn now() -> Self {
        Self(Instant::now())
    }

    /// Whether it is due, with so many records of the journal since it was done last. It counts as done if so.
    fn has_come(&mut self, now: Instant, records: u64) -> bool {
        let has_come = now >= self.0 || records >= limits::METRICS_UPKEEP_RECORDS;
        if has_come {
            self.0 = now + limits::METRICS_UPKEEP_INTERVAL;
        }
        has_come
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_tidied_when_much_is_measured_and_in_time_when_nothing_is() {
        let (interval, much) = (limits::METRICS_UPKEEP_INTERVAL, limits::METRICS_UPKEEP_RECORDS);
        let (mut due, began) = (Due::now(), Instant::now());
        assert!(due.has_come(began, 10), "the first time at once");
        assert!(!due.has_come(began, much - 1));
        assert!(due.has_come(began, much));
        // The time runs from then on.
        let before = began + interval - limits::METRICS_LOOK_INTERVAL;
        assert!(!due.has_come(before, much - 1));
        assert!(due.has_come(began + interval, 0), "with no record more");
        assert!(!due.has_come(began + interval, 0));
    }
}
