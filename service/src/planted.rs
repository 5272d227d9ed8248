//! Bugs that tests plant to see that they are caught. They are in no build but that of this crate's own tests.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use crate::journal::MatchId;

/// A bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bug {
    /// Changes are applied and published, and only then made durable.
    ApplyBeforeDurable,
    /// After a restart a table does not know the answers of before.
    NoDedupAfterRestart,
    /// The time of an outage counts.
    ClockRunsInOutage,
    /// A snapshot is of the moment before the last event.
    SnapshotMissesLast,
    /// A nonce that is there is taken again.
    NonceTwice,
    /// A Play stream panics at what its client says.
    StreamPanics,
    /// A Play stream panics when what its client is told is taken out.
    TellingPanics,
    /// The folder of the redo log can't be synced.
    FolderSyncFails,
    /// What is written to the redo log can't be synced.
    RedoSyncFails,
}

thread_local! {
    static PLANTED: Cell<Option<Bug>> = const { Cell::new(None) };
    /// The decision at which each match was restarted.
    static RESTARTED_AT: RefCell<HashMap<MatchId, u32>> = RefCell::default();
}

/// Plants a bug in all that runs on this thread.
pub(crate) fn plant(bug: Bug) {
    PLANTED.set(Some(bug));
}

/// Takes it out again.
pub(crate) fn take_out() {
    PLANTED.set(None);
}

pub(crate) fn is(bug: Bug) -> bool {
    PLANTED.get() == Some(bug)
}

/// A match goes on after a restart.
pub(crate) fn restarted(match_id: MatchId, decision: Option<u32>) {
    RESTARTED_AT.with_borrow_mut(|at| at.insert(match_id, decision.unwrap_or_default()));
}

/// Whether the answers to this decision are forgotten.
pub(crate) fn forgets(match_id: MatchId, decision: u32) -> bool {
    let before_restart = |at: &HashMap<MatchId, u32>| at.get(&match_id).is_some_and(|&at| decision < at);
    is(Bug::NoDedupAfterRestart) && RESTARTED_AT.with_borrow(before_restart)
}
