//! Everything that was received, in order.

use std::fmt;

use bytes::Bytes;
use prost::Message;
use zetema_proto::v1;
use zetema_rules::{Card, Game, Viewer};

/// Everything that the observer, the spectators and the readers of lists and metrics received.
#[derive(Default)]
pub(super) struct Tape(Vec<Received>);

/// One answer, or a part of one that goes on.
#[derive(PartialEq, Eq)]
struct Received {
    /// To what.
    what: &'static str,
    bytes: Vec<u8>,
}

/// Where two tapes differ first.
#[derive(Clone, PartialEq, Eq)]
pub struct Difference {
    /// The number of the answer, from 0.
    pub at: usize,
    /// What each is an answer to, and its bytes; `None` at the end of a tape.
    pub answers: [Option<(&'static str, Vec<u8>)>; 2],
}

impl Difference {
    /// Whether it is between two pages of metrics.
    #[must_use]
    pub fn is_of_metrics_alone(&self) -> bool {
        self.answers.iter().all(|answer| matches!(answer, Some(("metrics", _))))
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "answer {} tells the twins apart", self.at)?;
        for answer in &self.answers {
            match answer {
                Some((what, bytes)) => write!(f, "\n  {what}: {}", bytes.escape_ascii())?,
                None => write!(f, "\n  nothing")?,
            }
        }
        Ok(())
    }
}

impl Tape {
    /// Notes what was received.
    pub(super) fn note(&mut self, what: &'static str, bytes: Vec<u8>) {
        self.0.push(Received { what, bytes });
    }

    /// How many bytes there are.
    pub(super) fn bytes(&self) -> u64 {
        self.0.iter().map(|received| received.bytes.len() as u64).sum()
    }

    /// How many answers there are.
    pub(super) fn answers(&self) -> usize {
        self.0.len()
    }

    /// Where the other tape differs first.
    pub(super) fn difference(&self, other: &Self) -> Option<Difference> {
        let at = (0..self.0.len().max(other.0.len())).find(|&at| self.0.get(at) != other.0.get(at))?;
        let answer = |tape: &Self| tape.0.get(at).map(|received| (received.what, received.bytes.clone()));
        Some(Difference { at, answers: [answer(self), answer(other)] })
    }
}

/// What the server knows and the reader of an answer does not.
pub struct Truth<'a> {
    /// The game.
    pub game: &'a Game,
    /// The stock, next card first.
    pub stock: &'a [Card],
    /// How many records the match has in the journal.
    pub records: usize,
}

/// A leak that is planted between the server and a reader.
pub trait Leak {
    /// Changes an observation that the reader receives.
    fn observation(&mut self, _truth: &Truth<'_>, _viewer: Viewer, _observation: &mut v1::Observation) {}

    /// Counts something in the server's metrics, after each step.
    fn count(&mut self, _truth: &Truth<'_>) {}
}

/// What kind of messages an answer has that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `PlayResponse`.
    Play,
    /// `ObserveResponse`.
    Observe,
    /// `WatchMatchResponse`.
    Watch,
}

/// A message with a leak in it.
pub(super) fn leaking(
    leak: &mut dyn Leak,
    truth: &Truth<'_>,
    viewer: Viewer,
    kind: Kind,
    message: &Bytes,
) -> Vec<u8> {
    match kind {
        Kind::Play => {
            let mut said = v1::PlayResponse::decode(message.clone()).unwrap();
            if let Some(v1::play_response::Kind::Observation(observation)) = &mut said.kind {
                leak.observation(truth, viewer, observation);
            }
            said.encode_to_vec()
        }
        Kind::Observe => {
            let mut said = v1::ObserveResponse::decode(message.clone()).unwrap();
            if let Some(v1::observe_response::Kind::Observation(observation)) = &mut said.kind {
                leak.observation(truth, viewer, observation);
            }
            said.encode_to_vec()
        }
        Kind::Watch => {
            let mut said = v1::WatchMatchResponse::decode(message.clone()).unwrap();
            if let Some(v1::watch_match_response::Kind::Observation(observation)) = &mut said.kind {
                leak.observation(truth, viewer, observation);
            }
            said.encode_to_vec()
        }
    }
}
