//! What a session writes to the log.

use std::fmt::{self, Write};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::refused;
use crate::error::ErrorReason;
use crate::session::tag::Asked;

/// Keeps the fields of all lines as text.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Subscriber for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, "{}={value:?} ", field.name()).unwrap();
    }
}

/// They may name its cards.
#[test]
fn the_servers_words_to_a_seat_are_in_no_line() {
    let lines = Lines::default();
    let world =
        tracing::subscriber::with_default(lines.clone(), || refused(Asked::Join, ErrorReason::NotFound).0);
    let said = "NOT_FOUND (no)";
    assert!(world.outcomes.values().all(|outcome| outcome.to_string().contains(said)), "the bot is told");
    let lines = lines.0.lock().unwrap();
    let over: Vec<_> = lines.iter().filter(|line| line.contains("a seat is over")).collect();
    assert!(
        matches!(over[..], [line] if line.contains("the server refused to join: NOT_FOUND")),
        "{lines:?}"
    );
    assert!(!lines.iter().any(|line| line.contains(said)), "{lines:?}");
}
