//! Reading the log at opening: every row once, every hash checked.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, params};

use super::account::{self, Gap};
use super::chain::{Rows, Seen};
use super::live::{Head, Live, LiveMatch, Position, Segment, SegmentNumber};
use super::row_reader::RowReader;
use super::seal::QUARANTINE;
use super::young::YOUNG;
use super::{OpenError, Quarantine, Recovery, schema, segments};
use crate::journal::pack;
use crate::journal::row::{ChainHash, Row, RowError, RowHeader};
use crate::journal::{MatchId, Version};

/// The table of a segment.
pub(super) fn table(number: SegmentNumber) -> String {
    format!("log_{number}")
}

/// Positions below this can't be used up: a million rows a second last for tens of thousands of years.
const POSITIONS_END: Position = YOUNG;

/// Reads the whole log. Nothing is changed: what is found is for [`quarantine`] to keep.
///
/// A row that is gone, or not what was written there, may be the last of its match, which then looks whole. So unless
/// every such row is accounted for by a match that lacks one, there is no telling whose it is, and that is an error.
pub(super) fn scan(conn: &Connection, schema: u64) -> Result<(Live, Recovery), OpenError> {
    let mut log = Log { next_position: 1, ..Log::default() };
    let tables = segment_numbers(conn)?;
    let mut segments: Vec<Segment> = Vec::new();
    if schema < schema::LISTED {
        for number in tables {
            segments.push(log.scan_unlisted(conn, number)?);
        }
        if let Some(current) = segments.last_mut() {
            current.end = None;
        }
    } else {
        segments = segments::read(conn)?;
        segments::compare(&segments, &tables)?;
        for segment in &mut segments {
            log.scan_segment(conn, segment)?;
        }
    }
    let Log { next_position, by_match, mut recovery, mut lost, unread: _ } = log;
    let known = known_quarantine(conn, schema)?;
    let mut matches = HashMap::new();
    let mut ended: HashMap<MatchId, Rows> = HashMap::new();
    let (mut strays, mut no_matches) = (Vec::new(), Vec::new());
    let mut gaps: Vec<Gap> = Vec::new();
    let mut overwriting: Vec<Position> = Vec::new();
    let mut doubtful: Vec<Position> = Vec::new();
    for (match_id, mut rows) in by_match {
        if let Some(end) = end_of(conn, match_id)? {
            let (missing, found) = rows.verify_dead(match_id, end, &segments);
            gaps.extend(missing);
            overwriting.extend(found);
            ended.insert(match_id, rows);
            continue;
        }
        let verified = rows.verify(match_id);
        gaps.extend(verified.gaps);
        overwriting.extend(verified.overwriting);
        strays.extend(verified.stray);
        doubtful.extend(verified.doubtful);
        if verified.nothing_else {
            no_matches.push(match_id);
        }
        matches.insert(match_id, verified.live);
    }
    for stray in strays {
        let owner = attribute(conn, &segments, &stray, &mut matches, &ended, &mut recovery)?;
        let Some((match_id, version)) = owner else { continue };
        overwriting.retain(|position| *position != stray.position);
        // It is not lost any more.
        let lacks = |gap: &&mut Gap| gap.match_id == match_id && gap.after < version && version < gap.before;
        if let Some(gap) = gaps.iter_mut().find(lacks) {
            gap.records = gap.records.saturating_sub(1);
        }
    }
    for position in doubtful {
        let lacks = |gap: &&mut Gap| gap.after == Version::ZERO && gap.from < position && position < gap.to;
        // If it is that record, no lost row is.
        if let Some(gap) = gaps.iter_mut().find(lacks) {
            gap.records = gap.records.saturating_sub(1);
        }
    }
    lost.extend(overwriting.into_iter().map(|position| position..position + 1));
    match account::unaccounted(&lost, &gaps) {
        0 => {}
        rows => return Err(unaccounted(rows, &recovery)),
    }
    // Each of their rows stands where one was that another match lacks.
    for match_id in no_matches {
        if matches.remove(&match_id).is_some() {
            recovery.stray.push(format!("rows are filed under {match_id}, and there is no such match"));
        }
    }
    for (match_id, (intact, damage)) in known {
        if end_of(conn, match_id)?.is_some() {
            continue;
        }
        let nothing = || LiveMatch { head: Head::START, positions: Vec::new(), damage: None };
        let live = matches.entry(match_id).or_insert_with(nothing);
        cut(live, intact);
        live.damage = Some(damage);
    }
    recovery.unfinished = matches.values().filter(|m| m.damage.is_none()).count();
    recovery.quarantined = quarantines(&matches);
    let last = last_result(conn, schema)?;
    Ok((Live::new(matches, segments, next_position, last + 1), recovery))
}

/// What was found of the log so far.
#[derive(Default)]
pub(super) struct Log {
    next_position: Position,
    pub(super) by_match: HashMap<MatchId, Rows>,
    recovery: Recovery,
    /// Positions that hold nothing that can be read.
    lost: Vec<Range<Position>>,
    /// What is there instead, where something is.
    pub(super) unread: Vec<String>,
}

fn unaccounted(rows: u64, recovery: &Recovery) -> OpenError {
    let mut what = format!(
        "{rows} rows of the log are gone or not what was written there, and may be the last of any match"
    );
    for damage in recovery.stray.iter().take(4) {
        what.push_str("; ");
        what.push_str(damage);
    }
    OpenError::Damaged { what }
}

/// Keeps what was found: a damaged match stays one, also when the damaged rows are gone.
pub(super) fn quarantine(conn: &mut Connection, found: &[Quarantine]) -> rusqlite::Result<()> {
    if found.is_empty() {
        return Ok(());
    }
    let tx = conn.transaction()?;
    quarantine_in(&tx, found)?;
    tx.commit()
}

pub(super) fn quarantine_in(tx: &Connection, found: &[Quarantine]) -> rusqlite::Result<()> {
    for Quarantine { match_id, intact, damage } in found {
        let sql = "INSERT OR IGNORE INTO quarantine (match_id, intact, damage) VALUES (?1, ?2, ?3)";
        tx.execute(sql, params![match_id.as_bytes(), intact.get(), damage.as_ref()])?;
        tx.execute(&QUARANTINE.seal_where("match_id = ?1"), params![match_id.as_bytes()])?;
    }
    Ok(())
}

pub(super) fn segment_numbers(conn: &Connection) -> Result<Vec<SegmentNumber>, OpenError> {
    let mut tables =
        conn.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'log_*'")?;
    let names = tables.query_map([], |row| row.get::<_, String>(0))?;
    let mut numbers = Vec::new();
    for name in names {
        let name = name?;
        match name.trim_start_matches("log_").parse() {
            Ok(number) if table(number) == name => numbers.push(number),
            _ => {
                return Err(OpenError::Damaged { what: format!("the table name {name}") });
            }
        }
    }
    numbers.sort_unstable();
    Ok(numbers)
}

impl Log {
    /// A segment of which there is no list: it begins with its first row.
    fn scan_unlisted(&mut self, conn: &Connection, number: SegmentNumber) -> Result<Segment, OpenError> {
        let sql = format!("SELECT min(position) FROM {}", table(number));
        let first: Option<Position> = conn.query_row(&sql, [], |row| row.get(0))?;
        let first = first.unwrap_or(self.next_position).max(self.next_position);
        let mut segment = Segment { number, first, end: None, rows: 0, live: 0, copies: true };
        self.scan_segment(conn, &mut segment)?;
        segment.end = Some(self.next_position);
        Ok(segment)
    }

    fn scan_segment(&mut self, conn: &Connection, segment: &mut Segment) -> Result<(), OpenError> {
        let table = table(segment.number);
        let mut statement = conn.prepare(&format!("SELECT position, row FROM {table} ORDER BY position"))?;
        let mut rows = statement.query([])?;
        self.next_position = segment.first;
        let positions_end = segment.end.unwrap_or(POSITIONS_END).min(POSITIONS_END);
        while let Some(row) = rows.next()? {
            let position: Position = row.get(0)?;
            // Every row is found by its position later, so positions that don't grow make the whole log unusable.
            let misplaced =
                |position| OpenError::Damaged { what: format!("{table} has a row at position {position}") };
            if position < self.next_position || position >= positions_end {
                return Err(misplaced(position));
            }
            let rows = self.see(segment.number, position, row.get_ref(1)?);
            let first = (position + 1).saturating_sub_unsigned(rows);
            if first < self.next_position {
                return Err(misplaced(first));
            }
            self.miss_until(first, &table);
            self.next_position = position + 1;
            self.recovery.rows_read += rows;
            segment.rows += rows;
        }
        if let Some(end) = segment.end {
            self.miss_until(end, &table);
            self.next_position = end;
        }
        Ok(())
    }

    /// There is no row before this position.
    fn miss_until(&mut self, position: Position, table: &str) {
        let from = self.next_position;
        if from < position {
            self.lost.push(from..position);
            let damage = format!("{table} has no row from position {from} to {}", position - 1);
            self.recovery.stray.push(damage);
        }
    }

    /// Takes up what is written under a position; the answer is how many rows these are, up to there.
    pub(super) fn see(&mut self, segment: SegmentNumber, key: Position, value: ValueRef<'_>) -> u64 {
        let damage = match value {
            ValueRef::Blob(bytes) => match pack::rows(key, bytes) {
                Ok(rows) => {
                    return rows.fold(0, |seen, (position, row)| {
                        self.see_row(segment, (key, position), row);
                        seen + 1
                    });
                }
                Err(error) => error.to_string(),
            },
            other => format!("a row is {} and not bytes", other.data_type()),
        };
        // Where there were more in it, none is before it.
        self.lose(segment, key, &damage);
        1
    }

    fn lose(&mut self, segment: SegmentNumber, position: Position, damage: &str) {
        let damage = format!("{damage}, at position {position} of log_{segment}");
        self.lost.push(position..position.saturating_add(1));
        self.unread.push(damage.clone());
        self.recovery.stray.push(damage);
    }

    fn see_row(&mut self, segment: SegmentNumber, (key, position): (Position, Position), bytes: &[u8]) {
        let at = || format!("at position {position} of log_{segment}");
        match Row::decode(bytes) {
            Ok(row) => {
                let misplaced = row.is_misplaced(position);
                if misplaced {
                    self.recovery.stray.push(format!("a row that was written elsewhere is {}", at()));
                }
                let Row { header, chain, .. } = row;
                let content = row.content();
                let seen = Seen { position, key, segment, misplaced, header, chain, content };
                self.by_match.entry(header.match_id).or_default().seen.push(seen);
            }
            Err(error @ RowError::Unknown { match_id, version, .. }) => {
                let damage = format!("{error}, {}", at());
                self.recovery.stray.push(damage.clone());
                let rows = self.by_match.entry(match_id).or_default();
                rows.undecodable.push((position, version));
                rows.first_undecodable.get_or_insert(damage);
            }
            Err(error @ RowError::Short(_)) => self.lose(segment, position, &error.to_string()),
        }
    }
}

fn known_quarantine(
    conn: &Connection,
    schema: u64,
) -> Result<HashMap<MatchId, (Version, Arc<str>)>, OpenError> {
    if schema == 0 {
        return Ok(HashMap::new());
    }
    let mut statement = conn.prepare("SELECT match_id, intact, damage FROM quarantine")?;
    let rows = statement.query_map([], |row| {
        let (match_id, intact, damage) = (row.get::<_, [u8; 16]>(0)?, row.get(1)?, row.get::<_, String>(2)?);
        Ok((MatchId::from_bytes(match_id), (Version::new(intact), damage.into())))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// How many records a match that has ended had.
fn end_of(conn: &Connection, match_id: MatchId) -> rusqlite::Result<Option<Version>> {
    let mut statement = conn.prepare_cached("SELECT version FROM records WHERE match_id = ?1")?;
    statement.query_row([match_id.as_bytes()], |row| Ok(Version::new(row.get(0)?))).optional()
}

/// Leaves no more than the first records of a match.
pub(super) fn cut(live: &mut LiveMatch, intact: Version) {
    if intact < live.head.version {
        live.positions.truncate(usize::try_from(intact.get()).unwrap_or(usize::MAX));
        live.head.version = intact;
    }
}

/// Finds the match that a row belongs to whose match id was damaged, when it was that match's last: that match would
/// look intact without it, and has lost an acknowledged record. Or it has ended, and the row is dead.
fn attribute(
    conn: &Connection,
    segments: &[Segment],
    stray: &Seen,
    matches: &mut HashMap<MatchId, LiveMatch>,
    ended: &HashMap<MatchId, Rows>,
    recovery: &mut Recovery,
) -> Result<Option<(MatchId, Version)>, OpenError> {
    let holds = |s: &&Segment| s.first <= stray.position;
    let Some(segment) = segments.iter().rfind(holds) else {
        return Ok(None);
    };
    let Some(bytes) = RowReader::of(conn).under(segment.number, stray.key, stray.position)? else {
        return Ok(None);
    };
    let Ok(row) = Row::decode(&bytes) else { return Ok(None) };
    let version = row.header.version;
    let follows = |match_id: MatchId, last: Version, chain: ChainHash| {
        last.next() == Some(version)
            && chain.then(RowHeader { match_id, ..row.header }.content(row.payload)) == row.chain
    };
    let owner = matches.iter_mut().find(|(id, live)| follows(**id, live.head.version, live.head.chain));
    let owner = match owner {
        Some((match_id, live)) => {
            let damage =
                format!("record {version} of match {match_id} is filed under {}", stray.header.match_id);
            live.damage.get_or_insert_with(|| damage.as_str().into());
            Some((*match_id, damage))
        }
        None => ended
            .iter()
            .find(|(id, rows)| rows.seen.iter().any(|seen| follows(**id, seen.header.version, seen.chain)))
            .map(|(id, _)| {
                (*id, format!("a dead row of match {id} is filed under {}", stray.header.match_id))
            }),
    };
    let Some((match_id, damage)) = owner else { return Ok(None) };
    recovery.stray.push(damage);
    matches.remove(&stray.header.match_id);
    Ok(Some((match_id, version)))
}

/// The number of the last result, among those too that were lost.
pub(super) fn last_result(conn: &Connection, schema: u64) -> rusqlite::Result<u64> {
    if schema == 0 {
        return Ok(0);
    }
    let mut sql = "SELECT max(result_number) FROM records".to_owned();
    if schema >= schema::SEALED {
        sql = format!("SELECT max(n) FROM (SELECT result_number AS n FROM quarantine UNION ALL {sql})");
    }
    let last: Option<i64> = conn.query_row(&sql, [], |row| row.get(0))?;
    Ok(last.and_then(|number| u64::try_from(number).ok()).unwrap_or(0))
}

fn quarantines(matches: &HashMap<MatchId, LiveMatch>) -> Vec<Quarantine> {
    let mut found: Vec<Quarantine> = matches
        .iter()
        .filter_map(|(match_id, live)| {
            let damage = live.damage.clone()?;
            Some(Quarantine { match_id: *match_id, intact: live.head.version, damage })
        })
        .collect();
    found.sort_unstable_by_key(|found| found.match_id);
    found
}
