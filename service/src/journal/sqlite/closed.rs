//! Reading what ladders and audits need of a journal that no server has open, without changing it.

use std::fs;
use std::path::Path;

use super::folder::Folder;
use super::recover::last_result;
use super::schema::{self, Found};
use super::verify::{self, Depth};
use super::walk::Walked;
use super::{OpenError, fold, ladders, limits, read, records};
use crate::journal::{
    Cause, FinishedFilter, FinishedMatch, LadderName, MatchId, PagePosition, PageSize, ReadError, Reader,
    ResultFilter, ResultNumber, ResultPage, ResultRow, StoredLadder,
};

/// A journal that no server has open, and none can open as long as this is there. Its files stay as they are.
#[derive(Debug)]
pub struct ClosedJournal {
    folder: Folder,
    /// Always there but while it is dropped.
    found: Option<Found>,
    had_wal: bool,
}

/// A page of finished matches, the latest first.
#[derive(Debug)]
pub struct ClosedPage {
    /// Those that can be read.
    pub matches: Vec<ResultRow>,
    /// The numbers of those between them that can't be read, and why.
    pub unreadable: Vec<(ResultNumber, Cause)>,
    /// Where the next page begins; `None` if this was the last.
    pub next: Option<PagePosition>,
}

/// What a closed journal has of ladders.
#[derive(Debug, PartialEq)]
pub struct ClosedLadders {
    /// By name: what is there of each, or why it can't be read.
    pub ladders: Vec<(LadderName, Result<StoredLadder, ReadError>)>,
    /// How many there are whose name can't be read.
    pub nameless: usize,
}

impl ClosedJournal {
    /// Locks the journal in a folder, and looks at it as a start does.
    ///
    /// # Errors
    /// [`OpenError`], when a server has it open, there is none, or a server would not start with it.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let folder = Folder::only_read(path)?;
        folder.no_repair_is_left()?;
        folder.check()?;
        // SQLite makes a WAL where there is none, and would leave it behind.
        let had_wal = folder.wal().exists();
        let mut closed = Self { folder, found: None, had_wal };
        let found = closed.found.insert(schema::look_alone(&closed.folder.database())?);
        verify::is_there(found, &closed.folder)?;
        verify::database(found, Depth::Start)?;
        let redo = fold::look(found, closed.folder.path())?;
        // As a start would find it. It is taken back with the connection.
        fold::begin(&found.conn, &redo, limits::SEGMENT_ROWS)?;
        Ok(closed)
    }

    /// What is stored of ladders.
    ///
    /// # Errors
    /// [`ReadError`] if it can't be told which there are.
    pub fn stored_ladders(&self) -> Result<ClosedLadders, ReadError> {
        let Some(Found { conn, schema: schema::RATED.. }) = &self.found else {
            return Ok(ClosedLadders { ladders: Vec::new(), nameless: 0 });
        };
        let nameless = ladders::nameless(conn).map_err(read::read_error)?.len();
        let names = ladders::names(conn).map_err(read::read_error)?;
        let stored = |name: LadderName| match ladders::read(conn, &name).map_err(read::read_error) {
            Ok(stored) => stored.map(|stored| (name, Ok(stored))),
            Err(error) => Some((name, Err(error))),
        };
        Ok(ClosedLadders { ladders: names.into_iter().filter_map(stored).collect(), nameless })
    }

    /// The last number that was given to a result, which may be lost.
    ///
    /// # Errors
    /// [`OpenError`] if it can't be read.
    pub fn latest_result(&self) -> Result<ResultNumber, OpenError> {
        let Some(Found { conn, schema }) = &self.found else { return Ok(ResultNumber::ZERO) };
        Ok(ResultNumber::new(last_result(conn, *schema)?))
    }

    /// The results after a number, in order, at most a page of them. There are none in a journal of a release that had no ladders.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn results_after(&self, after: ResultNumber, page: PageSize) -> Result<ResultPage, ReadError> {
        let Some(Found { conn, schema: schema::REGISTERED.. }) = &self.found else {
            return Ok(ResultPage { rows: Vec::new(), more_after: None });
        };
        records::results_after(conn, &ResultFilter::default(), after, page).map_err(read::read_error)
    }

    /// All finished matches, the latest first, at most a page of them.
    ///
    /// # Errors
    /// [`ReadError`], also for a journal of a release that wrote no seals.
    pub fn list_finished(&self, from: Option<PagePosition>, page: PageSize) -> Result<ClosedPage, ReadError> {
        let Some(Found { conn, .. }) = self.sealed()? else {
            return Ok(ClosedPage { matches: Vec::new(), unreadable: Vec::new(), next: None });
        };
        let filter = FinishedFilter { reader: Reader::Admin, client_reference: None };
        let Walked { rows, next, unreadable, .. } =
            records::walk_list(conn, &filter, from, page).map_err(read::read_error)?;
        let unreadable = unreadable.into_iter().map(|(number, error)| (number, Cause::new(error))).collect();
        Ok(ClosedPage { matches: rows, unreadable, next: next.map(PagePosition::from) })
    }

    /// A finished match, whole; `None` if there is no such one.
    ///
    /// # Errors
    /// [`ReadError`], also for a journal of a release that wrote no seals.
    pub fn finished(&self, match_id: MatchId) -> Result<Option<FinishedMatch>, ReadError> {
        self.sealed()?.map_or(Ok(None), |Found { conn, .. }| records::finished(conn, match_id))
    }

    /// What was found, if it has tables.
    fn sealed(&self) -> Result<Option<&Found>, ReadError> {
        match &self.found {
            None | Some(Found { schema: 0, .. }) => Ok(None),
            Some(found @ Found { schema: schema::SEALED.., .. }) => Ok(Some(found)),
            Some(Found { schema, .. }) => Err(ReadError::Unavailable(Cause::new(format!(
                "its tables are of version {schema}: start a server of this release with it once, or with a copy"
            )))),
        }
    }
}

impl Drop for ClosedJournal {
    fn drop(&mut self) {
        self.found = None;
        let wal = self.folder.wal();
        if !self.had_wal
            && wal.exists()
            && let Err(error) = fs::remove_file(&wal)
        {
            tracing::warn!(wal = %wal.display(), %error, "an empty write-ahead log can't be removed");
        }
    }
}
