//! A record, played again for all that look at it.

use zetema_rules::{Event, Record, Replay, ReplayError};

/// A record, and what comes of playing it again: all its seats need the same.
pub(crate) struct Replayed {
    pub(super) record: Record,
    pub(super) events: Result<Vec<Event>, ReplayError>,
}

impl Replayed {
    pub(crate) fn new(record: Record) -> Self {
        Self { events: verified_events(&record), record }
    }
}

/// What happened in a match, up to its last step.
///
/// # Errors
/// [`ReplayError`] as from [`Record::verify`].
fn verified_events(record: &Record) -> Result<Vec<Event>, ReplayError> {
    let mut replay = Replay::new(record)?;
    let mut events = replay.events().to_vec();
    while replay.step()?.is_some() {
        events.extend_from_slice(replay.events());
    }
    replay.finish()?;
    Ok(events)
}
