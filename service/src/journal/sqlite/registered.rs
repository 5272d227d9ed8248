//! The tables of registered bots, and of the owners that registered themselves.

use rusqlite::{Connection, Row, params};

use super::commit::clamp;
use super::read::{sealed, stored_value};
use super::seal::{REGISTERED_BOTS, REGISTERED_OWNERS};
use crate::journal::{
    Account, Accounts, BotDescription, BotName, BotNumber, BotVersion, FaultContact, Owner, StoredBot,
    StoredOwner, UnixMillis,
};

/// Every account.
pub(super) fn all(conn: &Connection) -> rusqlite::Result<Accounts> {
    let bots = format!(
        "SELECT {}, {} FROM registered_bots ORDER BY bot_number",
        REGISTERED_BOTS.columns,
        REGISTERED_BOTS.holds()
    );
    let owners = format!(
        "SELECT {}, {} FROM registered_owners ORDER BY owner",
        REGISTERED_OWNERS.columns,
        REGISTERED_OWNERS.holds()
    );
    Ok(Accounts {
        bots: conn.prepare_cached(&bots)?.query_map([], bot)?.collect::<rusqlite::Result<_>>()?,
        owners: conn.prepare_cached(&owners)?.query_map([], owner)?.collect::<rusqlite::Result<_>>()?,
    })
}

/// Whether a match that is over, or a webhook, is of this owner.
pub(super) fn has_left_traces(conn: &Connection, owner: &Owner) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM records WHERE owner = ?1)
        OR EXISTS (SELECT 1 FROM webhooks WHERE owner = ?1)";
    conn.prepare_cached(sql)?.query_row([owner.as_str()], |row| row.get(0))
}

/// Whether a match that is over has a seat for this bot.
pub(super) fn has_played(conn: &Connection, bot: &BotName) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM bots WHERE bot = ?1)";
    conn.prepare_cached(sql)?.query_row([bot.as_str()], |row| row.get(0))
}

/// Writes an account as it is from now on.
pub(super) fn put(conn: &Connection, account: &Account) -> rusqlite::Result<()> {
    match account {
        Account::Bot(bot) => put_bot(conn, bot),
        Account::Owner(owner) => insert_owner(conn, owner),
    }
}

fn put_bot(conn: &Connection, bot: &StoredBot) -> rusqlite::Result<()> {
    let StoredBot { number, name, owner, description, version, fault_contact, created_at, retired_at } = bot;
    // The number alone says which bot it is: another's name is an error, and takes nobody's place.
    let sql = format!(
        "INSERT INTO registered_bots ({columns}, seal)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, {seal})
        ON CONFLICT (bot_number) DO UPDATE SET (bot, owner, description, version, fault_contact, created_ms, retired_ms, seal)
            = (?2, ?3, ?4, ?5, ?6, ?7, ?8, {seal})",
        columns = REGISTERED_BOTS.columns,
        seal = "seal_of('registered_bots', ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    );
    conn.prepare_cached(&sql)?.execute(params![
        clamp(number.get()),
        name.as_str(),
        owner.as_str(),
        description.as_ref().map(BotDescription::as_str),
        version.as_ref().map(BotVersion::as_str),
        fault_contact.as_ref().map(FaultContact::as_str),
        clamp(created_at.get()),
        retired_at.map(|at| clamp(at.get())),
    ])?;
    Ok(())
}

fn insert_owner(conn: &Connection, owner: &StoredOwner) -> rusqlite::Result<()> {
    let StoredOwner { name, created_at } = owner;
    let sql = format!(
        "INSERT INTO registered_owners ({}, seal) VALUES (?1, ?2, seal_of('registered_owners', ?1, ?2))",
        REGISTERED_OWNERS.columns
    );
    conn.prepare_cached(&sql)?.execute(params![name.as_str(), clamp(created_at.get())])?;
    Ok(())
}

fn bot(row: &Row<'_>) -> rusqlite::Result<StoredBot> {
    sealed(row, 8)?;
    let text = |column| row.get::<_, Option<String>>(column);
    Ok(StoredBot {
        number: BotNumber::new(row.get::<_, i64>(0)?.unsigned_abs()),
        name: stored_value(1, BotName::new(row.get::<_, String>(1)?))?,
        owner: stored_value(2, Owner::new(row.get::<_, String>(2)?))?,
        description: text(3)?.map(|text| stored_value(3, BotDescription::new(text))).transpose()?,
        version: text(4)?.map(|text| stored_value(4, BotVersion::new(text))).transpose()?,
        fault_contact: text(5)?.map(|text| stored_value(5, FaultContact::new(text))).transpose()?,
        created_at: UnixMillis::new(row.get::<_, i64>(6)?.unsigned_abs()),
        retired_at: row.get::<_, Option<i64>>(7)?.map(|ms| UnixMillis::new(ms.unsigned_abs())),
    })
}

fn owner(row: &Row<'_>) -> rusqlite::Result<StoredOwner> {
    sealed(row, 2)?;
    Ok(StoredOwner {
        name: stored_value(0, Owner::new(row.get::<_, String>(0)?))?,
        created_at: UnixMillis::new(row.get::<_, i64>(1)?.unsigned_abs()),
    })
}
