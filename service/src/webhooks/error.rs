//! Why something can't be done with webhooks.

use super::UrlError;
use crate::access::AccessError;
use crate::journal::{Cause, ReadError};
use crate::matches::ResultCursorAhead;

/// Why a webhook can't be made, changed or read.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// There is no such webhook, or it is another's.
    #[error("there is no such webhook")]
    NotFound,
    /// The address is none.
    #[error("{0}")]
    Url(#[from] UrlError),
    /// Nothing may be sent there.
    #[error(
        "is not among the addresses that this server may send to: whoever runs it has to add it to the setting \
         webhook_allow, which has {entries}"
    )]
    NotAllowed {
        /// What the setting has, as far as the caller may know.
        entries: &'static str,
    },
    /// Its host can't be looked up now.
    #[error("has a host whose addresses can't be found now: check its name, or send the same again")]
    Unresolved,
    /// Its host has no address that may be sent to, or can't be looked up now.
    #[error(
        "has a host whose addresses can't be found now, or are not among those that this server may send to: check its name, send \
         the same again, or have whoever runs the server add it to the setting webhook_allow"
    )]
    NoAddress,
    /// An owner has asked for the results of another.
    #[error("is another owner's name: leave it out for your own matches")]
    OtherOwner,
    /// The cursor is beyond what there is.
    #[error(transparent)]
    CursorAhead(#[from] ResultCursorAhead),
    /// There are as many as may be.
    #[error("there are {limit} webhooks, as many as may be{whose}: delete one")]
    TooMany {
        /// The limit.
        limit: usize,
        /// Of whom.
        whose: &'static str,
    },
    /// The request id was used for another request.
    #[error("the request id was used for another request: use a new one")]
    RequestReused,
    /// Whether it is stored is not known yet.
    #[error("whether it was stored is not known yet: send the same again")]
    OutcomeUnknown,
    /// The journal can't be read now.
    #[error("the journal can't be read now: try again")]
    Unavailable,
    /// The journal is not as it was written.
    #[error("the journal is damaged: {0}")]
    Damaged(Cause),
    /// The keys are not as they should be.
    #[error(transparent)]
    Broken(#[from] AccessError),
}

impl From<ReadError> for WebhookError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Unavailable(cause) => {
                tracing::warn!(%cause, "webhooks can't be read");
                Self::Unavailable
            }
            ReadError::Damaged(cause) => Self::Damaged(cause),
        }
    }
}
