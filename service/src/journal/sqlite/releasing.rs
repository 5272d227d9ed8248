//! Letting files of the redo log go: the oldest, when none of its rows is live, and before that its live rows into the tables.

use super::clean::{Done, Found, Step};
use super::limits;
use super::live::Position;
use super::mark::{self, Mark};
use super::writer::Writer;
use crate::journal::Cause;
use crate::journal::redo::{Frame, RedoLog};

impl Writer {
    /// Files of the redo log go in their order. Live rows of one are copied into the tables when the redo log has more than twice the
    /// bytes that its live rows and two segments take.
    pub(super) fn young_step(&self) -> Option<Step> {
        let young = self.live.young();
        let (oldest, live) = young.oldest()?;
        if live == 0 {
            return Some(Step::Release);
        }
        if self.cleaning.is_redo_stuck {
            return None;
        }
        let (bytes, live) = young.bytes();
        // Where no file can be made, one has to become free.
        let has_no_room = self.redo.as_ref().is_some_and(RedoLog::has_no_room);
        let is_long = has_no_room
            || bytes > (live + 2 * u64::from(self.options.segment_rows)) * limits::REDO_BYTES_A_ROW;
        let from = self.cleaning.emptied_to.or_else(|| is_long.then_some(oldest.start))?;
        Some(Step::Empty(from.max(oldest.start), oldest.end))
    }

    /// Says in the database that the oldest file of the redo log is not needed.
    pub(super) fn release(&mut self) -> rusqlite::Result<Done> {
        self.pending.put(&self.conn)?;
        self.write_mark(1)?;
        Ok(Done { copied: 0, dropped: 1, next: None })
    }

    /// Copies live rows of the redo log into the tables.
    pub(super) fn empty(&mut self, found: Found) -> rusqlite::Result<Done> {
        self.cleaning.emptied_to = Some(found.next);
        let copied = self.add(found.rows)?;
        // So that no row is in a table before what came with it is in the database.
        self.put_pending()?;
        Ok(Done { copied, dropped: 0, next: None })
    }

    /// Live rows of the redo log from a position on and before another one, as many as one step copies. What can't be read is passed by.
    pub(super) fn young_rows_from(&self, from: Position, end: Position) -> Found {
        let mut found = Found { rows: Vec::new(), next: from };
        let mut bytes = 0;
        while let Some(next) = self.live.next_live_before(found.next, end) {
            found.next = next + 1;
            let place = self.live.young().place(next);
            let read =
                place.map(|place| place.file.commit_at(place.offset).map(|bytes| (bytes, place.file.salt)));
            let (commit, salt) = match read {
                Some(Ok(read)) => read,
                other => {
                    tracing::warn!(position = next, error = ?other.and_then(Result::err), "a live row of the redo log can't be read");
                    continue;
                }
            };
            let Some(frame) = Frame::read(&commit, salt) else {
                tracing::warn!(position = next, "a live row of the redo log is not as it was written");
                continue;
            };
            bytes += commit.len();
            for (position, row) in frame.rows() {
                if position >= next && self.live.is_live(position) {
                    found.rows.push((position, row.to_vec()));
                }
                found.next = found.next.max(position + 1);
            }
            if found.rows.len() >= limits::COPIED_ROWS || bytes >= limits::COPIED_BYTES {
                return found;
            }
        }
        found.next = end;
        found
    }

    /// Puts all that is in the redo log into the database, so that nothing of it is needed.
    pub(super) fn shut(&mut self) {
        if let Err(cause) = self.try_to_shut() {
            tracing::error!(%cause, "the redo log of the journal stays, for the next start to read");
        }
    }

    fn try_to_shut(&mut self) -> Result<(), Cause> {
        while let Some(file) = self.live.young().first() {
            let (mut from, end) = (file.start, file.end);
            while from < end {
                let found = self.young_rows_from(from, end);
                from = found.next;
                if !found.rows.is_empty() {
                    self.in_transaction(|writer| writer.empty(found)).map_err(Cause::new)?;
                    self.live.keep();
                    self.settled();
                    self.unseen.committed(limits::COPIED_BYTES);
                    self.look_at_wal();
                }
            }
            if self.live.next_live_before(file.start, end).is_some() {
                return Err(Cause::new("live rows can't be read"));
            }
            self.live.young_mut().pop();
        }
        let Some(redo) = self.redo.take() else { return Ok(()) };
        self.begin().map_err(Cause::new)?;
        self.pending.put(&self.conn).map_err(Cause::new)?;
        mark::write(&self.conn, Mark::closed(redo.after(), redo.last())).map_err(Cause::new)?;
        self.end().map_err(|spoilt| spoilt.cause().clone())?;
        redo.remove_all().map_err(Cause::new)
    }
}
