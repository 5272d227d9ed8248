//! Backups, and what became of them.

use std::path::Path;

use serde::Serialize;
use zetema_service::journal::BackupContent;
use zetema_service::restore::Restored;

/// A backup that was made.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct BackupJson {
    pub(crate) file: String,
    pub(crate) latest_result_number: u64,
    pub(crate) unfinished_matches: usize,
    /// In words.
    pub(crate) damage: Vec<String>,
    pub(crate) bytes: u64,
}

/// A backup that was restored.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RestoredJson {
    pub(crate) data: String,
    /// The last result of the backup.
    pub(crate) backup_result_number: u64,
    pub(crate) aborted_matches: usize,
    /// The last result, with those of the aborted matches.
    pub(crate) latest_result_number: u64,
    /// In words.
    pub(crate) damage: Vec<String>,
}

impl BackupJson {
    /// The JSON form of a backup.
    pub(crate) fn new(file: &Path, content: &BackupContent) -> Self {
        let BackupContent { unfinished, latest_result, damage, bytes } = content;
        Self {
            file: file.display().to_string(),
            latest_result_number: latest_result.get(),
            unfinished_matches: *unfinished,
            damage: damage.clone(),
            bytes: *bytes,
        }
    }
}

impl RestoredJson {
    /// The JSON form of a restore.
    pub(crate) fn new(data: &Path, restored: &Restored) -> Self {
        let Restored { backup, aborted, latest_result } = restored;
        Self {
            data: data.display().to_string(),
            backup_result_number: backup.latest_result.get(),
            aborted_matches: *aborted,
            latest_result_number: latest_result.get(),
            damage: backup.damage.clone(),
        }
    }
}
