//! A copy of a journal in one file, taken while its server runs or not, and the way back.
//!
//! SQLite copies what one read transaction sees, and the redo log is read up to a commit that counted before that, or that the database
//! knows: so the copy has nothing that rests on what it lacks, whatever the server writes meanwhile, and no commit that failed; and the
//! server waits for nothing. The copy has an application id of its own, so that nobody starts a
//! server on it by chance: its running matches would go on with cards that their players have seen.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use tempfile::NamedTempFile;

use super::folder::{self, Folder};
use super::schema::{self, Purpose};
use super::verify::{self, Depth};
use super::{OpenError, Recovery, fold, recover};
use crate::journal::{ResultNumber, redo};

/// What a backup holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupContent {
    /// Matches that had not ended, without those with damage.
    pub unfinished: usize,
    /// The number of the last result.
    pub latest_result: ResultNumber,
    /// Damage, in words: what was damaged in the journal is so in its copy.
    pub damage: Vec<String>,
    /// The size of the file, in bytes.
    pub bytes: u64,
}

/// Why a journal can't be copied or put back. Nothing is left behind.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The folder has a journal.
    #[error("{} has a journal, or what is left of one: restore into a new folder", folder.display())]
    HasJournal {
        /// The folder.
        folder: PathBuf,
    },
    /// The file is there.
    #[error("{} is there already, and a backup replaces nothing: give another name", file.display())]
    Exists {
        /// The file.
        file: PathBuf,
    },
    /// The file is no backup.
    #[error("{} is no backup: give a file that `zetema backup` made", file.display())]
    NoBackup {
        /// The file.
        file: PathBuf,
    },
    /// A file can't be made, read or written.
    #[error("can't {doing} {}: {source}", path.display())]
    File {
        /// What was tried.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The journal, or the copy of it, can't be read.
    #[error(transparent)]
    Journal(#[from] OpenError),
}

impl From<rusqlite::Error> for BackupError {
    fn from(error: rusqlite::Error) -> Self {
        OpenError::from(error).into()
    }
}

/// How often a copy is begun, should servers stop and start meanwhile.
const ATTEMPTS: usize = 4;

fn at(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> BackupError {
    let path = path.to_owned();
    move |source| BackupError::File { doing, path, source }
}

/// Copies the journal of a folder into a new file, which its owner alone can read, and reads all of the copy. The server
/// of the folder may run. It takes as long as copying takes: not to be called where that must not block.
///
/// # Errors
/// A [`BackupError`].
pub fn backup(data: &Path, file: &Path) -> Result<BackupContent, BackupError> {
    if fs::symlink_metadata(file).is_ok() {
        return Err(BackupError::Exists { file: file.to_owned() });
    }
    // What a server left that does not run any more has to be whole. The files of one that runs it has looked at itself.
    let whole = |folder: Folder| folder.no_repair_is_left().and_then(|()| folder.check());
    match Folder::only_read(data).and_then(whole) {
        Ok(_) | Err(OpenError::InUse { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let database = folder::database(data);
    if !schema::is_for(&database, Purpose::Journal) {
        return Err(OpenError::NotAJournal { database }.into());
    }
    let into = file.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    // It is its owner's alone from the start, and goes when anything fails.
    let copy = NamedTempFile::with_prefix_in(".zetema-backup-", into).map_err(at("make a file in", into))?;
    copy_into(data, &copy)?;
    let content = content(copy.path())?;
    schema::dedicate(copy.path(), Purpose::Backup)?;
    copy.as_file().sync_all().map_err(at("sync", copy.path()))?;
    let bytes = copy.as_file().metadata().map_err(at("look at", copy.path()))?.len();
    copy.persist_noclobber(file).map_err(|error| match error.error {
        source if source.kind() == io::ErrorKind::AlreadyExists => {
            BackupError::Exists { file: file.to_owned() }
        }
        source => at("make", file)(source),
    })?;
    sync(into)?;
    Ok(BackupContent { bytes, ..content })
}

fn copy_into(data: &Path, copy: &NamedTempFile) -> Result<(), BackupError> {
    for _ in 1..ATTEMPTS {
        match try_to_copy_into(data, copy.path()) {
            // A server that stops or starts meanwhile puts its redo log into the database.
            Err(BackupError::Journal(OpenError::Redo { .. } | OpenError::File { .. })) => {
                copy.as_file().set_len(0).map_err(at("empty", copy.path()))?;
            }
            done => return done,
        }
    }
    try_to_copy_into(data, copy.path())
}

fn try_to_copy_into(data: &Path, copy: &Path) -> Result<(), BackupError> {
    // Before the database is read: what was committed and is not in it stays in the redo log from here on.
    let held = redo::hold(data).map_err(at("hold the redo log in", data))?;
    // And no commit after these, as it may rest on what came into the database after it was read.
    let committed = fold::committed(&reading(&folder::database(data))?, data)?;
    copy_database(&folder::database(data), copy)?;
    let found = schema::look_alone(copy)?;
    let redo = fold::look_while_written(&found, data)?;
    fold::into_copy(&found.conn, &redo.upto(committed)?)?;
    drop(held);
    Ok(())
}

fn reading(database: &Path) -> rusqlite::Result<Connection> {
    let conn = schema::open_reader(database)?;
    // The log of a server that was killed stays as it is, for the next start to look at.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(conn)
}

fn copy_database(database: &Path, copy: &Path) -> Result<(), BackupError> {
    let conn = reading(database)?;
    let Some(path) = copy.to_str() else {
        let unreadable = io::Error::new(io::ErrorKind::InvalidInput, "the path is not UTF-8");
        return Err(at("make a file in", copy)(unreadable));
    };
    conn.execute("VACUUM INTO ?1", [path])?;
    Ok(())
}

/// Reads all of a copy.
fn content(copy: &Path) -> Result<BackupContent, BackupError> {
    let bytes = fs::metadata(copy).map_err(at("look at", copy))?.len();
    let found = schema::look_alone(copy)?;
    verify::database(&found, Depth::All)?;
    let (_, mut recovery) = recover::scan(&found.conn, found.schema)?;
    verify::results(&found, Depth::All, &mut recovery)?;
    let Recovery { unfinished, redo_commits: _, rows_read: _, quarantined, stray, results } = recovery;
    let mut damage: Vec<String> = quarantined.iter().map(|one| one.damage.to_string()).collect();
    damage.extend(stray);
    Ok(BackupContent { unfinished, latest_result: ResultNumber::new(results), damage, bytes })
}

fn sync(folder: &Path) -> Result<(), BackupError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(at("sync", folder))
}

/// A journal that is put back into a folder, which can't be used until it is done. Dropped before, it leaves nothing.
#[derive(Debug)]
pub struct Restoring {
    folder: Folder,
    /// A folder in the folder, with a journal of its own until all is done.
    inner: PathBuf,
}

impl Restoring {
    /// Copies a backup into a folder that has no journal, and reads all of the copy. The folder is made if it isn't there. What a
    /// restore that was cut short has left there goes.
    ///
    /// # Errors
    /// A [`BackupError`].
    pub fn begin(file: &Path, data: &Path) -> Result<(Self, BackupContent), BackupError> {
        let mut from = File::open(file).map_err(at("read", file))?;
        if !schema::is_for(file, Purpose::Backup) {
            return Err(BackupError::NoBackup { file: file.to_owned() });
        }
        let Some(folder) = Folder::without_journal(data)? else {
            return Err(BackupError::HasJournal { folder: data.to_owned() });
        };
        let inner = folder.restoring();
        // It says that a restore is under way, so it stays where one that was cut short has left it.
        folder::make_folder(&inner).map_err(at("make", &inner))?;
        folder::empty(&inner).map_err(at("empty", &inner))?;
        let restoring = Self { folder, inner };
        let database = folder::database(&restoring.inner);
        let mut copy = folder::private_file(&database).map_err(at("make", &database))?;
        io::copy(&mut from, &mut copy).map_err(at("copy the backup into", &database))?;
        schema::dedicate(&database, Purpose::Journal)?;
        let content = content(&database)?;
        copy.sync_all().map_err(at("sync", &database))?;
        Ok((restoring, content))
    }

    /// Where the journal is until all is done.
    pub fn folder(&self) -> &Path {
        &self.inner
    }

    /// Gives the journal, which is closed, to the folder: from here on a server can be started on it.
    ///
    /// # Errors
    /// A [`BackupError`].
    pub fn finish(self) -> Result<(), BackupError> {
        let wal = folder::wal(&self.inner);
        let redo = redo::files(&self.inner).map_err(at("look at", &self.inner))?;
        if wal.exists() || !redo.is_empty() {
            return Err(at("close the journal of", &wal)(io::Error::other(
                "it was not copied into the database",
            )));
        }
        self.folder.adopt(&folder::database(&self.inner))?;
        Ok(())
    }
}

impl Drop for Restoring {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.inner) {
            tracing::warn!(folder = %self.inner.display(), %error, "what is left of a restore can't be removed");
        }
    }
}
