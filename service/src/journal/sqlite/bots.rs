//! The table that tells in which finished matches a bot has a seat: an index that SQLite can't make by itself. All of it
//! follows from the summaries, so it is made of them where it is not there, and held against them.

use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, Result, params};

use super::commit::clamp;
use crate::encoding::bots_of_summary;
use crate::journal::{ClientReference, ResultNumber, Summary};

/// What the summaries say.
const SAID: &str = "SELECT seat.value, result_number, client_reference
    FROM records, json_each(bots_of(summary)) AS seat";

/// Gives a connection the function `bots_of(summary)`: the bots' names, in JSON.
pub(super) fn define(conn: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    conn.create_scalar_function("bots_of", 1, flags, |context| {
        let names = bots_of_summary(context.get_raw(0).as_blob().unwrap_or_default());
        // A name has no character that JSON escapes.
        let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        Ok(format!("[{}]", names.join(",")))
    })
}

/// Notes the bots of a finished match that was filed just now. Its summary is at hand: to ask SQLite for what it says would have the
/// statement prepared anew for each match, as a plan may depend on what is searched for.
pub(super) fn insert(
    conn: &Connection,
    number: ResultNumber,
    summary: &Summary,
    client_reference: Option<&ClientReference>,
) -> Result<()> {
    let sql = "INSERT INTO bots (bot, result_number, client_reference) VALUES (?1, ?2, ?3)";
    for bot in bots_of_summary(summary.as_bytes()) {
        let client_reference = client_reference.map(ClientReference::as_str);
        conn.prepare_cached(sql)?.execute(params![bot.as_str(), clamp(number.get()), client_reference])?;
    }
    Ok(())
}

/// Notes the bots of every finished match. The table is empty.
pub(super) fn insert_all(conn: &Connection) -> Result<()> {
    conn.execute(&format!("INSERT INTO bots (bot, result_number, client_reference) {SAID}"), [])?;
    Ok(())
}

/// Whether the rows of a finished match are there.
pub(super) fn are_noted(conn: &Connection, number: u64) -> Result<bool> {
    let sql = "SELECT count(*) = 0 FROM records, json_each(bots_of(summary)) AS seat WHERE result_number = ?1
        AND NOT EXISTS (SELECT 1 FROM bots WHERE bots.bot = seat.value
            AND bots.result_number = records.result_number
            AND bots.client_reference IS records.client_reference)";
    conn.prepare_cached(sql)?.query_row([clamp(number)], |row| row.get(0))
}

/// How many rows no summary asks for.
pub(super) fn strays(conn: &Connection) -> Result<i64> {
    let sql = "SELECT count(*) FROM bots WHERE NOT EXISTS (
        SELECT 1 FROM records, json_each(bots_of(summary)) AS seat
        WHERE records.result_number = bots.result_number AND seat.value = bots.bot
            AND records.client_reference IS bots.client_reference)";
    conn.query_row(sql, [], |row| row.get(0))
}
