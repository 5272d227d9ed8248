//! The phases of a run.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What a phase is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The load comes up: left out of what was measured.
    WarmUp,
    /// It is measured.
    Measured,
    /// What runs is brought to its end: left out too.
    Drain,
}

/// A phase, to be [entered](super::Recorder::enter).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    name: String,
    part: Part,
}

impl Phase {
    /// The load comes up.
    pub fn warm_up() -> Self {
        Self { name: "warm-up".to_owned(), part: Part::WarmUp }
    }

    /// One that is measured, by its name.
    pub fn measured(name: impl Into<String>) -> Self {
        Self { name: name.into(), part: Part::Measured }
    }

    /// What runs is brought to its end.
    pub fn drain() -> Self {
        Self { name: "drain".to_owned(), part: Part::Drain }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is good for.
    pub const fn part(&self) -> Part {
        self.part
    }
}

/// A phase that was run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseRun {
    #[serde(flatten)]
    phase: Phase,
    began_us: u64,
    lasted_us: u64,
}

impl PhaseRun {
    pub(super) const fn new(phase: Phase, began_us: u64, lasted_us: u64) -> Self {
        Self { phase, began_us, lasted_us }
    }

    /// What phase it was.
    pub const fn phase(&self) -> &Phase {
        &self.phase
    }

    /// When it began, since the run did.
    pub const fn began(&self) -> Duration {
        Duration::from_micros(self.began_us)
    }

    /// How long it was.
    pub const fn lasted(&self) -> Duration {
        Duration::from_micros(self.lasted_us)
    }

    /// Its seconds: the last one takes what is less than half a second with it.
    pub(super) fn seconds(&self) -> u32 {
        u32::try_from((self.lasted_us + 500_000) / 1_000_000).unwrap_or(u32::MAX).max(1)
    }

    /// How long this one of its seconds was.
    pub(super) fn second_lasted_us(&self, second: u32) -> u64 {
        if second + 1 < self.seconds() {
            1_000_000
        } else {
            self.lasted_us.saturating_sub(u64::from(second) * 1_000_000)
        }
    }
}
