//! What the database knows of the redo log beside it: a value of `meta` with a seal.

use rusqlite::{Connection, OptionalExtension, params};

use super::OpenError;
use super::seal::META;
use crate::journal::redo::{FileNumber, Sequence};

const KEY: &str = "journal/redo";

/// Which part of the redo log is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) state: State,
    /// The number of the first file that is needed, or of the next that is made.
    pub(super) first: FileNumber,
    /// The last commit before those of that file.
    pub(super) before: Sequence,
    /// Up to which commit all that is for the database is there.
    pub(super) stored: Sequence,
}

/// Whether there is a redo log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// Files that may be there are not needed.
    #[default]
    Closed,
    /// There is one.
    Open,
}

impl Mark {
    /// All is in the database, up to this commit.
    pub(super) const fn closed(next: FileNumber, last: Sequence) -> Self {
        Self { state: State::Closed, first: next, before: last, stored: last }
    }
}

/// Writes it.
pub(super) fn write(conn: &Connection, mark: Mark) -> rusqlite::Result<()> {
    let Mark { state, first, before, stored } = mark;
    let mut value = vec![u8::from(state == State::Open)];
    value.extend([first, before.0, stored.0].iter().flat_map(|number| number.to_be_bytes()));
    let sql = "INSERT OR REPLACE INTO meta (key, value, seal) VALUES (?1, ?2, seal_of('meta', ?1, ?2))";
    conn.prepare_cached(sql)?.execute(params![KEY, value])?;
    Ok(())
}

/// Reads it.
pub(super) fn read(conn: &Connection) -> Result<Mark, OpenError> {
    let sql = format!("SELECT value FROM meta WHERE key = ?1 AND {}", META.holds());
    let value: Option<Vec<u8>> = conn.query_row(&sql, [KEY], |row| row.get(0)).optional()?;
    let value = value.unwrap_or_default();
    let damaged = || OpenError::Damaged { what: format!("the value {KEY}") };
    let (state, numbers) = value.split_first().ok_or_else(damaged)?;
    let state = match state {
        0 => State::Closed,
        1 => State::Open,
        _ => return Err(damaged()),
    };
    match numbers.as_chunks::<8>() {
        ([first, before, stored], []) => Ok(Mark {
            state,
            first: FileNumber::from_be_bytes(*first),
            before: Sequence(u64::from_be_bytes(*before)),
            stored: Sequence(u64::from_be_bytes(*stored)),
        }),
        _ => Err(damaged()),
    }
}
