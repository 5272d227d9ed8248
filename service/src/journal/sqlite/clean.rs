//! Keeping the log short. A segment without a live row is dropped. When the log has more than twice its live rows, the
//! live rows of the segment with the fewest of them are copied to the current one, a few at a time, until it has none.

use std::collections::BTreeSet;

use super::live::{Live, Position, Segment, SegmentNumber};
use super::read;
use super::recover::table;
use super::request::Spoilt;
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
}

impl Cleaning {
    /// A commit has gone through.
    pub(super) fn committed(&mut self) {
        self.paused_for = self.paused_for.saturating_sub(1);
    }
}

enum Step {
    Drop(SegmentNumber),
    Copy(SegmentNumber, Position),
}

impl Writer {
    pub(super) fn is_cleaning_due(&self) -> bool {
        self.cleaning.paused_for == 0 && self.next_step().is_some()
    }

    /// One step, in a transaction of its own: its failure is nobody's answer.
    pub(super) fn clean(&mut self) {
        let Some(step) = self.next_step() else { return };
        if let Step::Copy(number, from) = step
            && self.next_live_row(number, from).is_none()
        {
            let table = table(number);
            tracing::error!(%table, "live rows of the journal's log can't be found: their segment stays");
            self.cleaning.stuck.insert(number);
            self.cleaning.victim = None;
            return;
        }
        match self.try_step(&step) {
            Ok(Done { copied, dropped, next }) => {
                self.live.keep();
                self.stats.cleaned(copied, dropped);
                // At most so much was copied.
                self.unseen.committed(if copied > 0 { limits::COPIED_BYTES } else { 0 });
                self.cleaning.victim = next;
            }
            Err(spoilt) => {
                self.roll_back();
                self.cleaning.victim = None;
                self.cleaning.paused_for = limits::COMMITS_BEFORE_CLEANING_AGAIN;
                tracing::error!(cause = %spoilt.cause(), "the journal's log could not be cleaned");
            }
        }
    }

    fn try_step(&mut self, step: &Step) -> Result<Done, Spoilt> {
        let failed = |error| Spoilt::Failed(Cause::new(error));
        self.begin().map_err(failed)?;
        let done = self.take(step).map_err(failed)?;
        self.end()?;
        Ok(done)
    }

    fn next_step(&self) -> Option<Step> {
        let sealed = self.live.segments().split_last()?.1;
        if let Some(dead) = sealed.iter().find(|segment| segment.live == 0) {
            return Some(Step::Drop(dead.number));
        }
        if let Some((number, from)) = self.cleaning.victim {
            return Some(Step::Copy(number, from));
        }
        let victim = victim(&self.live, &self.cleaning.stuck, self.options.segment_rows.into())?;
        Some(Step::Copy(victim.number, victim.first))
    }

    fn take(&mut self, step: &Step) -> rusqlite::Result<Done> {
        match *step {
            Step::Drop(number) => {
                self.conn.execute_batch(&format!("DROP TABLE {}", table(number)))?;
                self.live.dropped_segment(number);
                segments::write(&self.conn, self.live.segments())?;
                self.cleaning.stuck.remove(&number);
                let next = self.cleaning.victim.filter(|(victim, _)| *victim != number);
                Ok(Done { copied: 0, dropped: 1, next })
            }
            Step::Copy(number, from) => self.copy(number, from),
        }
    }

    /// Copies the next live rows of a segment.
    fn copy(&mut self, number: SegmentNumber, from: Position) -> rusqlite::Result<Done> {
        let Found { rows, next } = self.live_rows_from(number, from)?;
        let mut commit = self.transaction();
        for (position, bytes) in rows {
            let Some((match_id, version)) = live_row(commit.live, position, &bytes) else {
                continue;
            };
            commit.row.clear();
            commit.row.extend_from_slice(&bytes);
            row::place(commit.row, commit.live.next_position());
            commit.insert_row()?;
            commit.live.moved(match_id, version);
        }
        commit.flush()?;
        let copied = commit.rows_written;
        drop(commit);
        if copied > 0 {
            // That there are copies now.
            segments::write(&self.conn, self.live.segments())?;
        }
        Ok(Done { copied, dropped: 0, next: Some((number, next)) })
    }

    /// The next live row of a segment from a position on.
    fn next_live_row(&self, number: SegmentNumber, from: Position) -> Option<Position> {
        let segment = self.live.segments().iter().find(|segment| segment.number == number)?;
        self.live.live_rows().next(from, segment.end.unwrap_or(self.live.next_position()))
    }

    /// Live rows of a segment from a position on, as many as one step copies. Packs without one are not read, and what is damaged is
    /// passed by.
    fn live_rows_from(&self, number: SegmentNumber, from: Position) -> rusqlite::Result<Found> {
        let table = table(number);
        let sql = format!("SELECT position, row FROM {table} WHERE position >= ?1 ORDER BY position LIMIT 1");
        let mut statement = self.conn.prepare_cached(&sql)?;
        let mut found = Found { rows: Vec::new(), next: from };
        let mut bytes = 0;
        for _ in 0..limits::PACKS_READ {
            let Some(next) = self.next_live_row(number, found.next) else { break };
            found.next = next + 1;
            // A pack is under the position of its last row.
            let pack = statement.query_row([next], |pack| Ok((pack.get(0)?, pack.get::<_, Vec<u8>>(1)?)));
            let (last, pack): (Position, _) = match pack {
                Ok(pack) => pack,
                Err(error) if read::is_damage(&error) || error == rusqlite::Error::QueryReturnedNoRows => {
                    continue;
                }
                Err(error) => return Err(error),
            };
            bytes += pack.len();
            if let Ok(rows) = pack::rows(last, &pack) {
                let live = self.live.live_rows();
                let rows = rows.filter(|(position, _)| *position >= next && live.contains(*position));
                found.rows.extend(rows.map(|(position, row)| (position, row.to_vec())));
            }
            if last >= next && last < self.live.next_position() {
                found.next = last + 1;
            }
            if found.rows.len() >= limits::COPIED_ROWS || bytes >= limits::COPIED_BYTES {
                break;
            }
        }
        Ok(found)
    }
}

/// Live rows that were found, and where to look next.
struct Found {
    rows: Vec<(Position, Vec<u8>)>,
    next: Position,
}

struct Done {
    copied: u64,
    dropped: u64,
    next: Option<(SegmentNumber, Position)>,
}

/// The sealed segment with the smallest part of live rows, when the log has more than twice its live rows and, since a
/// segment is the least that can be won, two segments more. At most half of it is live then: each copied row wins one. Those that
/// are stuck are left out of that.
fn victim<'a>(live: &'a Live, stuck: &BTreeSet<SegmentNumber>, segment_rows: u64) -> Option<&'a Segment> {
    let (current, sealed) = live.segments().split_last()?;
    let may_be = sealed.iter().filter(|segment| !stuck.contains(&segment.number));
    let all = may_be.clone().chain([current]);
    let (rows, live_rows) = all.fold((0, 0), |(rows, live), s| (rows + s.rows, live + s.live));
    if rows <= 2 * live_rows + 2 * segment_rows {
        return None;
    }
    may_be.min_by_key(|segment| segment.live * 1024 / segment.rows.max(1))
}

/// The record that a row stands for, if it is that of a match that runs, and not a copy left behind.
fn live_row(live: &Live, position: Position, bytes: &[u8]) -> Option<(MatchId, Version)> {
    let RowHeader { match_id, version, .. } = Row::decode(bytes).ok()?.header;
    (live.get(&match_id)?.position(version)? == position).then_some((match_id, version))
}
