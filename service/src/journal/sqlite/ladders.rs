//! The tables of the ratings of ladders.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::commit::clamp;
use super::read::{is_damage, sealed, stored_value};
use super::seal::{LADDER_RATINGS, LADDERS};
use crate::journal::{
    BotName, Cause, LadderChange, LadderName, LaterRatings, Never, OtherBots, Outcome, ResultNumber,
    StoredLadder, StoredLater, StoredRating, StoredSettings,
};

/// What is stored of a ladder. Its rows of bots are read as they are: whoever asks holds them against the results, which says
/// more than a seal.
pub(super) fn read(conn: &Connection, ladder: &LadderName) -> rusqlite::Result<Option<StoredLadder>> {
    let sql = format!("SELECT {}, {} FROM ladders WHERE ladder = ?1", LADDERS.columns, LADDERS.holds());
    let read = |row: &Row<'_>| sealed(row, 8).and_then(|()| head(row));
    let Some((after, settings)) = conn.prepare_cached(&sql)?.query_row([ladder.as_str()], read).optional()?
    else {
        return Ok(None);
    };
    let sql = format!("SELECT {} FROM ladder_ratings WHERE ladder = ?1 ORDER BY bot", LADDER_RATINGS.columns);
    let bots = conn.prepare_cached(&sql)?.query_map([ladder.as_str()], rating)?.collect::<Result<_, _>>()?;
    Ok(Some(StoredLadder { after, settings, bots }))
}

/// The ladders of which something is stored, by name; those whose name can't be read are left out.
pub(super) fn names(conn: &Connection) -> rusqlite::Result<Vec<LadderName>> {
    let sql = "SELECT CAST(ladder AS BLOB) FROM ladders ORDER BY ladder";
    let names: Vec<Vec<u8>> =
        conn.prepare_cached(sql)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(names.iter().filter_map(|name| as_name(name)).collect())
}

/// What stands, as the name of a ladder, in rows of either table and is none.
pub(super) fn nameless(conn: &Connection) -> rusqlite::Result<Vec<Vec<u8>>> {
    let sql =
        "SELECT CAST(ladder AS BLOB) FROM ladders UNION SELECT CAST(ladder AS BLOB) FROM ladder_ratings";
    let names: Vec<Vec<u8>> =
        conn.prepare_cached(sql)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(names.into_iter().filter(|name| as_name(name).is_none()).collect())
}

fn as_name(name: &[u8]) -> Option<LadderName> {
    LadderName::new(std::str::from_utf8(name).ok()?).ok()
}

/// Removes the rows that are of no ladder.
pub(super) fn forget_nameless(conn: &Connection) -> rusqlite::Result<Outcome<(), Never>> {
    for name in nameless(conn)? {
        for table in [LADDERS.table, LADDER_RATINGS.table] {
            conn.execute(&format!("DELETE FROM {table} WHERE CAST(ladder AS BLOB) = ?1"), [&name])?;
        }
    }
    conn.execute("DELETE FROM ladder_ratings WHERE ladder NOT IN (SELECT ladder FROM ladders)", [])?;
    Ok(Outcome::Done(()))
}

/// The last result that ratings are after.
pub(super) fn last_rated(conn: &Connection) -> rusqlite::Result<i64> {
    conn.query_row("SELECT coalesce(max(result_number), 0) FROM ladders", [], |row| row.get(0))
}

/// What is damaged of the pages that a change of a ladder reads and changes, if anything is. That rows are not as they were written does not
/// matter, as they are replaced, and any other error is none of this.
pub(super) fn damage_of(conn: &Connection, ladder: &LadderName) -> Option<Cause> {
    let sql = "SELECT (SELECT count(*) + total(length(seal)) FROM ladders),
        (SELECT total(length(bot)) + total(length(seal)) FROM ladder_ratings WHERE ladder = ?1)";
    let read = || conn.prepare_cached(sql)?.query_row([ladder.as_str()], |_| Ok(()));
    let error = read().err()?;
    is_damage(&error).then(|| Cause::new(error))
}

/// Stores ratings of a ladder.
pub(super) fn put(conn: &Connection, change: &LadderChange) -> rusqlite::Result<Outcome<(), StoredLater>> {
    let LadderChange { ladder, stored, others, later } = change;
    let StoredLadder { after, settings, bots } = stored;
    if *later == LaterRatings::Stay
        && let Some(stored) = after_of(conn, ladder)?
        && stored > *after
    {
        return Ok(Outcome::Refused(StoredLater { stored }));
    }
    if *others == OtherBots::Go {
        conn.prepare_cached("DELETE FROM ladder_ratings WHERE ladder = ?1")?.execute([ladder.as_str()])?;
    }
    let StoredSettings { mu, sigma, beta, kappa, tau, provisional_sigma } = settings;
    let sql = format!(
        "INSERT OR REPLACE INTO ladders ({}, seal)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, seal_of('ladders', ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8))",
        LADDERS.columns
    );
    conn.prepare_cached(&sql)?.execute(params![
        ladder.as_str(),
        clamp(after.get()),
        mu,
        sigma,
        beta,
        kappa,
        tau,
        provisional_sigma
    ])?;
    let sql = format!(
        "INSERT OR REPLACE INTO ladder_ratings ({}, seal) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,
            seal_of('ladder_ratings', ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10))",
        LADDER_RATINGS.columns
    );
    let mut insert = conn.prepare_cached(&sql)?;
    for StoredRating { bot, mu, sigma, matches, wins, draws, forfeits, opponents, margin } in bots {
        insert.execute(params![
            ladder.as_str(),
            bot.as_str(),
            mu,
            sigma,
            clamp(*matches),
            clamp(*wins),
            clamp(*draws),
            clamp(*forfeits),
            clamp(*opponents),
            margin
        ])?;
    }
    Ok(Outcome::Done(()))
}

/// After which result the stored ratings of a ladder are; nothing if that is not as it was written.
fn after_of(conn: &Connection, ladder: &LadderName) -> rusqlite::Result<Option<ResultNumber>> {
    let sql = format!("SELECT result_number FROM ladders WHERE ladder = ?1 AND {}", LADDERS.holds());
    let after = conn.prepare_cached(&sql)?.query_row([ladder.as_str()], |row| row.get::<_, i64>(0));
    Ok(after.optional()?.map(|after| ResultNumber::new(after.unsigned_abs())))
}

fn head(row: &Row<'_>) -> rusqlite::Result<(ResultNumber, StoredSettings)> {
    let after = ResultNumber::new(row.get::<_, i64>(1)?.unsigned_abs());
    let settings = StoredSettings {
        mu: row.get(2)?,
        sigma: row.get(3)?,
        beta: row.get(4)?,
        kappa: row.get(5)?,
        tau: row.get(6)?,
        provisional_sigma: row.get(7)?,
    };
    Ok((after, settings))
}

fn rating(row: &Row<'_>) -> rusqlite::Result<StoredRating> {
    let count = |column| row.get::<_, i64>(column).map(i64::unsigned_abs);
    Ok(StoredRating {
        bot: stored_value(1, BotName::new(row.get::<_, String>(1)?))?,
        mu: row.get(2)?,
        sigma: row.get(3)?,
        matches: count(4)?,
        wins: count(5)?,
        draws: count(6)?,
        forfeits: count(7)?,
        opponents: count(8)?,
        margin: row.get(9)?,
    })
}
