//! How a write ends, and why a read can't.

use std::fmt;
use std::sync::Arc;

use super::{Epoch, MatchId, Response, ResultNumber, Version};

/// How a write ends: with a `T` when done, with an `R` when refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a write that isn't done has to be dealt with"]
pub enum Outcome<T, R> {
    /// Durable: it outlives any crash from here on.
    Done(T),
    /// Nothing was written, for a reason that the journal itself holds.
    Refused(R),
    /// Nothing was written, for a reason outside of it, such as a full disk. It may be sent again.
    Failed(Cause),
    /// Nothing was written, since what it needed is not as it was once written. Sending it again changes nothing.
    Damaged(Cause),
    /// Whether it was written can't be told. [`Journal::read`](super::Journal::read) tells what is there.
    Unknown(Cause),
}

/// How an append ends: with the match's new version.
pub type AppendOutcome = Outcome<Version, AppendRefusal>;
/// How a match's last append ends: with its result's number.
pub type FinishOutcome = Outcome<ResultNumber, AppendRefusal>;
/// How the creation of matches ends.
pub type CreateOutcome = Outcome<Created, CreateRefusal>;

/// A creation that is durable, now or since the same request came first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Created {
    /// The matches were created now.
    New,
    /// The same request was answered before: with this. Nothing was written.
    Before(Response),
}

/// Why an append is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendRefusal {
    /// The match isn't at the version that was expected.
    #[error("the match is at version {actual}")]
    Version {
        /// The version that it is at.
        actual: Version,
    },
    /// A later owner has written to the match.
    #[error("a later owner has written, with epoch {actual}")]
    StaleEpoch {
        /// The epoch of the last record.
        actual: Epoch,
    },
    /// The match has ended.
    #[error("the match has ended with result {0}")]
    Finished(ResultNumber),
    /// Damage was found in the match: it can be read, up to the damage, but not written.
    #[error("the match is quarantined: {0}")]
    Quarantined(Arc<str>),
    /// There is no such match.
    #[error("there is no such match")]
    NoMatch,
}

/// Why a creation is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateRefusal {
    /// A match has this id already.
    #[error("match {0} is there already")]
    MatchExists(MatchId),
    /// The caller has used this request id for another request.
    #[error("the request id was used for another request")]
    RequestReused,
}

/// The caller has used the request id for another request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the request id was used for another request")]
pub struct RequestReused;

/// What went wrong outside of the journal, in words for a log: never for a client.
#[derive(Clone, PartialEq, Eq)]
pub struct Cause(Arc<str>);

impl Cause {
    /// A cause in these words.
    pub fn new(words: impl fmt::Display) -> Self {
        Self(words.to_string().into())
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Why a read can't be answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The storage didn't answer. The read may be sent again.
    #[error("the journal can't be read now: {0}")]
    Unavailable(Cause),
    /// What is stored isn't what was written.
    #[error("the journal is damaged: {0}")]
    Damaged(Cause),
}

/// Whether the journal takes writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// The last commit went through.
    Writing,
    /// The last commit did not, for this reason. The next write tries again.
    Failing(Cause),
    /// It was closed.
    Closed,
}
