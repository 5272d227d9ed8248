//! Times as people write them: `1500ms`, `10s`, `2m 30s`.

use std::fmt;
use std::time::Duration;

/// A text that is no time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no time: give a number with its unit, as in 500ms, 10s or 2m 30s")]
pub struct TimeError(String);

/// Reads a time.
///
/// # Errors
/// If it is none, such as a number without a unit.
pub fn duration(text: &str) -> Result<Duration, TimeError> {
    humantime::parse_duration(text.trim()).map_err(|_| TimeError(text.to_owned()))
}

/// Shows a time as [`duration`] reads it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text(pub(crate) Duration);

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        humantime::format_duration(self.0).fmt(f)
    }
}
