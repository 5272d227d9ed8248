//! What is traced, and what becomes of what can't be sent. Spans and their subscriber are of the process: one test after the
//! other.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicUsize},
    time::{Duration, Instant},
};

use opentelemetry_sdk::{error::OTelSdkResult, trace::SpanData};
use tokio::net::TcpListener;
use tracing::span::{Attributes, Id};
use tracing_subscriber::{
    fmt,
    fmt::MakeWriter,
    layer::{Context, SubscriberExt},
    registry,
};
use zetema_rules::Seat;

use super::*;
use crate::table::{Choice, SeatAccess};

static ONE_AFTER_THE_OTHER: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// Counts the spans that are made.
#[derive(Clone, Default)]
struct Counting(Arc<AtomicUsize>);

impl<S: Subscriber> Layer<S> for Counting {
    fn on_new_span(&self, _: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

/// A log that is kept.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn count(&self, text: &str) -> usize {
        let log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&log).matches(text).count()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// An action in a call whose client says that it is part of a trace, which is to be kept.
fn act() -> Trace {
    let mut metadata = MetadataMap::new();
    let traceparent = "00-00000000000000010000000000000000-00f067aa0ba902b7-01";
    metadata.insert("traceparent", traceparent.parse().unwrap());
    let access = SeatAccess { seat: Seat::new(0).unwrap(), generation: 1 };
    let command = Command::Act { access, decision: 1, choice: Choice::LegalIndex(0) };
    of_command("Act", Some(&metadata), MatchId::from_bytes([1; 16]), &command)
}

#[tokio::test]
async fn what_is_not_drawn_has_no_span_whatever_its_client_says() {
    let _alone = ONE_AFTER_THE_OTHER.lock().await;
    let made = Counting::default();
    let _counting = tracing::subscriber::set_default(registry().with(made.clone()));
    let spans = || {
        (0..10_000).for_each(|_| {
            let whole = act();
            stage!(whole, "inbox");
        });
        made.0.swap(0, std::sync::atomic::Ordering::Relaxed)
    };
    coin::trace(0.0);
    assert_eq!(spans(), 0);
    coin::trace(1.0);
    assert_eq!(spans(), 20_000);
    coin::trace(0.01);
    let some = spans();
    // One in a million of all runs is beyond.
    assert!((100..=300).contains(&some), "{some} of 20,000");
    coin::trace(0.0);
    assert_eq!(spans(), 0);
}

/// A collector that is away, but for the third and fourth time.
#[derive(Debug, Default)]
struct Away(AtomicUsize);

impl opentelemetry_sdk::trace::SpanExporter for Away {
    async fn export(&self, _: Vec<SpanData>) -> OTelSdkResult {
        match self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            2 | 3 => Ok(()),
            _ => Err(OTelSdkError::InternalFailure("nobody is there".to_owned())),
        }
    }
}

#[tokio::test]
async fn a_collector_that_is_away_is_told_once_and_once_when_it_is_back() {
    use opentelemetry_sdk::trace::SpanExporter;

    let log = Log::default();
    let _logging = tracing::subscriber::set_default(fmt().with_writer(log.clone()).finish());
    let exporter = Telling::new(Away::default());
    let mut told = Vec::new();
    for _ in 0..6 {
        assert!(exporter.export(Vec::new()).await.is_ok(), "else it would be told each time");
        told.push((log.count("traces can't be sent"), log.count("traces are sent again")));
    }
    assert_eq!(told, [(1, 0), (1, 0), (1, 1), (1, 1), (2, 1), (2, 1)]);
    assert_eq!(log.count("nobody is there"), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_collector_does_not_take_is_dropped_and_nobody_waits_for_it() {
    let _alone = ONE_AFTER_THE_OTHER.lock().await;
    // It takes connections and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", silent.local_addr().unwrap()).parse().unwrap();
    let traces = Traces::start(&Otlp { endpoint, share: 1.0 }).unwrap();
    let layer = traces.layer();
    let _tracing = tracing::subscriber::set_default(registry().with(layer));
    let begun = Instant::now();
    for _ in 0..3 * limits::TRACES_QUEUED_SPANS {
        drop(act());
    }
    // Whoever waited for the collector would wait a time-out for each batch, and for each batch at the end.
    let most = Duration::from_mins(2);
    assert!(begun.elapsed() < most, "{:?}", begun.elapsed());
    traces.stop().await;
    assert!(begun.elapsed() < most, "{:?}", begun.elapsed());
    assert!(act().span().is_none(), "nothing is traced any more");
}
