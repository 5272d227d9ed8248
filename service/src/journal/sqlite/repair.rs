//! Going on without what is lost.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::check::{self, Checked};
use super::fold::{self, Redo};
use super::folder::{self, Folder};
use super::schema::Found;
use super::verify::{self, Depth};
use super::{OpenError, Options, Recovery, salvage, schema};
use crate::journal::redo::{self, RedoDamage, RedoLog};

/// What came of a repair.
#[derive(Debug)]
pub struct Repaired {
    /// The folder with the files as they were.
    pub kept: PathBuf,
    /// What was found, in words.
    pub found: Vec<String>,
    /// What is lost, in words.
    pub lost: Vec<String>,
    /// What a server that starts now finds.
    pub recovery: Recovery,
}

/// Makes a journal one that a server starts with, without what is lost, when its new life has begun. Nothing is done to a sound one.
pub(super) fn repair(path: &Path) -> Result<Option<Repaired>, OpenError> {
    if !folder::database(path).exists() {
        return Err(OpenError::DatabaseGone { database: folder::database(path) });
    }
    let folder = Folder::lock(path, folder::private_file)?;
    let at = |doing| move |source| OpenError::File { doing, path: path.to_owned(), source };
    let cut_short = folder.repairing().map_err(at("look for a repair in"))?;
    if cut_short.is_none() {
        // It is none of this repair's.
        remove(&whole(&folder)).map_err(at("remove an old copy in"))?;
    } else if whole(&folder).exists() {
        // A restore, or a server of another release, may have put a journal there since.
        keep(&folder).map_err(at("copy the files of"))?;
        put_into_place(&folder)?;
    }
    let found = check::read(&folder)?;
    let stray = |found: &Recovery| !found.stray.is_empty();
    if found.damage.is_none() && !found.recovery.as_ref().is_some_and(stray) && cut_short.is_none() {
        return Ok(None);
    }
    if let Some(gone @ OpenError::DatabaseGone { .. }) = found.damage {
        return Err(gone);
    }
    let mut lost = Vec::new();
    let mut told = what_is_damaged(&found);
    if cut_short.is_some() {
        told.push("a repair was cut short".to_owned());
        lost.push("what that repair has left out".to_owned());
    }
    // Of one that was cut short the copy is the right one: by now the files may not be as they were.
    let kept = if let Some(kept) = cut_short.filter(|kept| kept.exists()) {
        kept
    } else {
        keep(&folder).map_err(at("copy the damaged files of"))?
    };
    // Before the first change, and no sooner: a repair that is not to be had leaves the folder as it was.
    let begin = || folder.begin_repair(&kept).map_err(at("begin a repair in"));
    let mut now = found;
    if let Some(damage) = now.damage.take_if(|damage| is_of_the_wal(damage)) {
        begin()?;
        lost.push(without_wal(&folder, &damage).map_err(at("cut the WAL in"))?);
        now = check::read(&folder)?;
        told.extend(what_is_damaged(&now));
    }
    if let Some(gone @ OpenError::DatabaseGone { .. }) = now.damage {
        return Err(gone);
    }
    if matches!(now.damage, Some(OpenError::Redo { .. })) {
        let found = schema::look_alone(&folder.database())?;
        let redo = fold::look_in_ruins(&found, folder.path())?;
        // Else results are copied below, and taken from the redo log where it has them still.
        let missing = lost_results(&found, &redo)?;
        if missing.is_empty() {
            begin()?;
            fold::what_is_left(&found.conn, &redo, folder.path())?;
            lost.extend(of_the_redo_log(&redo));
            drop(found);
            now = check::read(&folder)?;
            told.extend(what_is_damaged(&now));
        }
        told.extend(missing);
    }
    if now.damage.is_some() || now.recovery.as_ref().is_some_and(stray) {
        lost.extend(rebuild(&folder)?);
        begin()?;
        fs::rename(new_database(&folder), whole(&folder)).map_err(at("rename the new database in"))?;
        put_into_place(&folder)?;
        now = check::read(&folder)?;
    }
    match now {
        Checked { damage: Some(damage), .. } => Err(damage),
        Checked { recovery, .. } => {
            Ok(Some(Repaired { kept, found: told, lost, recovery: recovery.unwrap_or_default() }))
        }
    }
}

/// What is damaged, in words.
fn what_is_damaged(found: &Checked) -> Vec<String> {
    let stray = found.recovery.iter().flat_map(|recovery| recovery.stray.iter().cloned());
    found.damage.iter().map(ToString::to_string).chain(stray).collect()
}

/// What the database should have of results, by itself and by the redo log, and has not as it was written: in words.
fn lost_results(found: &Found, redo: &Redo) -> Result<Vec<String>, OpenError> {
    let mut read = Recovery::default();
    match verify::results(found, Depth::All, &mut read) {
        Ok(()) => {}
        Err(error @ OpenError::Damaged { .. }) => return Ok(vec![error.to_string()]),
        Err(error) => return Err(error),
    }
    let mut lost = read.stray;
    lost.extend(redo.lost_ends(&found.conn)?);
    Ok(lost)
}

const fn is_of_the_wal(damage: &OpenError) -> bool {
    matches!(damage, OpenError::Wal { .. } | OpenError::WalGone { .. })
}

/// Leaves of the WAL what SQLite reads.
fn without_wal(folder: &Folder, damage: &OpenError) -> io::Result<String> {
    let lost = match damage {
        OpenError::Wal { wal, damage } => {
            let file = OpenOptions::new().write(true).open(wal)?;
            file.set_len(damage.kept_bytes)?;
            file.sync_all()?;
            format!(
                "at least {} commits of the write-ahead log, from {} on",
                damage.lost_commits,
                damage.place()
            )
        }
        _ => "what the write-ahead log held that is gone".to_owned(),
    };
    folder.mark_made()?;
    Ok(lost)
}

/// Where a new database is made.
fn new_database(folder: &Folder) -> PathBuf {
    folder.database().with_extension("new")
}

/// Makes a new database, with all that is intact, beside the old one, which stays as it is.
fn rebuild(folder: &Folder) -> Result<Vec<String>, OpenError> {
    let (old, new) = (folder.database(), new_database(folder));
    let at = |doing: &'static str| {
        let path = new.clone();
        move |source| OpenError::File { doing, path, source }
    };
    remove(&new).map_err(at("remove"))?;
    folder::private_file(&new).map_err(at("make"))?;
    let found = schema::look_alone(&old)?;
    let empty = schema::look_alone(&new)?;
    let (mut conn, _) = schema::open_writer(empty, &Options::default(), &[])?;
    let redo = fold::look_in_ruins(&found, folder.path())?;
    let mut lost = salvage::copy(&found, &mut conn, &redo.entries()?)?;
    fold::into_copy(&conn, &redo)?;
    lost.extend(of_the_redo_log(&redo));
    schema::raise_epoch(&conn)?;
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    drop((found, conn));
    remove(&wal_of(&new)).map_err(at("remove the WAL of"))?;
    File::open(&new).and_then(|file| file.sync_all()).map_err(at("sync"))?;
    Ok(lost)
}

/// What a new database is called when all of it is there.
fn whole(folder: &Folder) -> PathBuf {
    folder.database().with_extension("repaired")
}

/// Puts a new database that is whole into the place of the old one. Where that is cut short the next repair begins with it.
fn put_into_place(folder: &Folder) -> Result<(), OpenError> {
    let new = whole(folder);
    let at = |doing| {
        let path = new.clone();
        move |source| OpenError::File { doing, path, source }
    };
    folder.sync().map_err(at("sync the folder of"))?;
    folder.mark_made().map_err(at("mark the lock beside"))?;
    // Durable before: the old WAL is none of the new database.
    remove(&folder.wal()).map_err(at("remove the old WAL beside"))?;
    folder.sync().map_err(at("sync the folder of"))?;
    fs::rename(&new, folder.database()).map_err(at("put into its place"))?;
    folder.sync().map_err(at("sync the folder of"))?;
    RedoLog::remove(folder.path(), ..).map_err(at("remove the redo log beside"))
}

/// What of the redo log can't be read, in words.
fn of_the_redo_log(redo: &Redo) -> Option<String> {
    let RedoDamage { file, offset, .. } = redo.damage()?;
    Some(format!("commits of the redo log, from byte {offset} of {} on", file.display()))
}

fn wal_of(database: &Path) -> PathBuf {
    let mut wal = database.as_os_str().to_owned();
    wal.push("-wal");
    wal.into()
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Copies the files into a folder beside them.
fn keep(folder: &Folder) -> io::Result<PathBuf> {
    let name = |number| folder.path().join(format!("damaged-{number}"));
    let kept = (1..1000).map(name).find(|kept| !kept.exists()).ok_or(io::ErrorKind::AlreadyExists)?;
    folder::make_folder(&kept)?;
    let redo = redo::files(folder.path())?;
    for file in [folder.database(), folder.wal()].into_iter().chain(redo) {
        if let (true, Some(name)) = (file.exists(), file.file_name()) {
            // Private before there is anything in it.
            let mut copy = folder::private_file(&kept.join(name))?;
            io::copy(&mut File::open(&file)?, &mut copy)?;
            copy.sync_all()?;
        }
    }
    File::open(&kept)?.sync_all()?;
    folder.sync()?;
    Ok(kept)
}
