//! Adding rows to the tables of the log.

use rusqlite::{CachedStatement, Connection, params};

use super::live::{Live, Position, Segment, SegmentNumber};
use super::recover::table;
use super::{schema, segments};
use crate::journal::pack::Pack;

/// The tables as whoever adds to them knows them.
pub(super) trait Tables {
    fn segments(&self) -> &[Segment];
    fn next_position(&self) -> Position;
    /// Rows are added to this new one from now on.
    fn started_segment(&mut self, number: SegmentNumber);
}

impl Tables for Live {
    fn segments(&self) -> &[Segment] {
        self.segments()
    }

    fn next_position(&self) -> Position {
        self.next_position()
    }

    fn started_segment(&mut self, number: SegmentNumber) {
        self.started_segment(number);
    }
}

/// Rows on their way into the tables, in a transaction that has begun.
#[derive(Default)]
pub(super) struct Adding<'a> {
    /// The last rows of the current segment, which are not written yet.
    pack: Pack,
    pub(super) rows_written: u64,
    /// What adds a row to the segment that was written last.
    insert: Option<(SegmentNumber, CachedStatement<'a>)>,
}

impl<'a> Adding<'a> {
    /// Adds a row to the current segment. The tables are told by the caller, before the next one.
    pub(super) fn add(
        &mut self,
        conn: &'a Connection,
        tables: &mut impl Tables,
        segment_rows: u32,
        row: &[u8],
    ) -> rusqlite::Result<()> {
        match tables.segments().last() {
            Some(current) if current.rows < segment_rows.into() => {
                if !self.pack.has_room_for(row) {
                    self.flush(conn, tables)?;
                }
            }
            full => {
                let number = full.map_or(1, |full| full.number + 1);
                self.flush(conn, tables)?;
                conn.execute_batch(&schema::segment(number))?;
                tables.started_segment(number);
                segments::write(conn, tables.segments())?;
            }
        }
        self.pack.push(row);
        self.rows_written += 1;
        Ok(())
    }

    /// Writes the rows that are not written yet.
    pub(super) fn flush(&mut self, conn: &'a Connection, tables: &impl Tables) -> rusqlite::Result<()> {
        let number = match tables.segments().last() {
            Some(current) if !self.pack.is_empty() => current.number,
            _ => return Ok(()),
        };
        // Under the position of the last: so the page that has a position is the one where SQLite looks for it.
        let row = params![tables.next_position() - 1, self.pack.encode()];
        match &mut self.insert {
            Some((of, insert)) if *of == number => insert.execute(row)?,
            other => {
                let sql = format!("INSERT INTO {} (position, row) VALUES (?1, ?2)", table(number));
                other.insert((number, conn.prepare_cached(&sql)?)).1.execute(row)?
            }
        };
        self.pack.clear();
        Ok(())
    }
}
