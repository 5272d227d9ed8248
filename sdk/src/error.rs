//! What can go wrong beyond a bot's own faults.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;
pub use zetema_proto::v1::ErrorReason;

use crate::tls::TlsProblem;

/// Why a session, or one seat of it, can't go on.
///
/// `Debug` is the same text for people as `Display`: it is what Rust prints of an error that `main`
/// returns, as a small bot's does.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The server's address is none.
    #[error(
        "{address:?} is no address of a server: give one like http://127.0.0.1:4680 or https://zetema.example.org ({problem})"
    )]
    Address {
        /// What was given.
        address: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A variable of the environment that [`run`](crate::run) needs is not set.
    #[error("{name} is not set: set it to {meaning}")]
    Environment {
        /// Its name.
        name: &'static str,
        /// What it should hold.
        meaning: &'static str,
    },
    /// The variable of the environment for the tokens has a bot's and others.
    #[error("{name} has a bot's token and others: give that one alone, or tokens of seats")]
    MixedTokens {
        /// Its name.
        name: &'static str,
    },
    /// The server could not be reached for too long.
    #[error("no connection to {server} for {}: check the address, and that the server runs ({last})", seconds(.waited))]
    NoConnection {
        /// The server's address.
        server: String,
        /// For how long it was tried.
        waited: Duration,
        /// What the last attempt met with.
        last: Disconnect,
    },
    /// There is no secure connection to the server, nor will there be one by trying again.
    #[error("no secure connection to {server}: {problem}")]
    Insecure {
        /// The server's address.
        server: String,
        /// What is in the way.
        problem: TlsProblem,
    },
    /// An option of [`Tls`](crate::Tls) is of no use.
    #[error("{option}: {problem}")]
    TlsOption {
        /// Which, and the file that it names.
        option: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The bot's token can't be sent.
    #[error("the bot's token has characters that no token has: copy it again")]
    BotToken,
    /// The token of a bot's owner, or of the admin, can't be sent.
    #[error("the owner's token has characters that no token has: copy it again")]
    OwnerToken,
    /// A text is no [`LadderQueue`](crate::LadderQueue).
    #[error(
        "{text:?} is no queue of a ladder: give its name, or NAME:MATCHES with at least one match at once"
    )]
    Queue {
        /// What was given.
        text: String,
    },
    /// A text is no [`Challenges`](crate::Challenges).
    #[error(
        "{text:?} says whose challenges to accept to nobody: give nobody, everyone, or everyone:MATCHES with at least one match at once"
    )]
    Challenges {
        /// What was given.
        text: String,
    },
    /// A session that was opened without a bot's token was to wait on ladders, or to accept challenges.
    #[error("only a bot waits on ladders and accepts challenges: open the session with a bot's token")]
    NoBot,
    /// A session that takes no more seats was to wait on ladders, or to accept challenges.
    #[error("the session takes no more seats: it was stopped, or told to finish, or could not go on")]
    Finished,
    /// The file of a [`NonceSecret`](crate::NonceSecret) is of no use.
    #[error("the nonce secret {}: {problem}", .path.display())]
    NonceSecretFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// What answers at the server's address is no Zetema server.
    #[error("no Zetema server answers at {server}: check the address, and what is on the way to the server")]
    NotServed {
        /// The server's address.
        server: String,
    },
    /// The server refused what this crate asked for.
    #[error("the server refused to {asked}: {refusal}")]
    Refused {
        /// What was asked for: `join`, for instance.
        asked: &'static str,
        /// Its answer.
        refusal: Refusal,
    },
    /// The server speaks a revision of the protocol that this crate does not.
    #[error(
        "the server speaks revision {server} of the protocol, this crate {own}: update the older of the two"
    )]
    ProtocolRevision {
        /// The server's.
        server: u32,
        /// This crate's.
        own: u32,
    },
    /// The server sent what it should not have.
    #[error("the server broke the protocol: {problem}")]
    Protocol {
        /// What was wrong.
        problem: String,
    },
    /// The system gave no random bytes or no threads.
    #[error("the system gave no {what}: {problem}")]
    System {
        /// What was asked for.
        what: &'static str,
        /// What it answered.
        problem: String,
    },
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// As `Display` has it, for a log: the server's words to a seat may name its cards, which are not for one.
    pub(crate) fn in_log(&self) -> String {
        match self {
            Self::Refused { asked, refusal } => {
                format!("the server refused to {asked}: {}", refusal.reason.name())
            }
            error => error.to_string(),
        }
    }
}

fn seconds(duration: &Duration) -> String {
    format!("{} s", duration.as_secs())
}

/// A refusal by the server.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{} ({message})", .reason.name())]
pub struct Refusal {
    /// The reason.
    pub reason: ErrorReason,
    /// For people: what was wrong, and what to do.
    pub message: String,
    /// The number of the current decision, where it has a bearing.
    pub decision: Option<u32>,
}

/// Why a connection was lost, or not made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Disconnect {
    /// The server could not be reached.
    #[error("not reached: {0}")]
    NotReached(String),
    /// There was no secure connection.
    #[error("no secure connection: {0}")]
    Insecure(TlsProblem),
    /// Nothing came for too long.
    #[error("nothing came for {} ms", .0.as_millis())]
    Silence(Duration),
    /// The server ended the stream without a reason.
    #[error("the server ended the stream")]
    Ended,
    /// The server ended the stream with a reason.
    #[error("the server ended the stream: {0}")]
    Refused(Refusal),
    /// What answered knows nothing of Zetema: another server, or a proxy while the server behind it is away.
    #[error("what answered is no Zetema server, or a proxy that reaches none")]
    NotServed,
    /// The network, or something on the way, broke the stream.
    #[error("the stream broke: {0}")]
    Broken(String),
    /// The server has stopped, and asked to connect again.
    #[error("the server has stopped")]
    Draining,
}
