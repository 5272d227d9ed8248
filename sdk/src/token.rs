//! The tokens of a seat and of a bot, which are secrets.

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

/// The token of a bot: whoever holds it plays the seats that matches have for the bot. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BotToken(String);

impl BotToken {
    /// A token as it was handed out.
    pub fn new(token: impl Into<String>) -> Self {
        Self(token.into())
    }

    /// The token itself. Whoever asks holds a secret.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for BotToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BotToken(hidden)")
    }
}

impl From<&str> for BotToken {
    fn from(token: &str) -> Self {
        Self::new(token)
    }
}

impl From<String> for BotToken {
    fn from(token: String) -> Self {
        Self::new(token)
    }
}

/// A token to play by, whichever it is: what a bot's own begins with tells.
///
/// ```
/// use zetema_sdk::PlayerToken;
///
/// assert!(matches!(PlayerToken::from("ztb_0123"), PlayerToken::Bot(_)));
/// assert!(matches!(PlayerToken::from("zts_0123"), PlayerToken::Seat(_)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PlayerToken {
    /// Of one seat of one match.
    Seat(SeatToken),
    /// Of a bot, for all its seats.
    Bot(BotToken),
}

impl PlayerToken {
    /// What every bot's token begins with.
    const BOT_PREFIX: &str = "ztb_";
}

impl From<&str> for PlayerToken {
    fn from(token: &str) -> Self {
        if token.starts_with(Self::BOT_PREFIX) { Self::Bot(token.into()) } else { Self::Seat(token.into()) }
    }
}

impl From<String> for PlayerToken {
    fn from(token: String) -> Self {
        Self::from(token.as_str())
    }
}
