//! Where a reader of results goes on.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use super::Incarnation;
use crate::journal::ResultNumber;

/// Where a reader of results goes on: after the result with this number.
///
/// As clients keep it, it ends with a part that follows from the rest, so that a text that was cut, mistyped or taken
/// from elsewhere is told from a place.
///
/// ```
/// use zetema_service::journal::ResultNumber;
/// use zetema_service::matches::{Incarnation, ResultCursor};
///
/// let cursor = ResultCursor::new(ResultNumber::new(12), Incarnation::FIRST);
/// assert_eq!(cursor.to_string().parse(), Ok(cursor));
/// assert!("12".parse::<ResultCursor>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultCursor {
    /// The last result that was read.
    pub number: ResultNumber,
    /// The life of the journal that it was read in.
    pub incarnation: Incarnation,
}

/// A text that is no cursor of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "is no cursor of results: give one that WatchResults sent, whole, or none to begin with the first result"
)]
pub struct NoResultCursor;

impl ResultCursor {
    /// After this result, as it was read in this life of the journal.
    pub const fn new(number: ResultNumber, incarnation: Incarnation) -> Self {
        Self { number, incarnation }
    }

    fn check(self) -> u32 {
        let mut hash = Sha256::new();
        hash.update("zetema/v1/results");
        hash.update(self.number.get().to_be_bytes());
        if self.incarnation != Incarnation::FIRST {
            hash.update(self.incarnation.0.to_be_bytes());
        }
        let hash = hash.finalize();
        u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]])
    }
}

/// As clients keep it: 27 ASCII characters, 44 once the server was restored from a backup.
impl fmt::Display for ResultCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r-{:016x}-", self.number.get())?;
        if self.incarnation != Incarnation::FIRST {
            write!(f, "{:016x}-", self.incarnation.0)?;
        }
        write!(f, "{:08x}", self.check())
    }
}

impl FromStr for ResultCursor {
    type Err = NoResultCursor;

    fn from_str(text: &str) -> Result<Self, NoResultCursor> {
        let number = |digits| {
            let digits = text.get(digits).ok_or(NoResultCursor)?;
            u64::from_str_radix(digits, 16).map_err(|_| NoResultCursor)
        };
        let incarnation =
            if text.len() > FIRST_CHARS { Incarnation(number(19..35)?) } else { Incarnation::FIRST };
        let cursor = Self { number: ResultNumber::new(number(2..18)?), incarnation };
        // What reads the same, written otherwise, is none either.
        if cursor.to_string() == text { Ok(cursor) } else { Err(NoResultCursor) }
    }
}

/// The characters of a cursor of the first life.
const FIRST_CHARS: usize = 27;

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(number: u64, incarnation: u64) -> ResultCursor {
        ResultCursor::new(ResultNumber::new(number), Incarnation(incarnation))
    }

    #[test]
    fn a_cursor_reads_back_as_written() {
        let numbers = [0, 1, 12, u64::from(u32::MAX), u64::MAX];
        for cursor in numbers.into_iter().flat_map(|number| numbers.map(|of| cursor(number, of))) {
            let text = cursor.to_string();
            assert!(text.len() <= 64 && text.is_ascii(), "{text}");
            assert_eq!(text.parse(), Ok(cursor));
        }
    }

    /// Clients keep cursors: what one was must stay one.
    #[test]
    fn the_form_stays() {
        assert_eq!(cursor(12, 0).to_string(), "r-000000000000000c-2b44c90e");
    }

    #[test]
    fn a_text_that_is_cut_or_changed_is_no_cursor() {
        for text in [cursor(12, 0), cursor(12, 77)].map(|cursor| cursor.to_string()) {
            check_no_other(&text);
        }
    }

    fn check_no_other(text: &str) {
        for end in 0..text.len() {
            assert_eq!(text[..end].parse::<ResultCursor>(), Err(NoResultCursor), "cut at {end}");
        }
        for place in 0..text.len() {
            for other in "0123456789abcdefABCDEF-+r é".chars() {
                let changed: String =
                    text.chars().enumerate().map(|(i, c)| if i == place { other } else { c }).collect();
                if changed != text {
                    assert_eq!(changed.parse::<ResultCursor>(), Err(NoResultCursor), "{changed}");
                }
            }
        }
        for wrong in ["", "12", "r", "o12", &format!("{text}0"), &text.to_uppercase()] {
            assert_eq!(wrong.parse::<ResultCursor>(), Err(NoResultCursor), "{wrong}");
        }
    }
}
