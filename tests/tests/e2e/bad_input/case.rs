//! One row of the table: an input and the error that it must get.

use prost::Message;
use tonic::Status;
use zetema_proto::v1;
use zetema_proto::v1::ErrorReason;
use zetema_proto::v1::play_request::Kind as Ask;

/// What must come back.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    pub(crate) reason: ErrorReason,
    /// Paths of the violations, in order.
    pub(crate) fields: Vec<&'static str>,
    /// The current decision that the error carries.
    pub(crate) decision: Option<u32>,
}

impl Expected {
    /// This error, without fields and without a decision.
    pub(crate) fn reason(reason: ErrorReason) -> Self {
        Self { reason, fields: Vec::new(), decision: None }
    }

    /// This field is missing, out of range or unknown.
    pub(crate) fn field(path: &'static str) -> Self {
        Self { fields: vec![path], ..Self::reason(ErrorReason::InvalidField) }
    }

    /// This field makes rules that can't be played, or that the preset does not allow.
    pub(crate) fn rules(path: &'static str) -> Self {
        Self { fields: vec![path], ..Self::reason(ErrorReason::InvalidRules) }
    }

    /// This error, with the current decision.
    pub(crate) fn at(reason: ErrorReason, decision: u32) -> Self {
        Self { decision: Some(decision), ..Self::reason(reason) }
    }

    /// What differs, if anything.
    pub(crate) fn difference(&self, error: &v1::Error) -> Option<String> {
        let fields: Vec<&str> = error.violations.iter().map(|violation| violation.field.as_str()).collect();
        let same =
            error.reason() == self.reason && fields == self.fields && error.decision_number == self.decision;
        if !same {
            return Some(format!("expected {self:?}, got {error:?}"));
        }
        let described = error.violations.iter().all(|violation| !violation.description.is_empty());
        (error.message.is_empty() || !described).then(|| format!("nothing is said to people: {error:?}"))
    }

    /// What differs from a status, if anything.
    pub(crate) fn difference_of_status(&self, status: &Status) -> Option<String> {
        let Some(error) = v1::Error::from_status(status) else {
            return Some(format!("expected {self:?}, got an untyped {status:?}"));
        };
        if status.code() != self.reason.code() {
            return Some(format!("expected {:?}, got {status:?}", self.reason.code()));
        }
        self.difference(&error)
    }
}

/// Who calls.
#[derive(Clone, Debug)]
pub(crate) enum Caller {
    /// The admin.
    Admin,
    /// Nobody: no token.
    Nobody,
    /// Whoever holds this token.
    Token(String),
}

/// A call that must fail.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Service and method: `MatchService/GetMatch`.
    pub(crate) method: &'static str,
    pub(crate) caller: Caller,
    /// The messages, encoded; one but for Play.
    pub(crate) bodies: Vec<Vec<u8>>,
    pub(crate) expected: Expected,
}

impl Case {
    /// A call by the admin.
    pub(crate) fn new(
        method: &'static str,
        name: &'static str,
        request: &impl Message,
        expected: Expected,
    ) -> Self {
        let bodies = vec![request.encode_to_vec()];
        Self { name, method, caller: Caller::Admin, bodies, expected }
    }

    /// The same by another.
    pub(crate) fn by(self, caller: Caller) -> Self {
        Self { caller, ..self }
    }
}

/// A message on a Play stream that must be rejected, while the stream goes on.
#[derive(Clone, Debug)]
pub(crate) struct StreamCase {
    pub(crate) name: &'static str,
    pub(crate) handle: u32,
    pub(crate) ask: Option<Ask>,
    pub(crate) expected: Expected,
}
