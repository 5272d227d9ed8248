//! Copies of a match that was really played, as a journal files them.

use std::path::Path;

use anyhow::{Context, bail, ensure};
use zetema_service::journal::{
    Append, Finish, Journal, Listing, Options, PageSize, Payload, RecordBytes, ResultFilter, ResultNumber,
    SqliteJournal, StoredMatch, Summary, UnixMillis, Version, Visibility,
};

use super::{Made, file};

/// A match that is over.
#[derive(Clone, Debug)]
pub struct Filed {
    finished_at: UnixMillis,
    summary: Summary,
    record: RecordBytes,
}

impl Filed {
    /// The first one in the journal of this folder.
    ///
    /// # Errors
    /// If there is none, or the journal can't be read.
    pub async fn first(folder: &Path) -> anyhow::Result<Self> {
        let (journal, _) = SqliteJournal::open(folder, Options::default()).await?;
        let page =
            journal.results_after(ResultFilter::default(), ResultNumber::ZERO, PageSize::new(1)?).await?;
        let first = page.rows.into_iter().next().context("no match is over")?;
        let Some(StoredMatch::Finished(finished)) = journal.read(first.match_id).await? else {
            bail!("match {} has a result, and is not over", first.match_id);
        };
        journal.close().await;
        Ok(Self { finished_at: first.finished_at, summary: first.summary, record: finished.record })
    }

    /// Files so many like it in the journal of a folder.
    ///
    /// # Errors
    /// When the journal does not take them.
    pub async fn file(&self, folder: &Path, matches: u64) -> anyhow::Result<()> {
        let (journal, recovery) = SqliteJournal::open(folder, Options::default()).await?;
        ensure!(recovery.results == 0, "{} matches are filed already", recovery.results);
        file(&journal, matches, |number| self.finish(&journal, Made(number))).await?;
        journal.close().await;
        Ok(())
    }

    /// Bytes of its record.
    pub fn record_bytes(&self) -> usize {
        self.record.as_bytes().len()
    }

    fn finish(&self, journal: &SqliteJournal, made: Made) -> anyhow::Result<Finish> {
        Ok(Finish {
            last: Append {
                match_id: made.match_id(),
                expected: Version::new(1),
                epoch: journal.epoch(),
                records: Payload::new("it is over")?.into(),
            },
            listing: Listing { owner: None, visibility: Visibility::Private, client_reference: None },
            finished_at: self.finished_at,
            summary: self.summary.clone(),
            record: self.record.clone(),
        })
    }
}
