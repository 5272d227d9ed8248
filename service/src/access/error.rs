//! What goes wrong with keys and tokens.

use std::{io, path::PathBuf};

use crate::journal::{BotName, Cause, OpenError, ReadError};

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

/// Why a token can't be made or revoked.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// There is no token with this id.
    #[error("there is no such token")]
    NotFound,
    /// Neither a scope nor a token to replace was named.
    #[error("name a scope, or a token to replace")]
    NoScope,
    /// A token is to be replaced by one of another scope.
    #[error("the token that is replaced has another scope: give the same, or none")]
    OtherScope,
    /// The bot that the token would be for is retired.
    #[error("the bot `{0}` is retired: it gets no token any more")]
    BotRetired(BotName),
    /// The token would be void from the start.
    #[error("is not in the future")]
    Expired,
    /// There are as many tokens as may be, and none of them may be forgotten.
    #[error(
        "there are {limit} tokens, as many as may be, each valid or the last of its name: replace one, or revoke one of a name that \
         has several"
    )]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// The request id was used for another request.
    #[error("the request id was used for another request: use a new one")]
    RequestReused,
    /// Whether it is stored is not known yet.
    #[error("whether the change is stored is not known yet: send the same again")]
    OutcomeUnknown,
    /// Something here is broken.
    #[error(transparent)]
    Broken(#[from] AccessError),
}

/// Why the first admin token can't be replaced.
#[derive(Debug, thiserror::Error)]
pub enum ResetError {
    /// The folder is no server's.
    #[error("{} is no server's data folder: give the one that `zetema serve --data` was given", folder.display())]
    NoJournal {
        /// The folder.
        folder: PathBuf,
    },
    /// The journal can't be opened: the server may be running.
    #[error(transparent)]
    Journal(#[from] OpenError),
    /// The token can't be made or stored.
    #[error(transparent)]
    Access(#[from] AccessError),
}
