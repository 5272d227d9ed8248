//! The span of a client that a call belongs to (W3C Trace Context).

use opentelemetry::{
    propagation::{Extractor, TextMapPropagator},
    trace::TraceContextExt,
};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tonic::metadata::MetadataMap;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// Puts a span under the one that the metadata of its call names, if it names one.
pub(super) fn follow(span: &Span, metadata: &MetadataMap) {
    if span.is_disabled() || !metadata.contains_key("traceparent") {
        return;
    }
    let parent = TraceContextPropagator::new().extract(&Headers(metadata));
    if parent.span().span_context().is_valid() {
        // An error says that nobody makes traces of it: then it has no need of a parent.
        let _ = span.set_parent(parent);
    }
}

struct Headers<'metadata>(&'metadata MetadataMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        // What was meant for others to read is left out: tracestate is theirs.
        self.0.get(key).filter(|_| key == "traceparent")?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        vec!["traceparent"]
    }
}
