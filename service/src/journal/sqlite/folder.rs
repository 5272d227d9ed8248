//! The folder of a journal: its files, who may read them, and who has it open.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use super::{OpenError, WalContent, wal};
use crate::journal::redo;
use crate::kept_file;

const DATABASE: &str = "journal.sqlite3";
const WAL: &str = "journal.sqlite3-wal";
const LOCK: &str = "journal.lock";
/// Where a restore makes a journal until all of it is there.
const RESTORING: &str = "restoring";
/// What says that a repair has not come to its end. It has the name of the folder with the files as they were.
const REPAIRING: &str = "repairing";

/// The folder of an open journal. No other process opens it while this lives: the advisory lock ends with the process,
/// however that ends.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    lock: File,
}

/// What the file of the lock says of the journal, so that files that are gone are missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// No journal was ever whole here, or it is of a release that left no mark.
    None,
    /// There is a journal.
    Made,
    /// There is a journal, and its WAL with it, for it was opened and not closed.
    Open,
}

const MADE: &[u8] = b"made\n";
const OPEN: &[u8] = b"open\n";

/// For what a journal is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A server goes on with it.
    GoingOn,
    /// It was repaired, and its new life is to begin.
    BeginningAnew,
}

/// While this lives the mark says that the journal is open. To be dropped before the last connection, which removes
/// the WAL.
#[derive(Debug)]
pub(super) struct InUse {
    lock: File,
}

impl Drop for InUse {
    fn drop(&mut self) {
        if let Err(error) = write(&self.lock, MADE) {
            tracing::error!(%error, "the lock of the journal can't be marked: the next start will miss the WAL");
        }
    }
}

impl Folder {
    /// Makes the folder if it isn't there, locks it, and looks at the files before SQLite does.
    pub(super) fn open(path: &Path, purpose: Purpose) -> Result<Self, OpenError> {
        let at = |doing: &'static str| move |source| OpenError::File { doing, path: path.to_owned(), source };
        make_folder(path).map_err(at("make the folder"))?;
        let folder = Self::lock(path, private_file)?;
        if purpose == Purpose::GoingOn {
            folder.no_repair_is_left()?;
        }
        folder.check()?;
        // The last that a restore does is to remove it, when the journal is in its place already.
        remove(&folder.restoring()).map_err(at("remove what a restore has left in"))?;
        // SQLite gives its WAL the mode of the database, so the database has to be there with the right one.
        private_file(&folder.database()).map_err(at("make the database in"))?;
        folder.sync().map_err(at("sync"))?;
        if folder.mark()? == Mark::Open {
            // From here on a failure to open may remove the WAL.
            folder.mark_made().map_err(at("mark the lock in"))?;
        }
        Ok(folder)
    }

    /// Locks a folder whose files are to stay as they are.
    pub(super) fn only_read(path: &Path) -> Result<Self, OpenError> {
        let nothing = !database(path).exists() && !path.join(LOCK).exists();
        if nothing {
            return Err(OpenError::NoJournal { folder: path.to_owned() });
        }
        // A copy may come without its lock: then that is made.
        Self::lock(path, |lock| if lock.exists() { File::open(lock) } else { private_file(lock) })
    }

    /// Makes the folder if it isn't there, and locks it. `None`: it has a journal, or what is left of one.
    pub(super) fn without_journal(path: &Path) -> Result<Option<Self>, OpenError> {
        let at = |doing: &'static str| move |source| OpenError::File { doing, path: path.to_owned(), source };
        make_folder(path).map_err(at("make the folder"))?;
        let folder = Self::lock(path, private_file)?;
        let left = fs::exists(folder.database())
            .and_then(|left| Ok(left || fs::exists(folder.wal())? || !redo::files(path)?.is_empty()))
            .and_then(|left| Ok(left || folder.repairing()?.is_some()));
        Ok((!left.map_err(at("look at"))?).then_some(folder))
    }

    /// Where a restore makes a journal until all of it is there.
    pub(super) fn restoring(&self) -> PathBuf {
        self.path.join(RESTORING)
    }

    /// Whether a restore has not come to its end: it has a folder here, and has not yet given its database.
    fn is_restoring(&self) -> io::Result<bool> {
        let restoring = self.restoring();
        Ok(fs::exists(&restoring)? && (fs::exists(database(&restoring))? || !fs::exists(self.database())?))
    }

    /// Says that a repair has begun, of which this folder has the files as they were.
    pub(super) fn begin_repair(&self, kept: &Path) -> io::Result<()> {
        let name = kept.file_name().unwrap_or_default().as_encoded_bytes();
        kept_file::replace_synced(&self.path.join(REPAIRING), |file| file.write_all(name))
    }

    /// Where the repair that has not come to its end has put the files as they were, if there is such a repair.
    pub(super) fn repairing(&self) -> io::Result<Option<PathBuf>> {
        match fs::read_to_string(self.path.join(REPAIRING)) {
            Ok(name) => Ok(Some(self.path.join(name))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether no repair is left that has not come to its end: what it has lost may be taken for what comes.
    pub(super) fn no_repair_is_left(&self) -> Result<(), OpenError> {
        match self.repairing() {
            Ok(None) => Ok(()),
            Ok(Some(_)) => Err(OpenError::Repairing { folder: self.path.clone() }),
            Err(source) => Err(OpenError::File { doing: "look at", path: self.path.join(REPAIRING), source }),
        }
    }

    /// Takes this database as its own: in one step it is all there.
    pub(super) fn adopt(&self, database: &Path) -> Result<(), OpenError> {
        let at =
            |doing: &'static str| move |source| OpenError::File { doing, path: self.path.clone(), source };
        self.mark_made().map_err(at("mark the lock in"))?;
        File::open(database).and_then(|database| database.sync_all()).map_err(at("sync the database of"))?;
        fs::rename(database, self.database()).map_err(at("move the database into"))?;
        self.sync().map_err(at("sync"))
    }

    /// Locks a folder.
    pub(super) fn lock(path: &Path, open: impl FnOnce(&Path) -> io::Result<File>) -> Result<Self, OpenError> {
        let at = |doing: &'static str| move |source| OpenError::File { doing, path: path.to_owned(), source };
        let lock = open(&path.join(LOCK)).map_err(at("open the lock in"))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), lock }),
            Err(TryLockError::WouldBlock) => Err(OpenError::InUse { folder: path.to_owned() }),
            Err(TryLockError::Error(source)) => Err(at("lock")(source)),
        }
    }

    /// Whether the files are there that have to be, and the WAL is as it was written. Nothing is changed.
    pub(super) fn check(&self) -> Result<WalContent, OpenError> {
        let (database, wal) = (self.database(), self.wal());
        if self.is_restoring().map_err(|source| OpenError::File {
            doing: "look at",
            path: self.path.clone(),
            source,
        })? {
            return Err(OpenError::Restoring { folder: self.path.clone() });
        }
        let bytes = |file: &Path| match fs::metadata(file) {
            Ok(metadata) => Ok(Some(metadata.len())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(OpenError::File { doing: "look at", path: file.to_owned(), source }),
        };
        let (mark, wal_bytes) = (self.mark()?, bytes(&wal)?);
        if bytes(&database)?.unwrap_or(0) == 0 {
            // SQLite would begin anew, and remove the WAL.
            let redo = redo::files(&self.path).map_err(|source| OpenError::File {
                doing: "look at",
                path: self.path.clone(),
                source,
            })?;
            if mark != Mark::None || wal_bytes.unwrap_or(0) > 0 || !redo.is_empty() {
                return Err(OpenError::DatabaseGone { database });
            }
        }
        if mark == Mark::Open && wal_bytes.is_none() {
            return Err(OpenError::WalGone { wal });
        }
        let content =
            wal::walk(&wal).map_err(|source| OpenError::File { doing: "read", path: wal.clone(), source })?;
        match &content.damage {
            Some(damage) => Err(OpenError::Wal { wal, damage: damage.clone() }),
            None => Ok(content),
        }
    }

    /// Whether there was a journal: its tables were durable before the mark was written.
    pub(super) fn had_journal(&self) -> Result<bool, OpenError> {
        Ok(self.mark()? != Mark::None)
    }

    /// Marks the journal as open, until the answer is dropped. The WAL has to be there from then on, so its name is made
    /// durable: SQLite asks for that too, and does not mind when it fails.
    pub(super) fn in_use(&self) -> io::Result<InUse> {
        File::open(&self.path)?.sync_all()?;
        let in_use = InUse { lock: self.lock.try_clone()? };
        // If this fails the mark may be there all the same: it goes again.
        write(&in_use.lock, OPEN)?;
        Ok(in_use)
    }

    /// Says that there is a journal, and claims nothing of its WAL.
    pub(super) fn mark_made(&self) -> io::Result<()> {
        write(&self.lock, MADE)
    }

    /// Makes what is in the folder durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()
    }

    fn mark(&self) -> Result<Mark, OpenError> {
        let mut mark = Vec::new();
        let mut lock = &self.lock;
        let read = lock.rewind().and_then(|()| lock.read_to_end(&mut mark));
        read.map_err(|source| OpenError::File {
            doing: "read the lock in",
            path: self.path.clone(),
            source,
        })?;
        Ok(match mark.as_slice() {
            [] => Mark::None,
            OPEN => Mark::Open,
            _ => Mark::Made,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the database.
    pub(super) fn database(&self) -> PathBuf {
        database(&self.path)
    }

    /// The path of the WAL.
    pub(super) fn wal(&self) -> PathBuf {
        wal(&self.path)
    }
}

/// Says that the repair of a folder has come to its end.
pub(super) fn end_repair(path: &Path) -> Result<(), OpenError> {
    let ended = fs::remove_file(path.join(REPAIRING)).and_then(|()| File::open(path)?.sync_all());
    ended.map_err(|source| OpenError::File { doing: "remove", path: path.join(REPAIRING), source })
}

/// Writes a mark. All have the same length, so that none is ever half there.
fn write(mut lock: &File, mark: &[u8]) -> io::Result<()> {
    lock.rewind()?;
    lock.write_all(mark)?;
    lock.sync_all()
}

/// Removes a folder and all that is in it, if it is there.
fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes all files in a folder, which stays.
pub(super) fn empty(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        fs::remove_file(entry?.path())?;
    }
    Ok(())
}

/// The path of the database in a folder.
pub(super) fn database(folder: &Path) -> PathBuf {
    folder.join(DATABASE)
}

/// The path of the write-ahead log in a folder.
pub(super) fn wal(folder: &Path) -> PathBuf {
    folder.join(WAL)
}

/// How long the files of a journal are, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSizes {
    /// The database.
    pub database: u64,
    /// Its write-ahead log.
    pub wal: u64,
    /// The redo log: the files that are needed, the one that comes next, and those that are kept to be written again.
    pub redo: u64,
}

/// How long the files in a folder are, of which all but the database may be gone.
pub(super) fn sizes(folder: &Path) -> io::Result<FileSizes> {
    let length = |file: &Path| match fs::metadata(file) {
        Ok(file) => Ok(file.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    };
    let redo = redo::files(folder)?.iter().map(|file| length(file)).sum::<io::Result<u64>>()?;
    let database = fs::metadata(database(folder))?.len();
    Ok(FileSizes { database, wal: length(&wal(folder))?, redo })
}

/// A new folder is private. An old one stays as its owner made it: the files in it are private by themselves.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    match path.canonicalize()?.parent() {
        Some(parent) => File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}

/// Opens a file that its owner alone may read and write, made if it isn't there.
pub(crate) fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = file.metadata()?.permissions().mode() & 0o777;
        if mode != 0o600 {
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
        }
    }
    Ok(file)
}
