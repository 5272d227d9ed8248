//! The envelope of one record: what a row of the log looks like.
//! Its formats are in `docs/journal.md`.
//!
//! There are two hashes so that the rows of a match can be read in any order, each once.

use sha2::{Digest, Sha256};
use twox_hash::XxHash3_128;

use super::{Epoch, MatchId, Version};

/// Most bytes of a row of the format that is written, without its payload.
pub(crate) const HEADER_BYTES: usize = EPOCH_AT + 8 + SHORT_HASH_BYTES + SHORT_PLACE_BYTES;
const VERSION_AT: usize = 18;
const EPOCH_AT: usize = 22;
/// Of the formats with long hashes, of which the second has its place after it.
const LONG_HEADER_BYTES: usize = EPOCH_AT + 8 + 32;
const PLACE_BYTES: usize = 8;
const SHORT_HASH_BYTES: usize = 16;
const SHORT_PLACE_BYTES: usize = 4;
/// The first byte of [`Format::Short`], which differs from each other first byte in two bits or more: where one is flipped, nothing of the
/// row is taken for what it is not.
const SHORT: u8 = 7;

/// A hash over a record and, through the one before, over all before it. A short one is filled with zeros.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ChainHash(pub(crate) [u8; 32]);

impl ChainHash {
    /// What comes before version 1.
    pub(crate) const START: Self = Self([0; 32]);

    /// The chain hash of a record with this content after this one.
    pub(crate) fn then(self, content: ContentHash) -> Self {
        match content {
            ContentHash::Long(content) => {
                Self(Sha256::new().chain_update(self.0).chain_update(content).finalize().into())
            }
            ContentHash::Short(content) => {
                let mut both = [0; 32 + SHORT_HASH_BYTES];
                both[..32].copy_from_slice(&self.0);
                both[32..].copy_from_slice(&content);
                Self::short(XxHash3_128::oneshot(&both).to_be_bytes())
            }
        }
    }

    fn short(hash: [u8; SHORT_HASH_BYTES]) -> Self {
        let mut filled = [0; 32];
        filled[..SHORT_HASH_BYTES].copy_from_slice(&hash);
        Self(filled)
    }
}

/// A hash over everything of a record but its place in the chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ContentHash {
    /// SHA-256.
    Long([u8; 32]),
    /// XXH3 of 128 bits.
    Short([u8; SHORT_HASH_BYTES]),
}

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
    /// With a short hash and place, behind what the hash is of, and no more bytes of the epoch than it has.
    Short,
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
    /// Adds all of it to a buffer.
    fn write(&self, to: &mut Vec<u8>) {
        let kind: u8 = match self.kind {
            RowKind::GoesOn => 0,
            RowKind::Last => 1,
        };
        let epoch = self.epoch.get().to_be_bytes();
        let (form, kind, epoch) = match self.format {
            Format::First => (1, kind, &epoch[..]),
            Format::Placed => (2, kind, &epoch[..]),
            Format::Short => {
                // Of 0 too its last byte is there.
                let zeros = u8::try_from(self.epoch.get().leading_zeros() / 8).unwrap_or(7).min(7);
                (SHORT, kind | (7 - zeros) << 1, &epoch[usize::from(zeros)..])
            }
        };
        to.extend_from_slice(&[form, kind]);
        to.extend_from_slice(self.match_id.as_bytes());
        to.extend_from_slice(&self.version.get().to_be_bytes());
        to.extend_from_slice(epoch);
    }

    /// The content hash of a record with this header and payload.
    pub(crate) fn content(&self, payload: &[u8]) -> ContentHash {
        let mut hashed = Vec::with_capacity(HEADER_BYTES + payload.len());
        self.write(&mut hashed);
        hashed.extend_from_slice(payload);
        self.content_of(&hashed)
    }

    fn content_of(&self, hashed: &[u8]) -> ContentHash {
        match self.format {
            Format::First | Format::Placed => ContentHash::Long(Sha256::digest(hashed).into()),
            Format::Short => ContentHash::Short(XxHash3_128::oneshot(hashed).to_be_bytes()),
        }
    }

    /// Writes the row into an emptied buffer, for this position, and returns its chain hash.
    pub(crate) fn encode(
        &self,
        before: ChainHash,
        payload: &[u8],
        position: i64,
        row: &mut Vec<u8>,
    ) -> ChainHash {
        row.clear();
        self.write(row);
        match self.format {
            Format::First | Format::Placed => {
                let chain = before.then(self.content(payload));
                row.extend_from_slice(&chain.0);
                if self.format == Format::Placed {
                    row.extend_from_slice(&position.to_be_bytes());
                }
                row.extend_from_slice(payload);
                chain
            }
            Format::Short => {
                row.extend_from_slice(payload);
                let chain = before.then(self.content_of(row));
                row.extend_from_slice(&chain.0[..SHORT_HASH_BYTES]);
                row.extend_from_slice(&short_place(position));
                chain
            }
        }
    }
}

/// The lowest bits of a position.
fn short_place(position: i64) -> [u8; SHORT_PLACE_BYTES] {
    let [.., a, b, c, d] = position.to_be_bytes();
    [a, b, c, d]
}

/// Writes the position of a copy of a row into it.
pub(crate) fn place(row: &mut [u8], position: i64) {
    match row.first() {
        Some(2) => {
            if let Some(place) = row.get_mut(LONG_HEADER_BYTES..LONG_HEADER_BYTES + PLACE_BYTES) {
                place.copy_from_slice(&position.to_be_bytes());
            }
        }
        Some(&SHORT) => {
            if let Some(place) = row.last_chunk_mut() {
                *place = short_place(position);
            }
        }
        _ => {}
    }
}

/// Where a row was written, as it says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Unsaid,
    Long([u8; PLACE_BYTES]),
    Short([u8; SHORT_PLACE_BYTES]),
}

/// A row that was read. Its hash is not checked yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    pub(crate) header: RowHeader,
    pub(crate) chain: ChainHash,
    pub(crate) payload: &'a [u8],
    place: Place,
}

/// A row that can't be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum RowError {
    #[error("a row of {0} bytes is too short")]
    Short(usize),
    #[error(
        "a row of match {match_id} has the unknown format {format} or kind {kind}, or is too short for it"
    )]
    Unknown { match_id: MatchId, version: Version, format: u8, kind: u8 },
}

impl<'a> Row<'a> {
    /// Reads a row.
    pub(crate) fn decode(row: &'a [u8]) -> Result<Self, RowError> {
        let (header, rest) = row.split_first_chunk::<EPOCH_AT>().ok_or(RowError::Short(row.len()))?;
        let match_id = MatchId::from_bytes(part(header, 2));
        let version = Version::new(u32::from_be_bytes(part(header, VERSION_AT)));
        let unknown = RowError::Unknown { match_id, version, format: header[0], kind: header[1] };
        let (epoch_bytes, kind) = match header[..2] {
            [1 | 2, kind] => (8, kind),
            [SHORT, kind] => (usize::from(kind >> 1 & 7) + 1, kind & !0x0e),
            _ => return Err(unknown),
        };
        let kind = match kind {
            0 => RowKind::GoesOn,
            1 => RowKind::Last,
            _ => return Err(unknown),
        };
        let (epoch, rest) = rest.split_at_checked(epoch_bytes).ok_or(unknown)?;
        if header[0] == SHORT && epoch_bytes > 1 && epoch[0] == 0 {
            return Err(unknown);
        }
        let epoch = Epoch::new(epoch.iter().fold(0, |epoch, byte| epoch << 8 | u64::from(*byte)));
        let (format, place, chain, payload) = match header[0] {
            SHORT => {
                let (rest, place) = rest.split_last_chunk().ok_or(unknown)?;
                let (payload, chain) = rest.split_last_chunk().ok_or(unknown)?;
                (Format::Short, Place::Short(*place), ChainHash::short(*chain), payload)
            }
            form => {
                let (chain, rest) = rest.split_first_chunk().ok_or(unknown)?;
                if form == 1 {
                    (Format::First, Place::Unsaid, ChainHash(*chain), rest)
                } else {
                    let (place, payload) = rest.split_first_chunk().ok_or(unknown)?;
                    (Format::Placed, Place::Long(*place), ChainHash(*chain), payload)
                }
            }
        };
        let header = RowHeader { format, kind, match_id, version, epoch };
        Ok(Self { header, chain, payload, place })
    }

    /// Whether it says that it is elsewhere than at this position.
    pub(crate) fn is_misplaced(&self, position: i64) -> bool {
        match self.place {
            Place::Unsaid => false,
            Place::Long(place) => place != position.to_be_bytes(),
            Place::Short(place) => place != short_place(position),
        }
    }

    /// Its content hash, from what was read.
    pub(crate) fn content(&self) -> ContentHash {
        self.header.content(self.payload)
    }
}

fn part<const N: usize>(header: &[u8; EPOCH_AT], at: usize) -> [u8; N] {
    std::array::from_fn(|i| header[at + i])
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMATS: [Format; 3] = [Format::First, Format::Placed, Format::Short];

    fn header(format: Format) -> RowHeader {
        RowHeader {
            format,
            kind: RowKind::GoesOn,
            match_id: MatchId::from_bytes([7; 16]),
            version: Version::new(3),
            epoch: Epoch::new(9),
        }
    }

    /// With epochs of every length.
    fn headers() -> impl Iterator<Item = RowHeader> {
        let epochs = (0..8).flat_map(|byte| [0, 1, 0xff].map(|value: u64| Epoch::new(value << (8 * byte))));
        let of = |format| move |epoch| RowHeader { epoch, ..header(format) };
        let all = FORMATS.into_iter().flat_map(move |format| epochs.clone().map(of(format)));
        all.flat_map(|header| [RowKind::GoesOn, RowKind::Last].map(|kind| RowHeader { kind, ..header }))
    }

    fn is_intact(row: &[u8]) -> bool {
        Row::decode(row)
            .is_ok_and(|row| ChainHash::START.then(row.content()) == row.chain && !row.is_misplaced(77))
    }

    #[test]
    fn a_row_reads_back_as_written() {
        for header in headers() {
            let mut bytes = Vec::new();
            let before = ChainHash([5; 32]);
            let chain = header.encode(before, b"payload", 77, &mut bytes);
            let row = Row::decode(&bytes).unwrap();
            assert_eq!((row.header, row.chain, row.payload), (header, chain, &b"payload"[..]));
            assert_eq!(before.then(row.content()), chain);
            assert_eq!(row.is_misplaced(78), header.format != Format::First);
            place(&mut bytes, 78);
            let row = Row::decode(&bytes).unwrap();
            assert_eq!((row.chain, row.is_misplaced(78)), (chain, false));
        }
    }

    #[test]
    fn every_flipped_bit_of_a_row_is_found() {
        for header in headers() {
            let mut bytes = Vec::new();
            header.encode(ChainHash::START, b"payload", 77, &mut bytes);
            assert!(is_intact(&bytes));
            for bit in 0..bytes.len() * 8 {
                let mut flipped = bytes.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                assert!(!is_intact(&flipped), "bit {bit} of {header:?}");
            }
        }
    }

    #[test]
    fn every_truncated_row_is_found() {
        for header in headers() {
            let mut bytes = Vec::new();
            header.encode(ChainHash::START, b"payload", 77, &mut bytes);
            for length in 0..bytes.len() {
                assert!(!is_intact(&bytes[..length]), "length {length} of {header:?}");
            }
        }
    }

    #[test]
    fn a_short_row_has_little_besides_its_payload() {
        let mut bytes = Vec::new();
        let header = RowHeader { epoch: Epoch::new(u64::MAX), ..header(Format::Short) };
        for (header, most) in [(header, HEADER_BYTES), (RowHeader { epoch: Epoch::new(255), ..header }, 43)] {
            header.encode(ChainHash::START, b"payload", 77, &mut bytes);
            assert_eq!(bytes.len(), most + b"payload".len());
        }
    }

    #[test]
    fn no_flipped_bit_makes_a_short_row_one_of_another_format_or_the_other_way_round() {
        for format in [1, 2_u8] {
            assert!((format ^ SHORT).count_ones() > 1);
        }
    }

    #[test]
    fn every_form_and_kind_but_that_which_was_written_is_told_from_it() {
        for header in headers().filter(|header| header.format == Format::Short) {
            let mut bytes = Vec::new();
            header.encode(ChainHash::START, b"payload of more than the bytes of an epoch", 77, &mut bytes);
            let written = (bytes[0], bytes[1]);
            for (form, kind) in (0..=255).flat_map(|form| (0..=255).map(move |kind| (form, kind))) {
                (bytes[0], bytes[1]) = (form, kind);
                assert_eq!(is_intact(&bytes), (form, kind) == written, "{form}, {kind} of {header:?}");
            }
        }
    }

    #[test]
    fn a_row_that_names_its_match_does_so_however_short_it_is() {
        for header in headers() {
            let mut bytes = Vec::new();
            header.encode(ChainHash::START, b"", 77, &mut bytes);
            for length in 0..bytes.len() {
                let read = Row::decode(&bytes[..length]);
                match read.err() {
                    None => assert!(length >= EPOCH_AT),
                    Some(RowError::Short(bytes)) => assert_eq!((bytes, length < EPOCH_AT), (length, true)),
                    Some(RowError::Unknown { match_id, version, .. }) => {
                        assert_eq!((match_id, version), (header.match_id, header.version));
                    }
                }
            }
        }
    }

    #[test]
    fn a_chain_goes_on_from_any_format_to_any() {
        for [before, after] in FORMATS.map(|before| FORMATS.map(|after| [before, after])).concat() {
            let (mut first, mut second) = (Vec::new(), Vec::new());
            let chain = header(before).encode(ChainHash::START, b"first", 77, &mut first);
            header(after).encode(chain, b"second", 78, &mut second);
            let (first, second) = (Row::decode(&first).unwrap(), Row::decode(&second).unwrap());
            assert_eq!(first.chain.then(second.content()), second.chain, "{before:?}, {after:?}");
            assert_ne!(ChainHash::START.then(second.content()), second.chain, "{before:?}, {after:?}");
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
        let short = [
            "070007070707070707070707070707070707",
            "00000003",
            "09",
            "7061796c6f6164",
            "f807270c4c70cc928ba48be3ca6965da",
            "0000004d",
        ];
        let all = [
            (Format::First, first.concat()),
            (Format::Placed, placed.concat()),
            (Format::Short, short.concat()),
        ];
        for (format, want) in all {
            let mut bytes = Vec::new();
            header(format).encode(ChainHash::START, b"payload", 77, &mut bytes);
            let hex = bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
            assert_eq!(hex, want);
        }
    }
}
