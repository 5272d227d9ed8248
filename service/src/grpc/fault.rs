//! Every refusal that a client gets: the one file that gives each error of the core its reason on the wire.
//! The status that belongs to a reason is `zetema_proto`'s, beside the reasons.
//!
//! A fault's message is for the client and shows no internals. What the log has to say about an
//! [`internal`](Fault::internal) one is under the id that its message names.

use std::{fmt, fmt::Write as _};

use metrics::counter;
use tonic::Status;
use zetema_proto::{
    FieldError,
    v1::{self, ErrorReason},
};

use crate::metrics::REJECTIONS;

/// Why a request is refused: a status, or a rejection on a Play stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault(v1::Error);

impl Fault {
    /// A fault with this reason. `message` says what was wrong and what to do next.
    pub(crate) fn new(reason: ErrorReason, message: impl Into<String>) -> Self {
        Self(v1::Error::new(reason, message))
    }

    /// Something here is broken. The log has `cause` under the id that the client is told.
    pub(crate) fn internal(cause: &dyn fmt::Display) -> Self {
        let id = incident();
        tracing::error!(incident = %id, %cause, "internal error");
        Self::new(
            ErrorReason::Internal,
            format!("a fault of the server: its log has more under incident {id}"),
        )
    }

    /// The fault as a client gets it on a Play stream.
    pub(crate) fn into_rejection(self) -> v1::Error {
        counter!(REJECTIONS, "reason" => self.0.reason().name()).increment(1);
        self.0
    }
}

impl From<Fault> for Status {
    fn from(fault: Fault) -> Self {
        fault.into_rejection().into()
    }
}

impl From<FieldError> for Fault {
    fn from(error: FieldError) -> Self {
        Self(error.into())
    }
}

/// Names an incident in the log and to the client.
fn incident() -> String {
    let mut bytes = [0; 8];
    if getrandom::fill(&mut bytes).is_err() {
        return "without an id".to_owned();
    }
    bytes.iter().fold(String::new(), |mut id, byte| {
        // Writing to a String never fails.
        let _ = write!(id, "{byte:02x}");
        id
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_internal_fault_does_not_tell_its_cause() {
        let status = Status::from(Fault::internal(&"disk /dev/sda1 is full"));
        assert_eq!(status.code(), tonic::Code::Internal);
        assert!(!status.message().contains("sda1"));
    }
}
