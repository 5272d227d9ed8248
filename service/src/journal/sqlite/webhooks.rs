//! The tables of webhooks and of dead letters.

use rusqlite::{Connection, Row, params};

use super::commit::clamp;
use super::read::{sealed, stored_value};
use super::seal::{DEAD_LETTERS, WEBHOOKS};
use crate::journal::{
    DeadLetter, DeadLetterFilter, DeadLetterState, Owner, PageSize, Resend, ResultNumber, StoredWebhook,
    UnixMillis, WebhookId, WebhookNumber, WebhookUrl,
};

const KEPT: i64 = 1;
const DUE: i64 = 2;

/// Every webhook with the number of its dead letters, in the order in which they were made.
pub(super) fn all(conn: &Connection) -> rusqlite::Result<Vec<(StoredWebhook, u32)>> {
    let sql = format!(
        "SELECT {}, {}, (SELECT count(*) FROM dead_letters AS dead WHERE dead.webhook_id = webhooks.webhook_id)
        FROM webhooks ORDER BY webhook_number",
        WEBHOOKS.columns,
        WEBHOOKS.holds()
    );
    let read = |row: &Row<'_>| Ok((webhook(row)?, row.get(7)?));
    conn.prepare_cached(&sql)?.query_map([], read)?.collect()
}

/// The last result that one of them has settled.
pub(super) fn last_passed(conn: &Connection) -> rusqlite::Result<i64> {
    conn.query_row("SELECT coalesce(max(settled), 0) FROM webhooks", [], |row| row.get(0))
}

/// The dead letters that a filter wants, at most a page of them.
pub(super) fn dead_letters(
    conn: &Connection,
    filter: &DeadLetterFilter,
    page: PageSize,
) -> rusqlite::Result<Vec<DeadLetter>> {
    let DeadLetterFilter { webhook, state, after } = filter;
    let sql = format!(
        "SELECT {}, {} FROM dead_letters
        WHERE webhook_id = ?1 AND result_number > ?2 AND (?3 IS NULL OR state = ?3) ORDER BY result_number LIMIT ?4",
        DEAD_LETTERS.columns,
        DEAD_LETTERS.holds()
    );
    let params = params![webhook.as_bytes(), clamp(after.get()), state.map(code), page.get()];
    conn.prepare_cached(&sql)?.query_map(params, dead_letter)?.collect()
}

pub(super) fn insert(conn: &Connection, webhook: &StoredWebhook) -> rusqlite::Result<u64> {
    let StoredWebhook { number, id, owner, url, created_at, settled } = webhook;
    let sql = format!("INSERT INTO webhooks ({}) VALUES (?1, ?2, ?3, ?4, ?5, ?6)", WEBHOOKS.columns);
    let made = conn.prepare_cached(&sql)?.execute(params![
        clamp(number.get()),
        id.as_bytes(),
        owner.as_ref().map(Owner::as_str),
        url.as_str(),
        clamp(created_at.get()),
        clamp(settled.get()),
    ])?;
    seal(conn, *id)?;
    Ok(made as u64)
}

pub(super) fn delete(conn: &Connection, id: WebhookId) -> rusqlite::Result<u64> {
    conn.prepare_cached("DELETE FROM dead_letters WHERE webhook_id = ?1")?.execute([id.as_bytes()])?;
    let gone = conn.prepare_cached("DELETE FROM webhooks WHERE webhook_id = ?1")?.execute([id.as_bytes()])?;
    Ok(gone as u64)
}

/// Moves a webhook on; never back.
pub(super) fn settle(
    conn: &Connection,
    id: WebhookId,
    to: ResultNumber,
    dead: Option<&DeadLetter>,
) -> rusqlite::Result<u64> {
    let sql = "UPDATE webhooks SET settled = max(settled, ?2) WHERE webhook_id = ?1";
    let there = conn.prepare_cached(sql)?.execute(params![id.as_bytes(), clamp(to.get())])?;
    if there > 0 {
        seal(conn, id)?;
        if let Some(dead) = dead {
            put(conn, id, dead)?;
        }
    }
    Ok(there as u64)
}

/// Marks dead letters as due. The answer is how many of those that are asked for are so then; whoever asks again has none
/// written again.
pub(super) fn make_due(conn: &Connection, id: WebhookId, which: &Resend) -> rusqlite::Result<u64> {
    // One statement for all numbers: the writer makes every table wait. An array of JSON is how SQLite takes a list.
    let (condition, numbers) = match which {
        Resend::All => ("?2 IS NULL", None),
        Resend::These(numbers) => {
            let numbers: Vec<i64> = numbers.iter().map(|number| clamp(number.get())).collect();
            ("result_number IN (SELECT value FROM json_each(?2))", Some(format!("{numbers:?}")))
        }
    };
    let params = params![id.as_bytes(), numbers];
    let asked = format!("webhook_id = ?1 AND {condition}");
    let due = format!(
        "UPDATE dead_letters SET state = {DUE},
        seal = seal_of('dead_letters', webhook_id, result_number, attempts, error, died_ms, {DUE})
        WHERE {asked} AND state = {KEPT}"
    );
    conn.prepare_cached(&due)?.execute(params)?;
    let count = format!("SELECT count(*) FROM dead_letters WHERE {asked}");
    conn.prepare_cached(&count)?.query_row(params, |row| row.get::<_, i64>(0)).map(i64::unsigned_abs)
}

/// A dead letter is none any more.
pub(super) fn revive(conn: &Connection, id: WebhookId, result: ResultNumber) -> rusqlite::Result<u64> {
    let sql = "DELETE FROM dead_letters WHERE webhook_id = ?1 AND result_number = ?2";
    let gone = conn.prepare_cached(sql)?.execute(params![id.as_bytes(), clamp(result.get())])?;
    Ok(gone as u64)
}

/// Keeps a dead letter of a webhook that is still there.
pub(super) fn die_again(conn: &Connection, id: WebhookId, dead: &DeadLetter) -> rusqlite::Result<u64> {
    if revive(conn, id, dead.result)? == 0 {
        return Ok(0);
    }
    put(conn, id, dead)?;
    Ok(1)
}

fn put(conn: &Connection, id: WebhookId, dead: &DeadLetter) -> rusqlite::Result<()> {
    let DeadLetter { result, attempts, error, died_at, state } = dead;
    let sql = format!(
        "INSERT OR REPLACE INTO dead_letters ({columns}, seal)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, seal_of('dead_letters', ?1, ?2, ?3, ?4, ?5, ?6))",
        columns = DEAD_LETTERS.columns
    );
    conn.prepare_cached(&sql)?.execute(params![
        id.as_bytes(),
        clamp(result.get()),
        attempts,
        error,
        clamp(died_at.get()),
        code(*state),
    ])?;
    Ok(())
}

fn seal(conn: &Connection, id: WebhookId) -> rusqlite::Result<()> {
    conn.prepare_cached(&WEBHOOKS.seal_where("webhook_id = ?1"))?.execute([id.as_bytes()])?;
    Ok(())
}

const fn code(state: DeadLetterState) -> i64 {
    match state {
        DeadLetterState::Kept => KEPT,
        DeadLetterState::Due => DUE,
    }
}

fn webhook(row: &Row<'_>) -> rusqlite::Result<StoredWebhook> {
    sealed(row, 6)?;
    let owner: Option<String> = row.get(2)?;
    Ok(StoredWebhook {
        number: WebhookNumber::new(row.get::<_, i64>(0)?.unsigned_abs()),
        id: WebhookId::from_bytes(row.get(1)?),
        owner: owner.map(|owner| stored_value(2, Owner::new(owner))).transpose()?,
        url: stored_value(3, WebhookUrl::new(row.get::<_, String>(3)?))?,
        created_at: UnixMillis::new(row.get::<_, i64>(4)?.unsigned_abs()),
        settled: ResultNumber::new(row.get::<_, i64>(5)?.unsigned_abs()),
    })
}

fn dead_letter(row: &Row<'_>) -> rusqlite::Result<DeadLetter> {
    sealed(row, 6)?;
    Ok(DeadLetter {
        result: ResultNumber::new(row.get::<_, i64>(1)?.unsigned_abs()),
        attempts: row.get(2)?,
        error: row.get(3)?,
        died_at: UnixMillis::new(row.get::<_, i64>(4)?.unsigned_abs()),
        state: match row.get(5)? {
            KEPT => DeadLetterState::Kept,
            DUE => DeadLetterState::Due,
            other => return Err(rusqlite::Error::IntegralValueOutOfRange(5, other)),
        },
    })
}
