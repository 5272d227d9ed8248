//! The files that luck is kept in: entries of one length, each with a checksum.
//!
//! ```text
//! file  = "zetema luck 1\n" ‖ entries        (or "zetema places 1\n" for baselines)
//! entry = what is kept ‖ the first 8 bytes of its SHA-256
//! ```
//!
//! A file is written whole and then takes its name. It is not synced: what a loss of power leaves of it is found by the checksums, and
//! computed anew.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use zetema_ladder::AdjustedScore;
use zetema_rules::Seat;

use super::key::LuckKey;
use crate::journal::ResultNumber;
use crate::kept_file::{self, CHECKSUM_BYTES, checksum};

/// What is kept in a file of its own kind.
pub(super) trait Stored: Sized {
    /// What such a file begins with. Another form has another number.
    const BEGINS: &'static [u8];
    /// The bytes of an entry, without its checksum.
    const BYTES: usize;

    /// Writes exactly [`Self::BYTES`].
    fn encode(&self, into: &mut Vec<u8>);

    /// `None` if nobody has written this.
    fn decode(from: &[u8]) -> Option<Self>;
}

/// What was found in a file.
#[derive(Debug)]
pub(super) struct Found<T> {
    pub(super) entries: Vec<T>,
    /// Entries that are not as they were written, and what is left at the end of the file.
    pub(super) damaged: usize,
}

/// Reads a file, of which no more than so many entries. One that is not there has none.
pub(super) fn read<T: Stored>(path: &Path, most: usize) -> io::Result<Found<T>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Found { entries: Vec::new(), damaged: 0 });
        }
        Err(error) => return Err(error),
    };
    let (mut bytes, most_bytes) = (Vec::new(), T::BEGINS.len() + most * (T::BYTES + CHECKSUM_BYTES));
    file.take(most_bytes as u64).read_to_end(&mut bytes)?;
    let Some(rest) = bytes.strip_prefix(T::BEGINS) else {
        return Ok(Found { entries: Vec::new(), damaged: 1 });
    };
    let mut found = Found { entries: Vec::new(), damaged: 0 };
    for entry in rest.chunks(T::BYTES + CHECKSUM_BYTES) {
        let whole = entry.split_at_checked(T::BYTES).filter(|(kept, sum)| checksum(kept) == **sum);
        match whole.and_then(|(kept, _)| T::decode(kept)) {
            Some(entry) => found.entries.push(entry),
            None => found.damaged += 1,
        }
    }
    Ok(found)
}

/// Writes a file in the place of what is there, which its owner alone may read.
pub(super) fn write<'a, T: Stored + 'a>(path: &Path, entries: impl Iterator<Item = &'a T>) -> io::Result<()> {
    let mut bytes = T::BEGINS.to_vec();
    for entry in entries {
        let begun = bytes.len();
        entry.encode(&mut bytes);
        let sum = checksum(&bytes[begun..]);
        bytes.extend_from_slice(&sum);
    }
    kept_file::replace(path, |file| file.write_all(&bytes))
}

/// The luck of one result.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ResultLuck {
    pub(super) number: ResultNumber,
    pub(super) key: LuckKey,
    /// Of each side, side 0 first.
    pub(super) scores: Arc<[AdjustedScore]>,
}

impl Stored for ResultLuck {
    const BEGINS: &'static [u8] = b"zetema luck 1\n";
    const BYTES: usize = 8 + 16 + 1 + Seat::MAX * 16;

    fn encode(&self, into: &mut Vec<u8>) {
        let Self { number, key, scores } = self;
        into.extend_from_slice(&number.get().to_be_bytes());
        into.extend_from_slice(&key.0);
        into.push(u8::try_from(scores.len()).unwrap_or(0));
        for side in 0..Seat::MAX {
            let AdjustedScore { raw, luck } =
                scores.get(side).copied().unwrap_or(AdjustedScore { raw: 0.0, luck: 0.0 });
            into.extend_from_slice(&raw.to_be_bytes());
            into.extend_from_slice(&luck.to_be_bytes());
        }
    }

    fn decode(from: &[u8]) -> Option<Self> {
        let (number, rest) = from.split_first_chunk()?;
        let (key, rest) = rest.split_first_chunk()?;
        let (&sides, rest) = rest.split_first()?;
        let sides = usize::from(sides);
        let mut scores = Vec::with_capacity(sides);
        for score in rest.chunks(16).take(sides) {
            let (raw, luck) = score.split_first_chunk()?;
            scores.push(AdjustedScore {
                raw: f64::from_be_bytes(*raw),
                luck: f64::from_be_bytes(luck.try_into().ok()?),
            });
        }
        let number = ResultNumber::new(u64::from_be_bytes(*number));
        (scores.len() == sides).then(|| Self { number, key: LuckKey(*key), scores: scores.into() })
    }
}

/// What the places at a table are usually worth by some rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KnownBaseline {
    /// The bytes of its key.
    pub(super) key: [u8; 32],
    /// By side, side 0 first.
    pub(super) sums: Vec<u64>,
}

impl Stored for KnownBaseline {
    const BEGINS: &'static [u8] = b"zetema places 1\n";
    const BYTES: usize = 32 + 1 + Seat::MAX * 8;

    fn encode(&self, into: &mut Vec<u8>) {
        let Self { key, sums } = self;
        into.extend_from_slice(key);
        into.push(u8::try_from(sums.len()).unwrap_or(0));
        for side in 0..Seat::MAX {
            into.extend_from_slice(&sums.get(side).copied().unwrap_or(0).to_be_bytes());
        }
    }

    fn decode(from: &[u8]) -> Option<Self> {
        let (key, rest) = from.split_first_chunk()?;
        let (&sides, rest) = rest.split_first()?;
        let sums: Vec<u64> = rest
            .chunks(8)
            .take(usize::from(sides))
            .map(|sum| Some(u64::from_be_bytes(sum.try_into().ok()?)))
            .collect::<Option<_>>()?;
        (sums.len() == usize::from(sides)).then_some(Self { key: *key, sums })
    }
}
