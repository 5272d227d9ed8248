//! The tables of tokens, and of those that were rotated.

use std::collections::HashMap;

use rusqlite::{Connection, Row, params};

use super::commit::clamp;
use super::read::{sealed, stored_value};
use super::seal::{ROTATED_TOKENS, TOKENS};
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
    let mut tokens: Vec<StoredToken> =
        conn.prepare_cached(&sql)?.query_map([], token)?.collect::<rusqlite::Result<_>>()?;
    let rotated = rotated(conn)?;
    for token in &mut tokens {
        token.rotated_at = rotated.get(&token.id).copied();
    }
    Ok(tokens)
}

/// When each of those that were rotated was.
fn rotated(conn: &Connection) -> rusqlite::Result<HashMap<TokenId, UnixMillis>> {
    let sql = format!("SELECT {}, {} FROM rotated_tokens", ROTATED_TOKENS.columns, ROTATED_TOKENS.holds());
    let row = |row: &Row<'_>| {
        sealed(row, 2)?;
        Ok((TokenId::from_bytes(row.get(0)?), millis(row.get(1)?)))
    };
    conn.prepare_cached(&sql)?.query_map([], row)?.collect()
}

pub(super) fn insert(conn: &Connection, token: &StoredToken) -> rusqlite::Result<()> {
    let StoredToken { number, id, hash, scope, label, created_at, expires_at, revoked_at, rotated_at } =
        token;
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
    seal(conn, *id)?;
    rotated_at.map_or(Ok(()), |at| rotate(conn, *id, at))
}

pub(super) fn rotate(conn: &Connection, id: TokenId, now: UnixMillis) -> rusqlite::Result<()> {
    let sql = format!(
        "INSERT OR IGNORE INTO rotated_tokens ({}, seal) VALUES (?1, ?2, seal_of('rotated_tokens', ?1, ?2))",
        ROTATED_TOKENS.columns
    );
    conn.prepare_cached(&sql)?.execute(params![id.as_bytes(), clamp(now.get())])?;
    Ok(())
}

/// Takes every token of a bot that has a later one, and was neither revoked nor rotated, for one that was rotated when that was made, as
/// a rotation makes the new token in the moment in which it rotates the old one. The answer is which those are, in words.
pub(super) fn take_for_rotated(conn: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = format!(
        "SELECT old.token_id, old.account, later.created_ms, min(later.token_number) FROM tokens AS old \
         JOIN tokens AS later ON later.scope = old.scope AND later.account = old.account \
         AND later.token_number > old.token_number \
         WHERE old.scope = {BOT} AND old.revoked_ms IS NULL AND old.token_id NOT IN (SELECT token_id FROM rotated_tokens) \
         GROUP BY old.token_number"
    );
    let row =
        |row: &Row<'_>| Ok((TokenId::from_bytes(row.get(0)?), row.get::<_, String>(1)?, millis(row.get(2)?)));
    let taken: Vec<_> = conn.prepare(&sql)?.query_map([], row)?.collect::<rusqlite::Result<_>>()?;
    let mut told = Vec::with_capacity(taken.len());
    for (id, bot, rotated_at) in taken {
        rotate(conn, id, rotated_at)?;
        told.push(format!(
            "token {id} of the bot {bot} holds no more as it did: it is taken for rotated when the bot's next token was made"
        ));
    }
    Ok(told)
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
    for sql in ["DELETE FROM tokens WHERE token_id = ?1", "DELETE FROM rotated_tokens WHERE token_id = ?1"] {
        conn.prepare_cached(sql)?.execute(params![id.as_bytes()])?;
    }
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
        rotated_at: None,
    })
}

fn millis(ms: i64) -> UnixMillis {
    UnixMillis::new(ms.unsigned_abs())
}
