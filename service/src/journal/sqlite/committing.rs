//! Committing what was taken: to the redo log, and to the database, at once or later.

use std::time::Instant;

use super::adding::Adding;
use super::commit::{Commit, Rows};
use super::mark::{self, Mark, State};
use super::request::{Answer, Spoilt, Write};
use super::writer::Writer;
use super::{ladders, limits, read};
use crate::journal::redo::WriteError;
use crate::journal::{Cause, Health};

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

impl Writer {
    /// Commits these writes. When that fails, none of those that are committed together has happened, as far as can be told.
    pub(super) fn commit(&mut self, writes: Vec<Write>) -> Vec<Answer> {
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
        // What is read of the database would be of a transaction that never was.
        if let Err(error) = self.leave_transaction() {
            let spoilt = Spoilt::Failed(Cause::new(error));
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
