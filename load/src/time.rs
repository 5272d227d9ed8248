//! Times as people write them: `1500ms`, `10s`, `2m 30s`.

use std::fmt;
use std::time::Duration;

/// The longest time that anything of a run takes: a year.
pub(crate) const LONGEST: Duration = Duration::from_hours(365 * 24);

/// A text that is no time, or a longer one than a run takes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no time: give a number with its unit, as in 500ms, 10s or 2m 30s, and a year at most")]
pub struct TimeError(String);

/// Reads a time, of a year at most.
///
/// # Errors
/// If it is none, such as a number without a unit, or longer.
pub fn duration(text: &str) -> Result<Duration, TimeError> {
    let time = humantime::parse_duration(text.trim()).ok().filter(|time| *time <= LONGEST);
    time.ok_or_else(|| TimeError(text.to_owned()))
}

/// Shows a time as [`duration`] reads it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text(pub(crate) Duration);

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        humantime::format_duration(self.0).fmt(f)
    }
}
