//! The page that Prometheus reads.

use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use http::{StatusCode, header::CONTENT_TYPE};
use metrics_exporter_prometheus::PrometheusHandle;
use metrics_process::Collector;
use tokio::{sync::Mutex, task::spawn_blocking};

/// The page of the metrics, with those of the process as they are when it is made.
#[derive(Clone)]
pub(super) struct MetricsPage {
    page: PrometheusHandle,
    process: Collector,
    /// One is made at a time: whoever asks for many holds up those who ask for the page and nobody else.
    making: Arc<Mutex<()>>,
}

impl MetricsPage {
    pub(super) fn new(page: PrometheusHandle) -> Self {
        let process = Collector::default();
        process.describe();
        Self { page, process, making: Arc::default() }
    }

    pub(super) async fn answer(self) -> Response {
        let Self { page, process, making } = self;
        let alone = making.lock_owned().await;
        // It takes some milliseconds, and reads files.
        let made = spawn_blocking(move || {
            // Until it is made, though its client may be gone.
            let _alone = alone;
            process.collect();
            page.render()
        });
        match made.await {
            Ok(text) => ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response(),
            Err(error) => {
                tracing::error!(%error, "the page of the metrics can't be made");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }
}

/// What is told where the metrics have no page.
pub(super) async fn none() -> (StatusCode, &'static str) {
    (StatusCode::NOT_FOUND, "The program that this server is part of has a metrics recorder of its own.\n")
}
