//! The list of the segments of the log, a value of `meta` with a seal: it is written in the transaction that makes or drops a
//! segment, so that one that is gone, or rows that are gone from its ends, are missed.

use rusqlite::{Connection, OptionalExtension, params};

use super::OpenError;
use super::live::{Position, Segment, SegmentNumber};

/// The key of the list.
pub(super) const KEY: &str = "journal/segments";

/// Number, first position, the position after its last, whether there are copies: integers are big-endian.
const ENTRY_BYTES: usize = 4 + 8 + 8 + 1;

/// Writes the list.
pub(super) fn write(conn: &Connection, segments: &[Segment]) -> rusqlite::Result<()> {
    let mut list = Vec::with_capacity(segments.len() * ENTRY_BYTES);
    for Segment { number, first, end, copies, .. } in segments {
        list.extend_from_slice(&number.to_be_bytes());
        list.extend_from_slice(&first.to_be_bytes());
        list.extend_from_slice(&end.unwrap_or(0).to_be_bytes());
        list.push(u8::from(*copies));
    }
    let sql = "INSERT OR REPLACE INTO meta (key, value, seal) VALUES (?1, ?2, seal_of('meta', ?1, ?2))";
    conn.prepare_cached(sql)?.execute(params![KEY, list])?;
    Ok(())
}

/// Reads the list. Nothing is known yet of the rows.
pub(super) fn read(conn: &Connection) -> Result<Vec<Segment>, OpenError> {
    let damaged = || OpenError::Damaged { what: "the list of the log's segments".to_owned() };
    let value: Option<Vec<u8>> =
        conn.query_row("SELECT value FROM meta WHERE key = ?1", [KEY], |row| row.get(0)).optional()?;
    let (entries, rest) = value.as_deref().ok_or_else(damaged)?.as_chunks::<ENTRY_BYTES>();
    if !rest.is_empty() {
        return Err(damaged());
    }
    let mut segments: Vec<Segment> = Vec::with_capacity(entries.len());
    for entry in entries {
        let position = |at: usize| Position::from_be_bytes(std::array::from_fn(|i| entry[at + i]));
        segments.push(Segment {
            number: SegmentNumber::from_be_bytes(std::array::from_fn(|i| entry[i])),
            first: position(4),
            end: Some(position(12)).filter(|end| *end != 0),
            rows: 0,
            live: 0,
            copies: entry[20] != 0,
        });
    }
    let grow = segments.is_sorted_by(|a, b| a.number < b.number && a.end.is_some_and(|end| end <= b.first));
    if grow { Ok(segments) } else { Err(damaged()) }
}

/// Whether the tables are those of the list.
pub(super) fn compare(listed: &[Segment], tables: &[SegmentNumber]) -> Result<(), OpenError> {
    for Segment { number, first, end, .. } in listed {
        if !tables.contains(number) {
            let end = end.map_or_else(|| "on".to_owned(), |end| format!("to {}", end - 1));
            let what = format!("the table log_{number} is gone, with the rows from position {first} {end}");
            return Err(OpenError::Damaged { what });
        }
    }
    match tables.iter().find(|table| listed.iter().all(|listed| listed.number != **table)) {
        None => Ok(()),
        Some(number) => {
            Err(OpenError::Damaged { what: format!("the table log_{number} is not in the list of them") })
        }
    }
}

/// Whether every position between these two is in a segment that is there.
pub(super) fn are_whole(segments: &[Segment], after: Position, before: Position) -> bool {
    let mut next = after + 1;
    for segment in segments {
        let end = segment.end.unwrap_or(Position::MAX);
        if segment.first <= next && next < end {
            next = end;
        }
    }
    next >= before
}
