//! What is timed.

use serde::{Deserialize, Serialize};

/// What is timed. Where the load comes on a schedule, a time begins when its action was due, whenever it was sent: a server that
/// stalls is so charged with all that waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// From an action to its receipt.
    ActionToReceipt,
    /// From an action to the observation of the seat that acts next, with its decision.
    ActionToObservation,
    /// From asking for a match to the first decision in it.
    CreateToDecision,
    /// From the end of a connection to the snapshot on the next one.
    ReconnectToSnapshot,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::ActionToReceipt, Self::ActionToObservation, Self::CreateToDecision, Self::ReconnectToSnapshot];

    /// One word for it, as it is written in `--slo` and in the names of files.
    ///
    /// ```
    /// use zetema_load::outcome::Measure;
    ///
    /// assert_eq!(Measure::ActionToReceipt.name(), "receipt");
    /// assert_eq!(Measure::from_name("create"), Some(Measure::CreateToDecision));
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::ActionToReceipt => "receipt",
            Self::ActionToObservation => "observation",
            Self::CreateToDecision => "create",
            Self::ReconnectToSnapshot => "reconnect",
        }
    }

    /// What it is, for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::ActionToReceipt => "action to receipt",
            Self::ActionToObservation => "action to the next seat's observation",
            Self::CreateToDecision => "create to the first decision",
            Self::ReconnectToSnapshot => "reconnect to the snapshot",
        }
    }

    /// The measure of this [name](Self::name).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|measure| measure.name() == name)
    }

    pub(super) const fn index(self) -> usize {
        self as usize
    }
}
