//! Why a journal can't be opened, and what to do about it.

use std::io;
use std::path::PathBuf;

use rusqlite::ErrorCode;

use super::{WalDamage, read};
use crate::journal::redo::{RedoDamage, Unreadable};

/// What to do about damage.
const REPAIR: &str = "`zetema journal check` tells more. Restore a backup, or go on without what is lost by \
                      `zetema journal repair --accept-loss`";

/// Why a journal can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another server has the folder open.
    #[error("{folder} is in use by another server: stop it, or choose another folder", folder = .folder.display())]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// There is no journal.
    #[error("{folder} holds no journal: name the folder that `zetema serve --data` names", folder = .folder.display())]
    NoJournal {
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
    #[error("the journal is damaged: {what}. Nothing was changed. {REPAIR}")]
    Damaged {
        /// What was found.
        what: String,
    },
    /// The write-ahead log is damaged.
    #[error(
        "{wal} is damaged at byte {offset}, {where_it_is}: what follows would be lost, at least {commits} commits \
         ({frames} intact frames). Nothing was changed. {REPAIR}",
        wal = .wal.display(),
        offset = .damage.offset,
        where_it_is = .damage.place(),
        commits = .damage.lost_commits,
        frames = .damage.lost_frames,
    )]
    Wal {
        /// The write-ahead log.
        wal: PathBuf,
        /// What was found.
        damage: WalDamage,
    },
    /// The redo log is damaged.
    #[error(
        "{file} is damaged at byte {offset}, {what}: what follows would be lost. Nothing was changed. {REPAIR}",
        file = .damage.file.display(),
        offset = .damage.offset,
        what = .damage.what,
    )]
    Redo {
        /// What was found.
        damage: RedoDamage,
    },
    /// The journal was not closed, and its write-ahead log is not there.
    #[error(
        "{wal} is missing, and with it the last commits, unless another program has copied it into the database. \
         Nothing was changed. {REPAIR}",
        wal = .wal.display()
    )]
    WalGone {
        /// The write-ahead log.
        wal: PathBuf,
    },
    /// A journal was here, and its database is not.
    #[error(
        "{database} is missing, or empty without what its write-ahead log held, and a journal was here: restore a \
         backup. To begin anew, choose another folder",
        database = .database.display()
    )]
    DatabaseGone {
        /// The database.
        database: PathBuf,
    },
    /// A restore did not come to its end.
    #[error(
        "a backup was being restored into {}, and that was cut short: run `zetema restore` again",
        folder.display()
    )]
    Restoring {
        /// The folder.
        folder: PathBuf,
    },
    /// A repair did not come to its end.
    #[error(
        "the journal in {} was being repaired, and that was cut short: run `zetema journal repair --accept-loss` again",
        folder.display()
    )]
    Repairing {
        /// The folder.
        folder: PathBuf,
    },
    /// It is a backup.
    #[error(
        "{} is a backup: put it back by `zetema restore --from FILE --data DIR`, into a new folder",
        file.display()
    )]
    Backup {
        /// The file.
        file: PathBuf,
    },
    /// SQLite refuses.
    #[error("SQLite can't open the journal: {0}{advice}", advice = advice(.0))]
    Sqlite(#[source] rusqlite::Error),
}

impl OpenError {
    /// Whether it stays as it is until somebody does something about the folder or its file system. Of what the system refuses that is
    /// not known: another server may stop, and a disk that is full have room again.
    pub const fn is_lasting(&self) -> bool {
        match self {
            Self::NoJournal { .. }
            | Self::NotAJournal { .. }
            | Self::OtherSchema { .. }
            | Self::OldSqlite { .. }
            | Self::NoWal { .. }
            | Self::Damaged { .. }
            | Self::Wal { .. }
            | Self::WalGone { .. }
            | Self::DatabaseGone { .. }
            | Self::Redo { .. }
            | Self::Restoring { .. }
            | Self::Repairing { .. }
            | Self::Backup { .. } => true,
            Self::InUse { .. } | Self::File { .. } | Self::Sqlite(_) => false,
        }
    }
}

impl From<Unreadable> for OpenError {
    fn from(Unreadable { path, source }: Unreadable) -> Self {
        Self::File { doing: "read", path, source }
    }
}

impl From<rusqlite::Error> for OpenError {
    fn from(error: rusqlite::Error) -> Self {
        let not_a_database = error.sqlite_error_code() == Some(ErrorCode::NotADatabase);
        if read::is_damage(&error) || not_a_database {
            return Self::Damaged { what: error.to_string() };
        }
        Self::Sqlite(error)
    }
}

/// What to look at when SQLite was refused by the disk, of which it tells little.
fn advice(error: &rusqlite::Error) -> &'static str {
    use ErrorCode::{CannotOpen, DiskFull, ReadOnly, SystemIoFailure};
    match error.sqlite_error_code() {
        Some(CannotOpen | DiskFull | ReadOnly | SystemIoFailure) => {
            ": see whether the disk is full, read-only or failing, and start again"
        }
        _ => "",
    }
}
