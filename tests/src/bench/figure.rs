//! What is found of a subject in a round.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What is found of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Actions, calls, answers or writes a second.
    PerSecond,
    /// From an action, call or write to what answers it, in microseconds.
    P50Us,
    /// The same.
    P99Us,
    /// From an action to the next observation with a decision, in microseconds.
    NextP50Us,
    /// Processor time of the server for each of them, in microseconds.
    ServerUs,
    /// Processor time of the clients for each of them, in microseconds.
    ClientUs,
    /// The share of its core that the server kept busy, kernel and all.
    ServerBusy,
    /// The share of their core that the clients kept busy, kernel and all.
    ClientBusy,
    /// Bytes of a message to the server, on average.
    RequestBytes,
    /// Bytes of a message from the server, on average.
    ResponseBytes,
    /// Bytes that crossed the connections for each action, both ways.
    WireBytes,
    /// Bytes of the server's memory for each of them.
    MemoryBytes,
    /// From the start of the process until it serves, in seconds.
    StartSeconds,
    /// Messages from the server for each action.
    ResponsesEach,
    /// Matches that were created until every seat had a decision, a second.
    MatchesPerSecond,
    /// Actions a second, in millions.
    MillionsPerSecond,
    /// Records that were made durable together, on average.
    RecordsPerBatch,
    /// As many records a second, written to a file and no more.
    RawPerSecond,
}

/// What was found of a subject in a round.
pub type Figures = BTreeMap<Figure, f64>;
