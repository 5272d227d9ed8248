//! The token of a seat, which is a secret.

use std::fmt;

/// The token of one seat of one match: whoever holds it plays the seat. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SeatToken(String);

impl SeatToken {
    /// A token as it was handed out.
    pub fn new(token: impl Into<String>) -> Self {
        Self(token.into())
    }

    /// The token itself. Whoever asks holds a secret.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SeatToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SeatToken(hidden)")
    }
}

impl From<&str> for SeatToken {
    fn from(token: &str) -> Self {
        Self::new(token)
    }
}

impl From<String> for SeatToken {
    fn from(token: String) -> Self {
        Self::new(token)
    }
}
