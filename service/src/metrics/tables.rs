//! What is counted of every action, by handles that are taken once: to look one up takes longer than to count.

use metrics::{Counter, Histogram, counter, histogram};

use super::{ACTION_SECONDS, ACTIONS, STAGE_SECONDS};

/// What is counted where matches run. A clone counts into the same.
#[derive(Clone)]
pub(crate) struct TableMeasures {
    /// Actions and faults that were acknowledged.
    pub(crate) actions: Counter,
    /// Each from its arrival to its receipt, in seconds.
    pub(crate) action_seconds: Histogram,
    /// From what is asked to its match's task, in seconds.
    pub(crate) inbox_seconds: Histogram,
    /// From there until it is durable, in seconds.
    pub(crate) journal_seconds: Histogram,
    /// From there until it is in every reader's queue, in seconds.
    pub(crate) publish_seconds: Histogram,
}

impl TableMeasures {
    /// Those of the recorder that is installed now.
    pub(crate) fn new() -> Self {
        Self {
            actions: counter!(ACTIONS),
            action_seconds: histogram!(ACTION_SECONDS),
            inbox_seconds: histogram!(STAGE_SECONDS, "stage" => "inbox"),
            journal_seconds: histogram!(STAGE_SECONDS, "stage" => "journal"),
            publish_seconds: histogram!(STAGE_SECONDS, "stage" => "publish"),
        }
    }
}
