//! The thread that writes. It gathers what is waiting, commits it in one transaction, hands all answers back as one
//! message, and uses quiet moments to keep the files small.

use std::sync::Arc;
use std::time::Instant;

use rusqlite::{Connection, ErrorCode};
use tokio::sync::oneshot::Sender;
use tokio::sync::{mpsc, watch};

use super::adding::Adding;
use super::clean::Cleaning;
use super::commit::{Commit, Rows};
use super::folder::{Folder, InUse};
use super::inbox::{Inbox, Taken};
use super::live::{Live, Position};
use super::mark::{self, Mark, State};
use super::pending::Pending;
use super::read;
use super::request::{Answer, Batch, Found, Located, Location, Place, Query, Request, Spoilt, Write};
use super::schema::empty_wal;
use super::stats::Stats;
use super::young::YOUNG;
use super::{Options, ladders, limits};
use crate::journal::redo::{FrameBuilder, RedoLog, WriteError};
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

/// Why what is written can't be, while it can't.
#[derive(Debug, Default)]
pub(super) struct Failing {
    redo: Option<Cause>,
    database: Option<Cause>,
}

/// What is written.
#[derive(Clone, Copy, Debug)]
enum Part {
    Redo,
    Database,
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

    /// Commits these writes. When that fails, none of those that are committed together has happened, as far as can be told.
    fn commit(&mut self, writes: Vec<Write>) -> Vec<Answer> {
        let (writes, mut answers) = self.leave_damaged_out(writes);
        let has_redo = self.redo.is_some();
        let (logged, stored): (Vec<Write>, Vec<Write>) =
            writes.into_iter().partition(|write| has_redo && write.is_logged());
        for (writes, commit) in
            [(logged, Self::log as fn(&mut Self, _) -> _), (stored, Self::store as fn(&mut Self, _) -> _)]
        {
            if !writes.is_empty() {
                answers.extend(commit(self, writes));
            }
        }
        answers
    }

    /// One commit of the redo log.
    fn log(&mut self, writes: Vec<Write>) -> Vec<Answer> {
        let bytes = writes.iter().map(Write::bytes).sum();
        let (count, begun_at) = (writes.len() as u64, Instant::now());
        let (writes, mut refused) = self.leave_out_what_has_no_room(writes);
        if writes.is_empty() {
            return refused;
        }
        let mut commit = Commit {
            conn: &self.conn,
            live: &mut self.live,
            pending: &mut self.pending,
            rows: Rows::Redo(&mut self.frame),
            row: &mut self.row,
            error: None,
        };
        let mut answers: Vec<Answer> = writes.into_iter().map(|write| commit.apply(write)).collect();
        let (rows, error) = (commit.rows_written(), commit.error.take());
        drop(commit);
        let ended = match (error, &mut self.redo) {
            (Some(error), _) => Err(Spoilt::Failed(Cause::new(error))),
            (None, Some(redo)) if !self.frame.is_empty() => redo
                .append(&mut self.frame, self.live.young().unwritten())
                .map(Some)
                .map_err(|error| match error {
                    WriteError::NotBegun(_) => Spoilt::Failed(Cause::new(error)),
                    WriteError::Unknown(_) => Spoilt::Unknown(Cause::new(error)),
                }),
            (None, _) => Ok(None),
        };
        self.frame.clear();
        match ended {
            Ok(written) => {
                if let Some(written) = written {
                    self.pending.keep();
                    self.live.written(written);
                    self.set_health(Part::Redo, None);
                }
                self.stats.pending(!self.pending.is_empty());
                self.stats.committed(count, rows, begun_at.elapsed());
                self.unseen.committed(bytes);
                self.cleaning.committed();
            }
            Err(spoilt) => {
                self.live.take_back();
                self.pending.take_back();
                self.spoil(Part::Redo, &mut answers, &spoilt);
            }
        }
        answers.append(&mut refused);
        answers
    }

    /// The writes without those of which something would wait for the database while too much does already, and the answers of these.
    fn leave_out_what_has_no_room(&mut self, writes: Vec<Write>) -> (Vec<Write>, Vec<Answer>) {
        // Nothing else is written in one that a failure has left.
        let rolled_back = if self.conn.is_autocommit() {
            Ok(())
        } else {
            self.conn.execute_batch("ROLLBACK").map_err(|error| Spoilt::Failed(Cause::new(error)))
        };
        if let Err(spoilt) = rolled_back {
            return (Vec::new(), writes.into_iter().map(|write| write.spoilt(&spoilt)).collect());
        }
        let Some(cause) = self.pending.is_much().then(|| self.settle().err()).flatten() else {
            return (writes, Vec::new());
        };
        let (waits, rest): (Vec<Write>, Vec<Write>) =
            writes.into_iter().partition(Write::is_for_the_database);
        let spoilt = Spoilt::Failed(cause);
        (rest, waits.into_iter().map(|write| write.spoilt(&spoilt)).collect())
    }

    /// One transaction of the database.
    fn store(&mut self, writes: Vec<Write>) -> Vec<Answer> {
        let bytes = writes.iter().map(Write::bytes).sum();
        let (count, begun_at) = (writes.len() as u64, Instant::now());
        let begun = self.begin().and_then(|()| self.put_pending());
        let segment_rows = self.options.segment_rows;
        let mut commit = Commit {
            conn: &self.conn,
            live: &mut self.live,
            pending: &mut self.pending,
            rows: Rows::Tables { add: Adding::default(), segment_rows },
            row: &mut self.row,
            error: begun.err(),
        };
        let mut answers: Vec<Answer> = writes.into_iter().map(|write| commit.apply(write)).collect();
        commit.complete();
        let (rows, error) = (commit.rows_written(), commit.error.take());
        drop(commit);
        let ended = match error {
            Some(error) => Err(Spoilt::Failed(Cause::new(error))),
            None => self.end(),
        };
        match ended {
            Ok(()) => {
                self.live.keep();
                self.settled();
                self.stats.committed(count, rows, begun_at.elapsed());
                self.unseen.committed(bytes);
                self.cleaning.committed();
                self.set_health(Part::Database, None);
            }
            Err(spoilt) => {
                self.roll_back();
                self.spoil(Part::Database, &mut answers, &spoilt);
            }
        }
        answers
    }

    fn spoil(&mut self, of: Part, answers: &mut [Answer], spoilt: &Spoilt) {
        self.stats.failed();
        tracing::error!(cause = %spoilt.cause(), writes = answers.len(), "a commit of the journal did not go through");
        for answer in answers {
            answer.spoil(spoilt);
        }
        self.set_health(of, Some(spoilt.cause().clone()));
    }

    /// Puts into the database what is in the redo log for it.
    pub(super) fn settle(&mut self) -> Result<(), Cause> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let done = self.begin().and_then(|()| self.put_pending()).map_err(Cause::new);
        match done.and_then(|()| self.end().map_err(|spoilt| spoilt.cause().clone())) {
            Ok(()) => {
                self.unseen.committed(limits::BYTES_UNSEEN);
                self.settled();
                self.set_health(Part::Database, None);
                Ok(())
            }
            Err(cause) => {
                self.roll_back();
                self.stats.failed();
                self.set_health(Part::Database, Some(cause.clone()));
                tracing::error!(%cause, "what has ended can't be put into the database of the journal");
                Err(cause)
            }
        }
    }

    /// In a transaction.
    pub(super) fn put_pending(&self) -> rusqlite::Result<()> {
        self.pending.put(&self.conn)?;
        self.write_mark(0)
    }

    /// Says in the database that the redo log is needed from this of its files on, the first being 0, and that all that is for the database
    /// is there.
    pub(super) fn write_mark(&self, from: usize) -> rusqlite::Result<()> {
        let Some(redo) = &self.redo else { return Ok(()) };
        let (first, before) =
            self.live.young().begin_of(from).unwrap_or_else(|| (redo.current(), redo.last()));
        mark::write(&self.conn, Mark { state: State::Open, first, before, stored: redo.last() })
    }

    /// All that was pending is in the database.
    pub(super) fn settled(&mut self) {
        self.pending.clear();
        self.stats.pending(false);
    }

    /// The writes without those whose request is damaged, or the ratings that they replace, and the answers of these. It is found out before the transaction,
    /// as SQLite writes nothing more in one that has met damage, and nobody else of the batch has to do with it.
    fn leave_damaged_out(&self, writes: Vec<Write>) -> (Vec<Write>, Vec<Answer>) {
        let mut refused = Vec::new();
        if !writes.iter().any(Write::may_meet_damage) {
            return (writes, refused);
        }
        let mut rest = Vec::with_capacity(writes.len());
        for write in writes {
            let damage = match &write {
                Write::Ladder(change, _) => ladders::damage_of(&self.conn, &change.ladder),
                other => other.named().and_then(|(key, now)| read::damage_of_request(&self.conn, key, now)),
            };
            match damage {
                Some(cause) => {
                    tracing::error!(%cause, "what a request reads or replaces is damaged in the journal");
                    refused.push(write.spoilt(&Spoilt::Damaged(cause)));
                }
                None => rest.push(write),
            }
        }
        (rest, refused)
    }

    /// Begins a transaction, on a WAL without leftovers.
    pub(super) fn begin(&mut self) -> rusqlite::Result<()> {
        if !self.conn.is_autocommit() {
            self.conn.execute_batch("ROLLBACK")?;
        }
        if self.wal == Wal::Suspect {
            // Frames that could not be synced are never synced later: they go, and what is committed is written anew.
            empty_wal(&self.conn)?;
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
        if !self.conn.is_autocommit()
            && let Err(error) = self.conn.execute_batch("ROLLBACK")
        {
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

    /// How it goes with the redo log or with the database, which is told if neither has failed, or which did.
    fn set_health(&mut self, of: Part, now: Option<Cause>) {
        match of {
            Part::Redo => self.failing.redo = now,
            Part::Database => self.failing.database = now,
        }
        let Failing { redo, database } = &self.failing;
        let now = redo.as_ref().or(database.as_ref()).cloned().map_or(Health::Writing, Health::Failing);
        self.health.send_if_modified(|health| {
            let changed = *health != now;
            *health = now;
            changed
        });
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
