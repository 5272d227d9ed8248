//! What a check and a repair of a journal found.

use std::path::Path;

use serde::Serialize;
use zetema_service::journal::{Checked, Quarantine, Recovery, Repaired};

/// What is in a journal.
#[derive(Serialize)]
pub(crate) struct CheckedJson {
    /// Whether nothing is damaged.
    pub(crate) sound: bool,
    /// Why a server does not start with it.
    damage: Option<String>,
    wal: WalJson,
    journal: Option<FoundJson>,
}

#[derive(Serialize)]
struct WalJson {
    commits: u64,
    frames: u64,
    damage: Option<WalDamageJson>,
}

#[derive(Serialize)]
struct WalDamageJson {
    offset: u64,
    frame: u64,
    lost_commits: u64,
    lost_frames: u64,
}

#[derive(Serialize)]
struct FoundJson {
    running: usize,
    results: u64,
    redo_commits: u64,
    log_rows: u64,
    quarantined: Vec<QuarantineJson>,
    damage: Vec<String>,
}

#[derive(Serialize)]
struct QuarantineJson {
    match_id: String,
    intact_records: u32,
    damage: String,
}

/// What a repair did.
#[derive(Serialize)]
pub(crate) struct RepairedJson<'a> {
    repaired: bool,
    /// Where the files are as they were.
    kept: Option<&'a Path>,
    /// What was damaged.
    found: &'a [String],
    lost: &'a [String],
    journal: Option<FoundJson>,
}

impl CheckedJson {
    pub(crate) fn new(checked: &Checked) -> Self {
        let wal = &checked.wal;
        let damage = wal.damage.as_ref().map(|damage| WalDamageJson {
            offset: damage.offset,
            frame: damage.frame,
            lost_commits: damage.lost_commits,
            lost_frames: damage.lost_frames,
        });
        Self {
            sound: checked.is_sound(),
            damage: checked.damage.as_ref().map(ToString::to_string),
            wal: WalJson { commits: wal.commits, frames: wal.frames, damage },
            journal: checked.recovery.as_ref().map(FoundJson::new),
        }
    }
}

impl<'a> RepairedJson<'a> {
    pub(crate) fn new(repaired: Option<&'a Repaired>) -> Self {
        Self {
            repaired: repaired.is_some(),
            kept: repaired.map(|repaired| repaired.kept.as_path()),
            found: repaired.map_or(&[], |repaired| repaired.found.as_slice()),
            lost: repaired.map_or(&[], |repaired| repaired.lost.as_slice()),
            journal: repaired.map(|repaired| FoundJson::new(&repaired.recovery)),
        }
    }
}

impl FoundJson {
    fn new(found: &Recovery) -> Self {
        let quarantined =
            found.quarantined.iter().map(|Quarantine { match_id, intact, damage }| QuarantineJson {
                match_id: match_id.to_string(),
                intact_records: intact.get(),
                damage: damage.to_string(),
            });
        Self {
            running: found.unfinished,
            results: found.results,
            redo_commits: found.redo_commits,
            log_rows: found.rows_read,
            quarantined: quarantined.collect(),
            damage: found.stray.clone(),
        }
    }
}
