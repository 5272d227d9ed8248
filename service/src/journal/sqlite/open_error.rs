//! Why a journal can't be opened, and what to do about it.

use std::io;
use std::path::PathBuf;

/// Why a journal can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another server has the folder open.
    #[error("{folder} is in use by another server: stop it, or choose another folder", folder = .folder.display())]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// The file system refuses.
    #[error("can't {doing} {path}: {source}", path = .path.display())]
    File {
        /// What was tried.
        doing: &'static str,
        /// On which folder.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The database is of another program.
    #[error("{database} is not a journal of Zetema: choose another folder", database = .database.display())]
    NotAJournal {
        /// The database.
        database: PathBuf,
    },
    /// The database is of another release.
    #[error(
        "{database} has schema version {found}, and this release knows version {known}: use the release that wrote it, or a later one",
        database = .database.display()
    )]
    OtherSchema {
        /// The database.
        database: PathBuf,
        /// Its version.
        found: u64,
        /// The version that this release knows.
        known: u64,
    },
    /// The SQLite that this program was built with is too old.
    #[error("SQLite {version} is too old: 3.51.3 or later is needed")]
    OldSqlite {
        /// Its version.
        version: &'static str,
    },
    /// The file system can't keep a WAL.
    #[error("the file system allows no WAL, only journal mode {mode}: choose a folder on a local disk")]
    NoWal {
        /// The mode that SQLite fell back to.
        mode: String,
    },
    /// What is needed to read the journal is damaged.
    #[error("the journal is damaged: {what}")]
    Damaged {
        /// What was found.
        what: String,
    },
    /// SQLite refuses.
    #[error("SQLite can't open the journal: {0}")]
    Sqlite(#[from] rusqlite::Error),
}
