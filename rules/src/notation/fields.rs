//! Values with names: `name=value`.

use std::fmt::Display;
use std::str::FromStr;

use thiserror::Error;

/// A text that is not made of the values that it has to have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field}: {problem}")]
pub struct ParseFieldError {
    /// The name of the value, or the word that is none.
    pub field: String,
    /// What is wrong with it.
    pub problem: String,
}

impl ParseFieldError {
    pub(super) fn new(field: &str, problem: impl Display) -> Self {
        Self { field: field.to_owned(), problem: problem.to_string() }
    }
}

/// The values that a text has, by name.
pub(super) struct Fields<'a> {
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Fields<'a> {
    /// Reads values of these names, in any order, each at most once.
    pub(super) fn new(text: &'a str, names: &[&str]) -> Result<Self, ParseFieldError> {
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for word in text.split_whitespace() {
            let Some((name, value)) = word.split_once('=') else {
                return Err(ParseFieldError::new(word, "give name=value"));
            };
            if !names.contains(&name) {
                let problem = format!("is none of {}", names.join(", "));
                return Err(ParseFieldError::new(name, problem));
            }
            if pairs.iter().any(|(earlier, _)| *earlier == name) {
                return Err(ParseFieldError::new(name, "is given twice: give it once"));
            }
            pairs.push((name, value));
        }
        Ok(Self { pairs })
    }

    /// Whether there is a value of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.pairs.iter().any(|(given, _)| *given == name)
    }

    /// The value of this name; `None` if it is not given.
    pub(super) fn optional<T: FromStr<Err: Display>>(
        &self,
        name: &str,
    ) -> Result<Option<T>, ParseFieldError> {
        let value = self.pairs.iter().find(|(given, _)| *given == name).map(|(_, value)| value.parse());
        value.transpose().map_err(|error| ParseFieldError::new(name, error))
    }

    /// The value of this name.
    pub(super) fn required<T: FromStr<Err: Display>>(&self, name: &str) -> Result<T, ParseFieldError> {
        self.optional(name)?.ok_or_else(|| ParseFieldError::new(name, "is missing"))
    }
}
