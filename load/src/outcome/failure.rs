//! What went wrong, by its reason.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use tonic::{Code, Status};
use zetema_proto::v1::{self, ErrorReason};

/// Why something was not done.
///
/// ```
/// use zetema_load::outcome::Failure;
/// use zetema_proto::v1::{Error, ErrorReason};
///
/// let refused = tonic::Status::from(Error::new(ErrorReason::Overloaded, "try again in 2 s"));
/// assert_eq!(Failure::of(&refused), Failure::Refused(ErrorReason::Overloaded));
/// assert_eq!(Failure::of(&refused).to_string(), "OVERLOADED");
///
/// let cut = tonic::Status::unavailable("connection reset");
/// assert_eq!(Failure::of(&cut).to_string(), "transport UNAVAILABLE");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Failure {
    /// The server has said why.
    Refused(ErrorReason),
    /// It has not: the network, a proxy or a deadline of this program was in the way.
    Transport(Code),
}

impl Failure {
    /// What a status says.
    pub fn of(status: &Status) -> Self {
        v1::Error::from_status(status)
            .map_or(Self::Transport(status.code()), |error| Self::Refused(error.reason()))
    }

    /// Whether the server was late, and did not take this on.
    pub fn is_shed(self) -> bool {
        self == Self::Refused(ErrorReason::Overloaded)
    }

    /// By rank, as neither part has an order of its own.
    fn rank(self) -> (u8, i32) {
        match self {
            Self::Refused(reason) => (0, reason.into()),
            Self::Transport(code) => (1, code.into()),
        }
    }
}

impl Ord for Failure {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for Failure {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl From<ErrorReason> for Failure {
    fn from(reason: ErrorReason) -> Self {
        Self::Refused(reason)
    }
}

impl From<Code> for Failure {
    fn from(code: Code) -> Self {
        Self::Transport(code)
    }
}

/// Before the name of a code.
const TRANSPORT: &str = "transport ";

/// As gRPC spells them.
const CODES: [(Code, &str); 17] = [
    (Code::Ok, "OK"),
    (Code::Cancelled, "CANCELLED"),
    (Code::Unknown, "UNKNOWN"),
    (Code::InvalidArgument, "INVALID_ARGUMENT"),
    (Code::DeadlineExceeded, "DEADLINE_EXCEEDED"),
    (Code::NotFound, "NOT_FOUND"),
    (Code::AlreadyExists, "ALREADY_EXISTS"),
    (Code::PermissionDenied, "PERMISSION_DENIED"),
    (Code::ResourceExhausted, "RESOURCE_EXHAUSTED"),
    (Code::FailedPrecondition, "FAILED_PRECONDITION"),
    (Code::Aborted, "ABORTED"),
    (Code::OutOfRange, "OUT_OF_RANGE"),
    (Code::Unimplemented, "UNIMPLEMENTED"),
    (Code::Internal, "INTERNAL"),
    (Code::Unavailable, "UNAVAILABLE"),
    (Code::DataLoss, "DATA_LOSS"),
    (Code::Unauthenticated, "UNAUTHENTICATED"),
];

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(reason) => f.write_str(reason.name()),
            Self::Transport(code) => {
                let name = CODES.iter().find(|(known, _)| known == code).map_or("UNKNOWN", |(_, name)| name);
                write!(f, "{TRANSPORT}{name}")
            }
        }
    }
}

impl From<Failure> for String {
    fn from(failure: Failure) -> Self {
        failure.to_string()
    }
}

/// A text that names no failure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} names no error: it is a reason of the server (OVERLOADED) or a gRPC code (transport UNAVAILABLE)"
)]
pub struct UnknownFailure(String);

impl TryFrom<String> for Failure {
    type Error = UnknownFailure;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        let found = match name.strip_prefix(TRANSPORT) {
            Some(code) => {
                CODES.iter().find(|(_, known)| *known == code).map(|(code, _)| Self::Transport(*code))
            }
            None => ErrorReason::from_name(&name).map(Self::Refused),
        };
        found.ok_or(UnknownFailure(name))
    }
}

/// How often each went wrong.
///
/// ```
/// use tonic::Code;
/// use zetema_load::outcome::{Failure, Failures};
///
/// let mut failures = Failures::default();
/// failures.add(Failure::Transport(Code::Unavailable), 3);
/// assert_eq!(failures.all(), 3);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Failures(BTreeMap<Failure, u64>);

impl Failures {
    /// All together.
    pub fn all(&self) -> u64 {
        self.0.values().fold(0, |all, number| all.saturating_add(*number))
    }

    /// How often this one.
    pub fn of(&self, failure: Failure) -> u64 {
        self.0.get(&failure).copied().unwrap_or(0)
    }

    /// Refusals because the server was late and took on less that was new.
    pub fn shed(&self) -> u64 {
        self.of(Failure::Refused(ErrorReason::Overloaded))
    }

    /// Each with how often it was met, reasons of the server first.
    pub fn iter(&self) -> impl Iterator<Item = (Failure, u64)> {
        self.0.iter().map(|(failure, number)| (*failure, *number))
    }

    /// Counts so many more.
    pub fn add(&mut self, failure: Failure, more: u64) {
        let known = self.0.entry(failure).or_default();
        *known = known.saturating_add(more);
    }

    /// Counts what others have counted too.
    pub fn merge(&mut self, other: &Self) {
        for (failure, number) in other.iter() {
            self.add(failure, number);
        }
    }
}
