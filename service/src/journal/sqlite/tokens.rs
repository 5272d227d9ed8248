//! The table of tokens.

use rusqlite::{Connection, Row, params};

use super::commit::clamp;
use super::read::{sealed, stored_value};
use super::seal::TOKENS;
use crate::journal::{
    BotName, Owner, Scope, SecretHash, StoredToken, TokenId, TokenLabel, TokenNumber, UnixMillis,
};

const COLUMNS: &str =
    "token_number, token_id, secret_sha256, scope, account, label, created_ms, expires_ms, revoked_ms";

const ADMIN: i64 = 1;
const OWNER: i64 = 2;
const BOT: i64 = 3;

/// Every token, in the order in which they were made.
pub(super) fn all(conn: &Connection) -> rusqlite::Result<Vec<StoredToken>> {
    let sql = format!("SELECT {COLUMNS}, {} FROM tokens ORDER BY token_number", TOKENS.holds());
    conn.prepare_cached(&sql)?.query_map([], token)?.collect()
}

pub(super) fn insert(conn: &Connection, token: &StoredToken) -> rusqlite::Result<()> {
    let StoredToken { number, id, hash, scope, label, created_at, expires_at, revoked_at } = token;
    let (kind, account) = match scope {
        Scope::Admin => (ADMIN, None),
        Scope::Owner(owner) => (OWNER, Some(owner.as_str())),
        Scope::Bot(bot) => (BOT, Some(bot.as_str())),
    };
    let sql = format!("INSERT INTO tokens ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");
    conn.prepare_cached(&sql)?.execute(params![
        clamp(number.get()),
        id.as_bytes(),
        hash.0,
        kind,
        account,
        label.as_ref().map(TokenLabel::as_str),
        clamp(created_at.get()),
        expires_at.map(|at| clamp(at.get())),
        revoked_at.map(|at| clamp(at.get())),
    ])?;
    seal(conn, *id)
}

pub(super) fn revoke(conn: &Connection, id: TokenId, now: UnixMillis) -> rusqlite::Result<()> {
    let sql = "UPDATE tokens SET revoked_ms = ?2 WHERE token_id = ?1 AND revoked_ms IS NULL";
    conn.prepare_cached(sql)?.execute(params![id.as_bytes(), clamp(now.get())])?;
    seal(conn, id)
}

fn seal(conn: &Connection, id: TokenId) -> rusqlite::Result<()> {
    conn.prepare_cached(&TOKENS.seal_where("token_id = ?1"))?.execute(params![id.as_bytes()])?;
    Ok(())
}

pub(super) fn forget(conn: &Connection, id: TokenId) -> rusqlite::Result<()> {
    conn.prepare_cached("DELETE FROM tokens WHERE token_id = ?1")?.execute(params![id.as_bytes()])?;
    Ok(())
}

fn token(row: &Row<'_>) -> rusqlite::Result<StoredToken> {
    sealed(row, 9)?;
    let account = || row.get::<_, String>(4);
    let scope = match row.get(3)? {
        ADMIN => Scope::Admin,
        OWNER => Scope::Owner(stored_value(4, Owner::new(account()?))?),
        BOT => Scope::Bot(stored_value(4, BotName::new(account()?))?),
        other => return Err(rusqlite::Error::IntegralValueOutOfRange(3, other)),
    };
    let label: Option<String> = row.get(5)?;
    Ok(StoredToken {
        number: TokenNumber::new(row.get::<_, i64>(0)?.unsigned_abs()),
        id: TokenId::from_bytes(row.get(1)?),
        hash: SecretHash(row.get(2)?),
        scope,
        label: label.map(|label| stored_value(5, TokenLabel::new(label))).transpose()?,
        created_at: millis(row.get(6)?),
        expires_at: row.get::<_, Option<i64>>(7)?.map(millis),
        revoked_at: row.get::<_, Option<i64>>(8)?.map(millis),
    })
}

fn millis(ms: i64) -> UnixMillis {
    UnixMillis::new(ms.unsigned_abs())
}
