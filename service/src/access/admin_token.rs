//! The admin token.

use std::{
    fmt, fs, io,
    io::Write,
    path::{Path, PathBuf},
};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::{
    AccessError,
    service_key::{insert, random},
};
use crate::journal::{Journal, MetaKey, MetaValue, Outcome};

/// The file in the data folder that holds the admin token.
pub const ADMIN_TOKEN_FILE: &str = "admin-token";
/// What the admin token begins with, so that people and scanners of leaked secrets know it.
const PREFIX: &str = "zta_";
const META_KEY: &str = "admin_token_sha256";

/// The admin token: 47 printable ASCII characters. `Debug` does not show them.
pub struct AdminToken(SecretString);

impl AdminToken {
    /// The characters, for the one who is to have them.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for AdminToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AdminToken")
    }
}

/// The SHA-256 of the admin token.
#[derive(Debug)]
pub(super) struct AdminHash([u8; 32]);

impl AdminHash {
    fn of(token: &str) -> Self {
        Self(Sha256::digest(token).into())
    }

    /// Whether `token` is the admin's, in a time that does not tell how near it came.
    pub(super) fn is_of(&self, token: &str) -> bool {
        Self::of(token).0.ct_eq(&self.0).into()
    }
}

/// The stored hash, and the token if its file has it. At the first start both are made: the file first, so that
/// there is never a hash whose token nobody has.
pub(super) async fn open(
    journal: &dyn Journal,
    folder: &Path,
) -> Result<(AdminHash, Option<AdminToken>), AccessError> {
    let path = folder.join(ADMIN_TOKEN_FILE);
    let key = MetaKey::new(META_KEY).map_err(|_| AccessError::Damaged(META_KEY))?;
    if let Some(stored) = journal.meta(key).await? {
        let bytes = stored.as_bytes().as_ref().try_into().map_err(|_| AccessError::Damaged(META_KEY))?;
        let hash = AdminHash(bytes);
        warn_of_readers(&path);
        let token = read(&path).filter(|token| hash.is_of(token.expose()));
        return Ok((hash, token));
    }
    let token = AdminToken(format!("{PREFIX}{}", BASE64_URL_SAFE_NO_PAD.encode(random::<32>()?)).into());
    write(&path, token.expose()).map_err(|cause| AccessError::File { path, cause })?;
    let hash = AdminHash::of(token.expose());
    insert(journal, META_KEY, &hash.0).await?;
    Ok((hash, Some(token)))
}

/// Makes another token, whose file takes the place of the one there was: the file first, as at the first start.
pub(super) async fn reset(journal: &dyn Journal, folder: &Path) -> Result<PathBuf, AccessError> {
    let path = folder.join(ADMIN_TOKEN_FILE);
    let token = AdminToken(format!("{PREFIX}{}", BASE64_URL_SAFE_NO_PAD.encode(random::<32>()?)).into());
    write(&path, token.expose()).map_err(|cause| AccessError::File { path: path.clone(), cause })?;
    let damaged = |_| AccessError::Damaged(META_KEY);
    let key = MetaKey::new(META_KEY).map_err(damaged)?;
    let hash = MetaValue::new(AdminHash::of(token.expose()).0.to_vec()).map_err(damaged)?;
    match journal.replace_meta(key, hash).await {
        Outcome::Done(()) => Ok(path),
        Outcome::Failed(cause) | Outcome::Damaged(cause) | Outcome::Unknown(cause) => {
            Err(AccessError::Store(cause))
        }
        Outcome::Refused(never) => match never {},
    }
}

/// Warns when others than the file's owner can read it.
#[cfg(unix)]
fn warn_of_readers(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    if let Ok(file) = fs::metadata(path)
        && file.permissions().mode() & 0o077 != 0
    {
        let path = path.display();
        tracing::warn!(%path, "others can read the admin token: chmod 600 the file, and replace the token if they may have");
    }
}

#[cfg(not(unix))]
fn warn_of_readers(_path: &Path) {}

/// The token of the file, if it can be read: the server needs its hash alone.
fn read(path: &Path) -> Option<AdminToken> {
    match fs::read_to_string(path) {
        Ok(text) => Some(AdminToken(text.trim_end().into())),
        Err(cause) => {
            if cause.kind() != io::ErrorKind::NotFound {
                let path = path.display();
                tracing::warn!(%path, %cause, "the file with the admin token can't be read: the token is valid all the same");
            }
            None
        }
    }
}

/// Writes the whole file or none of it: under another name first, readable by its owner alone from the start.
fn write(path: &Path, token: &str) -> io::Result<()> {
    let part = path.with_extension("part");
    match fs::remove_file(&part) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
        _ => {}
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&part)?;
    writeln!(file, "{token}")?;
    file.sync_all()?;
    fs::rename(&part, path)?;
    // Without it, a loss of power could take back the name, and keep the hash that is journaled next.
    match path.parent() {
        Some(folder) => fs::File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}
