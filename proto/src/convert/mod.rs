//! Conversions between the rules' types and their messages, one file per noun.
//!
//! Messages are destructured whole, so that a new field breaks the build here. What is not valid in
//! a message gives a [`FieldError`] with the path of the field; fields that this version does not
//! know were dropped by the decoder before.
//!
//! ```
//! use zetema_proto::{v1, Wire};
//! use zetema_rules::{Action, Card};
//!
//! let action = Action::Discard("KS".parse::<Card>()?);
//! let message = action.to_wire();
//! assert_eq!(Action::from_wire(&message)?, action);
//!
//! let nothing = v1::Action { kind: None };
//! assert_eq!(Action::from_wire(&nothing).unwrap_err().path, "kind");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod action;
mod card;
mod dealing;
mod error;
mod event;
mod fair;
mod outcome;
mod record;
mod rules;
mod seat;
mod spec;
mod time_control;
mod view;

pub use dealing::DealSet;
pub use error::{FieldError, Problem};
pub use event::{seat_event_from_wire, seat_event_to_wire};
pub use record::{RecordHeader, record_from_wire, record_to_wire};
pub use spec::{Views, Visibility};
pub use time_control::stored_time_control;
pub use view::{view_from_wire, view_to_wire};

/// A value that has a form on the wire of its own.
///
/// An enum's form is the `i32` of a field, a list's the `Vec`, anything else's a message.
pub trait Wire: Sized {
    /// The form on the wire.
    type Message;

    /// The form of this value.
    fn to_wire(&self) -> Self::Message;

    /// The value of this form.
    ///
    /// # Errors
    /// [`FieldError`] for what is missing, unknown or out of range, with its path within the message.
    fn from_wire(message: &Self::Message) -> Result<Self, FieldError>;
}

/// The value of a field that must be there.
fn required<T: Wire>(field: &'static str, message: Option<&T::Message>) -> Result<T, FieldError> {
    let message = message.ok_or_else(|| FieldError::missing(field))?;
    value(field, message)
}

/// The value of a field that may be left out.
fn optional<T: Wire>(field: &'static str, message: Option<&T::Message>) -> Result<Option<T>, FieldError> {
    message.map(|message| value(field, message)).transpose()
}

/// The value of a field.
fn value<T: Wire>(field: &'static str, message: &T::Message) -> Result<T, FieldError> {
    T::from_wire(message).map_err(|error| error.within(field))
}

/// The values of a repeated field.
fn list<T: Wire>(messages: &[T::Message]) -> Result<Vec<T>, FieldError> {
    let value = |(i, message)| T::from_wire(message).map_err(|error| error.at(i));
    messages.iter().enumerate().map(value).collect()
}

/// A number as the rules keep it, which is narrower than on the wire.
fn narrow<T: TryFrom<u32>>(field: &'static str, number: u32) -> Result<T, FieldError> {
    T::try_from(number).map_err(|_| FieldError::invalid(field, format!("{number} is too large")))
}

/// An enum of the rules and one of the wire, value by value. Both matches are complete, so that a
/// new value on either side breaks the build.
macro_rules! wire_enum {
    ($($rules:ty = $wire:ident { $($name:ident),* $(,)? })*) => {$(
        impl $crate::convert::Wire for $rules {
            type Message = i32;

            fn to_wire(&self) -> i32 {
                match self {
                    $(Self::$name => $crate::v1::$wire::$name as i32,)*
                }
            }

            fn from_wire(message: &i32) -> Result<Self, $crate::convert::FieldError> {
                match $crate::v1::$wire::try_from(*message) {
                    Ok($crate::v1::$wire::Unspecified) => Err($crate::convert::FieldError::missing("")),
                    $(Ok($crate::v1::$wire::$name) => Ok(Self::$name),)*
                    Err(_) => Err($crate::convert::FieldError::unknown(*message)),
                }
            }
        }
    )*};
}
use wire_enum;
