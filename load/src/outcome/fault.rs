//! What the server did that it must not.

use serde::{Deserialize, Serialize};

/// Faults whose text is kept. The others are counted.
pub const FAULTS_KEPT: usize = 20;

/// Characters of a text that are kept.
const MAX_TEXT_CHARS: usize = 1_000;

/// What was looked at when a fault was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// A seat's observations are numbered without a gap.
    Sequence,
    /// An action has one receipt.
    Receipt,
    /// The final scores are those of the record.
    Score,
    /// A ladder counts each match once.
    Tally,
    /// What else the wire promises.
    Contract,
}

impl Check {
    /// What must hold, for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Sequence => "observations without a gap",
            Self::Receipt => "one receipt for each action",
            Self::Score => "final scores as in the record",
            Self::Tally => "each match counted once",
            Self::Contract => "the contract of the wire",
        }
    }
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What did not hold.
    pub check: Check,
    /// For people: where, what was expected, and what came.
    pub text: String,
}

/// All that were found, the first of them with their texts.
///
/// ```
/// use zetema_load::outcome::{Check, FAULTS_KEPT, Faults};
///
/// let mut faults = Faults::default();
/// for seq in 0..1_000 {
///     faults.add(Check::Sequence, &format!("seat 0: observation {seq} came twice"));
/// }
/// assert_eq!(faults.all(), 1_000);
/// assert_eq!(faults.first().len(), FAULTS_KEPT);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Faults {
    all: u64,
    first: Vec<Fault>,
}

impl Faults {
    /// How many there were.
    pub const fn all(&self) -> u64 {
        self.all
    }

    /// The first of them.
    pub fn first(&self) -> &[Fault] {
        &self.first
    }

    /// Adds one.
    pub fn add(&mut self, check: Check, text: &str) {
        self.all = self.all.saturating_add(1);
        if self.first.len() < FAULTS_KEPT {
            let text = text.chars().take(MAX_TEXT_CHARS).collect();
            self.first.push(Fault { check, text });
        }
    }

    /// Adds what others have found.
    pub fn merge(&mut self, other: Self) {
        self.all = self.all.saturating_add(other.all);
        self.first.extend(other.first);
        self.first.truncate(FAULTS_KEPT);
    }
}
