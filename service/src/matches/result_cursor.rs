//! Where a reader of results goes on.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use crate::journal::ResultNumber;

/// Where a reader of results goes on: after the result with this number.
///
/// As clients keep it, it ends with a part that follows from the rest, so that a text that was cut, mistyped or taken
/// from elsewhere is told from a place.
///
/// ```
/// use zetema_service::journal::ResultNumber;
/// use zetema_service::matches::ResultCursor;
///
/// let cursor = ResultCursor(ResultNumber::new(12));
/// assert_eq!(cursor.to_string().parse(), Ok(cursor));
/// assert!("12".parse::<ResultCursor>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ResultCursor(pub ResultNumber);

/// A text that is no cursor of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "is no cursor of results: give one that WatchResults sent, whole, or none to begin with the first result"
)]
pub struct NoResultCursor;

impl ResultCursor {
    fn check(self) -> u32 {
        let hash = Sha256::new()
            .chain_update("zetema/v1/results")
            .chain_update(self.0.get().to_be_bytes())
            .finalize();
        u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]])
    }
}

/// As clients keep it: 27 ASCII characters.
impl fmt::Display for ResultCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r-{:016x}-{:08x}", self.0.get(), self.check())
    }
}

impl FromStr for ResultCursor {
    type Err = NoResultCursor;

    fn from_str(text: &str) -> Result<Self, NoResultCursor> {
        let digits = text.get(2..18).ok_or(NoResultCursor)?;
        let number = u64::from_str_radix(digits, 16).map_err(|_| NoResultCursor)?;
        let cursor = Self(ResultNumber::new(number));
        // What reads the same, written otherwise, is none either.
        if cursor.to_string() == text { Ok(cursor) } else { Err(NoResultCursor) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_as_written() {
        for number in [0, 1, 12, u64::from(u32::MAX), u64::MAX] {
            let cursor = ResultCursor(ResultNumber::new(number));
            let text = cursor.to_string();
            assert!(text.len() <= 64 && text.is_ascii(), "{text}");
            assert_eq!(text.parse(), Ok(cursor));
        }
    }

    /// Clients keep cursors: what one was must stay one.
    #[test]
    fn the_form_stays() {
        assert_eq!(ResultCursor(ResultNumber::new(12)).to_string(), "r-000000000000000c-2b44c90e");
    }

    #[test]
    fn a_text_that_is_cut_or_changed_is_no_cursor() {
        let text = ResultCursor(ResultNumber::new(12)).to_string();
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
