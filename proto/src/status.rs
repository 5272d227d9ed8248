//! Errors on the wire: the one place that says which gRPC status a reason has, and how an error
//! becomes a status and is read from one.

use std::collections::HashMap;
use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

use crate::convert::FieldError;
use crate::v1::{self, DecisionClosedBy, ErrorReason};

/// The domain of every `google.rpc.ErrorInfo` that the server sends.
pub const ERROR_DOMAIN: &str = "zetema";

const DECISION_NUMBER: &str = "decision_number";
const CLOSED_BY: &str = "closed_by";
const PREFIX: &str = "ERROR_REASON_";
const CLOSED_BY_PREFIX: &str = "DECISION_CLOSED_BY_";

impl ErrorReason {
    /// The gRPC status of this reason, as `error.proto` states it.
    pub const fn code(self) -> Code {
        match self {
            Self::Unspecified => Code::Unknown,
            Self::InvalidField | Self::InvalidRules | Self::Undecodable | Self::NonceMismatch => {
                Code::InvalidArgument
            }
            Self::MessageTooLarge | Self::SlowReader | Self::LimitExceeded | Self::Overloaded => {
                Code::ResourceExhausted
            }
            Self::NotSupported => Code::Unimplemented,
            Self::ProtocolRevision
            | Self::NotAdmitted
            | Self::NotBenched
            | Self::ChallengeRefused
            | Self::TokenRotated
            | Self::HelloExpected
            | Self::UnknownHandle
            | Self::MatchNotStarted
            | Self::MatchOver
            | Self::NotYourTurn
            | Self::IllegalAction
            | Self::DecisionOver
            | Self::SeatForfeited
            | Self::NonceFixed
            | Self::NonceNotWanted
            | Self::NotRevealed
            | Self::HeldUntilReveal => Code::FailedPrecondition,
            Self::Unauthenticated => Code::Unauthenticated,
            Self::NotFound => Code::NotFound,
            Self::RequestIdReused | Self::NameTaken => Code::AlreadyExists,
            Self::DecisionAhead | Self::CursorAhead => Code::OutOfRange,
            Self::Superseded => Code::Aborted,
            Self::Draining | Self::OutcomeUnknown => Code::Unavailable,
            Self::Internal => Code::Internal,
        }
    }

    /// The reason's name in an `ErrorInfo`, without the enum's prefix: `NOT_YOUR_TURN`.
    pub fn name(self) -> &'static str {
        let name = self.as_str_name();
        name.strip_prefix(PREFIX).unwrap_or(name)
    }

    /// The reason of this name. `None` for one that this version does not know.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::from_str_name(&format!("{PREFIX}{name}"))
    }
}

impl DecisionClosedBy {
    /// The value's name in an `ErrorInfo`, without the enum's prefix: `CLOCK`.
    pub fn name(self) -> &'static str {
        let name = self.as_str_name();
        name.strip_prefix(CLOSED_BY_PREFIX).unwrap_or(name)
    }

    /// The value of this name. `None` for one that this version does not know.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::from_str_name(&format!("{CLOSED_BY_PREFIX}{name}"))
    }
}

/// An error without details: fill in the fields that apply.
///
/// ```
/// use zetema_proto::v1::{Error, ErrorReason};
///
/// let error = Error {
///     decision_number: Some(17),
///     ..Error::new(ErrorReason::NotYourTurn, "seat 2 is to act: wait for your decision")
/// };
/// let status = tonic::Status::from(error.clone());
/// assert_eq!(status.code(), tonic::Code::FailedPrecondition);
/// assert_eq!(Error::from_status(&status), Some(error));
/// ```
impl v1::Error {
    /// An error with this reason. The message says, for people, what was wrong and what to do.
    pub fn new(reason: ErrorReason, message: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            message: message.into(),
            violations: Vec::new(),
            decision_number: None,
            retry_after_ms: None,
            closed_by: DecisionClosedBy::Unspecified.into(),
        }
    }

    /// The error that a status carries. `None` if it comes from elsewhere, the network or a proxy, or
    /// if its reason is one that this version does not know.
    pub fn from_status(status: &Status) -> Option<Self> {
        let details = status.get_error_details();
        let info = details.error_info().filter(|info| info.domain == ERROR_DOMAIN)?;
        let violations = details.bad_request().map(|bad| bad.field_violations.as_slice()).unwrap_or_default();
        let closed_by = info.metadata.get(CLOSED_BY).and_then(|name| DecisionClosedBy::from_name(name));
        let retry_delay = details.retry_info().and_then(|retry| retry.retry_delay);
        Some(Self {
            reason: ErrorReason::from_name(&info.reason)?.into(),
            message: status.message().to_owned(),
            violations: violations
                .iter()
                .map(|violation| v1::FieldViolation {
                    field: violation.field.clone(),
                    description: violation.description.clone(),
                })
                .collect(),
            decision_number: info.metadata.get(DECISION_NUMBER).and_then(|number| number.parse().ok()),
            retry_after_ms: retry_delay.map(|delay| u32::try_from(delay.as_millis()).unwrap_or(u32::MAX)),
            closed_by: closed_by.unwrap_or_default().into(),
        })
    }
}

impl From<FieldError> for v1::Error {
    fn from(error: FieldError) -> Self {
        Self { violations: vec![(&error).into()], ..Self::new(error.reason(), error.to_string()) }
    }
}

impl From<v1::Error> for Status {
    fn from(error: v1::Error) -> Self {
        let reason = error.reason();
        let closed_by = Some(error.closed_by()).filter(|by| *by != DecisionClosedBy::Unspecified);
        let v1::Error { reason: _, message, violations, decision_number, retry_after_ms, closed_by: _ } =
            error;
        let decision = decision_number.map(|number| (DECISION_NUMBER.to_owned(), number.to_string()));
        let closed_by = closed_by.map(|by| (CLOSED_BY.to_owned(), by.name().to_owned()));
        let mut details = ErrorDetails::with_error_info(
            reason.name(),
            ERROR_DOMAIN,
            decision.into_iter().chain(closed_by).collect::<HashMap<_, _>>(),
        );
        for v1::FieldViolation { field, description } in violations {
            details.add_bad_request_violation(field, description);
        }
        if let Some(ms) = retry_after_ms {
            details.set_retry_info(Some(Duration::from_millis(ms.into())));
        }
        Self::with_error_details(reason.code(), message, details)
    }
}
