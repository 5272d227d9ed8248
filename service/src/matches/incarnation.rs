//! Which of the lives of a journal a result is of: each restore of a backup and each repair begins another.

use std::fmt;

use super::{Entropy, ResultCursor};
use crate::journal::{Cause, Journal, MetaKey, MetaValue, Outcome, ReadError, ResultNumber};

/// Where the journal keeps them.
const META_KEY: &str = "incarnations";
const BYTES: usize = 16;

/// One life of a journal. Results that were lost with a life have numbers that the next gives again, so a place among
/// results names the life, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Incarnation(pub(super) u64);

impl Incarnation {
    /// Before any restore or repair.
    pub const FIRST: Self = Self(0);
}

/// 16 hexadecimal digits.
impl fmt::Display for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// All lives of this journal, the first one first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Incarnations(Vec<Begun>);

/// A life after the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Begun {
    incarnation: Incarnation,
    /// The last result of the life before that this one still has.
    after: ResultNumber,
}

/// Why another life can't begin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IncarnationError {
    /// The journal can't be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The system gives no random bytes.
    #[error(transparent)]
    Entropy(#[from] super::EntropyError),
    /// The journal can't be written.
    #[error("the journal can't be written: {0}")]
    Store(Cause),
}

impl Incarnations {
    pub(super) async fn read(journal: &dyn Journal) -> Result<Self, ReadError> {
        let Some(value) = journal.meta(key()?).await? else { return Ok(Self::default()) };
        let (all, rest) = value.as_bytes().as_chunks::<BYTES>();
        if !rest.is_empty() {
            return Err(ReadError::Damaged(Cause::new(format!("the value {META_KEY}"))));
        }
        Ok(Self(all.iter().map(Begun::decode).collect()))
    }

    /// Begins another life, which has all results that are there now.
    pub(super) async fn begin(journal: &dyn Journal, entropy: &dyn Entropy) -> Result<(), IncarnationError> {
        let Self(mut all) = Self::read(journal).await?;
        let mut random = [0; 8];
        entropy.fill(&mut random)?;
        // Zero is the first, and drawn once in 2^64.
        let incarnation = Incarnation(u64::from_be_bytes(random).max(1));
        all.push(Begun { incarnation, after: *journal.latest_result().borrow() });
        let bytes: Vec<u8> = all.iter().flat_map(Begun::encode).collect();
        let value = MetaValue::new(bytes).map_err(|error| IncarnationError::Store(Cause::new(error)))?;
        match journal.replace_meta(key()?, value).await {
            Outcome::Done(()) => Ok(()),
            Outcome::Failed(cause) | Outcome::Damaged(cause) | Outcome::Unknown(cause) => {
                Err(IncarnationError::Store(cause))
            }
            Outcome::Refused(never) => match never {},
        }
    }

    /// The one that is now.
    pub(super) fn current(&self) -> Incarnation {
        self.0.last().map_or(Incarnation::FIRST, |begun| begun.incarnation)
    }

    /// The one in which a result was made.
    pub(super) fn of(&self, number: ResultNumber) -> Incarnation {
        let made_in = self.0.iter().rev().find(|begun| begun.after < number);
        made_in.map_or(Incarnation::FIRST, |begun| begun.incarnation)
    }

    /// The last result up to which a cursor's life and this one have the same results; `latest` is the last of this
    /// one. A life that is not known here shares nothing.
    pub(super) fn shared_with(&self, cursor: ResultCursor, latest: ResultNumber) -> ResultNumber {
        let of = cursor.incarnation;
        let begun = self.0.iter().position(|begun| begun.incarnation == of).map(|place| place + 1);
        match begun.or((of == Incarnation::FIRST).then_some(0)) {
            Some(lives) => self.0.get(lives).map_or(latest, |next| next.after),
            None => ResultNumber::ZERO,
        }
    }
}

impl Begun {
    fn encode(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&self.incarnation.0.to_be_bytes());
        bytes[8..].copy_from_slice(&self.after.get().to_be_bytes());
        bytes
    }

    fn decode(bytes: &[u8; BYTES]) -> Self {
        let number = u128::from_be_bytes(*bytes);
        let half = |number: u128| u64::try_from(number & u128::from(u64::MAX)).unwrap_or(u64::MAX);
        Self { incarnation: Incarnation(half(number >> 64)), after: ResultNumber::new(half(number)) }
    }
}

fn key() -> Result<MetaKey, ReadError> {
    MetaKey::new(META_KEY).map_err(|error| ReadError::Unavailable(Cause::new(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(number: u64) -> ResultNumber {
        ResultNumber::new(number)
    }

    #[test]
    fn a_cursor_goes_as_far_as_its_life_is_part_of_this_one() {
        let begun =
            |incarnation, after| Begun { incarnation: Incarnation(incarnation), after: number(after) };
        let lives = Incarnations(vec![begun(7, 10), begun(9, 25)]);
        assert_eq!(lives.current(), Incarnation(9));
        for (of, shared) in [(0, 10), (7, 25), (9, 40), (8, 0)] {
            let cursor = ResultCursor::new(number(3), Incarnation(of));
            assert_eq!(lives.shared_with(cursor, number(40)), number(shared), "{of}");
        }
        for (result, of) in [(1, 0), (10, 0), (11, 7), (25, 7), (26, 9)] {
            assert_eq!(lives.of(number(result)), Incarnation(of), "{result}");
            // Where it is told to have been made it is part of what is shared.
            let cursor = ResultCursor::new(number(result), lives.of(number(result)));
            assert!(lives.shared_with(cursor, number(40)) >= number(result), "{result}");
        }
        assert_eq!(Incarnations::default().current(), Incarnation::FIRST);
        let first = ResultCursor::new(number(3), Incarnation::FIRST);
        assert_eq!(Incarnations::default().shared_with(first, number(40)), number(40));
    }

    #[test]
    fn what_is_kept_reads_back() {
        let begun = Begun { incarnation: Incarnation(u64::MAX - 3), after: number(77) };
        assert_eq!(Begun::decode(&begun.encode()), begun);
    }
}
