//! A journal that goes on without what is damaged.
//!
//! Results may be lost that were told to clients and to the receivers of webhooks, and if nothing is left that tells of them
//! their numbers are given again. So the journal begins a new life ([`Incarnation`](crate::matches::Incarnation)), as one that
//! was restored does: what was told of the lost results is not mistaken for what is told of the new ones.

use std::path::Path;

use crate::journal::{Cause, Journal, OpenError, Options, Repaired, SqliteJournal};
use crate::matches::{IncarnationError, Matches, SystemEntropy};

/// Why a journal can't be repaired.
#[derive(Debug, thiserror::Error)]
pub enum RepairError {
    /// It can't be opened, before or after.
    #[error(transparent)]
    Journal(#[from] OpenError),
    /// The new life can't begin.
    #[error("the journal was repaired, but cursors of lost results may be taken for those of others: {0}")]
    Incarnation(#[from] IncarnationError),
    /// The work was cut short.
    #[error("the repair was cut short: {0}")]
    Cut(Cause),
}

/// Makes the journal in a folder one that a server starts with, as [`SqliteJournal::repair`] does, and begins its new life.
/// `None` when there was nothing to repair.
///
/// # Errors
/// A [`RepairError`].
pub async fn repair(data: &Path) -> Result<Option<Repaired>, RepairError> {
    let folder = data.to_owned();
    let repairing = tokio::task::spawn_blocking(move || SqliteJournal::repair(&folder));
    let Some(repaired) = repairing.await.map_err(|error| RepairError::Cut(Cause::new(error)))?? else {
        return Ok(None);
    };
    let (journal, _) = SqliteJournal::open(data, Options::default()).await?;
    let begun = Matches::begin_incarnation(&journal, &SystemEntropy).await;
    journal.close().await;
    begun?;
    Ok(Some(repaired))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::journal::ResultFilter;
    use crate::matches::tests::harness::open_over;
    use crate::matches::{Incarnation, Limits, ResultsFrom};

    /// The life that the journal in a folder is in.
    async fn life(data: &Path) -> Incarnation {
        let (journal, _) = SqliteJournal::open(data, Options::default()).await.unwrap();
        let journal = Arc::new(journal);
        let matches = open_over(Arc::<SqliteJournal>::clone(&journal), Limits::default()).await;
        let cursor = matches.results(ResultFilter::default(), ResultsFrom::Now).unwrap().cursor();
        matches.stop().await;
        journal.close().await;
        cursor.incarnation
    }

    #[tokio::test]
    async fn a_journal_that_was_repaired_is_in_another_life() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(life(folder.path()).await, Incarnation::FIRST);
        assert!(repair(folder.path()).await.unwrap().is_none());
        assert_eq!(life(folder.path()).await, Incarnation::FIRST);
        // As if it had been killed, and somebody had deleted its WAL.
        std::fs::write(folder.path().join("journal.lock"), "open\n").unwrap();
        assert!(repair(folder.path()).await.unwrap().is_some());
        assert_ne!(life(folder.path()).await, Incarnation::FIRST);
    }
}
