//! Bearer tokens as the journal keeps them: what each allows, and the hash of its secret.

use std::fmt;
use std::str::FromStr;

use super::{BotName, MatchId, Owner, Request, TokenLabel, UnixMillis};

/// The name of a token, which is no secret: 16 random bytes, written as 32 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenId(MatchId);

impl TokenId {
    /// The id made of these bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(MatchId::from_bytes(bytes))
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenId({self})")
    }
}

/// A text that is no token's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a token's id is 32 lower-case hexadecimal digits")]
pub struct NoTokenId;

impl FromStr for TokenId {
    type Err = NoTokenId;

    fn from_str(text: &str) -> Result<Self, NoTokenId> {
        text.parse().map(Self).map_err(|_| NoTokenId)
    }
}

/// The place of a token among all tokens, in the order in which they were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenNumber(u64);

impl TokenNumber {
    /// The token with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// As a number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// The SHA-256 of a token's secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecretHash(pub [u8; 32]);

/// What a token allows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Everything.
    Admin,
    /// To create matches, and to see, watch and cancel these.
    Owner(Owner),
    /// To play the seats that matches have for a bot.
    Bot(BotName),
}

/// A token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredToken {
    /// Its place among all.
    pub number: TokenNumber,
    /// Its name.
    pub id: TokenId,
    /// The hash of its secret.
    pub hash: SecretHash,
    /// What it allows.
    pub scope: Scope,
    /// What it is for, if whoever made it said so.
    pub label: Option<TokenLabel>,
    /// When it was made.
    pub created_at: UnixMillis,
    /// From when on it is void. `None`: it does not expire.
    pub expires_at: Option<UnixMillis>,
    /// When it was revoked, or replaced by another, if it was.
    pub revoked_at: Option<UnixMillis>,
}

impl StoredToken {
    /// Whether it allows nothing any more.
    pub fn is_void(&self, now: UnixMillis) -> bool {
        self.revoked_at.is_some() || self.expires_at.is_some_and(|expires_at| expires_at <= now)
    }
}

/// A change of the tokens, all or none of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenChange {
    /// When.
    pub now: UnixMillis,
    /// A token that is made.
    pub made: Option<StoredToken>,
    /// Tokens that are revoked. Those that were before stay as they are.
    pub revoked: Vec<TokenId>,
    /// Tokens that are forgotten.
    pub forgotten: Vec<TokenId>,
    /// The request that asks for it, if it named itself. Its answer takes the place of an earlier one.
    pub request: Option<Request>,
}
