//! What a redo log holds that was not closed, put into the database: at a start for good, and for who only reads in a transaction that
//! never ends.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use rusqlite::Connection;

use super::adding::{Adding, Tables};
use super::live::{Position, Segment, SegmentNumber};
use super::mark::{self, Mark, State};
use super::recover::{segment_numbers, table};
use super::schema::Found;
use super::writer::has_not_happened;
use super::young::YOUNG;
use super::{LogStore, OpenError, Options, limits, pending, read, schema, segments};
use crate::journal::MatchId;
use crate::journal::redo::{
    self, Entry, FileNumber, Frame, Kind, RedoDamage, RedoLog, RedoSize, Sequence, Walked, walk,
};
use crate::journal::row::{self, Row};

/// A redo log as it was found.
#[derive(Debug, Default)]
pub(super) struct Redo {
    walked: Walked,
    /// What the database says of it.
    mark: Mark,
    /// The number of the newest file, needed or not.
    newest: FileNumber,
    /// The last commit.
    last: Sequence,
    /// The last that is wanted, if not all are.
    upto: Option<Sequence>,
    /// It is for a repair, which goes on where an end has the number of another match's.
    in_ruins: bool,
}

/// Looks at what there is beside a database. Nothing is changed.
///
/// # Errors
/// [`OpenError::Redo`] if it is damaged.
pub(super) fn look(found: &Found, folder: &Path) -> Result<Redo, OpenError> {
    let redo = look_anyhow(found, folder)?;
    match redo.damage() {
        None => Ok(redo),
        Some(damage) => Err(OpenError::Redo { damage: damage.clone() }),
    }
}

/// The same, as far as it can be read.
pub(super) fn look_anyhow(found: &Found, folder: &Path) -> Result<Redo, OpenError> {
    let mark = if found.schema < schema::REDONE { Mark::default() } else { mark::read(&found.conn)? };
    Redo::read(mark, folder)
}

/// The same while a server writes: what was read of a commit that was being written looks like damage, and is another one the next time.
pub(super) fn look_while_written(found: &Found, folder: &Path) -> Result<Redo, OpenError> {
    let mut before = None;
    for _ in 0..limits::READ_ATTEMPTS {
        let redo = look_anyhow(found, folder)?;
        match redo.damage() {
            None => {
                redo.ends_are_stored(&found.conn)?;
                return Ok(redo);
            }
            damage if damage == before.as_ref() => break,
            damage => before = damage.cloned(),
        }
    }
    look(found, folder)
}

/// A commit up to which all was there when it was looked at, beside a database that a server writes: the last one that counts, for another
/// may come in the place of one that does not.
pub(super) fn committed(conn: &Connection, folder: &Path) -> Result<Sequence, OpenError> {
    let Some(schema::REDONE..) = schema::version(conn)? else { return Ok(Sequence::default()) };
    let Redo { walked, mark, last, .. } = Redo::read(mark::read(conn)?, folder)?;
    Ok(if last <= mark.stored || walked.last_counts(folder) { last } else { last.before() })
}

/// The same for a repair: of a database that may not say where the redo log begins, or say it as it was before, since commits of its own
/// are lost.
pub(super) fn look_in_ruins(found: &Found, folder: &Path) -> Result<Redo, OpenError> {
    let known = match look_anyhow(found, folder) {
        Err(OpenError::Damaged { .. } | OpenError::Sqlite(_)) => None,
        other => Some(other?),
    };
    let stored = match known {
        Some(known) if known.commits() > 0 || known.damage().is_none() => {
            return Ok(Redo { in_ruins: true, ..known });
        }
        Some(Redo { mark: Mark { stored, .. }, .. }) => stored,
        None => Sequence::default(),
    };
    let damage = known.and_then(|known| known.walked.damage);
    let (first, before) = redo::oldest(folder).map_err(at("read the redo log in", folder))?;
    let mut redo = Redo::read(Mark { state: State::Open, first, before, stored }, folder)?;
    redo.walked.damage = redo.walked.damage.or(damage);
    redo.in_ruins = true;
    Ok(redo)
}

fn at(doing: &'static str, folder: &Path) -> impl FnOnce(io::Error) -> OpenError {
    let path = folder.to_owned();
    move |source| OpenError::File { doing, path, source }
}

impl Redo {
    fn read(mark: Mark, folder: &Path) -> Result<Self, OpenError> {
        let Mark { state, first, before, stored } = mark;
        let newest = redo::newest(folder).map_err(at("read the redo log in", folder))?;
        // A number is given once.
        let newest = newest.max(first.saturating_sub(1));
        if state == State::Closed {
            let walked = redo::walk_closed(folder, first).map_err(at("read the redo log in", folder))?;
            return Ok(Self { mark, newest, last: stored, walked, upto: None, in_ruins: false });
        }
        let mut walked = walk(folder, first, before).map_err(at("read the redo log in", folder))?;
        walked.has_to_have(stored);
        let (newest, last) = (newest.max(walked.newest), walked.last.max(stored));
        Ok(Self { mark, newest, last, walked, upto: None, in_ruins: false })
    }

    /// Without what came after this commit, but for what the database knows.
    ///
    /// # Errors
    /// [`OpenError::Redo`] if that commit is not there.
    pub(super) fn upto(mut self, commit: Sequence) -> Result<Self, OpenError> {
        if self.mark.state == State::Open {
            self.walked.has_to_have(commit);
        }
        match self.walked.damage.take() {
            Some(damage) => Err(OpenError::Redo { damage }),
            None => Ok(Self { upto: Some(commit.max(self.mark.stored)), ..self }),
        }
    }

    fn has(&self, frame: &Frame<'_>) -> bool {
        self.upto.is_none_or(|upto| frame.sequence <= upto)
    }

    /// Removes its files.
    pub(super) fn remove(&self, folder: &Path) -> Result<(), OpenError> {
        RedoLog::remove(folder, ..=self.newest).map_err(at("remove the redo log in", folder))
    }

    /// Removes files that were made after it: on a disk that is full each start would add to them.
    fn remove_later(&self, folder: &Path) {
        if let Err(error) = RedoLog::remove(folder, self.newest + 1..) {
            tracing::warn!(%error, "files of a new redo log can't be removed");
        }
    }

    /// What is damaged of it.
    pub(super) fn damage(&self) -> Option<&RedoDamage> {
        self.walked.damage.as_ref()
    }

    /// How many commits there are.
    pub(super) fn commits(&self) -> u64 {
        self.walked.commits
    }

    /// All that is for the database, stored there or not, in order, as far as it can be read: what is not stored and can't be, [`fold`](Self::fold)
    /// tells.
    pub(super) fn entries(&self) -> Result<Vec<Entry>, OpenError> {
        let mut entries = Vec::new();
        self.walked.frames(|frame| {
            entries.extend(for_the_database(&frame).filter_map(Result::ok));
            Ok::<(), OpenError>(())
        })?;
        Ok(entries)
    }

    /// The matches that have ended, as it says, and whose ends are in the database, as that does, but are not there: in words. Their rows
    /// are here still, so such a match would go on.
    pub(super) fn lost_ends(&self, conn: &Connection) -> Result<Vec<String>, OpenError> {
        let mut lost = Vec::new();
        self.walked.frames(|frame| {
            let stored = (frame.sequence <= self.mark.stored).then(|| for_the_database(&frame));
            for entry in stored.into_iter().flatten() {
                if let Ok(Entry::Finish { number, match_id, .. }) = entry
                    && read::result_of(conn, match_id)?.is_none()
                {
                    lost.push(format!("match {match_id} has ended, and its result {number} is missing"));
                }
            }
            Ok::<(), OpenError>(())
        })?;
        Ok(lost)
    }

    /// Whether none is lost.
    ///
    /// # Errors
    /// [`OpenError::Damaged`] if one is.
    pub(super) fn ends_are_stored(&self, conn: &Connection) -> Result<(), OpenError> {
        match self.lost_ends(conn)?.into_iter().next() {
            None => Ok(()),
            Some(what) => Err(OpenError::Damaged { what }),
        }
    }

    /// Puts all of it into the database, in a transaction that has begun: what was not stored yet, and the rows of matches that have not
    /// ended.
    pub(super) fn fold(&self, conn: &Connection, segment_rows: u32) -> Result<(), OpenError> {
        if self.commits() == 0 {
            return Ok(());
        }
        let stored = self.mark.stored;
        self.walked.frames(|frame| {
            if frame.sequence > stored && self.has(&frame) { self.store(conn, &frame) } else { Ok(()) }
        })?;
        let mut folding = Folding::read(conn)?;
        let mut adding = Adding::default();
        let mut ended: HashMap<MatchId, bool> = HashMap::new();
        let mut bytes = Vec::new();
        self.walked.frames(|frame| {
            let rows = self.has(&frame).then(|| frame.rows()).into_iter().flatten();
            for (_, row) in rows {
                let decoded =
                    Row::decode(row).map_err(|error| OpenError::Damaged { what: error.to_string() })?;
                let match_id = decoded.header.match_id;
                let has_ended = if let Some(known) = ended.get(&match_id) {
                    *known
                } else {
                    let has_ended = read::result_of(conn, match_id)?.is_some();
                    ended.insert(match_id, has_ended);
                    has_ended
                };
                if !has_ended {
                    bytes.clear();
                    bytes.extend_from_slice(row);
                    row::place(&mut bytes, folding.next);
                    adding.add(conn, &mut folding, segment_rows, &bytes)?;
                    folding.added();
                }
            }
            Ok::<(), OpenError>(())
        })?;
        adding.flush(conn, &folding)?;
        segments::write(conn, &folding.segments)?;
        Ok(())
    }

    fn store(&self, conn: &Connection, frame: &Frame<'_>) -> Result<(), OpenError> {
        for_the_database(frame).try_for_each(|entry| {
            let entry = entry?;
            // Then its match is put under quarantine, as one that has ended and has no result.
            if !(self.in_ruins && pending::is_displaced(conn, &entry)?) {
                pending::put(conn, &entry)?;
            }
            Ok(())
        })
    }
}

/// Puts the answers to requests into the database, in a transaction that has begun, stored there once or not: it may have lost some.
pub(super) fn put_requests(conn: &Connection, entries: &[Entry]) -> rusqlite::Result<()> {
    let mut requests = entries.iter().filter(|entry| matches!(entry, Entry::Request { .. }));
    requests.try_for_each(|request| pending::put(conn, request))
}

/// What of a commit is for the database.
fn for_the_database(frame: &Frame<'_>) -> impl Iterator<Item = Result<Entry, OpenError>> {
    let sequence = frame.sequence;
    let entries = frame.entries().filter(|(kind, _)| matches!(kind, Kind::Finish | Kind::Request));
    entries.map(move |(kind, entry)| {
        let what = || format!("commit {} of the redo log", sequence.0);
        Entry::decode(kind, entry).ok_or_else(|| OpenError::Damaged { what: what() })
    })
}

/// The tables while rows are put there before anybody has read them.
struct Folding {
    segments: Vec<Segment>,
    next: Position,
}

impl Folding {
    fn read(conn: &Connection) -> Result<Self, OpenError> {
        let mut segments = segments::read(conn)?;
        segments::compare(&segments, &segment_numbers(conn)?)?;
        let mut next = 1;
        if let Some(current) = segments.last_mut() {
            let sql = format!("SELECT max(position) FROM {}", table(current.number));
            let last: Option<Position> = conn.query_row(&sql, [], |row| row.get(0))?;
            let misplaced = || OpenError::Damaged {
                what: format!("{} has a row at the last position", table(current.number)),
            };
            next = match last {
                Some(last) => last.checked_add(1).filter(|next| *next < YOUNG).ok_or_else(misplaced)?,
                None => current.first,
            };
            next = next.max(current.first);
            // So that a new one is begun: of this one nobody knows how many rows it has.
            current.rows = u64::MAX;
        }
        Ok(Self { segments, next })
    }

    fn added(&mut self) {
        self.next += 1;
        if let Some(current) = self.segments.last_mut() {
            current.rows += 1;
            current.copies = true;
        }
    }
}

impl Tables for Folding {
    fn segments(&self) -> &[Segment] {
        &self.segments
    }

    fn next_position(&self) -> Position {
        self.next
    }

    fn started_segment(&mut self, number: SegmentNumber) {
        if let Some(full) = self.segments.last_mut() {
            full.end = Some(self.next);
        }
        let first = self.next;
        self.segments.push(Segment { number, first, end: None, rows: 0, live: 0, copies: true });
    }
}

/// Begins a transaction in which the redo log is in the database. It is to be taken back: no page of it reaches a file.
pub(super) fn begin(conn: &Connection, redo: &Redo, segment_rows: u32) -> Result<(), OpenError> {
    if redo.commits() == 0 {
        return Ok(());
    }
    conn.pragma_update(None, "cache_spill", false)?;
    conn.execute_batch("BEGIN IMMEDIATE")?;
    redo.fold(conn, segment_rows)
}

/// Takes back what was begun, if anything was.
pub(super) fn take_back(conn: &Connection) -> Result<(), OpenError> {
    if !conn.is_autocommit() {
        conn.execute_batch("ROLLBACK")?;
    }
    Ok(())
}

/// How long it is.
fn size(options: &Options) -> RedoSize {
    let file_bytes = u64::from(options.segment_rows).saturating_mul(limits::REDO_BYTES_A_ROW);
    let most_bytes = options.max_file_bytes.unwrap_or(u64::MAX);
    // Two are always there, and another one is made before one goes.
    let most = (most_bytes / 4).min(limits::MOST_REDO_BYTES);
    RedoSize { file_bytes: file_bytes.max(limits::LEAST_REDO_BYTES).min(most), most_bytes }
}

/// Puts the redo log into the database, and begins a new one, if there is to be one.
pub(super) fn for_good(
    conn: &Connection,
    redo: &Redo,
    options: &Options,
    folder: &Path,
) -> Result<Option<RedoLog>, OpenError> {
    conn.execute_batch("BEGIN IMMEDIATE")?;
    redo.fold(conn, options.segment_rows)?;
    let closed = Mark::closed(redo.newest + 1, redo.last);
    let new = match options.log {
        LogStore::Tables => {
            mark::write(conn, closed)?;
            None
        }
        LogStore::Redo => {
            let begun = RedoLog::begin(folder, redo.newest, redo.last, size(options));
            let begun = begun.map_err(at("make the redo log in", folder)).and_then(|new| {
                mark::write(conn, Mark { state: State::Open, first: new.current(), ..closed })?;
                // The rows that follow those in the tables are written elsewhere.
                let mut segments = segments::read(conn)?;
                for segment in &mut segments {
                    segment.copies = true;
                }
                segments::write(conn, &segments)?;
                Ok(new)
            });
            if begun.is_err() {
                redo.remove_later(folder);
            }
            Some(begun?)
        }
    };
    if let Err(error) = conn.execute_batch("COMMIT") {
        // Else it may be there, and name them.
        if has_not_happened(&error) {
            redo.remove_later(folder);
        }
        return Err(error.into());
    }
    redo.remove(folder)?;
    Ok(new)
}

/// Puts the redo log into a copy of its database, which has none.
pub(super) fn into_copy(conn: &Connection, redo: &Redo) -> Result<(), OpenError> {
    if redo.mark.state == State::Closed {
        return Ok(());
    }
    conn.execute_batch("BEGIN IMMEDIATE")?;
    redo.fold(conn, limits::SEGMENT_ROWS)?;
    mark::write(conn, Mark::closed(redo.newest + 1, redo.last))?;
    conn.execute_batch("COMMIT")?;
    Ok(())
}

/// Puts what can be read of the redo log into its database, or one that takes the place of that, where the log ends.
pub(super) fn what_is_left(conn: &Connection, redo: &Redo, folder: &Path) -> Result<(), OpenError> {
    conn.pragma_update(None, "cache_spill", false)?;
    conn.execute_batch("BEGIN IMMEDIATE")?;
    put_requests(conn, &redo.entries()?)?;
    conn.execute_batch("COMMIT")?;
    into_copy(conn, redo)?;
    schema::empty_wal(conn)?;
    redo.remove(folder)
}
