//! The thread that writes. It gathers what is waiting, commits it in one transaction, hands all answers back as one
//! message, and uses quiet moments to keep the files small.

use std::sync::Arc;
use std::thread;
use std::time::Instant;

use rusqlite::{Connection, ErrorCode};
use tokio::sync::{mpsc, watch};

use super::clean::Cleaning;
use super::commit::Commit;
use super::folder::{Folder, InUse};
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
    pub(super) fn run(mut self, mut requests: mpsc::Receiver<Request>) {
        let mut last_writes = 0;
        loop {
            // With cleaning to do it waits for nothing, else for as long as nobody asks.
            let first = if self.is_cleaning_due() {
                match requests.try_recv() {
                    Ok(request) => Some(request),
                    Err(mpsc::error::TryRecvError::Empty) => {
                        self.tidy(Self::clean);
                        self.look_at_wal();
                        continue;
                    }
                    Err(mpsc::error::TryRecvError::Disconnected) => None,
                }
            } else {
                requests.blocking_recv()
            };
            let Some(first) = first else { return };
            let Gathered { writes, queries, close, .. } =
                gather(first, &mut requests, last_writes, &self.stats);
            last_writes = writes.len();
            let mut answers = self.commit(writes);
            answers.extend(queries.into_iter().map(|query| self.answer(query)));
            if let Some(to) = close {
                let Self { in_use, conn, batches, health, folder, live, .. } = self;
                health.send_replace(Health::Closed);
                drop(in_use);
                drop(conn);
                drop(folder);
                answers.extend(refuse_the_rest(requests));
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

struct Gathered {
    writes: Vec<Write>,
    queries: Vec<Query>,
    close: Option<tokio::sync::oneshot::Sender<()>>,
    /// Since when the first of the writes has waited.
    oldest: Option<Instant>,
}

impl Gathered {
    fn len(&self) -> usize {
        self.writes.len() + self.queries.len()
    }
}

/// Takes what is waiting, up to a commit's limit. Where more than one has come to this commit or the last one, it waits for no longer than
/// others take who run in the meantime: whoever has more may be about to hand it in. A match alone waits for nobody.
fn gather(
    first: Request,
    requests: &mut mpsc::Receiver<Request>,
    last_writes: usize,
    stats: &Stats,
) -> Gathered {
    let mut gathered = Gathered { writes: Vec::new(), queries: Vec::new(), close: None, oldest: None };
    let mut bytes = 0;
    let (mut lingers, begun) = (limits::LINGERS, Instant::now());
    let mut next = Some(first);
    while let Some(request) = next {
        match request {
            Request::Write(write, since) => {
                gathered.oldest.get_or_insert(since);
                bytes += write.bytes();
                gathered.writes.push(write);
            }
            Request::Query(query) => gathered.queries.push(query),
            Request::Close(to) => {
                gathered.close = Some(to);
                break;
            }
        }
        let full = bytes >= limits::COMMIT_BYTES || gathered.writes.len() >= limits::COMMIT_WRITES;
        next = if full { None } else { requests.try_recv().ok() };
        let may_linger = lingers > 0 && gathered.writes.len().max(last_writes) > 1;
        if next.is_none() && !full && may_linger && begun.elapsed() < limits::MAX_LINGER {
            lingers -= 1;
            stats.took(gathered.len(), gathered.oldest);
            thread::yield_now();
            next = requests.try_recv().ok();
        }
    }
    stats.took(gathered.len(), gathered.oldest);
    gathered
}

/// Closes the queue and answers what is still in it, or being sent right now: dropping it would lose the latter, and its
/// sender would wait for ever.
fn refuse_the_rest(mut requests: mpsc::Receiver<Request>) -> Vec<Answer> {
    requests.close();
    let closed = Spoilt::Failed(Cause::new("the journal is closed"));
    let mut answers = Vec::new();
    while let Some(request) = requests.blocking_recv() {
        match request {
            Request::Write(write, _) => answers.push(write.spoilt(&closed)),
            // Without an answer, its sender learns that the journal is closed.
            Request::Query(query) => drop(query),
            Request::Close(to) => answers.push(Answer::Closed(to)),
        }
    }
    answers
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
