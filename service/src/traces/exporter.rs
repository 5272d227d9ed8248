//! What sends spans, and tells the log when that begins to fail and when it works again: not each time.

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Duration,
};

use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{SpanData, SpanExporter},
};

/// What sends spans by another.
#[derive(Debug)]
pub(super) struct Telling<E> {
    exporter: E,
    failing: AtomicBool,
}

impl<E> Telling<E> {
    pub(super) const fn new(exporter: E) -> Self {
        Self { exporter, failing: AtomicBool::new(false) }
    }
}

impl<E: SpanExporter> SpanExporter for Telling<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        match self.exporter.export(batch).await {
            Ok(()) if self.failing.swap(false, Relaxed) => tracing::info!("traces are sent again"),
            Err(error) if !self.failing.swap(true, Relaxed) => {
                tracing::warn!(%error, "traces can't be sent and are lost, until the log says that they are sent again");
            }
            Ok(()) | Err(_) => {}
        }
        // It is told: whoever asks for it would tell it each time.
        Ok(())
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
