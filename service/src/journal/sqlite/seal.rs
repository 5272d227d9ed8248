//! Seals: a hash over a row of a small table, in a column of its own. SQLite computes it where the row is written and where it is
//! read, by the function `seal_of(table, columns …)`.

use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result};
use sha2::{Digest, Sha256};

/// Gives a connection the function.
pub(super) fn define(conn: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    conn.create_scalar_function("seal_of", -1, flags, |context| {
        let mut hash = Sha256::new();
        for i in 0..context.len() {
            update(&mut hash, context.get_raw(i));
        }
        Ok(<[u8; 32]>::from(hash.finalize()).to_vec())
    })
}

/// A value is its type, the number of its bytes (8 bytes, big-endian) and its bytes; an integer has 8, big-endian.
fn update(hash: &mut Sha256, value: ValueRef<'_>) {
    let mut typed = |kind: u8, bytes: &[u8]| {
        hash.update([kind]);
        hash.update((bytes.len() as u64).to_be_bytes());
        hash.update(bytes);
    };
    match value {
        ValueRef::Null => typed(0, &[]),
        ValueRef::Integer(number) => typed(1, &number.to_be_bytes()),
        ValueRef::Real(number) => typed(2, &number.to_be_bytes()),
        ValueRef::Text(text) => typed(3, text),
        ValueRef::Blob(bytes) => typed(4, bytes),
    }
}

/// A table whose rows have a seal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sealed {
    pub(super) table: &'static str,
    /// The columns that the seal is over, in order.
    pub(super) columns: &'static str,
}

pub(super) const META: Sealed = Sealed { table: "meta", columns: "key, value" };
pub(super) const REQUESTS: Sealed =
    Sealed { table: "requests", columns: "caller, request_id, body_hash, response, created_ms" };
pub(super) const QUARANTINE: Sealed =
    Sealed { table: "quarantine", columns: "match_id, intact, damage, result_number" };
pub(super) const TOKENS: Sealed = Sealed {
    table: "tokens",
    columns: "token_number, token_id, secret_sha256, scope, account, label, created_ms, expires_ms, revoked_ms",
};
pub(super) const ROTATED_TOKENS: Sealed = Sealed { table: "rotated_tokens", columns: "token_id, rotated_ms" };
/// All of a finished match but its record, so that lists need not read that.
pub(super) const RECORDS: Sealed = Sealed {
    table: "records",
    columns: "result_number, match_id, version, owner, visibility, client_reference, finished_ms, summary",
};
pub(super) const WEBHOOKS: Sealed =
    Sealed { table: "webhooks", columns: "webhook_number, webhook_id, owner, url, created_ms, settled" };
pub(super) const DEAD_LETTERS: Sealed =
    Sealed { table: "dead_letters", columns: "webhook_id, result_number, attempts, error, died_ms, state" };
pub(super) const REGISTERED_BOTS: Sealed = Sealed {
    table: "registered_bots",
    columns: "bot_number, bot, owner, description, version, fault_contact, created_ms, retired_ms",
};
pub(super) const REGISTERED_OWNERS: Sealed =
    Sealed { table: "registered_owners", columns: "owner, created_ms" };
pub(super) const LADDERS: Sealed = Sealed {
    table: "ladders",
    columns: "ladder, result_number, mu, sigma, beta, kappa, tau, provisional_sigma",
};
pub(super) const LADDER_RATINGS: Sealed = Sealed {
    table: "ladder_ratings",
    columns: "ladder, bot, mu, sigma, matches, wins, draws, forfeits, opponents, margin",
};
/// Those whose rows had no seal in the first layouts.
pub(super) const FIRST: [Sealed; 5] = [META, REQUESTS, QUARANTINE, TOKENS, RECORDS];

impl Sealed {
    /// The seal that a row has to have.
    pub(super) fn seal(self) -> String {
        format!("seal_of('{}', {})", self.table, self.columns)
    }

    /// Whether a row has the seal that it has to have: 1 or 0.
    pub(super) fn holds(self) -> String {
        format!("seal IS {}", self.seal())
    }

    /// Seals the rows for which a condition holds.
    pub(super) fn seal_where(self, condition: &str) -> String {
        format!("UPDATE {} SET seal = {} WHERE {condition}", self.table, self.seal())
    }

    /// How many rows don't have their seal.
    pub(super) fn broken(self, conn: &Connection) -> Result<i64> {
        let sql = format!("SELECT count(*) FROM {} WHERE NOT ({})", self.table, self.holds());
        conn.query_row(&sql, [], |row| row.get(0))
    }
}
