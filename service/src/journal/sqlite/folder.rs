//! The folder of a journal: its files, who may read them, and who has it open.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::OpenError;

const DATABASE: &str = "journal.sqlite3";
const LOCK: &str = "journal.lock";

/// The folder of an open journal. No other process opens it while this lives: the advisory lock ends with the process,
/// however that ends.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Makes the folder if it isn't there, and locks it.
    pub(super) fn open(path: &Path) -> Result<Self, OpenError> {
        let at = |doing: &'static str| move |source| OpenError::File { doing, path: path.to_owned(), source };
        make_folder(path).map_err(at("make the folder"))?;
        let lock = private_file(&path.join(LOCK)).map_err(at("open the lock in"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(OpenError::InUse { folder: path.to_owned() });
            }
            Err(TryLockError::Error(source)) => return Err(at("lock")(source)),
        }
        let folder = Self { path: path.to_owned(), _lock: lock };
        // SQLite gives its WAL the mode of the database, so the database has to be there with the right one.
        private_file(&folder.database()).map_err(at("make the database in"))?;
        File::open(path).and_then(|folder| folder.sync_all()).map_err(at("sync"))?;
        Ok(folder)
    }

    /// The path of the database.
    pub(super) fn database(&self) -> PathBuf {
        database(&self.path)
    }
}

/// The path of the database in a folder.
pub(super) fn database(folder: &Path) -> PathBuf {
    folder.join(DATABASE)
}

/// A new folder is private. An old one stays as its owner made it: the files in it are private by themselves.
fn make_folder(path: &Path) -> io::Result<()> {
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
fn private_file(path: &Path) -> io::Result<File> {
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
