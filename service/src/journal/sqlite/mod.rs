//! The journal in SQLite: one thread that writes with group commit, some that read.

mod account;
mod adding;
mod backup;
mod bots;
mod chain;
mod check;
mod clean;
mod closed;
mod commit;
mod committing;
mod fold;
mod folder;
mod hand_out;
mod inbox;
mod ladders;
mod limits;
mod live;
mod mark;
mod open_error;
mod opened;
mod pending;
mod probe;
mod read;
mod readers;
mod records;
mod recover;
mod registered;
mod releasing;
mod repair;
mod request;
mod row_reader;
mod salvage;
mod salvage_log;
mod schema;
mod seal;
mod segments;
mod settling;
mod stats;
mod tables;
mod tokens;
mod verify;
mod wal;
mod walk;
mod webhooks;
mod writer;
mod young;

use std::io;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::mpsc::error::{SendError, TrySendError};
use tokio::sync::{mpsc, oneshot, watch};

pub use backup::{BackupContent, BackupError, Restoring, backup};
pub use check::Checked;
pub use closed::{ClosedJournal, ClosedLadders, ClosedPage};
pub use folder::FileSizes;
pub(crate) use folder::{make_folder, private_file};
pub use open_error::OpenError;
pub use repair::Repaired;
pub use stats::{JournalQueue, JournalStats};
pub use wal::{WalContent, WalDamage};

pub use super::redo::RedoDamage;

use super::{
    AccountChange, AccountStore, Accounts, Append, AppendOutcome, BotName, Cause, Completion, CreateOutcome,
    DeadLetter, DeadLetterFilter, Epoch, Finish, FinishOutcome, FinishedFilter, FinishedPage, Health,
    History, Journal, LadderChange, LadderName, LadderStore, MatchId, MetaKey, MetaValue, Never, NewMatches,
    Outcome, Owner, PagePosition, PageSize, ReadError, RequestKey, RequestReused, RequestState, Response,
    ResultFilter, ResultNumber, ResultPage, ServerJournal, Standing, StoredLadder, StoredLater, StoredMatch,
    StoredRecord, StoredToken, StoredWebhook, TokenChange, UnixMillis, Version, WebhookChange, WebhookStore,
};
use crate::own_task::hand_in;
use folder::Purpose;
use opened::Opened;
use readers::Readers;
use request::{AppendTo, Found, Located, Query, Request, Write};
use stats::Stats;

/// How a journal is kept.
#[derive(Debug, Clone)]
pub struct Options {
    /// Rows of a segment of the log: what is dropped at once. At least 1.
    pub segment_rows: u32,
    /// The most bytes the database may grow to, without its WAL, and the redo log for itself; no limit but the disk's when absent.
    pub max_file_bytes: Option<u64>,
    /// Where what is committed goes first.
    pub log: LogStore,
}

/// Where what is committed goes first. A journal is opened with either, whichever it had before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LogStore {
    /// Into files of their own beside the database, which are quicker to write; what is to stay is put into the database later.
    #[default]
    Redo,
    /// Into the database, which has all of the journal after each commit, for who copies it by SQLite's means while the server runs.
    Tables,
}

impl Default for Options {
    fn default() -> Self {
        Self { segment_rows: limits::SEGMENT_ROWS, max_file_bytes: None, log: LogStore::default() }
    }
}

/// What was found when the journal was opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovery {
    /// How many matches have not ended and are intact.
    pub unfinished: usize,
    /// How many commits of the redo log were put into the database; none after it was closed.
    pub redo_commits: u64,
    /// How many rows of the log were read.
    pub rows_read: u64,
    /// The matches with damage, found now or before.
    pub quarantined: Vec<Quarantine>,
    /// Damage beside them, in words.
    pub stray: Vec<String>,
    /// The number of the last result.
    pub results: u64,
}

/// A match with damage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantine {
    /// Which match.
    pub match_id: MatchId,
    /// How many of its records, from the first, are intact.
    pub intact: Version,
    /// What was found.
    pub damage: Arc<str>,
}

/// An open journal in a folder. When it is dropped what was handed in before is still written; [`Journal::close`] waits
/// for that.
#[derive(Debug)]
pub struct SqliteJournal {
    epoch: Epoch,
    requests: mpsc::Sender<Request>,
    readers: Readers,
    latest_result: watch::Receiver<ResultNumber>,
    health: watch::Receiver<Health>,
    stats: Arc<Stats>,
}

impl SqliteJournal {
    /// Opens the journal in a folder, makes both if they aren't there, and checks every record of every match that has
    /// not ended. To be called on a tokio runtime, where the answers will be handed out.
    ///
    /// # Errors
    /// [`OpenError`], when it is in use, not readable, or not a journal.
    pub async fn open(folder: impl AsRef<Path>, options: Options) -> Result<(Self, Recovery), OpenError> {
        Self::open_for(Purpose::GoingOn, folder.as_ref(), options).await
    }

    /// Opens a journal after a [repair](Self::repair), for its new life to begin.
    pub(crate) async fn open_repaired(folder: &Path) -> Result<Self, OpenError> {
        let (journal, _) = Self::open_for(Purpose::BeginningAnew, folder, Options::default()).await?;
        Ok(journal)
    }

    async fn open_for(
        purpose: Purpose,
        folder: &Path,
        options: Options,
    ) -> Result<(Self, Recovery), OpenError> {
        let path = folder.to_owned();
        let at = path.clone();
        let open = move || Opened::new(&path, &options, purpose).map(|opened| (opened, options));
        let opening = tokio::task::spawn_blocking(open);
        let (opened, options) = opening.await.map_err(|error| OpenError::File {
            doing: "read",
            path: at.clone(),
            source: io::Error::other(error),
        })??;
        opened.start(options).map_err(|source| OpenError::File {
            doing: "start a thread for",
            path: at,
            source,
        })
    }

    /// Whether a folder holds a journal.
    pub fn is_in(folder: &Path) -> bool {
        folder::database(folder).is_file()
    }

    /// Reads the journal in a folder as an opening does, and all that an opening leaves out, without changing it.
    ///
    /// # Errors
    /// [`OpenError`], when a server has it open, or it can't be read for another reason than damage.
    pub fn check(folder: &Path) -> Result<Checked, OpenError> {
        check::check(folder)
    }

    /// Makes a journal one that can be opened again, without what is lost; a copy of its files stays in the folder.
    /// `None` when there was nothing to repair: a match under quarantine is no reason. Until the [end](Self::end_repair) of it no server
    /// goes on with the journal, of which a new life has to [begin](Self::open_repaired) before.
    ///
    /// # Errors
    /// [`OpenError`], when a server has it open, or too much is lost. Its files are as they were then, or in the copy.
    pub(crate) fn repair(folder: &Path) -> Result<Option<Repaired>, OpenError> {
        repair::repair(folder)
    }

    /// Ends a repair, after which a server may go on with the journal.
    ///
    /// # Errors
    /// [`OpenError::File`]: then none does yet.
    pub(crate) fn end_repair(folder: &Path) -> Result<(), OpenError> {
        folder::end_repair(folder)
    }

    /// How long the files of the journal in a folder are.
    ///
    /// # Errors
    /// If there is no database, or it can't be looked at.
    pub fn file_sizes(folder: &Path) -> io::Result<FileSizes> {
        folder::sizes(folder)
    }

    async fn write<T, R>(
        &self,
        write: impl FnOnce(oneshot::Sender<Outcome<T, R>>) -> Write,
    ) -> Outcome<T, R> {
        let (to, answer) = oneshot::channel();
        // Nearly always there is room, and the future that waits for it is large.
        let handed_in = match self.requests.try_send(Request::Write(write(to))) {
            Err(TrySendError::Full(request)) => Box::pin(self.requests.send(request)).await.is_ok(),
            handed_in => handed_in.is_ok(),
        };
        if !handed_in {
            return Outcome::Failed(Cause::new("the journal is closed"));
        }
        // The writer may have gone after it wrote.
        answer
            .await
            .unwrap_or_else(|_| Outcome::Unknown(Cause::new("the journal went away without an answer")))
    }

    /// Those who read, when all that is durable is in the database.
    async fn settled(&self) -> Result<&Readers, ReadError> {
        if self.stats.is_pending() {
            self.query(Query::Settle).await?.map_err(ReadError::Unavailable)?;
        }
        Ok(&self.readers)
    }

    async fn locate(
        &self,
        query: impl FnOnce(oneshot::Sender<Located>) -> Query,
    ) -> Result<Found, ReadError> {
        self.query(query).await?.map_err(ReadError::Unavailable)
    }

    async fn query<T>(&self, query: impl FnOnce(oneshot::Sender<T>) -> Query) -> Result<T, ReadError> {
        let (to, answer) = oneshot::channel();
        let closed = || ReadError::Unavailable(Cause::new("the journal is closed"));
        hand_in(&self.requests, Request::Query(query(to))).await.map_err(|_| closed())?;
        answer.await.map_err(|_| closed())
    }
}

#[async_trait]
impl Journal for SqliteJournal {
    fn epoch(&self) -> Epoch {
        self.epoch
    }

    async fn create(&self, new: NewMatches) -> CreateOutcome {
        self.write(|to| Write::Create(Box::new(new), to)).await
    }

    async fn append(&self, append: Append) -> AppendOutcome {
        self.write(|to| Write::Append(append, AppendTo::Task(to))).await
    }

    fn append_then(self: Arc<Self>, append: Append, then: Box<dyn Completion>) {
        let request = Request::Write(Write::Append(append, AppendTo::Told(then)));
        match self.requests.try_send(request) {
            Ok(()) => {}
            Err(TrySendError::Full(request)) => {
                tokio::spawn(async move {
                    if let Err(SendError(request)) = self.requests.send(request).await {
                        request.refuse();
                    }
                });
            }
            Err(TrySendError::Closed(request)) => request.refuse(),
        }
    }

    async fn finish(&self, finish: Finish) -> FinishOutcome {
        self.write(|to| Write::Finish(Box::new(finish), to)).await
    }

    async fn read(&self, match_id: MatchId) -> Result<Option<StoredMatch>, ReadError> {
        for _ in 0..limits::READ_ATTEMPTS {
            let location = match self.locate(|to| Query::Locate(match_id, to)).await? {
                Found::Running(location) => location,
                Found::Ended(finished) => return Ok(Some(StoredMatch::Finished(finished))),
                Found::Nothing => {
                    let finished = self.readers.read(move |conn| records::finished(conn, match_id)).await?;
                    return Ok(finished.map(|finished| StoredMatch::Finished(Box::new(finished))));
                }
            };
            let damage = location.damage.clone();
            let history = self.readers.read(move |conn| read::history(conn, match_id, &location)).await?;
            // Nothing when its records were copied on in between: look again.
            if let Some(history) = history {
                return Ok(Some(stored(history, damage)));
            }
        }
        Err(being_moved(match_id))
    }

    async fn first(&self, match_id: MatchId) -> Result<Option<StoredRecord>, ReadError> {
        for _ in 0..limits::READ_ATTEMPTS {
            let Found::Running(location) = self.locate(|to| Query::LocateFirst(match_id, to)).await? else {
                return Ok(None);
            };
            let history = self.readers.read(move |conn| read::history(conn, match_id, &location)).await?;
            if let Some(history) = history {
                return Ok(history.records.into_iter().next());
            }
        }
        Err(being_moved(match_id))
    }

    async fn standing(&self, match_id: MatchId) -> Result<Option<Standing>, ReadError> {
        let finished = |(result, version)| Standing::Finished { result: Box::new(result), version };
        let location = match self.locate(|to| Query::LocateFirst(match_id, to)).await? {
            Found::Running(location) => location,
            Found::Ended(ended) => return Ok(Some(finished((ended.result, ended.version)))),
            Found::Nothing => {
                let result = move |conn: &_| records::result(conn, match_id).map_err(read::read_error);
                return Ok(self.readers.read(result).await?.map(finished));
            }
        };
        Ok(Some(match location.damage {
            Some(damage) => Standing::Quarantined { damage },
            None => Standing::Running,
        }))
    }

    async fn unfinished(&self) -> Result<Vec<MatchId>, ReadError> {
        self.query(Query::Unfinished).await
    }

    async fn results_after(
        &self,
        filter: ResultFilter,
        after: ResultNumber,
        page: PageSize,
    ) -> Result<ResultPage, ReadError> {
        self.settled()
            .await?
            .read(move |conn| records::results_after(conn, &filter, after, page).map_err(read::read_error))
            .await
    }

    async fn list_finished(
        &self,
        filter: FinishedFilter,
        from: Option<PagePosition>,
        page: PageSize,
    ) -> Result<FinishedPage, ReadError> {
        self.settled()
            .await?
            .read(move |conn| records::list(conn, &filter, from, page).map_err(read::read_error))
            .await
    }

    async fn request(&self, key: RequestKey, now: UnixMillis) -> Result<RequestState, ReadError> {
        self.settled().await?.read(move |conn| read::request(conn, &key, now).map_err(read::read_error)).await
    }

    async fn remember(&self, request: super::Request, now: UnixMillis) -> Outcome<Response, RequestReused> {
        self.write(|to| Write::Remember(Box::new(request), now, to)).await
    }

    async fn tokens(&self) -> Result<Vec<StoredToken>, ReadError> {
        self.readers.read(move |conn| tokens::all(conn).map_err(read::read_error)).await
    }

    async fn change_tokens(&self, change: TokenChange) -> Outcome<(), RequestReused> {
        self.write(|to| Write::Tokens(Box::new(change), to)).await
    }

    async fn meta(&self, key: MetaKey) -> Result<Option<MetaValue>, ReadError> {
        self.readers.read(move |conn| read::meta(conn, &key).map_err(read::read_error)).await
    }

    async fn meta_or_insert(&self, key: MetaKey, value: MetaValue) -> Outcome<MetaValue, Never> {
        self.write(|to| Write::Meta(key, value, to)).await
    }

    async fn replace_meta(&self, key: MetaKey, value: MetaValue) -> Outcome<(), Never> {
        self.write(|to| Write::ReplaceMeta(key, value, to)).await
    }

    fn latest_result(&self) -> watch::Receiver<ResultNumber> {
        self.latest_result.clone()
    }

    fn health(&self) -> watch::Receiver<Health> {
        self.health.clone()
    }

    fn stats(&self) -> JournalStats {
        self.stats.get()
    }

    async fn close(&self) {
        // The writer last: the last connection to go copies the WAL into the database and removes it.
        self.readers.close().await;
        let (to, closed) = oneshot::channel();
        if self.requests.send(Request::Close(to)).await.is_ok() {
            // An error says that it was closed in the meantime.
            let _already = closed.await;
        }
    }
}

#[async_trait]
impl WebhookStore for SqliteJournal {
    async fn webhooks(&self) -> Result<Vec<(StoredWebhook, u32)>, ReadError> {
        self.readers.read(move |conn| webhooks::all(conn).map_err(read::read_error)).await
    }

    async fn dead_letters(
        &self,
        filter: DeadLetterFilter,
        page: PageSize,
    ) -> Result<Vec<DeadLetter>, ReadError> {
        self.readers
            .read(move |conn| webhooks::dead_letters(conn, &filter, page).map_err(read::read_error))
            .await
    }

    async fn change_webhooks(&self, change: WebhookChange) -> Outcome<u64, RequestReused> {
        self.write(|to| Write::Webhooks(Box::new(change), to)).await
    }
}

#[async_trait]
impl AccountStore for SqliteJournal {
    async fn accounts(&self) -> Result<Accounts, ReadError> {
        self.readers.read(move |conn| registered::all(conn).map_err(read::read_error)).await
    }

    async fn has_left_traces(&self, owner: Owner) -> Result<bool, ReadError> {
        self.settled()
            .await?
            .read(move |conn| registered::has_left_traces(conn, &owner).map_err(read::read_error))
            .await
    }

    async fn has_played(&self, bot: BotName) -> Result<bool, ReadError> {
        self.settled()
            .await?
            .read(move |conn| registered::has_played(conn, &bot).map_err(read::read_error))
            .await
    }

    async fn change_account(&self, change: AccountChange) -> Outcome<(), RequestReused> {
        self.write(|to| Write::Account(Box::new(change), to)).await
    }
}

impl SqliteJournal {
    /// Removes what is stored of ladders whose names can't be read, and ratings of no ladder.
    pub async fn forget_nameless_ladders(&self) -> Outcome<(), Never> {
        self.write(Write::ForgetNameless).await
    }
}

#[async_trait]
impl LadderStore for SqliteJournal {
    async fn stored_ladder(&self, ladder: LadderName) -> Result<Option<StoredLadder>, ReadError> {
        self.readers.read(move |conn| ladders::read(conn, &ladder).map_err(read::read_error)).await
    }

    async fn change_ladder(&self, change: LadderChange) -> Outcome<(), StoredLater> {
        self.write(|to| Write::Ladder(Box::new(change), to)).await
    }
}

fn being_moved(match_id: MatchId) -> ReadError {
    ReadError::Unavailable(Cause::new(format!("the records of match {match_id} are being moved")))
}

fn stored(history: History, damage: Option<Arc<str>>) -> StoredMatch {
    match damage {
        Some(damage) => StoredMatch::Quarantined { intact: history, damage },
        None => StoredMatch::Running(history),
    }
}

impl ServerJournal for SqliteJournal {
    fn queue(&self) -> JournalQueue {
        self.stats.queue(self.requests.max_capacity() - self.requests.capacity())
    }
}
