//! What the server told of itself.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What the server's page of metrics told while the run went on. Empty if it could not be read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Server {
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What it told, in order of time.
    pub readings: Vec<Reading>,
}

/// What it told at one moment. What it did not tell is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// When, in microseconds since the run began.
    pub at_us: u64,
    /// Its memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// For how long the oldest request for the journal's writer has waited, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal_lag_us: Option<u64>,
    /// Seconds that it has kept a processor busy, since it was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor_seconds: Option<f64>,
    /// Matches that are not over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_matches: Option<u64>,
}

impl Reading {
    /// When, since the run began.
    pub const fn at(&self) -> Duration {
        Duration::from_micros(self.at_us)
    }
}

impl Server {
    /// Adds what another generator has read.
    pub(super) fn merge(&mut self, other: Self) {
        self.version = self.version.take().or(other.version);
        self.readings.extend(other.readings);
        self.readings.sort_by_key(|reading| reading.at_us);
    }
}
