//! Traces over OTLP: what became of one action, from the adapter that took it to the queues of those who see it.
//!
//! ```text
//! Act ─┬─ inbox     until its match's task takes it up
//!      ├─ journal   until what comes of it is durable
//!      └─ publish   until it is in every reader's queue
//! ```
//!
//! A span says which match, seat and decision it is about, and never what was chosen: no card, no token and no nonce is in
//! it. What waits to be sent is dropped when there is too much of it, so a collector that is away costs
//! the server nothing but spans.

mod coin;
mod exporter;
mod parent;
#[cfg(test)]
mod tests;
mod trace;

use opentelemetry::{KeyValue, trace::TracerProvider};
use opentelemetry_otlp::{
    ExporterBuildError, SpanExporter, WithExportConfig, WithTonicConfig,
    tonic_types::transport::ClientTlsConfig,
};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkError,
    trace::{BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracerProvider},
};
use tonic::metadata::MetadataMap;
use tracing::{Span, Subscriber, level_filters::LevelFilter};
use tracing_subscriber::{Layer, filter::Targets, registry::LookupSpan};

use crate::{config::Otlp, journal::MatchId, limits, table::Command};
use exporter::Telling;
pub(crate) use trace::{Trace, stage};

/// What these spans are told from those of others by. They are of the level `trace`, so that a log of less has none of them.
pub(crate) const TARGET: &str = "zetema_traces";

/// Spans on their way to a collector.
#[derive(Debug)]
pub struct Traces {
    provider: SdkTracerProvider,
}

/// Why spans can't be sent.
#[derive(Debug, thiserror::Error)]
#[error("traces can't be sent to {endpoint}: {cause}")]
pub struct TracesError {
    endpoint: String,
    #[source]
    cause: ExporterBuildError,
}

impl Traces {
    /// Sends spans to a collector from here on. To be called on a tokio runtime, which has to run until [`Traces::stop`]
    /// is done.
    ///
    /// # Errors
    /// [`TracesError`] when the endpoint can't be used, or it is `https` and the system has no CAs to check it by. Whether
    /// anyone is there is not looked at.
    pub fn start(otlp: &Otlp) -> Result<Self, TracesError> {
        let endpoint = otlp.endpoint.to_string();
        let mut exporter = SpanExporter::builder()
            .with_tonic()
            .with_endpoint(&endpoint)
            .with_timeout(limits::TRACES_TIMEOUT);
        if otlp.endpoint.is_https() {
            // By itself the exporter trusts nobody.
            exporter = exporter.with_tls_config(ClientTlsConfig::new().with_enabled_roots());
        }
        let exporter = exporter.build().map_err(|cause| TracesError { endpoint, cause })?;
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(limits::TRACES_QUEUED_SPANS)
            .with_max_export_batch_size(limits::TRACES_BATCH_SPANS)
            .with_scheduled_delay(limits::TRACES_INTERVAL);
        let batches =
            BatchSpanProcessor::builder(Telling::new(exporter)).with_batch_config(batches.build()).build();
        let resource = Resource::builder()
            .with_service_name("zetema")
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
        let provider = SdkTracerProvider::builder()
            // What is traced is drawn before: neither a trace's number nor its flags decide it, which clients choose.
            .with_sampler(Sampler::AlwaysOn)
            .with_resource(resource.build())
            .with_span_processor(batches)
            .build();
        coin::trace(otlp.share);
        Ok(Self { provider })
    }

    /// What makes spans of those of the program, for its subscriber.
    pub fn layer<S: Subscriber + for<'span> LookupSpan<'span>>(&self) -> impl Layer<S> + use<S> {
        let layer = tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("zetema"))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false);
        layer.with_filter(Targets::new().with_target(TARGET, LevelFilter::TRACE))
    }

    /// Sends what still waits, for so long as that may take, and then no more.
    pub async fn stop(self) {
        coin::trace(0.0);
        let stopping = tokio::task::spawn_blocking(move || {
            self.provider.shutdown_with_timeout(limits::TRACES_STOP_TIMEOUT)
        });
        match stopping.await {
            Ok(Ok(()) | Err(OTelSdkError::AlreadyShutdown)) => {}
            Ok(Err(error)) => tracing::warn!(%error, "the last traces may not have been sent"),
            Err(error) => tracing::warn!(%error, "the traces could not be stopped"),
        }
    }
}

/// The span of what is asked of a match by this RPC: part of the trace that the metadata of a call names. It is none when
/// nobody makes traces, and unless the lot falls on it.
pub(crate) fn of_command(
    rpc: &'static str,
    metadata: Option<&MetadataMap>,
    match_id: MatchId,
    command: &Command,
) -> Trace {
    if !coin::falls() {
        return Trace::none();
    }
    let decision = match command {
        Command::Act { decision, .. } => Some(*decision),
        _ => None,
    };
    let span = tracing::trace_span!(
        target: TARGET,
        "command",
        otel.name = command.name(),
        otel.kind = "server",
        rpc,
        %match_id,
        seat = command.seat().map(tracing::field::display),
        decision,
        rejection = tracing::field::Empty,
    );
    if let Some(metadata) = metadata {
        parent::follow(&span, metadata);
    }
    Trace::of(span)
}

/// The span in which this is called, if it is of a command.
pub(crate) fn current() -> Trace {
    // Nothing is looked up when nobody makes traces.
    if !tracing::enabled!(target: TARGET, tracing::Level::TRACE) {
        return Trace::none();
    }
    let current = Span::current();
    let ours = current.metadata().is_some_and(|metadata| metadata.target() == TARGET);
    if ours { Trace::of(current) } else { Trace::none() }
}
