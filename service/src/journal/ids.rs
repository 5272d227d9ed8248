//! The names and numbers the journal deals in.

use std::fmt;
use std::str::FromStr;

use super::JournalValueError;

/// The name of a match: 16 bytes, written as 32 lower-case hexadecimal digits.
///
/// The journal doesn't make them; whoever creates a match does, at random.
///
/// ```
/// use zetema_service::journal::MatchId;
///
/// let id: MatchId = "000102030405060708090a0b0c0d0e0f".parse()?;
/// assert_eq!(id.as_bytes()[15], 0x0f);
/// assert_eq!(id.to_string(), "000102030405060708090a0b0c0d0e0f");
/// # Ok::<(), zetema_service::journal::JournalValueError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MatchId([u8; 16]);

impl MatchId {
    /// The id made of these bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for MatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: [u8; 16] = *b"0123456789abcdef";
        // It stands in every receipt, and to format each byte takes longer than to encode all the rest.
        let mut text = [0; 32];
        for (digits, byte) in text.as_chunks_mut().0.iter_mut().zip(self.0) {
            *digits = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 0xf)]];
        }
        f.write_str(str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for MatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MatchId({self})")
    }
}

impl FromStr for MatchId {
    type Err = JournalValueError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.as_bytes();
        let mut bytes = [0; 16];
        if digits.len() != 2 * bytes.len() {
            return Err(JournalValueError::MatchId);
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = hex_digit(pair[0])? << 4 | hex_digit(pair[1])?;
        }
        Ok(Self(bytes))
    }
}

fn hex_digit(digit: u8) -> Result<u8, JournalValueError> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(JournalValueError::MatchId),
    }
}

/// How many records a match has: the version of its first record is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version(u32);

impl Version {
    /// A match without a record.
    pub const ZERO: Self = Self(0);

    /// The version after this many records.
    pub const fn new(records: u32) -> Self {
        Self(records)
    }

    /// As a number.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The version after one more record, `None` when there are 2³² − 1 already.
    pub(crate) const fn next(self) -> Option<Self> {
        match self.0.checked_add(1) {
            Some(next) => Some(Self(next)),
            None => None,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Which owner of a match writes: a later owner has a greater epoch, and once it has written, an earlier one is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Epoch(u64);

impl Epoch {
    /// The epoch with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// As a number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The place of a finished match among all finished matches: 1, 2, 3 … without a gap, in the order of their commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResultNumber(u64);

impl ResultNumber {
    /// Before the first result: the cursor of a reader that has seen none.
    pub const ZERO: Self = Self(0);

    /// The result with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// As a number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for ResultNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A time of the wall clock, in milliseconds since 1970-01-01T00:00:00Z. The journal only stores and compares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnixMillis(u64);

impl UnixMillis {
    /// This many milliseconds after the epoch of Unix.
    pub const fn new(millis: u64) -> Self {
        Self(millis)
    }

    /// As a number of milliseconds.
    pub const fn get(self) -> u64 {
        self.0
    }
}
