//! What generators tell each other.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::plan_text::PlanText;
use crate::outcome::{Outcome, Second};

/// The revision of these messages. Another program speaks another one, unless its version is the same.
pub(super) const REVISION: u32 = 1;
/// This program's version.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Seconds that are sent at once when a run is over.
pub(super) const SECONDS_AT_ONCE: usize = 30;

/// What generators tell each other, as JSON. From the first one to the others: `Welcome`, `Refused`, `Prepare`, `Go`, `Stop`, `End`; all else
/// from the others to the first, but for what both say.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Message {
    /// The first thing that is said. It stays as it is in all revisions.
    Hello { revision: u32, version: String },
    /// It may not join.
    Refused { problem: String },
    /// It has joined, and waits until there are so many.
    Welcome { generators: NonZeroU32 },
    /// Nothing else was said for a second. Both say it.
    Alive,
    /// Get ready to run this.
    Prepare { plan: Box<PlanText> },
    /// It could begin now.
    Ready,
    /// Begin.
    Go,
    /// A second is over, to be shown.
    Second { second: Box<Second> },
    /// End the run before its time, and tell what was measured.
    Stop,
    /// Some of the seconds of a run that is over.
    Seconds { seconds: Vec<Second> },
    /// The rest of it, without seconds.
    Done { outcome: Box<Outcome> },
    /// It can't go on. Both say it.
    Failed { problem: String },
    /// There is nothing more to be run.
    End,
}
