//! What can't be read just now is tried again: nobody waits for it.

use std::time::Duration;

use tokio::time::sleep;

use crate::journal::MatchId;
use crate::matches::{Matches, RecordFile};
use crate::table::Rejection;

/// The record of a match that is over, as soon as it can be read.
///
/// # Errors
/// [`Rejection`], where to try again does not help.
pub(super) async fn record(match_id: MatchId, matches: &Matches) -> Result<RecordFile, Rejection> {
    loop {
        match matches.record(match_id).await {
            // Its result is told a moment before it is gone from those that run.
            Err(error @ (Rejection::NotRevealed | Rejection::OutcomeUnknown)) => again(&error).await,
            read => return read,
        }
    }
}

/// Waits before something is tried again that could not be read.
pub(super) async fn again(error: &(dyn std::fmt::Display + Sync)) {
    tracing::debug!(%error, "what is computed from results can't be read: trying again");
    sleep(Duration::from_millis(250)).await;
}
