//! Reading the log at opening: every row once, every hash checked.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, params};

use super::chain::{Rows, Seen};
use super::live::{Head, Live, LiveMatch, Position, Segment, SegmentNumber};
use super::seal::QUARANTINE;
use super::{OpenError, Quarantine, Recovery, schema};
use crate::journal::row::{ChainHash, Row, RowError, RowHeader};
use crate::journal::{MatchId, Version};

/// The table of a segment.
pub(super) fn table(number: SegmentNumber) -> String {
    format!("log_{number}")
}

/// Positions below this can't be used up: a million rows a second last for a hundred thousand years.
const POSITIONS_END: Position = 1 << 62;

/// Reads the whole log. Nothing is changed: what is found is for [`quarantine`] to keep.
///
/// A row that is gone, or not what was written there, may be the last of its match, which then looks whole. So unless
/// every such row is accounted for by a match that lacks one, there is no telling whose it is, and that is an error.
pub(super) fn scan(conn: &Connection, schema: u64) -> Result<(Live, Recovery), OpenError> {
    let mut log = Log { next_position: 1, ..Log::default() };
    let mut segments: Vec<Segment> = Vec::new();
    for number in segment_numbers(conn)? {
        segments.push(log.scan_segment(conn, number)?);
    }
    let Log { next_position, by_match, mut recovery, lost } = log;
    let known = known_quarantine(conn, schema)?;
    let mut matches = HashMap::new();
    let mut ended: HashMap<MatchId, Rows> = HashMap::new();
    let mut strays = Vec::new();
    let (mut missing, mut elsewhere) = (0, lost);
    for (match_id, rows) in by_match {
        if let Some(end) = end_of(conn, match_id)? {
            let (gone, overwriting) = rows.verify_dead(end);
            missing += gone;
            elsewhere += overwriting;
            ended.insert(match_id, rows);
            continue;
        }
        let verified = rows.verify(match_id);
        missing += verified.missing;
        elsewhere += verified.overwriting;
        strays.extend(verified.stray);
        matches.insert(match_id, verified.live);
    }
    for stray in strays {
        elsewhere -= u64::from(attribute(conn, &segments, &stray, &mut matches, &ended, &mut recovery)?);
    }
    if elsewhere > missing {
        return Err(unaccounted(elsewhere - missing, &recovery));
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
    lost: u64,
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
    fn scan_segment(&mut self, conn: &Connection, number: SegmentNumber) -> Result<Segment, OpenError> {
        let table = table(number);
        let mut statement = conn.prepare(&format!("SELECT position, row FROM {table} ORDER BY position"))?;
        let mut rows = statement.query([])?;
        let mut segment = Segment { number, first: self.next_position, rows: 0, live: 0 };
        while let Some(row) = rows.next()? {
            self.recovery.rows_read += 1;
            segment.rows += 1;
            let position: Position = row.get(0)?;
            // Every row is found by its position later, so positions that don't grow make the whole log unusable.
            if position < self.next_position || position >= POSITIONS_END {
                return Err(OpenError::Damaged { what: format!("{table} has a row at position {position}") });
            }
            if segment.rows == 1 {
                segment.first = position;
            } else if position > self.next_position {
                let from = self.next_position;
                self.lost += position.abs_diff(from);
                let damage = format!("{table} has no row from position {from} to {}", position - 1);
                self.recovery.stray.push(damage);
            }
            self.next_position = position + 1;
            self.see(number, position, row.get_ref(1)?);
        }
        Ok(segment)
    }

    pub(super) fn see(&mut self, segment: SegmentNumber, position: Position, value: ValueRef<'_>) {
        let at = format_args!("at position {position} of log_{segment}").to_string();
        let damage = match value {
            ValueRef::Blob(bytes) => match Row::decode(bytes) {
                Ok(row) => {
                    let misplaced = row.is_misplaced(position);
                    if misplaced {
                        self.recovery.stray.push(format!("a row that was written elsewhere is {at}"));
                    }
                    let Row { header, chain, .. } = row;
                    let content = row.content();
                    let seen = Seen { position, segment, misplaced, header, chain, content };
                    self.by_match.entry(header.match_id).or_default().seen.push(seen);
                    return;
                }
                Err(error @ RowError::Unknown { match_id, version, .. }) => {
                    let damage = format!("{error}, {at}");
                    self.recovery.stray.push(damage.clone());
                    self.by_match.entry(match_id).or_default().undecodable.get_or_insert((damage, version));
                    return;
                }
                Err(error @ RowError::Short(_)) => error.to_string(),
            },
            other => format!("a row is {} and not bytes", other.data_type()),
        };
        self.lost += 1;
        self.recovery.stray.push(format!("{damage}, {at}"));
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
) -> Result<bool, OpenError> {
    let holds = |s: &&Segment| s.first <= stray.position;
    let Some(segment) = segments.iter().rfind(holds) else {
        return Ok(false);
    };
    let sql = format!("SELECT row FROM {} WHERE position = ?1", table(segment.number));
    let bytes: Vec<u8> = conn.query_row(&sql, [stray.position], |row| row.get(0))?;
    let Ok(row) = Row::decode(&bytes) else {
        return Ok(false);
    };
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
            Some(damage)
        }
        None => ended
            .iter()
            .find(|(id, rows)| rows.seen.iter().any(|seen| follows(**id, seen.header.version, seen.chain)))
            .map(|(id, _)| format!("a dead row of match {id} is filed under {}", stray.header.match_id)),
    };
    let Some(damage) = owner else { return Ok(false) };
    recovery.stray.push(damage);
    matches.remove(&stray.header.match_id);
    Ok(true)
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
