//! What is exported as a table: its columns, and what stands in them.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use prost_types::Timestamp;

/// A column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) presence: Presence,
}

/// What stands in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// UTF-8.
    Text,
    /// A whole number of 64 bits.
    Number,
    /// A floating-point number of 64 bits.
    Real,
    /// A time in UTC, to the millisecond.
    Time,
    /// True or false.
    Truth,
    /// Bytes, in CSV as base64.
    Bytes,
}

/// Whether a column has a value in every row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// It has.
    Always,
    /// Some rows have none.
    Sometimes,
}

/// What stands in one row of a column. Of the column's kind.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Absent,
    Text(String),
    Number(i64),
    Real(f64),
    Time(Timestamp),
    Truth(bool),
    Bytes(Vec<u8>),
}

/// A column that has a value in every row.
pub(super) const fn always(name: &'static str, kind: Kind) -> Column {
    Column { name, kind, presence: Presence::Always }
}

/// A column in which some rows have no value.
pub(super) const fn sometimes(name: &'static str, kind: Kind) -> Column {
    Column { name, kind, presence: Presence::Sometimes }
}

/// The schema of a Parquet file with these columns, in its own language.
pub(super) fn message_type(name: &str, columns: &[Column]) -> String {
    let mut text = format!("message {name} {{\n");
    for Column { name, kind, presence } in columns {
        let presence = match presence {
            Presence::Always => "REQUIRED",
            Presence::Sometimes => "OPTIONAL",
        };
        let (physical, logical) = match kind {
            Kind::Text => ("BYTE_ARRAY", " (STRING)"),
            Kind::Number => ("INT64", ""),
            Kind::Real => ("DOUBLE", ""),
            Kind::Time => ("INT64", " (TIMESTAMP(MILLIS,true))"),
            Kind::Truth => ("BOOLEAN", ""),
            Kind::Bytes => ("BYTE_ARRAY", ""),
        };
        // Writing to a String does not fail.
        let _ = writeln!(text, "  {presence} {physical} {name}{logical};");
    }
    text.push('}');
    text
}

/// Milliseconds since 1970.
pub(super) fn millis(time: &Timestamp) -> i64 {
    // A time of the server is in the years 1970 to 9999.
    time.seconds.saturating_mul(1_000).saturating_add(i64::from(time.nanos / 1_000_000))
}

impl Cell {
    /// As CSV has it. Nothing for what is absent.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Absent => String::new(),
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
            // The shortest text that reads back as the same bits.
            Self::Real(real) => real.to_string(),
            Self::Time(time) => time.to_string(),
            Self::Truth(truth) => truth.to_string(),
            Self::Bytes(bytes) => STANDARD.encode(bytes),
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<u32> for Cell {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<u64> for Cell {
    /// Numbers of results, which count up from 1.
    fn from(number: u64) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<usize> for Cell {
    /// Lengths of lists.
    fn from(number: usize) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Absent, Into::into)
    }
}
