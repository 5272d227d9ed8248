//! Copying what can be read of a damaged database into a new one.

use std::collections::{BTreeMap, HashMap};

use rusqlite::types::Value;
use rusqlite::{Connection, Params, params, params_from_iter};

use super::commit::clamp;
use super::recover;
use super::schema::{Found, HOOKED, RATED, REGISTERED, ROTATED, SEALED};
use super::seal::{
    DEAD_LETTERS, LADDER_RATINGS, LADDERS, META, QUARANTINE, REGISTERED_BOTS, REGISTERED_OWNERS, REQUESTS,
    ROTATED_TOKENS, Sealed, TOKENS, WEBHOOKS,
};
use super::{Quarantine, bots, fold, ladders, limits, pending, read, records, salvage_log, tokens, webhooks};
use crate::journal::redo::Entry;
use crate::journal::{MatchId, Version};

/// Copies everything that is intact. What is not, and is among these entries of the redo log, is taken from there. The answer is what is
/// lost, in words.
pub(super) fn copy(from: &Found, to: &mut Connection, redo: &[Entry]) -> rusqlite::Result<Vec<String>> {
    let mut lost = Vec::new();
    let tx = to.transaction()?;
    let known = quarantined(from, &mut lost);
    for sealed in [META, REQUESTS, TOKENS] {
        small_table(from, &tx, sealed, &mut lost)?;
    }
    if from.schema >= ROTATED {
        let lost_before = lost.len();
        small_table(from, &tx, ROTATED_TOKENS, &mut lost)?;
        tx.execute("DELETE FROM rotated_tokens WHERE token_id NOT IN (SELECT token_id FROM tokens)", [])?;
        if lost.len() == lost_before && !hangs_together(&from.conn, ROTATED_TOKENS) {
            let Sealed { table, .. } = ROTATED_TOKENS;
            lost.push(format!(
                "rows of the table {table} may be missing{}",
                what_follows(ROTATED_TOKENS, None)
            ));
        }
        if lost.len() > lost_before {
            lost.extend(tokens::take_for_rotated(&tx)?);
        }
    }
    if from.schema >= HOOKED {
        for sealed in [WEBHOOKS, DEAD_LETTERS] {
            small_table(from, &tx, sealed, &mut lost)?;
        }
        // Nobody could ask for them any more.
        tx.execute("DELETE FROM dead_letters WHERE webhook_id NOT IN (SELECT webhook_id FROM webhooks)", [])?;
    }
    if from.schema >= REGISTERED {
        for sealed in [REGISTERED_BOTS, REGISTERED_OWNERS] {
            small_table(from, &tx, sealed, &mut lost)?;
        }
    }
    if from.schema >= RATED {
        for sealed in [LADDERS, LADDER_RATINGS] {
            small_table(from, &tx, sealed, &mut lost)?;
        }
        tx.execute("DELETE FROM ladder_ratings WHERE ladder NOT IN (SELECT ladder FROM ladders)", [])?;
    }
    let mut results = finished(from, &tx, redo, &mut lost)?;
    fold::put_requests(&tx, redo)?;
    for (found, _) in &known {
        results.remove(&found.match_id);
    }
    let log = salvage_log::log(from, &mut lost);
    let found = salvage_log::running(&from.conn, &tx, log, &known)?;
    for Quarantine { match_id, intact, damage } in &found {
        let is_known = known.iter().any(|(known, _)| known.match_id == *match_id);
        if !is_known && !results.contains_key(match_id) {
            lost.push(format!("match {match_id} is quarantined with {intact} intact records: {damage}"));
        }
    }
    recover::quarantine_in(&tx, &found)?;
    for (quarantine, number) in
        known.into_iter().filter_map(|(found, number)| Some((found, number?))).chain(results.into_values())
    {
        recover::quarantine_in(&tx, std::slice::from_ref(&quarantine))?;
        let sql = "UPDATE quarantine SET result_number = ?2 WHERE match_id = ?1";
        tx.execute(sql, params![quarantine.match_id.as_bytes(), number])?;
        tx.execute(&QUARANTINE.seal_where("match_id = ?1"), [quarantine.match_id.as_bytes()])?;
    }
    tx.commit()?;
    Ok(lost)
}

/// The rows of a query up to the first that can't be read.
pub(super) fn readable(
    conn: &Connection,
    sql: &str,
    params: impl Params,
) -> (Vec<Vec<Value>>, Option<rusqlite::Error>) {
    let mut taken = Vec::new();
    let read = || {
        let mut statement = conn.prepare(sql)?;
        let columns = statement.column_count();
        let mut rows = statement.query(params)?;
        while let Some(row) = rows.next()? {
            taken.push((0..columns).map(|column| row.get(column)).collect::<rusqlite::Result<_>>()?);
        }
        Ok(())
    };
    let error = read().err();
    (taken, error)
}

/// Whether the pages of a table are as SQLite makes them: else a row may be missing that nothing else tells of.
fn hangs_together(conn: &Connection, sealed: Sealed) -> bool {
    let (found, error) = readable(conn, &format!("PRAGMA integrity_check({})", sealed.table), []);
    error.is_none() && matches!(&found[..], [row] if matches!(&row[..], [Value::Text(ok)] if ok == "ok"))
}

/// The rows of a table whose key is a number, with this value of each, as far as they can be read: from the first on, from the last back,
/// and one by one in between; and whether that is all of them. A damaged key hides what is beside it from who looks for a key, so nothing
/// is looked for that is read in order.
pub(super) fn by_key(conn: &Connection, table: &str, key: &str, value: &str) -> (Vec<(i64, Value)>, bool) {
    let read = |rest: &str, only: Option<i64>| {
        let sql = format!("SELECT {key}, {value} FROM {table} {rest}");
        let (rows, error) = readable(conn, &sql, params_from_iter(only));
        let rows = rows.into_iter().filter_map(|row| match <[Value; 2]>::try_from(row) {
            Ok([Value::Integer(key), value]) => Some((key, value)),
            _ => None,
        });
        (rows.collect::<Vec<_>>(), error.is_none())
    };
    let (mut rows, whole) = read(&format!("ORDER BY {key}"), None);
    if whole {
        return (rows, true);
    }
    let (after, _) = read(&format!("ORDER BY {key} DESC"), None);
    let from = rows.last().map_or(1, |(last, _)| last.saturating_add(1));
    let to = after.last().map_or(from, |(first, _)| *first);
    for number in (from..to).take(limits::ROWS_PROBED) {
        rows.extend(read(&format!("WHERE {key} = ?1"), Some(number)).0);
    }
    rows.extend(after.into_iter().rev());
    rows.dedup();
    (rows, false)
}

/// The rows with their seal. In a table of an earlier release none has one, and all count.
fn small_table(
    from: &Found,
    to: &Connection,
    sealed: Sealed,
    lost: &mut Vec<String>,
) -> rusqlite::Result<()> {
    let Sealed { table, columns } = sealed;
    let holds = if from.schema >= SEALED { sealed.holds() } else { "1".to_owned() };
    let (rows, error) = readable(&from.conn, &format!("SELECT {holds}, {columns} FROM {table}"), []);
    lost.extend(
        error.map(|error| format!("rows of the table {table}: {error}{}", what_follows(sealed, None))),
    );
    let places = vec!["?"; columns.split(',').count()].join(", ");
    let sql = format!("INSERT OR REPLACE INTO {table} ({columns}) VALUES ({places})");
    for row in rows {
        if let Some((Value::Integer(1), values)) = row.split_first() {
            to.execute(&sql, params_from_iter(values))?;
        } else {
            let name = name_of(sealed, row.get(1..).unwrap_or_default());
            let (row, follows) = (row_of(table, name), what_follows(sealed, name));
            lost.push(format!("{row} that is not as it was written{follows}"));
        }
    }
    to.execute(&sealed.seal_where("true"), [])?;
    Ok(())
}

/// What whoever reads of a lost row knows it by: the key of a value of `meta`, and the name of an account, a ladder or a bot.
fn name_of(sealed: Sealed, values: &[Value]) -> Option<&str> {
    let column = match sealed {
        META | REGISTERED_OWNERS | LADDERS => 0,
        REGISTERED_BOTS | LADDER_RATINGS => 1,
        _ => return None,
    };
    match values.get(column) {
        Some(Value::Text(name)) => Some(name),
        _ => None,
    }
}

/// A row in words.
fn row_of(table: &str, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("the row {name:?} of the table {table}"),
        None => format!("a row of the table {table}"),
    }
}

/// What follows when such a row is lost.
fn what_follows(sealed: Sealed, name: Option<&str>) -> &'static str {
    match (sealed, name) {
        (META, Some("service_key")) => {
            ": the next start makes another key, every seat token is void, and webhooks have other secrets. Give the \
             seats new ones, and make the webhooks anew"
        }
        (META, Some("admin_token_sha256")) => {
            ": the next start makes another admin token, in the file admin-token"
        }
        (META, Some("incarnations")) => {
            ": cursors of results that were given since the last restore are refused"
        }
        (META, Some(key)) if key.starts_with("not-aborted") => {
            ": matches that the last restore could not abort go on: cancel them"
        }
        (META, Some(key)) if key.starts_with("reinstated-") => {
            ": a bot that was benched on a ladder until its owner put it back is so again, or was for some of its matches. Its owner \
             puts it back again (ReinstateBot)"
        }
        (REGISTERED_BOTS, _) => {
            ": the bot has no owner, and is not retired any more. The admin has to register it again, and to retire it if it was \
             retired"
        }
        (REGISTERED_OWNERS, _) => {
            ": the owner's tokens hold, and it does not count any more among those that registered themselves"
        }
        (ROTATED_TOKENS, _) => {
            ": which token of a bot was rotated can't be told, so each of a bot that has a later one is taken for it, as named below. A \
             program that is meant to play by one of those needs another. Where the later one is lost too, the old one holds again: \
             revoke it"
        }
        (REQUESTS, _) => ", unless the redo log has it still",
        (LADDERS | LADDER_RATINGS, _) => {
            ": ratings follow from the results, and the next start stores what they say"
        }
        _ => "",
    }
}

/// The matches under quarantine, with the number of a result that was lost.
fn quarantined(from: &Found, lost: &mut Vec<String>) -> Vec<(Quarantine, Option<i64>)> {
    let (holds, number) =
        if from.schema >= SEALED { (QUARANTINE.holds(), "result_number") } else { ("1".to_owned(), "NULL") };
    let sql = format!("SELECT {holds}, match_id, intact, damage, {number} FROM quarantine");
    let (rows, error) = readable(&from.conn, &sql, []);
    lost.extend(error.map(|error| format!("rows of the table quarantine: {error}")));
    let mut found = Vec::new();
    for row in rows {
        if let [Value::Integer(1), Value::Blob(id), Value::Integer(intact), Value::Text(damage), number] =
            row.as_slice()
            && let Ok(id) = <[u8; 16]>::try_from(id.as_slice())
        {
            let intact = Version::new(u32::try_from(*intact).unwrap_or(0));
            let number = if let Value::Integer(number) = number { Some(*number) } else { None };
            let match_id = MatchId::from_bytes(id);
            found.push((Quarantine { match_id, intact, damage: damage.as_str().into() }, number));
        } else {
            lost.push("a row of the table quarantine that is not as it was written".to_owned());
        }
    }
    found
}

/// Copies the finished matches that are as they were written, from the redo log where it has them still. Those that are not, and those that
/// are missing, are to be under quarantine, with the number of their result.
fn finished(
    from: &Found,
    to: &Connection,
    redo: &[Entry],
    lost: &mut Vec<String>,
) -> rusqlite::Result<HashMap<MatchId, (Quarantine, i64)>> {
    const COLUMNS: &str = "result_number, match_id, version, owner, visibility, client_reference, finished_ms, \
                           summary, record, hash";
    let mut damaged = HashMap::new();
    let (numbers, _) = by_key(&from.conn, "records", "result_number", "NULL");
    // A webhook that has passed a result tells that there was one.
    let passed = if from.schema >= HOOKED { webhooks::last_passed(to)? } else { 0 };
    // And so do ratings that are after it.
    let rated = if from.schema >= RATED { ladders::last_rated(to)? } else { 0 };
    let logged: BTreeMap<i64, (MatchId, &Entry)> = redo
        .iter()
        .filter_map(|entry| match entry {
            Entry::Finish { number, match_id, .. } => Some((clamp(number.get()), (*match_id, entry))),
            Entry::Request { .. } => None,
        })
        .collect();
    let last_logged = logged.last_key_value().map_or(0, |(last, _)| *last);
    let end = numbers.last().map_or(0, |(last, _)| *last).max(passed).max(rated).max(last_logged);
    let mut from_the_log = Vec::new();
    let mut give_up = |number: i64, id: Option<[u8; 16]>| {
        // What it was can't be read: its number stands for it.
        let id = id.unwrap_or_else(|| (u128::MAX << 64 | u128::from(number.unsigned_abs())).to_be_bytes());
        let match_id = MatchId::from_bytes(id);
        let damage = format!("result {number} is not as it was written, or missing");
        lost.push(format!("{damage}: match {match_id}"));
        let quarantine = Quarantine { match_id, intact: Version::ZERO, damage: damage.into() };
        damaged.insert(match_id, (quarantine, number));
    };
    let read = format!("SELECT {COLUMNS} FROM records WHERE result_number = ?1");
    let write = format!("INSERT INTO records ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for number in 1..=end {
        let row = readable(&from.conn, &read, [number]).0.pop();
        if let Some(row) = &row
            && records::is_intact(&from.conn, number)
        {
            to.prepare_cached(&write)?.execute(params_from_iter(row))?;
            continue;
        }
        if records::is_known_lost(&from.conn, from.schema, number) {
            continue;
        }
        if let Some((match_id, entry)) = logged.get(&number)
            && read::result_of(to, *match_id)?.is_none()
        {
            from_the_log.push((number, *match_id, *entry));
            continue;
        }
        let id = row.and_then(|row| match row.get(1) {
            Some(Value::Blob(id)) => <[u8; 16]>::try_from(id.as_slice()).ok(),
            _ => None,
        });
        give_up(number, id);
    }
    records::seal_all(to)?;
    bots::insert_all(to)?;
    for (number, match_id, entry) in from_the_log {
        // The database may have its match under a later number.
        if read::result_of(to, match_id)?.is_some() {
            give_up(number, None);
        } else {
            pending::put(to, entry)?;
        }
    }
    Ok(damaged)
}
