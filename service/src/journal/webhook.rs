//! Webhooks as the journal keeps them: where results are sent, how far each has come, and what could not be delivered.

use std::fmt;
use std::str::FromStr;

use async_trait::async_trait;

use super::{
    JournalValueError, MatchId, Outcome, Owner, PageSize, ReadError, Request, RequestReused, ResultNumber,
    UnixMillis,
};
use crate::limits;

/// The name of a webhook, which is no secret: 16 random bytes, written as 32 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WebhookId(MatchId);

impl WebhookId {
    /// The id made of these bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(MatchId::from_bytes(bytes))
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }
}

impl fmt::Display for WebhookId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for WebhookId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WebhookId({self})")
    }
}

/// A text that is no webhook's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a webhook's id is 32 lower-case hexadecimal digits")]
pub struct NoWebhookId;

impl FromStr for WebhookId {
    type Err = NoWebhookId;

    fn from_str(text: &str) -> Result<Self, NoWebhookId> {
        text.parse().map(Self).map_err(|_| NoWebhookId)
    }
}

/// The place of a webhook among all that there are, in the order in which they were made, from 1. That of the last one is given
/// again when it was deleted: it names none, as its id does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WebhookNumber(u64);

impl WebhookNumber {
    /// The webhook with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// As a number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Where a webhook sends. `Debug` does not show it: receivers have secrets in their paths.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookUrl(String);

impl WebhookUrl {
    /// The most bytes it may have.
    pub const MAX_BYTES: usize = limits::MAX_WEBHOOK_URL_BYTES;

    /// This address. What it says is not looked at here.
    ///
    /// # Errors
    /// [`JournalValueError::Empty`], or [`JournalValueError::TooLong`] when it has more than [`Self::MAX_BYTES`] bytes.
    pub fn new(url: impl Into<String>) -> Result<Self, JournalValueError> {
        let url = url.into();
        match url.len() {
            0 => Err(JournalValueError::Empty { what: "a webhook's address" }),
            1..=Self::MAX_BYTES => Ok(Self(url)),
            length => Err(JournalValueError::TooLong {
                what: "a webhook's address",
                length,
                limit: Self::MAX_BYTES,
            }),
        }
    }

    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for WebhookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookUrl")
    }
}

/// A webhook, and how far it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredWebhook {
    /// Its place among all.
    pub number: WebhookNumber,
    /// Its name.
    pub id: WebhookId,
    /// Of whose matches it gets the results. `None`: of all.
    pub owner: Option<Owner>,
    /// Where it sends them.
    pub url: WebhookUrl,
    /// When it was made.
    pub created_at: UnixMillis,
    /// Each of its results up to here was taken, or is a dead letter.
    pub settled: ResultNumber,
}

/// A result that is not tried any more, until someone asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// Which.
    pub result: ResultNumber,
    /// How often it was tried.
    pub attempts: u32,
    /// How the last attempt failed, in words for its owner.
    pub error: String,
    /// When it was given up.
    pub died_at: UnixMillis,
    /// What becomes of it.
    pub state: DeadLetterState,
}

/// What becomes of a dead letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeadLetterState {
    /// It is kept.
    Kept,
    /// It is to be sent again.
    Due,
}

/// Which dead letters of a webhook to read: at most a page of them, the lowest result number first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetterFilter {
    /// Of which webhook.
    pub webhook: WebhookId,
    /// In this state alone, if one is given.
    pub state: Option<DeadLetterState>,
    /// Of later results than this one.
    pub after: ResultNumber,
}

/// Which dead letters are to be sent again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resend {
    /// All.
    All,
    /// Those of these results.
    These(Vec<ResultNumber>),
}

/// A change of the webhooks, all or none of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebhookChange {
    /// One is made.
    Made {
        /// It.
        webhook: StoredWebhook,
        /// The request that asks for it, if it named itself.
        request: Option<Request>,
    },
    /// One ends, with its dead letters.
    Deleted(WebhookId),
    /// One has come further.
    Settled {
        /// Which.
        webhook: WebhookId,
        /// To which result.
        to: ResultNumber,
        /// What this result has become, if it was not taken.
        dead: Option<DeadLetter>,
    },
    /// Dead letters are to be sent again.
    Due {
        /// Of which webhook.
        webhook: WebhookId,
        /// Which.
        which: Resend,
    },
    /// A dead letter was taken.
    Revived {
        /// Of which webhook.
        webhook: WebhookId,
        /// Of which result.
        result: ResultNumber,
    },
    /// A dead letter was sent again in vain.
    DiedAgain {
        /// Of which webhook.
        webhook: WebhookId,
        /// What it is now.
        dead: DeadLetter,
    },
}

/// Durable memory of webhooks, beside that of matches: what is settled is so in the database of the results themselves.
#[async_trait]
pub trait WebhookStore: Send + Sync + 'static {
    /// Every webhook, in the order in which they were made, each with the number of its dead letters.
    async fn webhooks(&self) -> Result<Vec<(StoredWebhook, u32)>, ReadError>;

    /// The dead letters that the filter wants.
    async fn dead_letters(
        &self,
        filter: DeadLetterFilter,
        page: PageSize,
    ) -> Result<Vec<DeadLetter>, ReadError>;

    /// Makes a change; the answer is how many webhooks or dead letters it changed, which is none for a webhook that is
    /// gone.
    async fn change_webhooks(&self, change: WebhookChange) -> Outcome<u64, RequestReused>;
}
