//! Bearer tokens as the journal keeps them: what each allows, and the hash of its secret.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::limits;

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
    /// When its bot got another in its place, if it did: from then on it only plays the seats that the bot had.
    pub rotated_at: Option<UnixMillis>,
}

/// That a bot got another token: the old one plays on the seats that the bot had.
///
/// Which those are, and for how long, is decided by the monotonic clock where the rotation and the match are of this run of the server, so
/// that the wall clock may be set meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotation {
    /// When.
    pub at: UnixMillis,
    /// From when on the old token is void.
    pub until: UnixMillis,
    /// Until when a match has to be made for the old token to play it, if no other clock tells.
    pub last_match_at: UnixMillis,
    /// The same since the server's monotonic clock began. `None`: the rotation was before.
    pub last_match: Option<Duration>,
}

/// By which run of the server a match was made that is not over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    /// By an earlier one.
    Earlier,
    /// By this one, so long after its monotonic clock began.
    Now(Duration),
}

impl Rotation {
    /// The same, if the bot hears of it now, by the wall clock and since the monotonic one began: until then it got seats by the old token,
    /// however long the rotation was on its way to the disk.
    #[must_use]
    pub fn told(self, wall: UnixMillis, steady: Duration) -> Self {
        self.settled(after(wall, limits::ROTATION_SETTLES), steady.saturating_add(limits::ROTATION_SETTLES))
    }

    /// The same, if the bot got seats by the old token until then, by the two clocks.
    #[must_use]
    pub fn settled(self, wall: UnixMillis, steady: Duration) -> Self {
        let (last_match_at, last_match) = (self.last_match_at.max(wall), self.last_match.max(Some(steady)));
        Self { last_match_at, last_match, ..self }
    }

    /// Whether the old token plays a match that was created at this time, and made by this run of the server or an earlier one. `None`: it
    /// is over, or was never here.
    pub fn has(&self, created_at: UnixMillis, made: Option<Made>) -> bool {
        match (made, self.last_match) {
            (Some(Made::Now(made)), Some(last)) => made <= last,
            (Some(Made::Now(_)), None) => false,
            (Some(Made::Earlier), Some(_)) => true,
            (Some(Made::Earlier), None) | (None, _) => created_at <= self.last_match_at,
        }
    }

    /// How long after the monotonic clock began the old token is void, whatever the wall clock says. `None`: that clock does not tell.
    pub fn void_from(&self) -> Option<Duration> {
        let heard = self.last_match?.saturating_sub(limits::ROTATION_SETTLES);
        Some(heard.saturating_add(limits::ROTATED_TOKEN_PLAYS_ON))
    }
}

/// By which of its tokens a bot plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BotToken {
    /// Its place among all: the latest of a bot has the greatest.
    pub number: TokenNumber,
    /// That the bot got another since, if it did: this one is for the seats of matches that were made before.
    pub rotation: Option<Rotation>,
}

#[cfg(test)]
impl BotToken {
    /// The first of all, which holds.
    pub(crate) const FIRST: Self = Self { number: TokenNumber::new(1), rotation: None };
}

impl StoredToken {
    /// Whether it allows nothing any more.
    pub fn is_void(&self, now: UnixMillis) -> bool {
        self.revoked_at.is_some() || self.void_from().is_some_and(|void_from| void_from <= now)
    }

    /// From when on it is void, unless it is revoked before. `None`: it does not expire.
    pub fn void_from(&self) -> Option<UnixMillis> {
        self.rotation().map(|rotation| rotation.until).or(self.expires_at)
    }

    /// That its bot got another, if it did.
    pub fn rotation(&self) -> Option<Rotation> {
        let at = self.rotated_at?;
        let until = after(at, limits::ROTATED_TOKEN_PLAYS_ON);
        let until = self.expires_at.map_or(until, |expires_at| expires_at.min(until));
        Some(Rotation { at, until, last_match_at: after(at, limits::ROTATION_SETTLES), last_match: None })
    }
}

fn after(at: UnixMillis, wait: Duration) -> UnixMillis {
    UnixMillis::new(at.get().saturating_add(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)))
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
    /// Tokens that from now on only play the seats that their bot has. Those that did before stay as they are.
    pub rotated: Vec<TokenId>,
    /// Tokens that are forgotten.
    pub forgotten: Vec<TokenId>,
    /// The request that asks for it, if it named itself. Its answer takes the place of an earlier one.
    pub request: Option<Request>,
}

impl TokenChange {
    /// One of nothing yet.
    pub const fn at(now: UnixMillis) -> Self {
        Self {
            now,
            made: None,
            revoked: Vec::new(),
            rotated: Vec::new(),
            forgotten: Vec::new(),
            request: None,
        }
    }
}
