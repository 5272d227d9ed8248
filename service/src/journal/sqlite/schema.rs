//! The database: how it is opened, and which tables a version of it has.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};

use super::commit::clamp;
use super::live::{Segment, SegmentNumber};
use super::mark::{self, Mark};
use super::recover::table;
use super::tables::{ACCOUNTS, INDEXES, RATINGS, ROTATIONS, SEALS, TABLES, TOKENS, WEBHOOKS};
use super::{OpenError, Options, bots, limits, records, seal, segments};
use crate::journal::Epoch;

/// The first release with the fix of the WAL-reset bug that the journal relies on: 3.51.3.
const LEAST_SQLITE: i32 = 3_051_003;
/// "ZTMA", in the header of the database.
const APPLICATION_ID: i32 = 0x5a54_4d41;
/// "ZTMB", in the header of a backup.
const BACKUP_ID: i32 = 0x5a54_4d42;
/// The layout of the tables: 1 had no tokens, 2 no seals, 3 no list of the segments, 4 no webhooks, 5 no index for every
/// list, 6 no accounts, 7 no ratings of ladders, 8 no tokens that play on, 9 no packs in the log, 10 no short rows, 11 no redo log. A later one is a later
/// release's.
pub(super) const SCHEMA: u64 = 12;
/// The first layout whose rows have seals.
pub(super) const SEALED: u64 = 3;
/// The first layout with a list of the segments.
pub(super) const LISTED: u64 = 4;
/// The first layout with webhooks.
pub(super) const HOOKED: u64 = 5;
/// The first layout with an index for every list of finished matches.
pub(super) const INDEXED: u64 = 6;
/// The first layout with accounts.
pub(super) const REGISTERED: u64 = 7;
/// The first layout with ratings of ladders.
pub(super) const RATED: u64 = 8;
/// The first layout with rotated tokens that play on.
pub(super) const ROTATED: u64 = 9;
/// The first layout with a redo log beside it.
pub(super) const REDONE: u64 = 12;
const PAGE_BYTES: i64 = 4096;
const BUSY_MS: u64 = 5_000;
/// More than a journal is opened in its life.
const EPOCHS_LEFT_OUT: u64 = 1 << 32;

const SCHEMA_KEY: &str = "journal/schema";
const EPOCH_KEY: &str = "journal/epoch";

/// A database that was looked at.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) conn: Connection,
    /// The version of its tables; 0 when it has none yet.
    pub(super) schema: u64,
}

/// Opens the connection that is to write, and looks whose the database is. Nothing is changed, not even when the
/// connection is closed.
pub(super) fn look(database: &Path) -> Result<Found, OpenError> {
    look_with(database, |_| Ok(()))
}

/// The same, on a database that no other connection may open meanwhile. It needs no index of the WAL in a file.
pub(super) fn look_alone(database: &Path) -> Result<Found, OpenError> {
    look_with(database, |conn| conn.pragma_update(None, "locking_mode", "exclusive"))
}

fn look_with(
    database: &Path,
    then: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> Result<Found, OpenError> {
    let version = rusqlite::version_number();
    if version < LEAST_SQLITE {
        return Err(OpenError::OldSqlite { version: rusqlite::version() });
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(database, flags)?;
    // Else the last connection that is closed copies the WAL into the database.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    prepare(&conn)?;
    then(&conn)?;
    let application_id: i32 = conn.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let objects: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let schema = match (application_id, objects) {
        (APPLICATION_ID, _) => check_schema(&conn, database)?,
        (0, 0) => 0,
        (BACKUP_ID, _) => return Err(OpenError::Backup { file: database.to_owned() }),
        _ => {
            return Err(OpenError::NotAJournal { database: database.to_owned() });
        }
    };
    Ok(Found { conn, schema })
}

/// Makes a connection one that writes, with the tables of this release, and starts a new epoch. The segments are those that
/// were found.
pub(super) fn open_writer(
    found: Found,
    options: &Options,
    segments: &[Segment],
) -> Result<(Connection, Epoch), OpenError> {
    let Found { mut conn, schema } = found;
    // A page that is written before its transaction ends would leave frames behind when that fails.
    conn.pragma_update(None, "cache_spill", false)?;
    // Below 0: KiB, where else it would be pages.
    conn.pragma_update(None, "cache_size", -limits::CACHE_KIB)?;
    conn.pragma_update(None, "page_size", PAGE_BYTES)?;
    let mode: String = conn.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if mode != "wal" {
        return Err(OpenError::NoWal { mode });
    }
    // A database that was given its WAL right now, as a restored one is, is still being read by SQLite from the check of its
    // pages until something else was read. Till then it would refuse to copy the WAL.
    conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    conn.pragma_update(None, "synchronous", "full")?;
    // On macOS fsync alone doesn't reach the disk. Elsewhere this changes nothing.
    conn.pragma_update(None, "fullfsync", true)?;
    // The writer checkpoints by itself, after it has answered.
    conn.pragma_update(None, "wal_autocheckpoint", 0)?;
    // Else its file stays as large as it ever was.
    conn.pragma_update(None, "journal_size_limit", limits::WAL_FILE_BYTES)?;
    empty_wal(&conn)?;
    if let Some(bytes) = options.max_file_bytes {
        conn.pragma_update(None, "max_page_count", clamp(bytes) / PAGE_BYTES)?;
    }
    if schema < SCHEMA {
        upgrade(&mut conn, schema, segments)?;
    }
    let epoch = number(&conn, EPOCH_KEY)?.unwrap_or(0) + 1;
    put_number(&conn, EPOCH_KEY, epoch)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    Ok((conn, Epoch::new(epoch)))
}

/// After a salvage: the epoch is greater than any that was ever given, even if the last one could not be read.
pub(super) fn raise_epoch(conn: &Connection) -> Result<(), OpenError> {
    let epoch = number(conn, EPOCH_KEY)?.unwrap_or(0);
    put_number(conn, SCHEMA_KEY, SCHEMA)?;
    put_number(conn, EPOCH_KEY, epoch + EPOCHS_LEFT_OUT)?;
    Ok(())
}

/// Copies what is committed into the database and cuts the WAL to nothing. What is read of the WAL may be in the memory of
/// the system alone: a process before this one may have ended because its sync failed, and no sync writes such pages again.
/// What is copied is written anew.
pub(super) fn empty_wal(conn: &Connection) -> rusqlite::Result<()> {
    let (busy, pages): (i64, i64) =
        conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (code, what) = match (busy, pages) {
        (0, 0..) => return Ok(()),
        // Of a new database, SQLite says that it has a WAL also when a sync failed and it has none.
        (0, _) => (rusqlite::ffi::SQLITE_IOERR, "the database could not be given a WAL"),
        _ => (rusqlite::ffi::SQLITE_BUSY, "the WAL is in use and can't be copied into the database"),
    };
    Err(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), Some(what.to_owned())))
}

/// The same for the writer, which waits for nobody: while someone reads the WAL, such as a backup, it fails at once.
pub(super) fn empty_wal_at_once(conn: &Connection) -> rusqlite::Result<()> {
    conn.busy_timeout(Duration::ZERO)?;
    let emptied = empty_wal(conn);
    conn.busy_timeout(Duration::from_millis(BUSY_MS))?;
    emptied
}

/// Makes the tables that a journal of an earlier version lacks; 0 stands for an empty database.
fn upgrade(conn: &mut Connection, found: u64, segments: &[Segment]) -> Result<(), OpenError> {
    let tx = conn.transaction()?;
    make_tables(&tx, found, SCHEMA)?;
    if found < SEALED {
        for sealed in seal::FIRST {
            if sealed != seal::RECORDS {
                tx.execute(&sealed.seal_where("true"), [])?;
            }
        }
        records::seal_all(&tx)?;
    }
    if found < INDEXED {
        bots::insert_all(&tx)?;
    }
    segments::write(&tx, segments)?;
    mark::write(&tx, Mark::default())?;
    put_number(&tx, SCHEMA_KEY, SCHEMA)?;
    tx.commit()?;
    Ok(())
}

/// Takes the tables from one version to another.
pub(super) fn make_tables(conn: &Connection, from: u64, to: u64) -> rusqlite::Result<()> {
    let added = [
        (1, TABLES),
        (2, TOKENS),
        (3, SEALS),
        (HOOKED, WEBHOOKS),
        (INDEXED, INDEXES),
        (REGISTERED, ACCOUNTS),
        (RATED, RATINGS),
        (ROTATED, ROTATIONS),
    ];
    for (version, tables) in added {
        if (from + 1..=to).contains(&version) {
            conn.execute_batch(tables)?;
        }
    }
    if from == 0 {
        conn.pragma_update(None, "application_id", APPLICATION_ID)?;
    }
    Ok(())
}

/// What makes the table of a segment of the log.
pub(super) fn segment(number: SegmentNumber) -> String {
    format!("CREATE TABLE {} (position INTEGER PRIMARY KEY, row BLOB NOT NULL) STRICT", table(number))
}

/// Every table and index that a journal of a version has, but the segments of the log.
pub(super) fn expected_objects(schema: u64) -> rusqlite::Result<Vec<Object>> {
    let conn = Connection::open_in_memory()?;
    make_tables(&conn, 0, schema)?;
    objects(&conn)
}

/// A table or an index: its name and what made it, which is nothing for one that SQLite makes by itself.
pub(super) type Object = (String, String, Option<String>);

/// Every table and index, by name.
pub(super) fn objects(conn: &Connection) -> rusqlite::Result<Vec<Object>> {
    let sql = "SELECT name, tbl_name, sql FROM sqlite_schema ORDER BY name";
    conn.prepare(sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect()
}

fn prepare(conn: &Connection) -> rusqlite::Result<()> {
    conn.busy_timeout(Duration::from_millis(BUSY_MS))?;
    conn.pragma_update(None, "trusted_schema", false)?;
    conn.pragma_update(None, "cell_size_check", true)?;
    conn.set_prepared_statement_cache_capacity(64);
    bots::define(conn)?;
    seal::define(conn)
}

/// Opens a connection that only reads.
pub(super) fn open_reader(database: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(database, flags)?;
    prepare(&conn)?;
    Ok(conn)
}

/// What a database is for, as its header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A server runs on it.
    Journal,
    /// It was copied to be put back.
    Backup,
}

impl Purpose {
    const fn application_id(self) -> i32 {
        match self {
            Self::Journal => APPLICATION_ID,
            Self::Backup => BACKUP_ID,
        }
    }
}

/// Whether a file is a database for this. Nothing is changed.
pub(super) fn is_for(file: &Path, purpose: Purpose) -> bool {
    let found = open_reader(file).and_then(|conn| {
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        conn.pragma_query_value(None, "application_id", |row| row.get::<_, i32>(0))
    });
    found.is_ok_and(|found| found == purpose.application_id())
}

/// Says in the header of a database that nobody has open what it is for from now on. If that fails, the file may be damaged.
pub(super) fn dedicate(database: &Path, purpose: Purpose) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(database, flags)?;
    let _off: String = conn.pragma_update_and_check(None, "journal_mode", "off", |row| row.get(0))?;
    conn.pragma_update(None, "application_id", purpose.application_id())
}

/// The version of the tables; nothing if there are none.
pub(super) fn version(conn: &Connection) -> Result<Option<u64>, OpenError> {
    number(conn, SCHEMA_KEY)
}

/// The version of a journal's tables, if it can be opened.
fn check_schema(conn: &Connection, database: &Path) -> Result<u64, OpenError> {
    match number(conn, SCHEMA_KEY)? {
        Some(found @ 1..=SCHEMA) => Ok(found),
        Some(found) => Err(OpenError::OtherSchema { database: database.to_owned(), found, known: SCHEMA }),
        None => Err(OpenError::NotAJournal { database: database.to_owned() }),
    }
}

fn number(conn: &Connection, key: &str) -> Result<Option<u64>, OpenError> {
    let value: Option<Vec<u8>> =
        conn.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0)).optional()?;
    let Some(value) = value else { return Ok(None) };
    match <[u8; 8]>::try_from(value.as_slice()) {
        Ok(bytes) => Ok(Some(u64::from_be_bytes(bytes))),
        Err(_) => Err(OpenError::Damaged { what: format!("the value {key}") }),
    }
}

fn put_number(conn: &Connection, key: &str, number: u64) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO meta (key, value, seal) VALUES (?1, ?2, seal_of('meta', ?1, ?2))";
    conn.execute(sql, params![key, number.to_be_bytes()])?;
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use rusqlite::ErrorCode;

    use super::*;

    #[test]
    fn the_writer_does_not_wait_for_a_reader_to_empty_the_wal() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Connection::open(folder.path().join("db")).unwrap();
        let (writer, reader) = (open(), open());
        writer.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(())).unwrap();
        writer.execute_batch("CREATE TABLE a (b)").unwrap();
        reader.execute_batch("BEGIN; SELECT * FROM a").unwrap();
        writer.execute_batch("INSERT INTO a VALUES (1)").unwrap();
        // Who waits waits for ever, as the reader stays.
        writer.busy_timeout(Duration::from_secs(1_000_000)).unwrap();
        let error = empty_wal_at_once(&writer).unwrap_err();
        assert_eq!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy));
        let waits: u32 = writer.pragma_query_value(None, "busy_timeout", |row| row.get(0)).unwrap();
        assert_eq!(u64::from(waits), BUSY_MS);
        drop(reader);
        empty_wal_at_once(&writer).unwrap();
    }
}
