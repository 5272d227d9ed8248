//! Copying the log of a damaged database: the records of the matches that have not ended.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OptionalExtension, params};

use super::chain::Rows;
use super::live::{Position, Segment, SegmentNumber};
use super::recover::{self, Log, table};
use super::row_reader::{RowReader, row_in};
use super::salvage::{by_key, readable};
use super::schema::{self, Found, LISTED};
use super::{Quarantine, limits, segments};
use crate::journal::row::{self, ChainHash, Row};
use crate::journal::{MatchId, Version};

/// What is written in the log and is not found under its key, where that or one beside it is damaged.
pub(super) type Astray = HashMap<(SegmentNumber, Position), Vec<Vec<u8>>>;

/// The rows of the log that can be read.
pub(super) fn log(from: &Found, lost: &mut Vec<String>) -> (Log, Astray) {
    let (mut log, mut astray) = (Log::default(), Astray::new());
    let tables = recover::segment_numbers(&from.conn).unwrap_or_default();
    if from.schema >= LISTED {
        let listed = segments::read(&from.conn);
        lost.extend(
            listed
                .and_then(|listed| segments::compare(&listed, &tables))
                .err()
                .map(|error| error.to_string()),
        );
    }
    for number in tables {
        let table = table(number);
        let (written, whole) = by_key(&from.conn, &table, "position", "row");
        if !whole {
            lost.push(format!("rows of {table} that can't be read"));
        }
        let sql = format!("SELECT row FROM {table} WHERE position = ?1");
        for (key, row) in written {
            let Value::Blob(bytes) = &row else {
                lost.push(format!("what is written at position {key} of {table}"));
                continue;
            };
            log.see(number, key, ValueRef::Blob(bytes));
            if readable(&from.conn, &sql, [key]).0.pop().and_then(|mut found| found.pop()).as_ref()
                != Some(&row)
            {
                astray.entry((number, key)).or_default().push(bytes.clone());
            }
        }
    }
    lost.append(&mut log.unread);
    (log, astray)
}

/// Copies the intact records of the matches that have not ended. The answer is which of them are damaged.
pub(super) fn running(
    from: &Connection,
    to: &Connection,
    (log, astray): (Log, Astray),
    known: &[(Quarantine, Option<i64>)],
) -> rusqlite::Result<Vec<Quarantine>> {
    let mut damaged: Vec<Quarantine> =
        known.iter().filter(|(_, number)| number.is_none()).map(|(found, _)| found.clone()).collect();
    let mut position = 0_i64;
    let mut made: Vec<Segment> = Vec::new();
    let mut reader = RowReader::of(from);
    for (match_id, rows) in log.by_match {
        let ended = "SELECT 1 FROM records WHERE match_id = ?1";
        if to.query_row(ended, [match_id.as_bytes()], |_| Ok(())).optional()?.is_some() {
            continue;
        }
        let mut places = Places::of(&rows);
        let mut live = rows.verify(match_id).live;
        match damaged.iter().find(|found| found.match_id == match_id) {
            Some(found) => recover::cut(&mut live, found.intact),
            None => damaged.extend(live.damage.clone().map(|damage| Quarantine {
                match_id,
                intact: live.head.version,
                damage,
            })),
        }
        for (old, version) in live.positions.into_iter().zip(1..) {
            let record = (match_id, Version::new(version));
            let Some(mut bytes) = places.next((&mut reader, &astray), record, old) else {
                // It was there a moment ago.
                let damage: Arc<str> = format!("record {version} can't be read again").into();
                damaged.retain(|found| found.match_id != match_id);
                damaged.push(Quarantine { match_id, intact: Version::new(version - 1), damage });
                break;
            };
            position += 1;
            let mut segment = made.last().map_or(0, |last| last.number);
            if (position - 1) % i64::from(limits::SEGMENT_ROWS) == 0 {
                segment += 1;
                to.execute_batch(&schema::segment(segment))?;
                if let Some(full) = made.last_mut() {
                    full.end = Some(position);
                }
                made.push(Segment {
                    number: segment,
                    first: position,
                    end: None,
                    rows: 0,
                    live: 0,
                    copies: true,
                });
            }
            row::place(&mut bytes, position);
            let sql = format!("INSERT INTO {} (position, row) VALUES (?1, ?2)", table(segment));
            to.prepare_cached(&sql)?.execute(params![position, bytes])?;
        }
    }
    segments::write(to, &made)?;
    Ok(damaged)
}

/// Where the rows of a match are: more than one may say that it is at a position, where the key of a pack is damaged.
struct Places {
    /// By version and position, in which segments and under which keys.
    by_record: HashMap<(Version, Position), Vec<(SegmentNumber, Position)>>,
    chain: ChainHash,
}

impl Places {
    fn of(rows: &Rows) -> Self {
        let mut by_record: HashMap<_, Vec<_>> = HashMap::new();
        for seen in &rows.seen {
            let places = by_record.entry((seen.header.version, seen.position)).or_default();
            places.push((seen.segment, seen.key));
        }
        Self { by_record, chain: ChainHash::START }
    }

    /// The next record of the match, which is at this position: the one that follows the record before.
    fn next(
        &mut self,
        (reader, astray): (&mut RowReader<'_>, &Astray),
        (match_id, version): (MatchId, Version),
        position: Position,
    ) -> Option<Vec<u8>> {
        self.by_record.get(&(version, position))?.iter().find_map(|place| {
            let (segment, key) = *place;
            let found = reader.under(segment, key, position).ok().flatten();
            let astray = astray.get(place).into_iter().flatten();
            let astray = astray.filter_map(|written| row_in(key, written, position).ok());
            let (bytes, chain) = found.into_iter().chain(astray).find_map(|bytes| {
                let row = Row::decode(&bytes).ok()?;
                let is_it = (row.header.match_id, row.header.version) == (match_id, version)
                    && self.chain.then(row.content()) == row.chain;
                let chain = row.chain;
                is_it.then(|| (bytes.to_vec(), chain))
            })?;
            self.chain = chain;
            Some(bytes)
        })
    }
}
