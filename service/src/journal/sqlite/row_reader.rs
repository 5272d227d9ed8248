//! Rows of the log by their positions, whether they are alone in a row of the table or in a pack.

use bytes::Bytes;
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension};

use super::live::{Position, SegmentNumber};
use super::recover::table;
use crate::journal::pack::{self, PackError};

/// Reads them. What was read last is at hand for the next, which is often beside it.
pub(super) struct RowReader<'a> {
    conn: &'a Connection,
    read: Option<(SegmentNumber, Position, Vec<u8>)>,
}

impl<'a> RowReader<'a> {
    pub(super) fn of(conn: &'a Connection) -> Self {
        Self { conn, read: None }
    }

    /// The row at a position of a segment; `None` if nothing is written there nor behind it. No row goes away but with all of its segment,
    /// so what is behind it without it is damage, and an error.
    pub(super) fn at(
        &mut self,
        segment: SegmentNumber,
        position: Position,
    ) -> rusqlite::Result<Option<Bytes>> {
        if let Some((of, last, bytes)) = &self.read
            && *of == segment
            && position <= *last
            && let Ok(row) = row_in(*last, bytes, position)
        {
            return Ok(Some(row));
        }
        self.look(segment, "position >= ?1", position)?;
        self.row_read(position)
    }

    /// The row at a position of a segment in what is written under another one, or the same; `None` if nothing is.
    pub(super) fn under(
        &mut self,
        segment: SegmentNumber,
        key: Position,
        position: Position,
    ) -> rusqlite::Result<Option<Bytes>> {
        if self.read.as_ref().is_none_or(|(of, last, _)| (*of, *last) != (segment, key)) {
            self.look(segment, "position = ?1", key)?;
        }
        self.row_read(position)
    }

    /// The row at a position in what was read last, if anything was.
    fn row_read(&self, position: Position) -> rusqlite::Result<Option<Bytes>> {
        self.read.as_ref().map(|(_, last, bytes)| row_in(*last, bytes, position)).transpose()
    }

    /// Reads the first row of the table that is asked for, if there is one.
    fn look(&mut self, segment: SegmentNumber, which: &str, position: Position) -> rusqlite::Result<()> {
        let table = table(segment);
        let sql = format!("SELECT position, row FROM {table} WHERE {which} ORDER BY position LIMIT 1");
        let mut statement = self.conn.prepare_cached(&sql)?;
        let read = statement
            .query_row([position], |row| Ok((row.get::<_, Position>(0)?, row.get::<_, Vec<u8>>(1)?)))
            .optional()?;
        self.read = read.map(|(last, bytes)| (segment, last, bytes));
        Ok(())
    }
}

/// The row at a position, in what is written under that one or a later.
pub(super) fn row_in(last: Position, bytes: &[u8], position: Position) -> rusqlite::Result<Bytes> {
    let damage = |_| rusqlite::Error::FromSqlConversionFailure(1, Type::Blob, Box::new(PackError));
    let mut rows = pack::rows(last, bytes).map_err(damage)?;
    let row = rows.find(|(at, _)| *at == position).ok_or(PackError).map_err(damage)?;
    // A copy: a payload would keep all of the pack in memory.
    Ok(Bytes::copy_from_slice(row.1))
}
