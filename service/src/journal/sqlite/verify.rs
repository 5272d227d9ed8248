//! What is checked of the database before anything is made of it, and before anything is changed.

use rusqlite::Connection;

use super::folder::Folder;
use super::recover::{last_result, table};
use super::schema::{self, Found, Object};
use super::{OpenError, Recovery, bots, limits, records, seal};
use crate::journal::ReadError;

/// The tables of which a start reads every row, beside the log. Their pages are looked at however large the database is, and pages that do
/// not hang together stop the start, those of `ladders` and `ladder_ratings` too, though a changed row of these does not.
const SMALL: [&str; 10] = [
    "meta",
    "tokens",
    "rotated_tokens",
    "quarantine",
    "webhooks",
    "dead_letters",
    "registered_bots",
    "registered_owners",
    "ladders",
    "ladder_ratings",
];

/// How much is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// What the running matches need, and the rest as far as it takes no time to speak of.
    Start,
    /// Everything.
    All,
}

/// Whether the tables are there, if there ever were any: they may have been in a WAL alone whose content is gone.
pub(super) fn is_there(found: &Found, folder: &Folder) -> Result<(), OpenError> {
    if found.schema == 0 && folder.had_journal()? {
        return Err(OpenError::DatabaseGone { database: folder.database() });
    }
    Ok(())
}

/// The database as a whole: its tables, its pages, and the rows of the small tables.
pub(super) fn database(found: &Found, depth: Depth) -> Result<(), OpenError> {
    let Found { conn, schema } = found;
    if *schema == 0 {
        return Ok(());
    }
    tables(conn, *schema)?;
    pages(conn, depth)?;
    if *schema < schema::SEALED {
        return Ok(());
    }
    for sealed in [seal::META, seal::QUARANTINE, seal::TOKENS] {
        broken_seals(conn, sealed)?;
    }
    if *schema >= schema::ROTATED {
        broken_seals(conn, seal::ROTATED_TOKENS)?;
    }
    if *schema >= schema::HOOKED {
        for sealed in [seal::WEBHOOKS, seal::DEAD_LETTERS] {
            broken_seals(conn, sealed)?;
        }
    }
    if *schema >= schema::REGISTERED {
        for sealed in [seal::REGISTERED_BOTS, seal::REGISTERED_OWNERS] {
            broken_seals(conn, sealed)?;
        }
    }
    if depth == Depth::All {
        broken_seals(conn, seal::REQUESTS)?;
    }
    Ok(())
}

fn broken_seals(conn: &Connection, sealed: seal::Sealed) -> Result<(), OpenError> {
    match sealed.broken(conn)? {
        0 => Ok(()),
        rows => Err(OpenError::Damaged {
            what: format!("{rows} rows of the table {} were changed", sealed.table),
        }),
    }
}

/// Whether the tables are those that were made.
fn tables(conn: &Connection, schema: u64) -> Result<(), OpenError> {
    let (log, others): (Vec<Object>, Vec<Object>) =
        schema::objects(conn)?.into_iter().partition(|(name, ..)| name.starts_with("log_"));
    let as_made = |(name, of, sql): &Object| {
        let number = name.strip_prefix("log_").and_then(|number| number.parse().ok());
        number.is_some_and(|number| {
            *name == table(number) && of == name && *sql == Some(schema::segment(number))
        })
    };
    if let Some((name, ..)) = log.iter().find(|object| !as_made(object)) {
        return Err(OpenError::Damaged { what: format!("the table name {name}") });
    }
    if others != schema::expected_objects(schema)? {
        return Err(OpenError::Damaged { what: "the tables are not those of a journal".to_owned() });
    }
    Ok(())
}

/// Whether the pages hang together, by SQLite's own check: that each is in one place, and is either free or in use, as one
/// that is both would be overwritten. Of a large database the indexes are not held against their tables unless all is asked
/// for; of a very large one only the schema, the log and the small tables are looked at.
fn pages(conn: &Connection, depth: Depth) -> Result<(), OpenError> {
    let pages: i64 = conn.pragma_query_value(None, "page_count", |row| row.get(0))?;
    if depth == Depth::All || pages <= limits::PAGES_CHECKED {
        return integrity(conn, "PRAGMA integrity_check(8)");
    }
    if pages <= limits::PAGES_WALKED {
        return integrity(conn, "PRAGMA quick_check(8)");
    }
    integrity(conn, "PRAGMA integrity_check(sqlite_schema)")?;
    let mut small = SMALL.map(str::to_owned).to_vec();
    let objects = schema::objects(conn)?.into_iter().map(|(name, ..)| name);
    small.extend(objects.filter(|name| name.starts_with("log_")));
    for table in small {
        if has_table(conn, &table)? {
            integrity(conn, &format!("PRAGMA integrity_check({table})"))?;
        }
    }
    Ok(())
}

fn has_table(conn: &Connection, name: &str) -> rusqlite::Result<bool> {
    conn.query_row("SELECT count(*) > 0 FROM sqlite_schema WHERE name = ?1", [name], |row| row.get(0))
}

fn integrity(conn: &Connection, pragma: &str) -> Result<(), OpenError> {
    let found: Vec<String> =
        conn.prepare(pragma)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    match found.as_slice() {
        [ok] if ok == "ok" => Ok(()),
        found => Err(OpenError::Damaged { what: found.join("; ").replace('\n', " ") }),
    }
}

/// The finished matches: the last ones, or all, and what is stored of what follows from them. None may be missing; what is damaged is
/// told, and not served.
pub(super) fn results(found: &Found, depth: Depth, recovery: &mut Recovery) -> Result<(), OpenError> {
    let Found { conn, schema } = found;
    if *schema == 0 {
        return Ok(());
    }
    let last = last_result(conn, *schema)?;
    let first = match depth {
        Depth::Start => last.saturating_sub(limits::RESULTS_CHECKED) + 1,
        Depth::All => 1,
    };
    recovery.results = last;
    for number in first..=last {
        match records::check(conn, *schema, number) {
            Ok(()) => {}
            Err(ReadError::Damaged(cause)) => recovery.stray.push(format!("result {number}: {cause}")),
            Err(ReadError::Unavailable(cause)) => {
                return Err(OpenError::Damaged { what: format!("result {number}: {cause}") });
            }
        }
    }
    if *schema >= schema::RATED {
        // They follow from the results: nothing depends on them, and so no start does, as long as SQLite can read their pages. If it can't,
        // its own check has stopped the start, and a repair is the way out.
        for sealed in [seal::LADDERS, seal::LADDER_RATINGS] {
            let rows = sealed.broken(conn)?;
            if rows > 0 {
                recovery.stray.push(format!(
                    "{rows} rows of the table {} were changed: the results say what they should be",
                    sealed.table
                ));
            }
        }
    }
    if depth == Depth::All && *schema >= schema::INDEXED {
        let strays = bots::strays(conn)?;
        if strays > 0 {
            recovery.stray.push(format!("{strays} rows of the table bots are of no bot's match"));
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;

    #[test]
    fn of_a_very_large_database_every_table_is_looked_at_but_those_that_grow_with_its_matches() {
        let objects = schema::expected_objects(schema::SCHEMA).unwrap();
        let tables = objects.iter().filter(|(name, of, _)| name == of).map(|(name, ..)| name.as_str());
        let left_out: Vec<&str> = tables.filter(|table| !SMALL.contains(table)).collect();
        assert_eq!(left_out, ["bots", "records", "requests"]);
    }
}
