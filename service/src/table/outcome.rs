//! How a match ends without a result.

use zetema_rules::{AbortReason, Outcome, Seat};

/// A match's end without a result: nobody won, nothing is rated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abort {
    /// Why.
    pub reason: AbortReason,
    /// Whose fault it was, ascending: the seats that did not join, or did not send the nonce they had
    /// promised. Empty for other reasons.
    pub seats: Vec<Seat>,
}

impl From<Abort> for Outcome {
    fn from(Abort { reason, seats }: Abort) -> Self {
        Self::Aborted { reason, seats }
    }
}
