//! What can be wrong with a configuration.

use std::{fmt, io, path::PathBuf};

use super::{Number, Setting, Source};

/// A configuration that the server can't start with. Every message says what to change.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A value does not fit its setting.
    #[error("{source_of_value}: {value:?} is not valid: expected {expected}")]
    Value {
        /// Where the value came from.
        source_of_value: Source,
        /// The value.
        value: String,
        /// What would fit.
        expected: &'static str,
    },
    /// A value is no number, or not one that its setting may be.
    #[error("{source_of_value}: {value:?} is not valid: expected {}", expected(*number))]
    Number {
        /// Where the value came from.
        source_of_value: Source,
        /// The value.
        value: String,
        /// What it was for.
        number: Number,
    },
    /// A number was given in code that its setting may not be.
    #[error("{} can't be {value}: expected {}", Setting::Number(*number).key(), expected(*number))]
    OutOfRange {
        /// The setting.
        number: Number,
        /// The value.
        value: u64,
    },
    /// The file has a key that there is not.
    #[error("{}: unknown key `{key}`{suggestion}", path.display())]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The key.
        key: String,
        /// The nearest one that there is.
        suggestion: Suggestion,
    },
    /// A ladder of the file is none.
    #[error("{}: {problem}", path.display())]
    Ladder {
        /// The file.
        path: PathBuf,
        /// What is wrong with which.
        problem: String,
    },
    /// An environment variable has the server's prefix, but is none of its.
    #[error("unknown environment variable `{name}`{suggestion}")]
    UnknownVariable {
        /// The variable.
        name: String,
        /// The nearest one that there is.
        suggestion: Suggestion,
    },
    /// An environment variable is not text.
    #[error("the environment variable `{name}` is not valid UTF-8: set it again, or unset it")]
    VariableNotText {
        /// The variable.
        name: String,
    },
    /// The file can't be read.
    #[error("{} can't be read: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// The file is not TOML.
    #[error("{} is not valid TOML: {cause}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Where and why.
        #[source]
        cause: Box<toml::de::Error>,
    },
    /// Plaintext was to leave the machine without anyone having said so.
    #[error(
        "listening on {listen} without TLS would send tokens in the clear: give --tls-cert and --tls-key, listen on a \
         loopback address, or allow it by --plaintext anywhere"
    )]
    PlaintextNotLoopback {
        /// The address.
        listen: std::net::SocketAddr,
    },
    /// Plaintext was asked for where all is TLS.
    #[error(
        "with TLS there is no plaintext: leave plaintext at `loopback`, or leave out tls_cert and tls_key"
    )]
    PlaintextBesideTls,
    /// A setting of TLS is there without one that it needs.
    #[error(
        "{} is given without {}: set it too, by {}, {} or the file's key {}",
        given.key(), missing.key(), missing.flag(), missing.variable(), missing.key()
    )]
    TlsIncomplete {
        /// The setting that is there.
        given: Setting,
        /// The one that is missing.
        missing: Setting,
    },
}

/// What a number may be.
fn expected(number: Number) -> String {
    let range = number.range();
    format!("a number ({}), {} to {}", Setting::Number(number).value(), range.start(), range.end())
}

/// The name that was probably meant, if one is near enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion(Option<String>);

impl Suggestion {
    /// The one of `names` that is nearest to `wrong`.
    pub fn nearest(wrong: &str, names: impl IntoIterator<Item = String>) -> Self {
        /// Below this the names have too little in common to be of help.
        const NEAR_ENOUGH: f64 = 0.7;
        let nearest = names
            .into_iter()
            .map(|name| (strsim::jaro_winkler(&wrong.to_ascii_lowercase(), &name.to_ascii_lowercase()), name))
            .filter(|(likeness, _)| *likeness >= NEAR_ENOUGH)
            .max_by(|(left, _), (right, _)| left.total_cmp(right));
        Self(nearest.map(|(_, name)| name))
    }
}

impl fmt::Display for Suggestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(name) => write!(f, ": did you mean `{name}`?"),
            None => Ok(()),
        }
    }
}
