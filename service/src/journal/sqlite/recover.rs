//! Reading the log at opening: every row once, every hash checked.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, params};

use super::live::{Head, Live, LiveMatch, Position, Segment, SegmentNumber};
use super::{OpenError, Quarantine, Recovery};
use crate::journal::row::{ChainHash, ContentHash, Row, RowError, RowHeader, RowKind};
use crate::journal::{MatchId, Version};

/// The table of a segment.
pub(super) fn table(number: SegmentNumber) -> String {
    format!("log_{number}")
}

/// Positions below this can't be used up: a million rows a second last for a hundred thousand years.
const POSITIONS_END: Position = 1 << 62;

/// A row that was read, without its payload.
struct Seen {
    position: Position,
    header: RowHeader,
    chain: ChainHash,
    content: ContentHash,
}

/// The rows under one match id.
#[derive(Default)]
struct Rows {
    seen: Vec<Seen>,
    /// What can't be read of it.
    undecodable: Option<String>,
}

/// Reads the whole log. Nothing is changed: what is found is for [`quarantine`] to keep.
pub(super) fn scan(conn: &Connection) -> Result<(Live, Recovery), OpenError> {
    let mut recovery = Recovery::default();
    let mut by_match: HashMap<MatchId, Rows> = HashMap::new();
    let mut segments: Vec<Segment> = Vec::new();
    let mut next_position = 1;
    for number in segment_numbers(conn)? {
        segments.push(scan_segment(conn, number, &mut next_position, &mut by_match, &mut recovery)?);
    }
    let known = known_quarantine(conn)?;
    let mut matches = HashMap::new();
    let mut strays = Vec::new();
    for (match_id, rows) in by_match {
        if is_finished(conn, match_id)? {
            continue;
        }
        let (mut live, unread) = verify(&match_id, rows);
        if let Some((intact, damage)) = known.get(&match_id) {
            cut(&mut live, *intact);
            live.damage = Some(damage.clone());
        } else if live.head.version == Version::ZERO {
            strays.extend(unread);
        }
        matches.insert(match_id, live);
    }
    for (match_id, (_, damage)) in &known {
        matches.entry(*match_id).or_insert_with(|| LiveMatch {
            head: Head::START,
            positions: Vec::new(),
            damage: Some(damage.clone()),
        });
    }
    for stray in strays {
        attribute(conn, &segments, &stray, &mut matches, &mut recovery)?;
    }
    recovery.unfinished = matches.values().filter(|m| m.damage.is_none()).count();
    recovery.quarantined = quarantines(&matches);
    let last: Option<u64> = conn
        .query_row("SELECT max(result_number) FROM records", [], |row| row.get::<_, Option<i64>>(0))?
        .and_then(|number| u64::try_from(number).ok());
    Ok((Live::new(matches, segments, next_position, last.unwrap_or(0) + 1), recovery))
}

/// Keeps what was found: a damaged match stays one, also when the damaged rows are gone.
pub(super) fn quarantine(conn: &mut Connection, found: &[Quarantine]) -> rusqlite::Result<()> {
    if found.is_empty() {
        return Ok(());
    }
    let tx = conn.transaction()?;
    for Quarantine { match_id, intact, damage } in found {
        let sql = "INSERT OR IGNORE INTO quarantine (match_id, intact, damage) VALUES (?1, ?2, ?3)";
        tx.execute(sql, params![match_id.as_bytes(), intact.get(), damage.as_ref()])?;
    }
    tx.commit()
}

fn segment_numbers(conn: &Connection) -> Result<Vec<SegmentNumber>, OpenError> {
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

fn scan_segment(
    conn: &Connection,
    number: SegmentNumber,
    next_position: &mut Position,
    by_match: &mut HashMap<MatchId, Rows>,
    recovery: &mut Recovery,
) -> Result<Segment, OpenError> {
    let table = table(number);
    let mut statement = conn.prepare(&format!("SELECT position, row FROM {table} ORDER BY position"))?;
    let mut rows = statement.query([])?;
    let mut segment = Segment { number, first: *next_position, rows: 0, live: 0 };
    while let Some(row) = rows.next()? {
        recovery.rows_read += 1;
        segment.rows += 1;
        let position: Position = row.get(0)?;
        // Every row is found by its position later, so positions that don't grow make the whole log unusable.
        if position < *next_position || position >= POSITIONS_END {
            return Err(OpenError::Damaged { what: format!("{table} has a row at position {position}") });
        }
        if segment.rows == 1 {
            segment.first = position;
        } else if position > *next_position {
            let damage = format!("{table} has no row from position {next_position} to {}", position - 1);
            recovery.stray.push(damage);
        }
        *next_position = position + 1;
        let damage = match row.get_ref(1)? {
            ValueRef::Blob(bytes) => match Row::decode(bytes) {
                Ok(row) => {
                    let Row { header, chain, .. } = row;
                    let seen = Seen { position, header, chain, content: row.content() };
                    by_match.entry(header.match_id).or_default().seen.push(seen);
                    continue;
                }
                Err(error @ RowError::Unknown { match_id, .. }) => {
                    let damage = format!("{error}, at position {position} of {table}");
                    by_match.entry(match_id).or_default().undecodable = Some(damage);
                    continue;
                }
                Err(error @ RowError::Short(_)) => error.to_string(),
            },
            other => format!("a row is {} and not bytes", other.data_type()),
        };
        recovery.stray.push(format!("{damage}, at position {position} of {table}"));
    }
    Ok(segment)
}

fn known_quarantine(conn: &Connection) -> Result<HashMap<MatchId, (Version, Arc<str>)>, OpenError> {
    let mut statement = conn.prepare("SELECT match_id, intact, damage FROM quarantine")?;
    let rows = statement.query_map([], |row| {
        let (match_id, intact, damage) = (row.get::<_, [u8; 16]>(0)?, row.get(1)?, row.get::<_, String>(2)?);
        Ok((MatchId::from_bytes(match_id), (Version::new(intact), damage.into())))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn is_finished(conn: &Connection, match_id: MatchId) -> rusqlite::Result<bool> {
    let mut statement = conn.prepare_cached("SELECT 1 FROM records WHERE match_id = ?1")?;
    Ok(statement.query_row([match_id.as_bytes()], |_| Ok(())).optional()?.is_some())
}

/// Walks the chain of a match as far as it holds. What comes after is damage, and is handed back.
fn verify(match_id: &MatchId, rows: Rows) -> (LiveMatch, Vec<Seen>) {
    let Rows { mut seen, undecodable } = rows;
    // A row that was copied on, with its copy not yet alone, is there twice: the later one first.
    seen.sort_unstable_by_key(|seen| (seen.header.version, -seen.position));
    let mut live = LiveMatch { head: Head::START, positions: Vec::new(), damage: None };
    let mut last_kind = RowKind::GoesOn;
    let mut unread = Vec::new();
    for seen in seen {
        let RowHeader { kind, version, epoch, .. } = seen.header;
        let next = live.head.version.next() == Some(version);
        if next && live.head.chain.then(seen.content) == seen.chain {
            live.head = Head { version, epoch, chain: seen.chain };
            live.positions.push(seen.position);
            last_kind = kind;
        } else if version > live.head.version || version == Version::ZERO {
            unread.push(seen);
        }
        // Else it is a copy of a record that is intact elsewhere.
    }
    // A damaged row beside its intact copy does no harm.
    unread.retain(|seen| seen.header.version > live.head.version || seen.header.version == Version::ZERO);
    live.damage = match (undecodable, unread.first(), last_kind) {
        (Some(damage), ..) => Some(damage.into()),
        (None, Some(_), _) => Some(
            format!(
                "match {match_id} has {} intact records, and after them {} that don't follow",
                live.head.version,
                unread.len()
            )
            .into(),
        ),
        (None, None, RowKind::Last) => {
            Some(format!("match {match_id} has ended, but its finished record is missing").into())
        }
        (None, None, RowKind::GoesOn) => None,
    };
    (live, unread)
}

/// Leaves no more than the first records of a match.
fn cut(live: &mut LiveMatch, intact: Version) {
    if intact < live.head.version {
        live.positions.truncate(usize::try_from(intact.get()).unwrap_or(usize::MAX));
        live.head.version = intact;
    }
}

/// Finds the match that a row belongs to whose match id was damaged, when it was that match's last: that match would
/// look intact without it, and has lost an acknowledged record.
fn attribute(
    conn: &Connection,
    segments: &[Segment],
    stray: &Seen,
    matches: &mut HashMap<MatchId, LiveMatch>,
    recovery: &mut Recovery,
) -> Result<(), OpenError> {
    let holds = |s: &&Segment| s.first <= stray.position;
    let Some(segment) = segments.iter().rfind(holds) else {
        return Ok(());
    };
    let sql = format!("SELECT row FROM {} WHERE position = ?1", table(segment.number));
    let bytes: Vec<u8> = conn.query_row(&sql, [stray.position], |row| row.get(0))?;
    let Ok(row) = Row::decode(&bytes) else {
        return Ok(());
    };
    let owner = matches.iter_mut().find(|(match_id, live)| {
        let header = RowHeader { match_id: **match_id, ..row.header };
        live.head.version.next() == Some(header.version)
            && live.head.chain.then(header.content(row.payload)) == row.chain
    });
    if let Some((match_id, live)) = owner {
        let version = row.header.version;
        let damage = format!("record {version} of match {match_id} is filed under {}", stray.header.match_id);
        live.damage.get_or_insert_with(|| damage.as_str().into());
        recovery.stray.push(damage);
        matches.remove(&stray.header.match_id);
    }
    Ok(())
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
