//! What is wrong with a message, and where.

use thiserror::Error;
use zetema_rules::RulesError;

use crate::v1;

/// A field of a message that is not valid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{path}: {problem}")]
pub struct FieldError {
    /// The field's path from the message that was converted, such as `seats[1].token`; empty for the
    /// message itself.
    pub path: String,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a field.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// It is absent, empty or unspecified, and may not be.
    #[error("missing: give a value")]
    Missing,
    /// An enum value that this version does not know.
    #[error("{value} is no value of this enum that this version knows")]
    UnknownValue {
        /// What was given.
        value: i32,
    },
    /// Anything else: a number out of range, a list of the wrong length.
    #[error("{0}")]
    Invalid(String),
    /// Rules that can't be played, or that the preset does not allow.
    #[error(transparent)]
    Rules(#[from] RulesError),
}

impl FieldError {
    /// The field is not there.
    pub fn missing(path: impl Into<String>) -> Self {
        Self { path: path.into(), problem: Problem::Missing }
    }

    /// The field has a value that it may not have. The problem says which, and what would be right.
    pub fn invalid(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { path: path.into(), problem: Problem::Invalid(problem.into()) }
    }

    pub(super) fn unknown(value: i32) -> Self {
        Self { path: String::new(), problem: Problem::UnknownValue { value } }
    }

    pub(super) fn rules(error: RulesError) -> Self {
        Self { path: error.field().to_owned(), problem: Problem::Rules(error) }
    }

    /// The same error, seen from the message that holds the field `outer`.
    ///
    /// ```
    /// use zetema_proto::FieldError;
    /// let error = FieldError::missing("kind").at(1).within("seats").within("match");
    /// assert_eq!(error.path, "match.seats[1].kind");
    /// ```
    #[must_use]
    pub fn within(mut self, outer: &str) -> Self {
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{outer}{dot}{}", self.path);
        self
    }

    /// The same error, seen from the list that holds the value as its `index`th, from 0.
    #[must_use]
    pub fn at(self, index: usize) -> Self {
        self.within(&format!("[{index}]"))
    }

    /// The reason with which a request that holds such a field is refused.
    pub const fn reason(&self) -> v1::ErrorReason {
        match self.problem {
            Problem::Rules(_) => v1::ErrorReason::InvalidRules,
            Problem::Missing | Problem::UnknownValue { .. } | Problem::Invalid(_) => {
                v1::ErrorReason::InvalidField
            }
        }
    }
}

impl From<&FieldError> for v1::FieldViolation {
    fn from(error: &FieldError) -> Self {
        Self { field: error.path.clone(), description: error.problem.to_string() }
    }
}
