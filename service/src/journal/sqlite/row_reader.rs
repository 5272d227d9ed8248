//! Rows of the log by their positions, whether they are alone in a row of the table or in a pack.

use std::io;

use bytes::Bytes;
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension};

use super::live::{Position, SegmentNumber};
use super::recover::table;
use super::young::YoungPlace;
use crate::journal::pack::{self, PackError};
use crate::journal::redo::{FileNumber, Frame};

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

/// Reads rows in the redo log. The commit that was read last is at hand for the next, which is often in it.
#[derive(Default)]
pub(super) struct CommitReader {
    read: Option<(FileNumber, u64, Vec<u8>)>,
}

/// Why there is no row.
pub(super) enum NoRow {
    /// What is there is not what was written.
    Damaged,
    /// The file can't be read.
    Unread(io::Error),
}

impl CommitReader {
    /// The row at a place; `None` if its file is another one since.
    pub(super) fn row(&mut self, place: &YoungPlace) -> Result<Option<Bytes>, NoRow> {
        let YoungPlace { file, offset, position } = place;
        let is_read =
            self.read.as_ref().is_some_and(|(number, at, _)| (*number, *at) == (file.number, *offset));
        if !is_read {
            let bytes = file.commit_at(*offset).map_err(NoRow::Unread)?;
            self.read = Some((file.number, *offset, bytes));
        }
        let row = self.read.as_ref().and_then(|(_, _, bytes)| {
            let mut rows = Frame::read(bytes, file.salt)?.rows();
            // A copy: a payload would keep all of the commit in memory.
            rows.find(|(at, _)| at == position).map(|(_, row)| Bytes::copy_from_slice(row))
        });
        match row {
            Some(row) => Ok(Some(row)),
            None if file.is_itself().map_err(NoRow::Unread)? => Err(NoRow::Damaged),
            None => Ok(None),
        }
    }
}
