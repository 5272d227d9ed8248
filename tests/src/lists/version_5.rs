//! A journal as the last release without an index for every list wrote it, so that it can be measured how long the start takes
//! that brings it up to date.

use std::path::Path;

use anyhow::ensure;
use rusqlite::{Connection, params};
use sha2::{Digest, Sha256};

/// Takes away what version 6 and those after it added.
const ADDED: &str = "DROP TABLE bots; DROP INDEX records_by_owner_and_client_reference;
    DROP INDEX records_by_visibility_and_client_reference; DROP TABLE registered_bots; DROP TABLE registered_owners;
    DROP TABLE ladders; DROP TABLE ladder_ratings; DROP TABLE rotated_tokens;
    DELETE FROM meta WHERE key = 'journal/redo'";
/// The version of the tables.
const SCHEMA: u64 = 12;
/// The name of the version's number.
const KEY: &str = "journal/schema";

/// Makes a journal that is closed one of version 5.
///
/// # Errors
/// When it is none of this release's version.
pub fn to_version_5(folder: &Path) -> anyhow::Result<()> {
    let mut database = Connection::open(folder.join("journal.sqlite3"))?;
    let change = database.transaction()?;
    change.execute_batch(ADDED)?;
    let [found, version] = [SCHEMA, 5].map(|version| version.to_be_bytes().to_vec());
    let sql = "UPDATE meta SET value = ?3, seal = ?4 WHERE key = ?1 AND value = ?2";
    let changed = change.execute(sql, params![KEY, found, version, seal(&version)])?;
    ensure!(changed == 1, "this is no journal of version {SCHEMA}");
    change.commit()?;
    Ok(())
}

/// The seal of the row of `meta` with this value (docs/journal.md, "Seals and hashes").
fn seal(value: &[u8]) -> Vec<u8> {
    let mut hash = Sha256::new();
    for (kind, bytes) in [(3, "meta".as_bytes()), (3, KEY.as_bytes()), (4, value)] {
        hash.update([kind]);
        hash.update((bytes.len() as u64).to_be_bytes());
        hash.update(bytes);
    }
    hash.finalize().to_vec()
}
