//! Numbers from 1 on, as flags.

use std::fmt::Display;
use std::num::{IntErrorKind, ParseIntError};
use std::str::FromStr;

use clap::builder::TypedValueParser;

/// Reads a number from 1 to this.
pub(crate) fn from_one<N>(most: N) -> impl TypedValueParser<Value = N>
where
    N: FromStr<Err = ParseIntError> + Display + Clone + Send + Sync + 'static,
{
    move |text: &str| {
        text.parse::<N>().map_err(|error| match error.kind() {
            IntErrorKind::Zero => "give at least 1".to_owned(),
            _ => format!("give a number from 1 to {most}"),
        })
    }
}
