//! The thread that writes. It gathers what is waiting, commits it in one transaction, hands all answers back as one
//! message, and uses quiet moments to keep the files small.

use std::sync::Arc;
use std::time::Instant;

use rusqlite::{Connection, ErrorCode};
use tokio::sync::oneshot::Sender;
use tokio::sync::{mpsc, watch};

use super::clean::Cleaning;
use super::commit::Commit;
use super::folder::{Folder, InUse};
use super::inbox::{Inbox, Taken};
use super::live::Live;
use super::read;
use super::request::{Answer, Batch, Location, Query, Request, Spoilt, Write};
use super::schema::empty_wal;
use super::stats::Stats;
use super::{Options, ladders, limits};
use crate::journal::pack::Pack;
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
    pub(super) pack: Pack,
    pub(super) wal: Wal,
    pub(super) unseen: Unseen,
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
                Taken::Gone => return,
            };
            let (mut answers, close) = self.serve(taken);
            if let Some(to) = close {
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

    /// Looks how long the WAL has grown, if that may be much.
    fn look_at_wal(&mut self) {
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

    /// One transaction of all these writes. When it doesn't go through, none of them has happened, as far as can be told.
    fn commit(&mut self, writes: Vec<Write>) -> Vec<Answer> {
        let (writes, mut refused) = self.leave_damaged_out(writes);
        if writes.is_empty() {
            return refused;
        }
        let bytes = writes.iter().map(Write::bytes).sum();
        let (count, begun_at) = (writes.len() as u64, Instant::now());
        let begun = self.begin();
        let mut commit = self.transaction();
        commit.error = begun.err();
        let mut answers: Vec<Answer> = writes.into_iter().map(|write| commit.apply(write)).collect();
        commit.complete();
        let (rows, error) = (commit.rows_written, commit.error.take());
        drop(commit);
        let ended = match error {
            Some(error) => Err(Spoilt::Failed(Cause::new(error))),
            None => self.end(),
        };
        match ended {
            Ok(()) => {
                self.live.keep();
                self.stats.committed(count, rows, begun_at.elapsed());
                self.unseen.committed(bytes);
                self.cleaning.committed();
                self.set_health(Health::Writing);
            }
            Err(spoilt) => {
                self.roll_back();
                self.stats.failed();
                tracing::error!(cause = %spoilt.cause(), writes = count, "a commit of the journal did not go through");
                for answer in &mut answers {
                    answer.spoil(&spoilt);
                }
                self.set_health(Health::Failing(spoilt.cause().clone()));
            }
        }
        answers.append(&mut refused);
        answers
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

    /// What is written between [`Self::begin`] and [`Self::end`].
    pub(super) fn transaction(&mut self) -> Commit<'_> {
        Commit {
            conn: &self.conn,
            live: &mut self.live,
            segment_rows: self.options.segment_rows.into(),
            row: &mut self.row,
            pack: &mut self.pack,
            rows_written: 0,
            insert: None,
            error: None,
        }
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
        self.pack.clear();
        if !self.conn.is_autocommit()
            && let Err(error) = self.conn.execute_batch("ROLLBACK")
        {
            // The next transaction tries again before it begins.
            tracing::error!(%error, "a transaction of the journal could not be rolled back");
        }
        self.live.take_back();
    }

    fn answer(&self, query: Query) -> Answer {
        match query {
            Query::Locate(match_id, to) => Answer::Located(to, self.locate(match_id, usize::MAX)),
            Query::LocateFirst(match_id, to) => Answer::Located(to, self.locate(match_id, 1)),
            Query::Unfinished(to) => Answer::Unfinished(to, self.live.unfinished()),
        }
    }

    /// Where the first records of a match are, so many at most.
    fn locate(&self, match_id: MatchId, most: usize) -> Option<Location> {
        let live = self.live.get(&match_id)?;
        let places = live.positions.iter().take(most);
        let places = places.filter_map(|p| self.live.segment_of(*p).map(|segment| (segment.number, *p)));
        Some(Location { places: places.collect(), damage: live.damage.clone() })
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

    fn set_health(&self, now: Health) {
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
    use ErrorCode::{ConstraintViolation, DatabaseBusy, DatabaseLocked, DiskFull, OutOfMemory, ReadOnly};
    match error.sqlite_error_code() {
        // It stopped before the frame that ends a transaction was written.
        Some(ConstraintViolation | DatabaseBusy | DatabaseLocked | DiskFull | OutOfMemory | ReadOnly) => {
            Spoilt::Failed(Cause::new(error))
        }
        // Such as a sync that failed after all was written.
        _ => Spoilt::Unknown(Cause::new(error)),
    }
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
