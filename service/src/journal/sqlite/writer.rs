//! The thread that writes. It gathers what is waiting, commits it (`committing.rs`), hands all answers back as one message, and uses quiet
//! moments to keep the files small.

use std::sync::Arc;

use rusqlite::{Connection, ErrorCode};
use tokio::sync::oneshot::Sender;
use tokio::sync::{mpsc, watch};

use super::clean::Cleaning;
use super::committing::Failing;
use super::folder::{Folder, InUse};
use super::inbox::{Inbox, Taken};
use super::live::{Live, Position};
use super::pending::Pending;
use super::request::{Answer, Batch, Found, Located, Location, Place, Query, Request, Spoilt};
use super::schema::empty_wal_at_once;
use super::stats::Stats;
use super::young::YOUNG;
use super::{Options, limits};
use crate::journal::redo::{FrameBuilder, RedoLog};
use crate::journal::{Cause, Health, MatchId, ResultNumber};

pub(super) struct Writer {
    /// Before the connection, so that it is dropped before it.
    pub(super) in_use: InUse,
    pub(super) conn: Connection,
    pub(super) live: Live,
    pub(super) options: Options,
    pub(super) batches: mpsc::Sender<Batch>,
    pub(super) health: watch::Sender<Health>,
    pub(super) stats: Arc<Stats>,
    pub(super) folder: Folder,
    pub(super) row: Vec<u8>,
    pub(super) frame: FrameBuilder,
    pub(super) pending: Pending,
    /// Nothing where rows go into the tables at once, and when it is shut.
    pub(super) redo: Option<RedoLog>,
    pub(super) wal: Wal,
    pub(super) unseen: Unseen,
    pub(super) failing: Failing,
    pub(super) cleaning: Cleaning,
}

/// About how much was committed since the length of the WAL was looked at. To look costs a sixth of a small commit.
#[derive(Default)]
pub(super) struct Unseen {
    commits: u32,
    bytes: usize,
}

impl Unseen {
    pub(super) fn committed(&mut self, bytes: usize) {
        self.commits += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Whether the WAL may have grown much.
    const fn is_much(&self) -> bool {
        self.commits >= limits::COMMITS_UNSEEN || self.bytes >= limits::BYTES_UNSEEN
    }
}

/// What is known of the end of the WAL.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wal {
    /// What was committed and nothing else.
    Clean,
    /// A commit failed half way: frames of it may be there, and have to go before the next commit.
    Suspect,
}

impl Writer {
    /// Serves requests until all senders are gone or one asks to close.
    pub(super) fn run(mut self, mut inbox: Inbox) {
        loop {
            // With cleaning to do it waits for nothing, else for as long as nobody asks.
            let taken = match inbox.take(!self.is_cleaning_due(), &self.stats) {
                Taken::Some(taken) => taken,
                Taken::Nothing => {
                    self.tidy(Self::clean);
                    self.look_at_wal();
                    continue;
                }
                Taken::Gone => {
                    self.shut();
                    return;
                }
            };
            let (mut answers, close) = self.serve(taken);
            if let Some(to) = close {
                self.shut();
                let Self { in_use, conn, batches, health, folder, live, .. } = self;
                health.send_replace(Health::Closed);
                drop(in_use);
                drop(conn);
                drop(folder);
                answers.extend(inbox.close().into_iter().filter_map(refuse));
                answers.push(Answer::Closed(to));
                hand_back(&batches, answers, &live);
                return;
            }
            hand_back(&self.batches, answers, &self.live);
            self.stats.took(0, None);
            self.look_at_wal();
            if self.is_cleaning_due() {
                self.tidy(Self::clean);
            }
            if self.redo.as_ref().is_some_and(RedoLog::is_short_of_files) {
                self.tidy(Self::prepare);
            }
        }
    }

    /// Commits the writes, then answers what was asked, and says who wants the journal to be closed.
    fn serve(&mut self, taken: Vec<Request>) -> (Vec<Answer>, Option<Sender<()>>) {
        let mut writes = Vec::with_capacity(taken.len());
        let (mut queries, mut close) = (Vec::new(), None);
        for request in taken {
            match request {
                Request::Write(write) => writes.push(write),
                Request::Query(query) => queries.push(query),
                Request::Close(to) => close = Some(to),
            }
        }
        let mut answers = self.commit(writes);
        answers.extend(queries.into_iter().map(|query| self.answer(query)));
        (answers, close)
    }

    /// Makes a file of the redo log before a commit needs it.
    fn prepare(&mut self) {
        if let Some(redo) = &mut self.redo
            && let Err(error) = redo.prepare()
        {
            // The commit that needs it tries again, and fails if that does.
            tracing::debug!(%error, "no file of the redo log can be made ahead");
        }
    }

    /// Looks how long the WAL has grown, if that may be much.
    pub(super) fn look_at_wal(&mut self) {
        if self.unseen.is_much() {
            self.unseen = Unseen::default();
            self.tidy(Self::checkpoint);
        }
    }

    /// Does what keeps the files small, for which others wait.
    fn tidy(&mut self, what: impl FnOnce(&mut Self)) {
        self.stats.tidies();
        what(self);
        self.stats.tidied();
    }

    /// Ends what is left of a transaction that could not be rolled back.
    pub(super) fn leave_transaction(&self) -> rusqlite::Result<()> {
        if self.conn.is_autocommit() { Ok(()) } else { self.conn.execute_batch("ROLLBACK") }
    }

    /// Begins a transaction, on a WAL without leftovers.
    pub(super) fn begin(&mut self) -> rusqlite::Result<()> {
        self.leave_transaction()?;
        if self.wal == Wal::Suspect {
            // Frames that could not be synced are never synced later: they go, and what is committed is written anew.
            empty_wal_at_once(&self.conn)?;
            self.wal = Wal::Clean;
        }
        self.conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Ok(())
    }

    /// Makes the transaction durable.
    pub(super) fn end(&mut self) -> Result<(), Spoilt> {
        let committed = self.conn.prepare_cached("COMMIT").and_then(|mut commit| commit.execute([]));
        committed.map(|_| ()).map_err(|error| {
            self.wal = Wal::Suspect;
            spoilt_commit(&error)
        })
    }

    /// Nothing of the transaction remains, on disk or in memory.
    pub(super) fn roll_back(&mut self) {
        if let Err(error) = self.leave_transaction() {
            // The next transaction tries again before it begins.
            tracing::error!(%error, "a transaction of the journal could not be rolled back");
        }
        self.live.take_back();
    }

    fn answer(&mut self, query: Query) -> Answer {
        match query {
            Query::Locate(match_id, to) => Answer::Located(to, self.locate(match_id, usize::MAX)),
            Query::LocateFirst(match_id, to) => Answer::Located(to, self.locate(match_id, 1)),
            Query::Unfinished(to) => Answer::Unfinished(to, self.live.unfinished()),
            Query::Settle(to) => Answer::Settled(to, self.settle()),
        }
    }

    /// Where the first records of a match are, so many at most.
    fn locate(&self, match_id: MatchId, most: usize) -> Located {
        let Some(live) = self.live.get(&match_id) else {
            let ended = self.pending.finished(match_id);
            return Ok(ended.map_or(Found::Nothing, |ended| Found::Ended(Box::new(ended))));
        };
        let place = |position: &Position| {
            if *position >= YOUNG {
                return self.live.young().place(*position).map(Place::Redo);
            }
            self.live.segment_of(*position).map(|segment| Place::Table(segment.number, *position))
        };
        let places: Option<Vec<Place>> = live.positions.iter().take(most).map(place).collect();
        let lost = || Cause::new(format!("it is not known where the records of match {match_id} are"));
        let places = places.ok_or_else(lost)?;
        Ok(Found::Running(Location { places, damage: live.damage.clone() }))
    }

    /// Copies committed pages into the database when the WAL has grown long. Readers and a failure delay it: it is tried
    /// again some commits later.
    fn checkpoint(&mut self) {
        let frames = "PRAGMA wal_checkpoint(NOOP)";
        let long = self
            .conn
            .prepare_cached(frames)
            .and_then(|mut frames| frames.query_row([], |row| row.get::<_, i64>(1)));
        let long = long.map(|frames| frames >= limits::WAL_PAGES);
        let done = long.and_then(|long| {
            if long {
                self.conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
            }
            Ok(())
        });
        if let Err(error) = done {
            tracing::warn!(%error, "the journal's WAL could not be checkpointed");
        }
    }
}

/// The answer to what came when the journal was closed, or while it was.
fn refuse(request: Request) -> Option<Answer> {
    match request {
        Request::Write(write) => Some(write.spoilt(&Spoilt::Failed(Cause::new("the journal is closed")))),
        // Without an answer, its sender learns that the journal is closed.
        Request::Query(_) => None,
        Request::Close(to) => Some(Answer::Closed(to)),
    }
}

fn hand_back(batches: &mpsc::Sender<Batch>, answers: Vec<Answer>, live: &Live) {
    let latest_result = ResultNumber::new(live.next_result() - 1);
    // An error says that the runtime is gone, and with it everyone who waits.
    drop(batches.blocking_send(Batch { answers, latest_result }));
}

/// Whether a failed commit can still turn out to have happened.
fn spoilt_commit(error: &rusqlite::Error) -> Spoilt {
    if has_not_happened(error) {
        Spoilt::Failed(Cause::new(error))
    } else {
        // Such as a sync that failed after all was written.
        Spoilt::Unknown(Cause::new(error))
    }
}

/// Whether a commit that failed stopped before the frame that ends a transaction was written.
pub(super) fn has_not_happened(error: &rusqlite::Error) -> bool {
    use ErrorCode::{ConstraintViolation, DatabaseBusy, DatabaseLocked, DiskFull, OutOfMemory, ReadOnly};
    matches!(
        error.sqlite_error_code(),
        Some(ConstraintViolation | DatabaseBusy | DatabaseLocked | DiskFull | OutOfMemory | ReadOnly)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::ffi;

    #[test]
    fn a_commit_is_unknown_unless_it_can_not_have_happened() {
        let cases = [
            (ffi::SQLITE_FULL, false),
            (ffi::SQLITE_BUSY, false),
            (ffi::SQLITE_NOMEM, false),
            (ffi::SQLITE_READONLY, false),
            (ffi::SQLITE_CONSTRAINT_COMMITHOOK, false),
            (ffi::SQLITE_IOERR, true),
            (ffi::SQLITE_IOERR_FSYNC, true),
            (ffi::SQLITE_IOERR_WRITE, true),
            (ffi::SQLITE_CORRUPT, true),
        ];
        for (code, unknown) in cases {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            assert_eq!(matches!(spoilt_commit(&error), Spoilt::Unknown(_)), unknown, "{code}");
        }
    }
}
