//! The journal through its trait, and its files through SQLite.

mod accounts;
mod bits;
mod crashed;
mod damage;
mod finishing;
mod ladders;
mod log;
mod model;
mod opening;
mod packs;
mod redo;
mod repair;
mod segments;
mod tokens;
mod webhooks;
mod writing;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use prost::Message as _;
use rusqlite::Connection;
use tempfile::TempDir;
use zetema_proto::journal::v1::MatchSummary;

use super::row::{ChainHash, Format, Row, RowHeader};
use super::{
    Append, AppendOutcome, Checked, CreateOutcome, Created, Finish, FinishOutcome, History, Journal, Listing,
    LogStore, MatchId, NewMatch, NewMatches, NewRecords, OpenError, Options, Outcome, Payload, RecordBytes,
    Recovery, Repaired, Request, SqliteJournal, StoredMatch, Summary, UnixMillis, Version, Visibility,
};

/// A journal in a folder of its own.
struct Fixture {
    folder: TempDir,
    options: Options,
    journal: SqliteJournal,
    recovery: Recovery,
}

impl Fixture {
    async fn new() -> Self {
        Self::with(Options::default()).await
    }

    /// With all that is committed in the tables at once.
    async fn in_tables() -> Self {
        Self::with(in_tables()).await
    }

    async fn with(options: Options) -> Self {
        Self::opened(tempfile::tempdir().unwrap(), options).await
    }

    async fn reopen(self) -> Self {
        self.reopen_after(|_| {}).await
    }

    /// Closes the journal, changes its database, and opens it again.
    async fn reopen_after(self, change: impl FnOnce(&Connection)) -> Self {
        self.journal.close().await;
        change(&self.database());
        let Self { folder, options, .. } = self;
        Self::opened(folder, options).await
    }

    /// A copy of the files, as a kill would leave them. It is one of a moment: where files came or went meanwhile, as those of the redo
    /// log do, it is made again.
    fn killed(&self) -> TempDir {
        loop {
            let folder = tempfile::tempdir().unwrap();
            let names = self.file_names();
            let copied = names.iter().try_for_each(|name| {
                std::fs::copy(self.folder.path().join(name), folder.path().join(name)).map(drop)
            });
            match copied {
                Ok(()) if self.file_names() == names => return folder,
                Err(error) if error.kind() != ErrorKind::NotFound => panic!("{error}"),
                _ => {}
            }
        }
    }

    /// The journal's files, without the one that SQLite makes anew.
    fn file_names(&self) -> BTreeSet<OsString> {
        let names = std::fs::read_dir(self.folder.path()).unwrap().map(|file| file.unwrap().file_name());
        names.filter(|name| !name.to_string_lossy().ends_with("-shm")).collect()
    }

    /// The journal as it goes on after a kill.
    async fn kill(self) -> Self {
        let folder = self.killed();
        let options = self.options.clone();
        self.journal.close().await;
        Self::opened(folder, options).await
    }

    async fn opened(folder: TempDir, options: Options) -> Self {
        let (journal, recovery) = SqliteJournal::open(folder.path(), options.clone()).await.unwrap();
        Self { folder, options, journal, recovery }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("journal.sqlite3")
    }

    /// A connection beside the journal's own.
    fn database(&self) -> Connection {
        let conn = Connection::open(self.path()).unwrap();
        conn.busy_timeout(Duration::from_secs(10)).unwrap();
        conn
    }

    /// Creates matches with one record each.
    async fn create(&self, numbers: impl IntoIterator<Item = u32>) -> CreateOutcome {
        self.create_for(numbers, None, 0).await
    }

    async fn create_for(
        &self,
        numbers: impl IntoIterator<Item = u32>,
        request: Option<Request>,
        now: u64,
    ) -> CreateOutcome {
        let matches = numbers.into_iter().map(new_match).collect();
        let new = NewMatches::new(matches, self.journal.epoch(), UnixMillis::new(now), request).unwrap();
        self.journal.create(new).await
    }

    async fn created(&self, numbers: impl IntoIterator<Item = u32>) {
        assert_eq!(self.create(numbers).await, Outcome::Done(Created::New));
    }

    /// The same, each in a commit of its own, so that each row of the log is one of the table.
    async fn created_alone(&self, numbers: impl IntoIterator<Item = u32>) {
        for number in numbers {
            self.created([number]).await;
        }
    }

    /// Appends one record to a match at this version.
    async fn append(&self, number: u32, expected: u32, text: &str) -> AppendOutcome {
        self.journal.append(self.to_append(number, expected, text)).await
    }

    async fn appended(&self, number: u32, expected: u32, text: &str) {
        let outcome = self.append(number, expected, text).await;
        assert_eq!(outcome, Outcome::Done(Version::new(expected + 1)));
    }

    fn to_append(&self, number: u32, expected: u32, text: &str) -> Append {
        Append {
            match_id: id(number),
            expected: Version::new(expected),
            epoch: self.journal.epoch(),
            records: records(text),
        }
    }

    async fn finish(&self, number: u32, expected: u32) -> FinishOutcome {
        self.journal.finish(self.to_finish(number, expected)).await
    }

    fn to_finish(&self, number: u32, expected: u32) -> Finish {
        Finish {
            last: self.to_append(number, expected, "end"),
            listing: Listing { owner: None, visibility: Visibility::Public, client_reference: None },
            finished_at: UnixMillis::new(1_000),
            summary: Summary::new(format!("summary {number}")).unwrap(),
            record: RecordBytes::new(format!("record {number}")).unwrap(),
        }
    }

    /// The records of a running match, as text.
    async fn texts(&self, number: u32) -> Vec<String> {
        match self.journal.read(id(number)).await.unwrap() {
            Some(StoredMatch::Running(history)) => texts(&history),
            other => panic!("match {number} is not running: {other:?}"),
        }
    }
}

/// Repairs a journal to the end, without a new life.
fn repair(folder: &Path) -> Result<Option<Repaired>, OpenError> {
    let repaired = SqliteJournal::repair(folder)?;
    if repaired.is_some() {
        SqliteJournal::end_repair(folder)?;
    }
    Ok(repaired)
}

/// A summary of a match in which these bots have a seat; empty is a seat that is played by token.
fn summary_of(bots: &[&str]) -> Summary {
    let seat_bots = bots.iter().map(ToString::to_string).collect();
    Summary::new(MatchSummary { seat_bots, ..MatchSummary::default() }.encode_to_vec()).unwrap()
}

fn in_tables() -> Options {
    Options { log: LogStore::Tables, ..Options::default() }
}

fn texts(history: &History) -> Vec<String> {
    let text = |payload: &Payload| String::from_utf8(payload.as_bytes().to_vec()).unwrap();
    for (record, version) in history.records.iter().zip(1..) {
        assert_eq!(record.version, Version::new(version));
    }
    history.records.iter().map(|record| text(&record.payload)).collect()
}

fn id(number: u32) -> MatchId {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    MatchId::from_bytes(bytes)
}

/// Copies a row of the log from one segment and position to another.
fn copy_row(conn: &Connection, from: (&str, i64), to: (&str, i64)) {
    let sql = format!("SELECT row FROM {} WHERE position = ?1", from.0);
    let mut row: Vec<u8> = conn.query_row(&sql, [from.1], |row| row.get(0)).unwrap();
    super::row::place(&mut row, to.1);
    let sql = format!("INSERT OR REPLACE INTO {} (position, row) VALUES (?1, ?2)", to.0);
    conn.execute(&sql, rusqlite::params![to.1, row]).unwrap();
}

/// Makes the rows of the first segment those of the first release, which did not say where they are.
fn as_the_first_release_wrote_them(conn: &Connection) {
    written_as(conn, |_| Format::First);
}

/// Writes the rows of the first segment anew, each of which is one of the table, in the format for its position.
fn written_as(conn: &Connection, format: impl Fn(i64) -> Format) {
    let mut rows = conn.prepare("SELECT position, row FROM log_1 ORDER BY position").unwrap();
    let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let rows: Vec<(i64, Vec<u8>)> = rows.map(Result::unwrap).collect();
    let mut chains = std::collections::HashMap::new();
    for (position, bytes) in rows {
        let row = Row::decode(&bytes).unwrap();
        let header = RowHeader { format: format(position), ..row.header };
        let chain = chains.entry(header.match_id).or_insert(ChainHash::START);
        let mut written = Vec::new();
        *chain = header.encode(*chain, row.payload, position, &mut written);
        put_row(conn, position, &written);
    }
}

fn row_at(conn: &Connection, position: i64) -> Vec<u8> {
    conn.query_row("SELECT row FROM log_1 WHERE position = ?1", [position], |row| row.get(0)).unwrap()
}

fn put_row(conn: &Connection, position: i64, row: &[u8]) {
    let sql = "UPDATE log_1 SET row = ?2 WHERE position = ?1";
    assert_eq!(conn.execute(sql, rusqlite::params![position, row]).unwrap(), 1);
}

/// Writes the list of the segments: number, first position, and the position after the last, which is 0 for the current.
fn list_segments(conn: &Connection, segments: &[(u32, i64, i64)]) {
    let entry = |(number, first, end): &(u32, i64, i64)| {
        [&number.to_be_bytes()[..], &first.to_be_bytes(), &end.to_be_bytes(), &[0]].concat()
    };
    let list: Vec<u8> = segments.iter().flat_map(entry).collect();
    put_meta(conn, "journal/segments", &list);
}

/// Puts a value, with its seal, in the place of the one under a key.
fn put_meta(conn: &Connection, key: &str, value: &[u8]) {
    use sha2::{Digest, Sha256};
    let mut seal = Sha256::new();
    for (kind, bytes) in [(3, b"meta".as_slice()), (3, key.as_bytes()), (4, value)] {
        seal.update([kind]);
        seal.update((bytes.len() as u64).to_be_bytes());
        seal.update(bytes);
    }
    let sql = "UPDATE meta SET value = ?2, seal = ?3 WHERE key = ?1";
    assert_eq!(conn.execute(sql, rusqlite::params![key, value, seal.finalize().as_slice()]).unwrap(), 1);
}

fn records(text: &str) -> NewRecords {
    Payload::new(text.to_owned()).unwrap().into()
}

fn new_match(number: u32) -> NewMatch {
    NewMatch { match_id: id(number), records: records("created") }
}
