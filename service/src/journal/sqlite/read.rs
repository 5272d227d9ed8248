//! What is read from the database: running matches, and the small tables.

use rusqlite::types::Type;
use rusqlite::{Connection, ErrorCode, OptionalExtension, params};

use super::live::SegmentNumber;
use super::recover::table;
use super::request::{Location, Place};
use super::row_reader::{CommitReader, NoRow, RowReader};
use super::seal::{META, REQUESTS};
use crate::journal::row::{ChainHash, Row};
use crate::journal::{
    Cause, History, JournalValueError, MatchId, MetaKey, MetaValue, Payload, ReadError, Request, RequestKey,
    RequestState, Response, ResultNumber, StoredRecord, UnixMillis, Version,
};

/// The records at these places; `None` when some are no longer there, since they were copied to another segment.
pub(super) fn history(
    conn: &Connection,
    match_id: MatchId,
    location: &Location,
) -> Result<Option<History>, ReadError> {
    // One transaction, so that no segment goes away between its check and its rows.
    let tx = conn.unchecked_transaction().map_err(read_error)?;
    let mut records = Vec::with_capacity(location.places.len());
    let mut chain = ChainHash::START;
    let mut version = Version::ZERO;
    let mut checked: Option<SegmentNumber> = None;
    let mut rows = RowReader::of(&tx);
    let mut commits = CommitReader::default();
    for place in &location.places {
        let damaged =
            |what: &str| ReadError::Damaged(Cause::new(format!("match {match_id}: {what} at {place}")));
        let read = match place {
            Place::Table(segment, position) => {
                if checked != Some(*segment) {
                    if !has_table(&tx, *segment).map_err(read_error)? {
                        return Ok(None);
                    }
                    checked = Some(*segment);
                }
                rows.at(*segment, *position).map_err(|error| match &error {
                    rusqlite::Error::FromSqlConversionFailure(_, _, what) => damaged(&what.to_string()),
                    _ => read_error(error),
                })?
            }
            Place::Redo(place) => commits.row(place).map_err(|error| match error {
                NoRow::Damaged => damaged("a commit that is not as it was written"),
                NoRow::Unread(error) => ReadError::Unavailable(Cause::new(error)),
            })?,
        };
        let Some(bytes) = read else {
            return Ok(None);
        };
        let row = Row::decode(&bytes).map_err(|error| damaged(&error.to_string()))?;
        let follows = row.header.match_id == match_id && version.next() == Some(row.header.version);
        if !follows || chain.then(row.content()) != row.chain {
            return Err(damaged("a record that doesn't follow"));
        }
        (chain, version) = (row.chain, row.header.version);
        let payload =
            Payload::new(bytes.slice_ref(row.payload)).map_err(|error| damaged(&error.to_string()))?;
        records.push(StoredRecord { version, epoch: row.header.epoch, payload });
    }
    Ok(Some(History { records }))
}

fn has_table(conn: &Connection, number: SegmentNumber) -> rusqlite::Result<bool> {
    let mut statement =
        conn.prepare_cached("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1")?;
    Ok(statement.query_row([table(number)], |_| Ok(())).optional()?.is_some())
}

/// The number of the result of a finished match.
pub(super) fn result_of(conn: &Connection, match_id: MatchId) -> rusqlite::Result<Option<ResultNumber>> {
    let mut statement = conn.prepare_cached("SELECT result_number FROM records WHERE match_id = ?1")?;
    let number = statement.query_row([match_id.as_bytes()], |row| row.get::<_, i64>(0)).optional()?;
    Ok(number.map(|number| ResultNumber::new(number.unsigned_abs())))
}

/// What is known of a request at `now`.
pub(super) fn request(
    conn: &Connection,
    key: &RequestKey,
    now: UnixMillis,
) -> rusqlite::Result<RequestState> {
    let sql = format!(
        "SELECT body_hash, response, created_ms, {} FROM requests WHERE caller = ?1 AND request_id = ?2",
        REQUESTS.holds()
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let stored = statement
        .query_row(params![key.caller.as_str(), key.request_id.as_str()], |row| {
            sealed(row, 3)?;
            Ok((row.get::<_, [u8; 32]>(0)?, row.get::<_, Vec<u8>>(1)?, row.get::<_, i64>(2)?))
        })
        .optional()?;
    let Some((body_hash, response, created)) = stored else {
        return Ok(RequestState::New);
    };
    if created.unsigned_abs().saturating_add(Request::KEPT_MS) <= now.get() {
        return Ok(RequestState::New);
    }
    if body_hash != key.body_hash.0 {
        return Ok(RequestState::Reused);
    }
    Ok(RequestState::Answered(stored_value(1, Response::new(response))?))
}

/// What is damaged of what a request that names itself reads and changes, if anything is. Any other error is none of this.
pub(super) fn damage_of_request(conn: &Connection, key: &RequestKey, now: UnixMillis) -> Option<Cause> {
    // The first and the last page of the index: the oldest go, and the new one comes last.
    let ends = "SELECT (SELECT min(created_ms) FROM requests), (SELECT max(created_ms) FROM requests)";
    let ends = || conn.prepare_cached(ends)?.query_row([], |_| Ok(()));
    let error = request(conn, key, now).and_then(|_| ends()).err()?;
    is_damage(&error).then(|| Cause::new(error))
}

/// The value under a key of the small store.
pub(super) fn meta(conn: &Connection, key: &MetaKey) -> rusqlite::Result<Option<MetaValue>> {
    let sql = format!("SELECT value, {} FROM meta WHERE key = ?1", META.holds());
    let mut statement = conn.prepare_cached(&sql)?;
    let value = |row: &rusqlite::Row<'_>| sealed(row, 1).and_then(|()| row.get::<_, Vec<u8>>(0));
    let value = statement.query_row([key.as_str()], value).optional()?;
    value.map(|value| stored_value(0, MetaValue::new(value))).transpose()
}

/// Whether a row has its seal, which a column of the query says.
pub(super) fn sealed(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<()> {
    if row.get(column)? {
        return Ok(());
    }
    let changed = "a row is not as it was written".into();
    Err(rusqlite::Error::FromSqlConversionFailure(column, Type::Blob, changed))
}

/// A stored value that had to be valid when it was written.
pub(super) fn stored_value<T>(column: usize, value: Result<T, JournalValueError>) -> rusqlite::Result<T> {
    value.map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, Type::Blob, Box::new(error)))
}

/// Tells damage from trouble that may pass.
pub(super) fn read_error(error: rusqlite::Error) -> ReadError {
    if is_damage(&error) || error.sqlite_error_code() == Some(ErrorCode::NotADatabase) {
        ReadError::Damaged(Cause::new(error))
    } else {
        ReadError::Unavailable(Cause::new(error))
    }
}

/// Whether what is stored is not what was written.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{
        FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, SqliteFailure, Utf8Error,
    };
    match error {
        SqliteFailure(failure, _) => failure.code == ErrorCode::DatabaseCorrupt,
        FromSqlConversionFailure(..)
        | IntegralValueOutOfRange(..)
        | InvalidColumnType(..)
        | Utf8Error(..) => true,
        _ => false,
    }
}
