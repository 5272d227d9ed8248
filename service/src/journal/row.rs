//! The envelope of one record: what a row of the log looks like.
//! Its format is in the documentation of the [journal](super).
//!
//! There are two hashes so that the rows of a match can be read in any order, each once.

use sha2::{Digest, Sha256};

use super::{Epoch, MatchId, Version};

pub(crate) const HEADER_BYTES: usize = 62;
const HASHED_HEADER_BYTES: usize = 30;
const FORMAT: u8 = 1;

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

/// Everything of a row but its hashes and its payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RowHeader {
    pub(crate) kind: RowKind,
    pub(crate) match_id: MatchId,
    pub(crate) version: Version,
    pub(crate) epoch: Epoch,
}

impl RowHeader {
    fn hashed_bytes(&self) -> [u8; HASHED_HEADER_BYTES] {
        let mut bytes = [0; HASHED_HEADER_BYTES];
        bytes[0] = FORMAT;
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

    /// Writes the row into an emptied buffer and returns its chain hash.
    pub(crate) fn encode(&self, before: ChainHash, payload: &[u8], row: &mut Vec<u8>) -> ChainHash {
        let chain = before.then(self.content(payload));
        row.clear();
        row.extend_from_slice(&self.hashed_bytes());
        row.extend_from_slice(&chain.0);
        row.extend_from_slice(payload);
        chain
    }
}

/// A row that was read. Its hash is not checked yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    pub(crate) header: RowHeader,
    pub(crate) chain: ChainHash,
    pub(crate) payload: &'a [u8],
}

/// A row that can't be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum RowError {
    #[error("a row of {0} bytes is too short")]
    Short(usize),
    #[error("a row of match {match_id} has the unknown format {format} or kind {kind}")]
    Unknown { match_id: MatchId, format: u8, kind: u8 },
}

impl<'a> Row<'a> {
    /// Reads a row.
    pub(crate) fn decode(row: &'a [u8]) -> Result<Self, RowError> {
        let Some((header, payload)) = row.split_first_chunk::<HEADER_BYTES>() else {
            return Err(RowError::Short(row.len()));
        };
        let match_id = MatchId::from_bytes(part(header, 2));
        let kind = match (header[0], header[1]) {
            (FORMAT, 0) => RowKind::GoesOn,
            (FORMAT, 1) => RowKind::Last,
            (format, kind) => {
                return Err(RowError::Unknown { match_id, format, kind });
            }
        };
        let version = Version::new(u32::from_be_bytes(part(header, 18)));
        let epoch = Epoch::new(u64::from_be_bytes(part(header, 22)));
        let chain = ChainHash(part(header, HASHED_HEADER_BYTES));
        Ok(Self { header: RowHeader { kind, match_id, version, epoch }, chain, payload })
    }

    /// Its content hash, from what was read.
    pub(crate) fn content(&self) -> ContentHash {
        self.header.content(self.payload)
    }
}

fn part<const N: usize>(header: &[u8; HEADER_BYTES], at: usize) -> [u8; N] {
    std::array::from_fn(|i| header[at + i])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> RowHeader {
        RowHeader {
            kind: RowKind::GoesOn,
            match_id: MatchId::from_bytes([7; 16]),
            version: Version::new(3),
            epoch: Epoch::new(9),
        }
    }

    #[test]
    fn a_row_reads_back_as_written() {
        let mut bytes = Vec::new();
        let before = ChainHash([5; 32]);
        let chain = header().encode(before, b"payload", &mut bytes);
        let row = Row::decode(&bytes).unwrap();
        assert_eq!((row.header, row.chain, row.payload), (header(), chain, &b"payload"[..]));
        assert_eq!(before.then(row.content()), chain);
    }

    #[test]
    fn every_flipped_bit_of_a_row_is_found() {
        let mut bytes = Vec::new();
        header().encode(ChainHash::START, b"payload", &mut bytes);
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let intact =
                Row::decode(&flipped).is_ok_and(|row| ChainHash::START.then(row.content()) == row.chain);
            assert!(!intact, "bit {bit}");
        }
    }

    #[test]
    fn every_truncated_row_is_found() {
        let mut bytes = Vec::new();
        header().encode(ChainHash::START, b"payload", &mut bytes);
        for length in 0..bytes.len() {
            let row = Row::decode(&bytes[..length]);
            assert!(
                !row.is_ok_and(|row| ChainHash::START.then(row.content()) == row.chain),
                "length {length}"
            );
        }
    }

    /// The format is frozen: this row was written by the first release.
    #[test]
    fn the_first_format_stays() {
        let mut bytes = Vec::new();
        header().encode(ChainHash::START, b"payload", &mut bytes);
        let (header, rest) = bytes.split_at(HASHED_HEADER_BYTES);
        let (chain, payload) = rest.split_at(32);
        assert_eq!(header, b"\x01\x00\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\0\0\0\x03\0\0\0\0\0\0\0\x09");
        let halves =
            [chain[..16].try_into().unwrap(), chain[16..].try_into().unwrap()].map(MatchId::from_bytes);
        assert_eq!(
            halves.map(|half| half.to_string()),
            ["d9dd3e8de5b916b60891269bc0d9515f", "d972957ceb77eddff9155f0ab4bf2fe1"]
        );
        assert_eq!(payload, b"payload");
    }
}
