//! A backup that becomes the journal of a new server.
//!
//! The server of the backup may have gone on after it: its players have seen cards that would come again, and it gave numbers to
//! results that are not in the backup. So the journal begins a new life ([`Incarnation`](matches::Incarnation)): the
//! matches that had not ended are aborted, and with that revealed, before any server can be started on it.

use std::path::Path;
use std::sync::Arc;

use crate::journal::{
    BackupContent, BackupError, Cause, Journal, MatchId, OpenError, Options, Restoring, ResultNumber,
    SqliteJournal,
};
use crate::matches::{
    self, AbortedMatches, IncarnationError, Matches, Recovered, SystemClock, SystemEntropy,
};
use crate::table::{FairShuffler, Rejection};

/// What a restore came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// What the backup held.
    pub backup: BackupContent,
    /// The matches that had not ended, and were aborted.
    pub aborted: usize,
    /// The number of the last result, those of the aborted matches included.
    pub latest_result: ResultNumber,
}

/// Why a backup can't be restored. The folder has no journal then.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The files are not right.
    #[error(transparent)]
    Backup(#[from] BackupError),
    /// The copy of the backup can't be opened.
    #[error(transparent)]
    Journal(#[from] OpenError),
    /// The matches can't be read.
    #[error(transparent)]
    Matches(#[from] matches::OpenError),
    /// The new life can't begin.
    #[error(transparent)]
    Incarnation(#[from] IncarnationError),
    /// It can't be known of a match whether it was aborted.
    #[error("a match can't be aborted: {0}")]
    Abort(Rejection),
    /// The work was cut short.
    #[error("the restore was cut short: {0}")]
    Cut(Cause),
}

/// Makes the journal of a folder from a backup. The folder has no journal, and is made if it is not there; it can be used
/// only when all is done.
///
/// # Errors
/// A [`RestoreError`].
pub async fn restore(file: &Path, data: &Path) -> Result<Restored, RestoreError> {
    let (from, to) = (file.to_owned(), data.to_owned());
    let (restoring, mut backup) = in_background(move || Restoring::begin(&from, &to)).await??;
    let (journal, _) = SqliteJournal::open(restoring.folder(), Options::default()).await?;
    let journal = Arc::new(journal);
    let renewed = renew(&journal).await;
    let latest_result = *journal.latest_result().borrow();
    journal.close().await;
    let Renewed { aborted, lost, not_ended } = renewed?;
    let not_ended = not_ended
        .iter()
        .filter(|id| !lost.contains(id))
        .map(|id| format!("match {id} is not aborted: its end can't be stored"));
    backup.damage.extend(not_ended);
    backup.damage.extend(lost.iter().map(|id| format!("match {id} can't go on, and is not aborted")));
    in_background(move || restoring.finish()).await??;
    Ok(Restored { backup, aborted, latest_result })
}

/// What became of the matches that had not ended.
struct Renewed {
    aborted: usize,
    lost: Vec<MatchId>,
    not_ended: Vec<MatchId>,
}

/// Begins a new life, and aborts what had not ended in the one before.
async fn renew(journal: &Arc<SqliteJournal>) -> Result<Renewed, RestoreError> {
    let entropy = Arc::new(SystemEntropy);
    Matches::begin_incarnation(&**journal, &*entropy).await?;
    let (matches, Recovered { running: _, damaged: lost }) = Matches::open(matches::Config {
        journal: Arc::<SqliteJournal>::clone(journal),
        clock: Arc::new(SystemClock::new()),
        entropy,
        shuffler: Arc::new(FairShuffler),
        limits: matches::Limits::default(),
        faults: None,
    })
    .await?;
    let aborted = matches.abort_restored().await.map_err(RestoreError::Abort);
    matches.stop().await;
    let AbortedMatches { aborted, damaged: not_ended } = aborted?;
    Ok(Renewed { aborted, lost, not_ended })
}

async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, RestoreError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| RestoreError::Cut(Cause::new(error)))
}
