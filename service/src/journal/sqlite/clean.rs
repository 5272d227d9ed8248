//! Keeping the log short. A segment without a live row is dropped. When the log has more than twice its live rows, the
//! live rows of the segment with the fewest of them are copied to the current one, a few at a time, until it has none. How files of the redo
//! log go is in `releasing.rs`.

use std::collections::BTreeSet;

use super::adding::Adding;
use super::live::{Live, Position, Segment, SegmentNumber};
use super::read;
use super::recover::table;
use super::writer::Writer;
use super::{limits, segments};
use crate::journal::pack;
use crate::journal::row::{self, Row, RowHeader};
use crate::journal::{Cause, MatchId, Version};

/// How far the cleaning is.
#[derive(Debug, Default)]
pub(super) struct Cleaning {
    /// The segment that is being emptied, and the next position to look at.
    victim: Option<(SegmentNumber, Position)>,
    /// After a failure: how many commits are left before it is tried again.
    paused_for: u32,
    /// Segments with live rows that can't be read. They stay until these are dead.
    stuck: BTreeSet<SegmentNumber>,
    /// Segments without a live row that are too damaged to be dropped.
    undroppable: BTreeSet<SegmentNumber>,
    /// The next position to look at in the oldest file of the redo log, while it is emptied.
    pub(super) emptied_to: Option<Position>,
    /// Its live rows can't be read. It stays until these are dead, and all files after it.
    pub(super) is_redo_stuck: bool,
}

impl Cleaning {
    /// A commit has gone through.
    pub(super) fn committed(&mut self) {
        self.paused_for = self.paused_for.saturating_sub(1);
    }

    /// How many segments stay since they are damaged.
    fn staying(&self) -> usize {
        self.stuck.len() + self.undroppable.len() + usize::from(self.is_redo_stuck)
    }
}

#[derive(Clone, Copy)]
pub(super) enum Step {
    Drop(SegmentNumber),
    Copy(SegmentNumber, Position),
    /// The oldest file of the redo log has no live row.
    Release,
    /// Its live rows from there to here have to go into the tables.
    Empty(Position, Position),
}

impl Writer {
    pub(super) fn is_cleaning_due(&self) -> bool {
        self.cleaning.paused_for == 0 && self.next_step().is_some()
    }

    /// One step, in a transaction of its own: its failure is nobody's answer.
    pub(super) fn clean(&mut self) {
        if let Some(step) = self.next_step() {
            self.take(step);
            self.stats.stay(self.cleaning.staying());
        }
    }

    fn take(&mut self, step: Step) {
        let done = match step {
            Step::Drop(number) => self.in_transaction(|writer| writer.drop_segment(number)),
            Step::Copy(number, from) if self.live.next_live(number, from).is_none() => {
                let table = table(number);
                tracing::error!(%table, "live rows of the journal's log can't be read: their segment stays until these matches are over");
                self.cleaning.stuck.insert(number);
                self.cleaning.victim = None;
                return;
            }
            Step::Release => self.in_transaction(Self::release),
            Step::Empty(from, end) => {
                let found = self.young_rows_from(from, end);
                if found.rows.is_empty() && found.next >= end {
                    self.cleaning.emptied_to = None;
                    self.cleaning.is_redo_stuck = true;
                    tracing::error!(
                        "live rows of the journal's redo log can't be read: their file stays until these matches are over"
                    );
                    return;
                }
                self.in_transaction(|writer| writer.empty(found))
            }
            Step::Copy(number, from) => {
                // Before the transaction: SQLite writes nothing more in one that has met damage.
                let found = self.live_rows_from(number, from);
                self.in_transaction(|writer| writer.copy(number, found))
            }
        };
        match done {
            Ok(Done { copied, dropped, next }) => {
                self.live.keep();
                self.stats.cleaned(copied, dropped);
                match step {
                    Step::Drop(number) => {
                        self.settled();
                        self.cleaning.stuck.remove(&number);
                        self.cleaning.victim = next;
                    }
                    Step::Copy(..) => self.cleaning.victim = next,
                    Step::Release => {
                        self.settled();
                        self.cleaning.emptied_to = None;
                        self.cleaning.is_redo_stuck = false;
                        if let (Some(file), Some(redo)) = (self.live.young_mut().pop(), &mut self.redo) {
                            redo.is_done(file);
                        }
                    }
                    Step::Empty(..) => self.settled(),
                }
                // At most so much was copied.
                self.unseen.committed(if copied > 0 { limits::COPIED_BYTES } else { 0 });
            }
            Err(failure) => {
                self.roll_back();
                (self.cleaning.victim, self.cleaning.emptied_to) = (None, None);
                match (step, failure) {
                    (Step::Drop(number), Failure::Step(error)) if read::is_damage(&error) => {
                        let table = table(number);
                        tracing::error!(%table, %error, "a segment of the journal's log can't be dropped: it stays, and the next start will most likely stop for it");
                        self.cleaning.stuck.remove(&number);
                        self.cleaning.undroppable.insert(number);
                    }
                    (_, failure) => {
                        self.cleaning.paused_for = limits::COMMITS_BEFORE_CLEANING_AGAIN;
                        tracing::error!(cause = %failure, "the journal's log could not be cleaned");
                    }
                }
            }
        }
    }

    pub(super) fn in_transaction(
        &mut self,
        step: impl FnOnce(&mut Self) -> rusqlite::Result<Done>,
    ) -> Result<Done, Failure> {
        self.begin()?;
        let done = step(self)?;
        self.end().map_err(|spoilt| Failure::Commit(spoilt.cause().clone()))?;
        Ok(done)
    }

    fn next_step(&self) -> Option<Step> {
        self.young_step().or_else(|| self.table_step())
    }

    fn table_step(&self) -> Option<Step> {
        let Cleaning { victim: last, stuck, undroppable, .. } = &self.cleaning;
        let sealed = self.live.segments().split_last()?.1;
        let mut dead = sealed.iter().filter(|segment| segment.live == 0);
        if let Some(dead) = dead.find(|segment| !undroppable.contains(&segment.number)) {
            return Some(Step::Drop(dead.number));
        }
        if let Some((number, from)) = last {
            return Some(Step::Copy(*number, *from));
        }
        let stays = |number: &SegmentNumber| stuck.contains(number) || undroppable.contains(number);
        let victim = victim(&self.live, stays, self.options.segment_rows.into())?;
        Some(Step::Copy(victim.number, victim.first))
    }

    fn drop_segment(&mut self, number: SegmentNumber) -> rusqlite::Result<Done> {
        self.conn.execute_batch(&format!("DROP TABLE {}", table(number)))?;
        self.live.dropped_segment(number);
        segments::write(&self.conn, self.live.segments())?;
        // The ends of its matches too, or who reads the database meanwhile finds neither these nor their rows.
        self.put_pending()?;
        let next = self.cleaning.victim.filter(|(victim, _)| *victim != number);
        Ok(Done { copied: 0, dropped: 1, next })
    }

    /// Copies live rows of a segment.
    fn copy(&mut self, number: SegmentNumber, found: Found) -> rusqlite::Result<Done> {
        let Found { rows, next } = found;
        let copied = self.add(rows)?;
        Ok(Done { copied, dropped: 0, next: Some((number, next)) })
    }

    /// Adds copies of live rows to the tables.
    pub(super) fn add(&mut self, rows: Vec<(Position, Vec<u8>)>) -> rusqlite::Result<u64> {
        let mut adding = Adding::default();
        for (position, mut bytes) in rows {
            let Some((match_id, version)) = live_row(&self.live, position, &bytes) else {
                continue;
            };
            row::place(&mut bytes, self.live.next_position());
            adding.add(&self.conn, &mut self.live, self.options.segment_rows, &bytes)?;
            self.live.moved(match_id, version);
        }
        adding.flush(&self.conn, &self.live)?;
        let copied = adding.rows_written;
        if copied > 0 {
            // That there are copies now.
            segments::write(&self.conn, self.live.segments())?;
        }
        Ok(copied)
    }

    /// Live rows of a segment from a position on, as many as one step copies. Packs without one are not read, and what can't be read
    /// is passed by.
    fn live_rows_from(&self, number: SegmentNumber, from: Position) -> Found {
        let table = table(number);
        let sql = format!("SELECT position, row FROM {table} WHERE position >= ?1 ORDER BY position LIMIT 1");
        let pack_of = |position: Position| -> rusqlite::Result<(Position, Vec<u8>)> {
            let mut statement = self.conn.prepare_cached(&sql)?;
            statement.query_row([position], |pack| Ok((pack.get(0)?, pack.get(1)?)))
        };
        let mut found = Found { rows: Vec::new(), next: from };
        let mut bytes = 0;
        for _ in 0..limits::PACKS_READ {
            let Some(next) = self.live.next_live(number, found.next) else { break };
            found.next = next + 1;
            // A pack is under the position of its last row.
            let (last, pack) = match pack_of(next) {
                Ok(pack) => pack,
                Err(error) => {
                    tracing::warn!(%table, position = next, %error, "a live row of the journal's log can't be read");
                    continue;
                }
            };
            bytes += pack.len();
            if let Ok(rows) = pack::rows(last, &pack) {
                let rows = rows.filter(|(position, _)| *position >= next && self.live.is_live(*position));
                found.rows.extend(rows.map(|(position, row)| (position, row.to_vec())));
            }
            if last >= next && last < self.live.next_position() {
                found.next = last + 1;
            }
            if found.rows.len() >= limits::COPIED_ROWS || bytes >= limits::COPIED_BYTES {
                break;
            }
        }
        found
    }
}

/// Live rows that were found, and where to look next.
pub(super) struct Found {
    pub(super) rows: Vec<(Position, Vec<u8>)>,
    pub(super) next: Position,
}

/// Why a step was not done.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error(transparent)]
    Step(#[from] rusqlite::Error),
    #[error("{0}")]
    Commit(Cause),
}

pub(super) struct Done {
    pub(super) copied: u64,
    pub(super) dropped: u64,
    pub(super) next: Option<(SegmentNumber, Position)>,
}

/// The sealed segment with the smallest part of live rows, when the log has more than twice its live rows and, since a
/// segment is the least that can be won, two segments more. At most half of it is live then: each copied row wins one. Those that
/// stay are left out of that.
fn victim(
    live: &Live,
    stays: impl Fn(&SegmentNumber) -> bool + Clone,
    segment_rows: u64,
) -> Option<&Segment> {
    let (current, sealed) = live.segments().split_last()?;
    let candidates = sealed.iter().filter(|segment| !stays(&segment.number));
    let all = candidates.clone().chain([current]);
    let (rows, live_rows) = all.fold((0, 0), |(rows, live), s| (rows + s.rows, live + s.live));
    if rows <= 2 * live_rows + 2 * segment_rows {
        return None;
    }
    candidates.min_by_key(|segment| segment.live * 1024 / segment.rows.max(1))
}

/// The record that a row stands for, if it is that of a match that runs, and not a copy left behind.
fn live_row(live: &Live, position: Position, bytes: &[u8]) -> Option<(MatchId, Version)> {
    let RowHeader { match_id, version, .. } = Row::decode(bytes).ok()?.header;
    (live.get(&match_id)?.position(version)? == position).then_some((match_id, version))
}
