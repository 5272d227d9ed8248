//! Why something can't be done with accounts.

use crate::access::TokenError;
use crate::journal::{BotName, Owner, ReadError};

/// Why an account can't be made or changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BotError {
    /// There is no such bot, or it is another's.
    #[error("there is no such bot")]
    NotFound,
    /// Nobody's name was given for the owner of a bot.
    #[error("is missing: name the owner that the bot is to belong to")]
    NoOwner,
    /// An owner wants a bot to be another's.
    #[error("is another owner's name: leave it out for your own bot")]
    OtherOwner,
    /// The name was used before.
    #[error("the name `{name}` is taken, or was once, and no name is given twice: choose another")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// The configuration means a certain owner by the name.
    #[error(
        "the name `{0}` is kept for whom the server's configuration means by it, such as on a ladder of certain owners, or for house bots, \
         as `house` and all that begin with `house-` are: choose another, or ask whoever runs this server for that owner's token"
    )]
    NameKept(Owner),
    /// The bot is retired.
    #[error("is the name of the bot `{0}`, which is retired and stays as it is: register another")]
    Retired(BotName),
    /// There are as many as may be.
    #[error("there are {limit} {what}, as many as may be: {instead}")]
    TooMany {
        /// The limit.
        limit: usize,
        /// Of what.
        what: &'static str,
        /// What to do.
        instead: &'static str,
    },
    /// Owners are made by the admin alone.
    #[error("nobody can register as an owner here: ask whoever runs this server for an owner's token")]
    Closed,
    /// The journal can't be read now.
    #[error("the journal can't be read now: {0}")]
    Read(#[from] ReadError),
    /// The tokens can't be changed.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// A token was to be made and was not.
    #[error("a token was to be made and was not")]
    NoSecret,
}
