//! Files beside the journal that are written whole: under another name first, so that what bears the name is never half of one.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::journal::private_file;

/// Bytes of a [`checksum`].
pub(crate) const CHECKSUM_BYTES: usize = 8;

/// The first bytes of the SHA-256.
pub(crate) fn checksum(kept: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let hash: [u8; 32] = Sha256::digest(kept).into();
    std::array::from_fn(|at| hash[at])
}

/// Puts a file in the place of what is there, which its owner alone may read. It is not synced: after a loss of power anything may be in it.
pub(crate) fn replace(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let part = path.with_extension("part");
    written(&part, write)?;
    fs::rename(part, path)
}

/// The same, synced: after a loss of power it is there whole, or what was there before it.
pub(crate) fn replace_synced(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let part = path.with_extension("part");
    written(&part, write)?.sync_all()?;
    fs::rename(part, path)?;
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

fn written(part: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<File> {
    let mut file = private_file(part)?;
    file.set_len(0)?;
    write(&mut file)?;
    Ok(file)
}
