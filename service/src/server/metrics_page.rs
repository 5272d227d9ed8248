//! The page that Prometheus reads.

use std::{sync::Arc, time::Duration};

use axum::{
    body::Bytes,
    response::{IntoResponse, Response},
};
use http::{StatusCode, header::CONTENT_TYPE};
use metrics_exporter_prometheus::PrometheusHandle;
use metrics_process::Collector;
use tokio::{
    sync::Mutex,
    task::{JoinError, spawn_blocking},
    time::Instant,
};

/// The page of the metrics, with those of the process as they are when it is made.
#[derive(Clone)]
pub(super) struct MetricsPage {
    page: PrometheusHandle,
    process: Collector,
    /// How long one is given to all who ask.
    kept: Duration,
    /// The last one. One is made at a time: whoever asks for many holds up those who ask for the page and nobody else.
    last: Arc<Mutex<Option<Made>>>,
}

/// A page that was made.
struct Made {
    at: Instant,
    text: Bytes,
}

impl MetricsPage {
    /// The page of these metrics. All who ask within so long after it was made are given the same.
    pub(super) fn new(page: PrometheusHandle, kept: Duration) -> Self {
        let process = Collector::default();
        process.describe();
        Self { page, process, kept, last: Arc::default() }
    }

    pub(super) async fn answer(self) -> Response {
        match self.text().await {
            Ok(text) => ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response(),
            Err(error) => {
                tracing::error!(%error, "the page of the metrics can't be made");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }

    async fn text(self) -> Result<Bytes, JoinError> {
        let Self { page, process, kept, last } = self;
        let mut last = last.lock_owned().await;
        if let Some(Made { at, text }) = &*last
            && at.elapsed() < kept
        {
            return Ok(text.clone());
        }
        // It takes some milliseconds, and reads files. It is made to its end, though its client may be gone.
        let made = spawn_blocking(move || {
            process.collect();
            let text = Bytes::from(page.render());
            // Kept from its end on: where it takes longer than it is kept, not all time goes into it.
            *last = Some(Made { at: Instant::now(), text: text.clone() });
            text
        });
        made.await
    }
}

/// What is told where the metrics have no page.
pub(super) async fn none() -> (StatusCode, &'static str) {
    (StatusCode::NOT_FOUND, "The program that this server is part of has a metrics recorder of its own.\n")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use futures::future::join_all;
    use metrics::counter;
    use tokio::time::advance;

    use super::*;
    use crate::{limits::METRICS_PAGE_KEPT, metrics::recorder};

    const NAME: &str = "zetema_looks_total";

    async fn check(page: &MetricsPage, count: u64) -> Bytes {
        let text = page.clone().text().await.unwrap();
        let line = format!("\n{NAME} {count}\n");
        assert!(std::str::from_utf8(&text).unwrap().contains(&line), "{text:?}");
        text
    }

    #[tokio::test(start_paused = true)]
    async fn one_page_is_given_to_all_who_ask_while_it_is_fresh() {
        let recorder = recorder().unwrap();
        let _counting = metrics::set_default_local_recorder(&recorder);
        let page = MetricsPage::new(recorder.handle(), METRICS_PAGE_KEPT);
        counter!(NAME).increment(1);
        let texts = join_all((0..8).map(|_| check(&page, 1))).await;
        assert!(texts.iter().all(|text| text.as_ptr() == texts[0].as_ptr()), "each has one of its own");
        counter!(NAME).increment(1);
        advance(METRICS_PAGE_KEPT.saturating_sub(Duration::from_millis(1))).await;
        check(&page, 1).await;
        advance(Duration::from_millis(1)).await;
        check(&page, 2).await;

        let always_new = MetricsPage::new(recorder.handle(), Duration::ZERO);
        check(&always_new, 2).await;
        counter!(NAME).increment(1);
        check(&always_new, 3).await;
    }
}
