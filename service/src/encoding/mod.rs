//! How the journal's bytes and the tables' values turn into each other.
//!
//! The messages are those of `zetema.journal.v1`, and for a finished match `zetema.v1.Record`. They are destructured
//! whole, so that a new field breaks the build here. What can't be read is damage, or was written by a later release:
//! never a client's fault.

mod entry;
mod info;
mod record;

use zetema_proto::{FieldError, stored_time_control, v1};
use zetema_rules::TimeControl;

pub use entry::{decode_entry, encode_entry};
pub use info::{
    bots_of_summary, decode_created, decode_summary, encode_created, encode_summary, match_of_owner,
    seat_state_to_wire, stage_to_wire,
};
pub(crate) use info::{millis, timestamp};
pub use record::{decode_record, encode_record, record_entries};

/// Why bytes of the journal can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// They are no message of the kind.
    #[error("no message: {0}")]
    Undecodable(String),
    /// A field of the message is not valid.
    #[error(transparent)]
    Field(#[from] FieldError),
}

impl From<prost::DecodeError> for DecodeError {
    fn from(error: prost::DecodeError) -> Self {
        Self::Undecodable(error.to_string())
    }
}

/// The value of a field.
fn value<T: zetema_proto::Wire>(field: &'static str, message: &T::Message) -> Result<T, FieldError> {
    T::from_wire(message).map_err(|error| error.within(field))
}

/// The value of a message field that must be there.
fn required<T: zetema_proto::Wire>(
    field: &'static str,
    message: Option<&T::Message>,
) -> Result<T, FieldError> {
    value(field, message.ok_or_else(|| FieldError::missing(field))?)
}

/// How long a match waits, as it was stored.
fn time_control(message: Option<&v1::TimeControl>) -> Result<TimeControl, FieldError> {
    let message = message.ok_or_else(|| FieldError::missing("time_control"))?;
    stored_time_control(message).map_err(|error| error.within("time_control"))
}

/// The value of a message field, if it is there.
fn optional<T: zetema_proto::Wire>(
    field: &'static str,
    message: Option<&T::Message>,
) -> Result<Option<T>, FieldError> {
    message.map(|message| value(field, message)).transpose()
}

/// The values of a repeated field.
fn list<T: zetema_proto::Wire>(field: &'static str, messages: &[T::Message]) -> Result<Vec<T>, FieldError> {
    let value = |(i, message)| T::from_wire(message).map_err(|error: FieldError| error.at(i).within(field));
    messages.iter().enumerate().map(value).collect()
}

/// A short text that is empty when there is none.
fn text<T, E: ToString>(
    field: &'static str,
    text: &str,
    new: impl FnOnce(String) -> Result<T, E>,
) -> Result<Option<T>, FieldError> {
    match text {
        "" => Ok(None),
        text => new(text.to_owned()).map(Some).map_err(|error| FieldError::invalid(field, error.to_string())),
    }
}

/// An id in its text form.
fn id<T: std::str::FromStr>(field: &'static str, text: &str) -> Result<T, FieldError>
where
    T::Err: ToString,
{
    text.parse().map_err(|error: T::Err| FieldError::invalid(field, error.to_string()))
}

/// A wall-clock time as entries and timestamps hold it, in milliseconds.
fn millis_to_wire(at: crate::journal::UnixMillis) -> i64 {
    i64::try_from(at.get()).unwrap_or(i64::MAX)
}

fn millis_from_wire(field: &'static str, ms: i64) -> Result<crate::journal::UnixMillis, FieldError> {
    let ms = u64::try_from(ms).map_err(|_| FieldError::invalid(field, "is before 1970"))?;
    Ok(crate::journal::UnixMillis::new(ms))
}
