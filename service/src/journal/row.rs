//! The envelope of one record: what a row of the log looks like.
//! Its format is in `docs/journal.md`.
//!
//! There are two hashes so that the rows of a match can be read in any order, each once.

use sha2::{Digest, Sha256};

use super::{Epoch, MatchId, Version};

/// Of the format that is written.
pub(crate) const HEADER_BYTES: usize = CHAINED_HEADER_BYTES + 8;
const CHAINED_HEADER_BYTES: usize = 62;
const HASHED_HEADER_BYTES: usize = 30;

/// A SHA-256 over a record and, through the one before, over all before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ChainHash(pub(crate) [u8; 32]);

impl ChainHash {
    /// What comes before version 1.
    pub(crate) const START: Self = Self([0; 32]);

    /// The chain hash of a record with this content after this one.
    pub(crate) fn then(self, content: ContentHash) -> Self {
        Self(Sha256::new().chain_update(self.0).chain_update(content.0).finalize().into())
    }
}

/// A SHA-256 over everything of a record but its place in the chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ContentHash([u8; 32]);

/// Whether a match goes on after a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RowKind {
    GoesOn,
    Last,
}

/// The form of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    /// As the first release wrote it: it does not say where it is.
    First,
    /// It says at which position it was written, so that one that is where another should be is found.
    Placed,
}

/// Everything of a row but its place, its hashes and its payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RowHeader {
    pub(crate) format: Format,
    pub(crate) kind: RowKind,
    pub(crate) match_id: MatchId,
    pub(crate) version: Version,
    pub(crate) epoch: Epoch,
}

impl RowHeader {
    fn hashed_bytes(&self) -> [u8; HASHED_HEADER_BYTES] {
        let mut bytes = [0; HASHED_HEADER_BYTES];
        bytes[0] = match self.format {
            Format::First => 1,
            Format::Placed => 2,
        };
        bytes[1] = match self.kind {
            RowKind::GoesOn => 0,
            RowKind::Last => 1,
        };
        bytes[2..18].copy_from_slice(self.match_id.as_bytes());
        bytes[18..22].copy_from_slice(&self.version.get().to_be_bytes());
        bytes[22..30].copy_from_slice(&self.epoch.get().to_be_bytes());
        bytes
    }

    /// The content hash of a record with this header and payload.
    pub(crate) fn content(&self, payload: &[u8]) -> ContentHash {
        ContentHash(Sha256::new().chain_update(self.hashed_bytes()).chain_update(payload).finalize().into())
    }

    /// Writes the row into an emptied buffer, for this position, and returns its chain hash.
    pub(crate) fn encode(
        &self,
        before: ChainHash,
        payload: &[u8],
        position: i64,
        row: &mut Vec<u8>,
    ) -> ChainHash {
        let chain = before.then(self.content(payload));
        row.clear();
        row.extend_from_slice(&self.hashed_bytes());
        row.extend_from_slice(&chain.0);
        if self.format == Format::Placed {
            row.extend_from_slice(&position.to_be_bytes());
        }
        row.extend_from_slice(payload);
        chain
    }
}

/// Writes the position of a copy of a row into it.
pub(crate) fn place(row: &mut [u8], position: i64) {
    if row.first() == Some(&2)
        && let Some(place) = row.get_mut(CHAINED_HEADER_BYTES..HEADER_BYTES)
    {
        place.copy_from_slice(&position.to_be_bytes());
    }
}

/// A row that was read. Its hash is not checked yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    pub(crate) header: RowHeader,
    /// Where it was written, if it says so.
    pub(crate) place: Option<i64>,
    pub(crate) chain: ChainHash,
    pub(crate) payload: &'a [u8],
}

/// A row that can't be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum RowError {
    #[error("a row of {0} bytes is too short")]
    Short(usize),
    #[error("a row of match {match_id} has the unknown format {format} or kind {kind}")]
    Unknown { match_id: MatchId, version: Version, format: u8, kind: u8 },
}

impl<'a> Row<'a> {
    /// Reads a row.
    pub(crate) fn decode(row: &'a [u8]) -> Result<Self, RowError> {
        let Some((header, rest)) = row.split_first_chunk::<CHAINED_HEADER_BYTES>() else {
            return Err(RowError::Short(row.len()));
        };
        let match_id = MatchId::from_bytes(part(header, 2));
        let version = Version::new(u32::from_be_bytes(part(header, 18)));
        let unknown = || RowError::Unknown { match_id, version, format: header[0], kind: header[1] };
        let (format, place, payload) = match header[0] {
            1 => (Format::First, None, rest),
            2 => match rest.split_first_chunk() {
                Some((place, payload)) => (Format::Placed, Some(i64::from_be_bytes(*place)), payload),
                None => return Err(RowError::Short(row.len())),
            },
            _ => return Err(unknown()),
        };
        let kind = match header[1] {
            0 => RowKind::GoesOn,
            1 => RowKind::Last,
            _ => return Err(unknown()),
        };
        let epoch = Epoch::new(u64::from_be_bytes(part(header, 22)));
        let chain = ChainHash(part(header, HASHED_HEADER_BYTES));
        Ok(Self { header: RowHeader { format, kind, match_id, version, epoch }, place, chain, payload })
    }

    /// Whether it says that it is elsewhere than at this position.
    pub(crate) fn is_misplaced(&self, position: i64) -> bool {
        self.place.is_some_and(|place| place != position)
    }

    /// Its content hash, from what was read.
    pub(crate) fn content(&self) -> ContentHash {
        self.header.content(self.payload)
    }
}

fn part<const N: usize>(header: &[u8; CHAINED_HEADER_BYTES], at: usize) -> [u8; N] {
    std::array::from_fn(|i| header[at + i])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(format: Format) -> RowHeader {
        RowHeader {
            format,
            kind: RowKind::GoesOn,
            match_id: MatchId::from_bytes([7; 16]),
            version: Version::new(3),
            epoch: Epoch::new(9),
        }
    }

    fn is_intact(row: &[u8]) -> bool {
        Row::decode(row)
            .is_ok_and(|row| ChainHash::START.then(row.content()) == row.chain && !row.is_misplaced(77))
    }

    #[test]
    fn a_row_reads_back_as_written() {
        for format in [Format::First, Format::Placed] {
            let mut bytes = Vec::new();
            let before = ChainHash([5; 32]);
            let chain = header(format).encode(before, b"payload", 77, &mut bytes);
            let row = Row::decode(&bytes).unwrap();
            assert_eq!((row.header, row.chain, row.payload), (header(format), chain, &b"payload"[..]));
            assert_eq!(before.then(row.content()), chain);
            assert_eq!(row.is_misplaced(78), format == Format::Placed);
            place(&mut bytes, 78);
            let row = Row::decode(&bytes).unwrap();
            assert_eq!((row.chain, row.is_misplaced(78)), (chain, false));
        }
    }

    #[test]
    fn every_flipped_bit_of_a_row_is_found() {
        for format in [Format::First, Format::Placed] {
            let mut bytes = Vec::new();
            header(format).encode(ChainHash::START, b"payload", 77, &mut bytes);
            assert!(is_intact(&bytes));
            for bit in 0..bytes.len() * 8 {
                let mut flipped = bytes.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                assert!(!is_intact(&flipped), "bit {bit}");
            }
        }
    }

    #[test]
    fn every_truncated_row_is_found() {
        for format in [Format::First, Format::Placed] {
            let mut bytes = Vec::new();
            header(format).encode(ChainHash::START, b"payload", 77, &mut bytes);
            for length in 0..bytes.len() {
                assert!(!is_intact(&bytes[..length]), "length {length}");
            }
        }
    }

    /// The formats are frozen: these rows were written by the first releases.
    #[test]
    fn the_formats_stay() {
        let first = [
            "010007070707070707070707070707070707",
            "00000003",
            "0000000000000009",
            "d9dd3e8de5b916b60891269bc0d9515fd972957ceb77eddff9155f0ab4bf2fe1",
            "7061796c6f6164",
        ];
        let placed = [
            "020007070707070707070707070707070707",
            "00000003",
            "0000000000000009",
            "6a17044d5078c6768a005e7f9888d5170e129f64ffa957e0339e18d459a36217",
            "000000000000004d",
            "7061796c6f6164",
        ];
        for (format, want) in [(Format::First, first.concat()), (Format::Placed, placed.concat())] {
            let mut bytes = Vec::new();
            header(format).encode(ChainHash::START, b"payload", 77, &mut bytes);
            let hex = bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
            assert_eq!(hex, want);
        }
    }
}
