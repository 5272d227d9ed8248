//! A journal that goes on without what is damaged.
//!
//! Results may be lost that were told to clients and to the receivers of webhooks, and if nothing is left that tells of them
//! their numbers are given again. So the journal begins a new life ([`Incarnation`](crate::matches::Incarnation)), as one that
//! was restored does: what was told of the lost results is not mistaken for what is told of the new ones. No server goes on with it
//! before: a repair that was cut short is left to the next one.

use std::path::Path;

use crate::journal::{Cause, Journal, OpenError, Repaired, SqliteJournal};
use crate::matches::{IncarnationError, Matches, SystemEntropy};

/// Why a journal can't be repaired.
#[derive(Debug, thiserror::Error)]
pub enum RepairError {
    /// It can't be opened, before or after.
    #[error(transparent)]
    Journal(#[from] OpenError),
    /// The new life can't begin.
    #[error("the journal is not repaired to the end, and no server starts on it before it is: {0}")]
    Incarnation(#[from] IncarnationError),
    /// The work was cut short.
    #[error("the repair was cut short: {0}")]
    Cut(Cause),
}

/// Makes the journal in a folder one that a server starts with, without what is lost, and begins its new life; a copy of its files stays
/// in the folder. `None` when there was nothing to repair: a match under quarantine is no reason.
///
/// # Errors
/// A [`RepairError`]. If files were changed by then no server starts on them, and the next repair goes on.
pub async fn repair(data: &Path) -> Result<Option<Repaired>, RepairError> {
    let Some(repaired) = in_background(data, SqliteJournal::repair).await? else { return Ok(None) };
    let journal = SqliteJournal::open_repaired(data).await?;
    let begun = Matches::begin_incarnation(&journal, &SystemEntropy).await;
    journal.close().await;
    begun?;
    in_background(data, SqliteJournal::end_repair).await?;
    Ok(Some(repaired))
}

async fn in_background<T: Send + 'static>(
    data: &Path,
    work: impl FnOnce(&Path) -> Result<T, OpenError> + Send + 'static,
) -> Result<T, RepairError> {
    let data = data.to_owned();
    let done = tokio::task::spawn_blocking(move || work(&data)).await;
    Ok(done.map_err(|error| RepairError::Cut(Cause::new(error)))??)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::journal::{BackupError, Options, ResultFilter, backup};
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

    /// Wherever it was cut short: before its new life has begun, or before that is said.
    #[tokio::test]
    async fn a_repair_that_was_cut_short_is_left_to_the_next_one_and_no_server_starts_before() {
        for has_begun in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            assert_eq!(life(folder.path()).await, Incarnation::FIRST);
            std::fs::write(folder.path().join("journal.lock"), "open\n").unwrap();
            let first = SqliteJournal::repair(folder.path()).unwrap().unwrap();
            if has_begun {
                let journal = SqliteJournal::open_repaired(folder.path()).await.unwrap();
                Matches::begin_incarnation(&journal, &SystemEntropy).await.unwrap();
                journal.close().await;
            }
            for _ in 0..2 {
                let opened = SqliteJournal::open(folder.path(), Options::default()).await;
                assert!(matches!(opened, Err(OpenError::Repairing { .. })), "{has_begun}");
                let checked = SqliteJournal::check(folder.path()).unwrap();
                assert!(matches!(checked.damage, Some(OpenError::Repairing { .. })), "{checked:?}");
                let copied = backup(folder.path(), &folder.path().join("copy"));
                assert!(
                    matches!(copied, Err(BackupError::Journal(OpenError::Repairing { .. }))),
                    "{copied:?}"
                );
            }
            let second = repair(folder.path()).await.unwrap().unwrap();
            assert_eq!((second.found.len(), second.lost.len()), (1, 1), "{second:?}");
            assert_eq!(second.kept, first.kept);
            assert_ne!(life(folder.path()).await, Incarnation::FIRST, "{has_begun}");
            assert!(repair(folder.path()).await.unwrap().is_none());
        }
    }
}
