//! What a bot has seen and felt.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hdrhistogram::Histogram;
use zetema_proto::v1;
use zetema_proto::v1::bot_conduct::Kind as Conduct;

/// The longest round trip that is told apart, in microseconds.
const LONGEST_US: u64 = 60_000_000;

/// What a bot has seen and felt. A clone is the same.
#[derive(Clone, Debug, Default)]
pub struct Felt(Arc<Mutex<Seen>>);

/// What a bot has seen and felt until now.
#[derive(Clone, Debug)]
pub struct Seen {
    /// From an action to its own observation, in microseconds.
    pub round_trips: Histogram<u64>,
    /// Illegal actions that it has sent.
    pub illegal: u64,
    /// Messages that it has sent to flood the server.
    pub flooded: u64,
    /// Matches that it saw end.
    pub ended: u64,
    /// Streams that it has opened.
    pub streams: u64,
    /// Connections and streams that it did not get, or that the server ended, by what was said.
    pub refused: BTreeMap<String, u64>,
    /// Messages that were rejected, by reason.
    pub rejected: BTreeMap<&'static str, u64>,
    /// Seats that it lost to another stream.
    pub superseded: u64,
    /// Notices of the ladder after which it was cooling down.
    pub cooling_down: u64,
    /// Notices of the ladder after which it was benched.
    pub benched: u64,
    /// Notices of forfeits.
    pub notices: Vec<String>,
    /// Why the server cut its last stream, as a welcome says, by reason.
    pub cuts: BTreeMap<&'static str, u64>,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            round_trips: Histogram::new_with_bounds(1, LONGEST_US, 3).unwrap(),
            illegal: 0,
            flooded: 0,
            ended: 0,
            streams: 0,
            refused: BTreeMap::new(),
            rejected: BTreeMap::new(),
            superseded: 0,
            cooling_down: 0,
            benched: 0,
            notices: Vec::new(),
            cuts: BTreeMap::new(),
        }
    }
}

impl Felt {
    /// What was seen and felt until now.
    pub fn seen(&self) -> Seen {
        self.0.lock().unwrap().clone()
    }

    pub(super) fn note(&self, note: impl FnOnce(&mut Seen)) {
        note(&mut self.0.lock().unwrap());
    }

    /// An action had its receipt.
    pub(super) fn answered(&self, took: Duration) {
        let took = u64::try_from(took.as_micros()).unwrap_or(LONGEST_US);
        self.note(|seen| seen.round_trips.saturating_record(took));
    }

    /// A message was rejected.
    pub(super) fn rejected(&self, error: &v1::Error) {
        self.note(|seen| *seen.rejected.entry(error.reason().name()).or_default() += 1);
    }

    /// A connection or a stream was refused or ended.
    pub(super) fn refused(&self, said: &str) {
        self.note(|seen| *seen.refused.entry(said.to_owned()).or_default() += 1);
    }

    /// The ladder had something to say.
    pub(super) fn notice(&self, notice: &v1::LadderNotice) {
        self.note(|seen| {
            match notice.conduct.as_ref().and_then(|conduct| conduct.kind.as_ref()) {
                Some(Conduct::CoolingDown(_)) => seen.cooling_down += 1,
                Some(Conduct::Benched(_)) => seen.benched += 1,
                Some(Conduct::Free(_) | Conduct::OutOfQuota(_)) | None => {}
            }
            seen.notices.push(notice.message.clone());
        });
    }

    /// A stream is open.
    pub(super) fn welcomed(&self, welcome: &v1::Welcome) {
        self.note(|seen| {
            seen.streams += 1;
            if let Some(cut) = &welcome.previous_cut {
                *seen.cuts.entry(cut.reason().name()).or_default() += 1;
            }
        });
    }
}
