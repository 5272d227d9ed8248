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
    /// From when a bot has a free place on a ladder to the seat that it is given for it.
    PlaceToSeat,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::ActionToReceipt,
        Self::ActionToObservation,
        Self::CreateToDecision,
        Self::ReconnectToSnapshot,
        Self::PlaceToSeat,
    ];

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
            Self::PlaceToSeat => "wait",
        }
    }

    /// What it is, for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::ActionToReceipt => "action to receipt",
            Self::ActionToObservation => "action to the next seat's observation",
            Self::CreateToDecision => "create to the first decision",
            Self::ReconnectToSnapshot => "reconnect to the snapshot",
            Self::PlaceToSeat => "free place to a seat",
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
