//! Reading a journal as the start does, and all that the start leaves out, without changing it.

use std::fs;
use std::path::Path;

use super::folder::Folder;
use super::verify::{self, Depth};
use super::{OpenError, Recovery, WalContent, fold, limits, recover, schema};

/// What a journal holds.
#[derive(Debug)]
pub struct Checked {
    /// What its write-ahead log holds, as far as it could be read.
    pub wal: WalContent,
    /// What the database holds, if it could be read.
    pub recovery: Option<Recovery>,
    /// Why a server may not start with it, or what the start does not look at and a reader would come upon.
    pub damage: Option<OpenError>,
}

impl Checked {
    /// Whether no damage was found.
    pub fn is_sound(&self) -> bool {
        let sound = |found: &Recovery| found.quarantined.is_empty() && found.stray.is_empty();
        self.damage.is_none() && self.recovery.as_ref().is_some_and(sound)
    }
}

/// Reads the journal in a folder that no server has open.
pub(super) fn check(path: &Path) -> Result<Checked, OpenError> {
    let folder = Folder::only_read(path)?;
    let mut checked = read(&folder)?;
    if checked.damage.is_none() {
        checked.damage = folder.no_repair_is_left().err();
    }
    Ok(checked)
}

/// What is in a folder that is locked.
pub(super) fn read(folder: &Folder) -> Result<Checked, OpenError> {
    let wal = match folder.check() {
        Ok(wal) => wal,
        Err(error) => {
            let wal = match &error {
                OpenError::Wal { damage, .. } => {
                    WalContent { damage: Some(damage.clone()), ..WalContent::default() }
                }
                OpenError::WalGone { .. } | OpenError::DatabaseGone { .. } => WalContent::default(),
                _ => return Err(error),
            };
            return Ok(Checked { wal, recovery: None, damage: Some(error) });
        }
    };
    match database(folder) {
        Ok(recovery) => Ok(Checked { wal, recovery: Some(recovery), damage: None }),
        Err(
            error @ (OpenError::Damaged { .. } | OpenError::DatabaseGone { .. } | OpenError::Redo { .. }),
        ) => Ok(Checked { wal, recovery: None, damage: Some(error) }),
        Err(error) => Err(error),
    }
}

fn database(folder: &Folder) -> Result<Recovery, OpenError> {
    // SQLite makes a WAL where there is none, and would leave it behind.
    let had_wal = folder.wal().exists();
    let read = || {
        let found = schema::look_alone(&folder.database())?;
        verify::is_there(&found, folder)?;
        verify::database(&found, Depth::All)?;
        let redo = fold::look(&found, folder.path())?;
        redo.ends_are_stored(&found.conn)?;
        // As a start would find it. It is taken back with the connection.
        fold::begin(&found.conn, &redo, limits::SEGMENT_ROWS)?;
        let (_, mut recovery) = recover::scan(&found.conn, found.schema)?;
        verify::results(&found, Depth::All, &mut recovery)?;
        recovery.redo_commits = redo.commits();
        Ok(recovery)
    };
    let recovery = read();
    if !had_wal && folder.wal().exists() {
        let wal = folder.wal();
        fs::remove_file(&wal).map_err(|source| OpenError::File { doing: "remove", path: wal, source })?;
    }
    recovery
}
