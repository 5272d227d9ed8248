//! What the journal keeps without looking into it: bytes and short texts, each with a limit.

use std::fmt;

use bytes::Bytes;

use crate::limits;

/// A value that the journal doesn't take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JournalValueError {
    /// A match id is 32 lower-case hexadecimal digits.
    #[error("a match id is 32 lower-case hexadecimal digits")]
    MatchId,
    /// More bytes than the value may have.
    #[error("{what} has {length} bytes, at most {limit} are allowed")]
    TooLong {
        /// The kind of value.
        what: &'static str,
        /// How many bytes it has.
        length: usize,
        /// How many it may have.
        limit: usize,
    },
    /// A text that needs at least one character has none.
    #[error("{what} is empty")]
    Empty {
        /// The kind of value.
        what: &'static str,
    },
    /// A name has characters that names don't have.
    #[error("{what} has 1 to {limit} characters of a-z, 0-9, '-', '_' and '.'")]
    Characters {
        /// The kind of value.
        what: &'static str,
        /// How many characters it may have.
        limit: usize,
    },
    /// Too many or too few at once.
    #[error("{count} {what} at once, {least} to {most} are allowed")]
    Count {
        /// The kind of value.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// The least number allowed.
        least: usize,
        /// The greatest number allowed.
        most: usize,
    },
    /// A match occurs twice in one batch.
    #[error("match {0} occurs twice in one batch")]
    Twice(super::MatchId),
}

macro_rules! opaque_bytes {
    ($(#[$doc:meta])* $name:ident, $what:literal, $limit:expr) => {
        $(#[$doc])*
        ///
        /// Its bytes may be secret: `Debug` shows their number alone.
        #[derive(Clone, PartialEq, Eq)]
        pub struct $name(Bytes);

        impl $name {
            /// The most bytes it may have.
            pub const MAX_BYTES: usize = $limit;

            /// These bytes.
            ///
            /// # Errors
            /// [`JournalValueError::TooLong`] when there are more than [`Self::MAX_BYTES`].
            pub fn new(bytes: impl Into<Bytes>) -> Result<Self, JournalValueError> {
                let bytes = bytes.into();
                match bytes.len() {
                    0..=Self::MAX_BYTES => Ok(Self(bytes)),
                    length => Err(JournalValueError::TooLong { what: $what, length, limit: Self::MAX_BYTES }),
                }
            }

            /// The bytes, as they were given.
            pub fn as_bytes(&self) -> &Bytes {
                &self.0
            }

            /// The bytes, as they were given.
            pub fn into_bytes(self) -> Bytes {
                self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({} bytes)"), self.0.len())
            }
        }
    };
}

opaque_bytes!(
    /// One record of a running match: a message of package `zetema.journal.v1`.
    Payload, "a journal record", 256 * 1024
);
opaque_bytes!(
    /// The whole record of a finished match: a `Record` message.
    RecordBytes, "a finished record", 16 * 1024 * 1024
);
opaque_bytes!(
    /// What lists and results show of a finished match.
    Summary, "a match summary", 64 * 1024
);
opaque_bytes!(
    /// The answer that a retried request gets again.
    Response, "a stored response", 4 * 1024 * 1024
);
opaque_bytes!(
    /// A value of the small store beside the matches, such as the service key.
    MetaValue, "a meta value", 64 * 1024
);

macro_rules! short_text {
    ($(#[$doc:meta])* $name:ident, $what:literal, $limit:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct $name(String);

        impl $name {
            /// The most bytes it may have.
            pub const MAX_BYTES: usize = $limit;

            /// This text.
            ///
            /// # Errors
            /// [`JournalValueError::Empty`] for no text, [`JournalValueError::TooLong`] when it has more than
            /// [`Self::MAX_BYTES`] bytes.
            pub fn new(text: impl Into<String>) -> Result<Self, JournalValueError> {
                let text = text.into();
                match text.len() {
                    0 => Err(JournalValueError::Empty { what: $what }),
                    1..=Self::MAX_BYTES => Ok(Self(text)),
                    length => Err(JournalValueError::TooLong { what: $what, length, limit: Self::MAX_BYTES }),
                }
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = JournalValueError;

            fn try_from(text: String) -> Result<Self, JournalValueError> {
                Self::new(text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

macro_rules! account_name {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// The most characters it may have.
            pub const MAX_CHARS: usize = limits::MAX_ACCOUNT_NAME_CHARS;

            /// This name.
            ///
            /// # Errors
            /// [`JournalValueError::Characters`] unless it has 1 to [`Self::MAX_CHARS`] characters of a-z, 0-9, `-`, `_`
            /// and `.`.
            pub fn new(name: impl Into<String>) -> Result<Self, JournalValueError> {
                let name = name.into();
                let allowed = |byte: u8| {
                    byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.')
                };
                if (1..=Self::MAX_CHARS).contains(&name.len()) && name.bytes().all(allowed) {
                    Ok(Self(name))
                } else {
                    Err(JournalValueError::Characters { what: $what, limit: Self::MAX_CHARS })
                }
            }

            /// The name.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

account_name!(
    /// Whom a match belongs to: the name of an owner's account.
    Owner, "an owner's name"
);
account_name!(
    /// The name of a bot's account, which plays the seats that matches have for it.
    BotName, "a bot's name"
);
account_name!(
    /// The name of a ladder.
    LadderName, "a ladder's name"
);
short_text!(
    /// What the creator of a match calls it.
    ClientReference, "a client reference", 64
);
short_text!(
    /// Who makes a request, within whom request ids are unique.
    Caller, "a caller", 80
);
short_text!(
    /// What a token is for, in the words of whoever made it.
    TokenLabel, "a token's label", limits::MAX_TOKEN_LABEL_BYTES
);
short_text!(
    /// What a bot is, in its owner's words.
    BotDescription, "a bot's description", limits::MAX_BOT_DESCRIPTION_BYTES
);
short_text!(
    /// The version of a bot, in its owner's words.
    BotVersion, "a bot's version", limits::MAX_BOT_VERSION_BYTES
);
short_text!(
    /// Whom to tell of a bot's faults.
    FaultContact, "a contact", limits::MAX_FAULT_CONTACT_BYTES
);
short_text!(
    /// What a caller names a request by, so that it can be sent again.
    RequestId, "a request id", 64
);
short_text!(
    /// The name of a value in the small store beside the matches.
    MetaKey, "a meta key", 64
);

/// One to [`Self::MAX`] records that are appended together, all or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRecords(Records);

/// One is the rule, and takes no memory of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Records {
    One([Payload; 1]),
    More(Vec<Payload>),
}

impl NewRecords {
    /// The most records of one append.
    pub const MAX: usize = 64;

    /// These records, in this order.
    ///
    /// # Errors
    /// [`JournalValueError::Count`] for none, or more than [`Self::MAX`].
    pub fn new(records: Vec<Payload>) -> Result<Self, JournalValueError> {
        match records.len() {
            1..=Self::MAX => Ok(Self(records.try_into().map_or_else(Records::More, Records::One))),
            count => Err(JournalValueError::Count { what: "records", count, least: 1, most: Self::MAX }),
        }
    }

    /// The records, in order.
    pub fn as_slice(&self) -> &[Payload] {
        match &self.0 {
            Records::One(one) => one,
            Records::More(more) => more,
        }
    }
}

impl From<Payload> for NewRecords {
    fn from(record: Payload) -> Self {
        Self(Records::One([record]))
    }
}

/// The SHA-256 of a request's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BodyHash(pub [u8; 32]);

/// How many items a page may have: 1 to [`Self::MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageSize(u16);

impl PageSize {
    /// The largest page.
    pub const MAX: u16 = 1000;

    /// A page of at most this many items.
    ///
    /// # Errors
    /// [`JournalValueError::Count`] for none, or more than [`Self::MAX`].
    pub fn new(items: u16) -> Result<Self, JournalValueError> {
        match items {
            1..=Self::MAX => Ok(Self(items)),
            _ => Err(JournalValueError::Count {
                what: "items of a page",
                count: items.into(),
                least: 1,
                most: Self::MAX.into(),
            }),
        }
    }

    /// As a number of items.
    pub const fn get(self) -> u16 {
        self.0
    }
}
