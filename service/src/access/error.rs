//! What goes wrong with keys and tokens.

use std::{io, path::PathBuf};

use crate::journal::{Cause, ReadError};

/// Why the keys can't be had, or a token is not taken.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// The token is none of this server's.
    #[error("the token is not valid here")]
    UnknownToken,
    /// The system has no randomness.
    #[error("the system gave no random bytes: {0}")]
    Randomness(getrandom::Error),
    /// The journal did not answer.
    #[error("the keys can't be read: {0}")]
    Read(#[from] ReadError),
    /// The journal did not store a key.
    #[error("the keys can't be stored: {0}")]
    Store(Cause),
    /// A key in the journal is not one that this server wrote.
    #[error("the key `{0}` in the journal is damaged")]
    Damaged(&'static str),
    /// The admin token's file can't be written or read.
    #[error("{} can't be used: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
}
