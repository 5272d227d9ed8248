//! How a match ended for a seat.

use zetema_rules::MatchResult;

/// How a match ended for a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// It was played to a result.
    Result(MatchResult),
}
