//! What can be wrong after a match.

use thiserror::Error;
use zetema_proto::v1::ErrorReason;

/// Something that a ledger, the record and the server's own account of a match do not agree on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// The match went on too long, or for ever.
    #[error("the match was not over after {after_s} s")]
    NotOver {
        /// Seconds.
        after_s: u64,
    },
    /// A player panicked, or the check.
    #[error("{0}")]
    Panicked(String),
    /// The record contradicts itself, or there is none.
    #[error("the record does not verify: {0}")]
    Record(String),
    /// The match ended otherwise than by its rules.
    #[error("the match ended otherwise than by its rules: {0}")]
    Outcome(String),
    /// A player was told another end, or more than one.
    #[error("the player was told {told} ends of the match, the last of which is {last}")]
    Ends {
        /// How many.
        told: usize,
        /// Whether the last one is that of the record.
        last: &'static str,
    },
    /// The record holds a step that no player took.
    #[error("step {step} of the record is {what}")]
    Step {
        /// Which step, from 0.
        step: usize,
        /// What it is.
        what: &'static str,
    },
    /// The record holds an action that the player did not choose, or another one.
    #[error("the record holds an action for decision {decision} that the player did not choose")]
    NotChosen {
        /// The decision.
        decision: u32,
    },
    /// The player chose what the record does not hold.
    #[error("the player chose an action for decision {decision} that the record does not hold")]
    NotRecorded {
        /// The decision.
        decision: u32,
    },
    /// A decision was put to the player more than once, or out of order.
    #[error("decision {decision} was put to the player after decision {before}")]
    AskedAgain {
        /// The decision.
        decision: u32,
        /// The one before.
        before: u32,
    },
    /// What was sent is not what was chosen.
    #[error("an answer to decision {decision} was sent that the player did not choose")]
    SentOther {
        /// The decision.
        decision: u32,
    },
    /// An action stands, and its player was never told.
    #[error("the action for decision {decision} is in the record, and no receipt of it came")]
    NoReceipt {
        /// The decision.
        decision: u32,
    },
    /// A receipt is not the one that the match's observations show.
    #[error("a receipt for decision {decision} names observation {seq}, which shows no such action")]
    WrongReceipt {
        /// The decision.
        decision: u32,
        /// The observation that it names.
        seq: u64,
    },
    /// The same answer, sent again, was refused.
    #[error("an answer to decision {decision} was refused with {}", reason.name())]
    Refused {
        /// The decision.
        decision: u32,
        /// Why.
        reason: ErrorReason,
    },
    /// A stream left observations out.
    #[error("stream {stream}: observation {came} came after {after}, so that something is missing")]
    Gap {
        /// Which stream of observations, from 1.
        stream: usize,
        /// The observation before.
        after: u64,
        /// What came.
        came: u64,
    },
    /// A stream said something twice.
    #[error("stream {stream}: observation {came} came after {after}, so that it came twice")]
    Repeat {
        /// Which stream of observations, from 1.
        stream: usize,
        /// The observation before.
        after: u64,
        /// What came.
        came: u64,
    },
    /// The player was told of events that were none, or not of all.
    #[error(
        "the player was told {told} events where the match had {had} for it, the same up to event {same}"
    )]
    Events {
        /// How many it was told.
        told: usize,
        /// How many there were.
        had: usize,
        /// How many are the same, from the first on.
        same: usize,
    },
    /// Nothing was seen at all.
    #[error("no stream of observations began with a snapshot")]
    NoSnapshot,
    /// The SDK told of a fault of another kind than a lost connection.
    #[error("the SDK told of a fault: {0}")]
    Fault(String),
    /// Another seat felt something.
    #[error("another seat felt it: {0}")]
    OtherSeat(String),
}
