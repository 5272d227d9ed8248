//! One commit as it stands in a file of the redo log. Its format is in `docs/journal.md`.

use twox_hash::XxHash3_128;

use super::Position;

/// What a disk writes whole or not at all. A frame begins with one, so no commit writes where an earlier one stands.
pub(crate) const SECTOR_BYTES: usize = 512;
const MAGIC: [u8; 4] = *b"ZRED";
const SALT_AT: usize = 4;
const SEQUENCE_AT: usize = 20;
const FIRST_AT: usize = 28;
const ROWS_AT: usize = 36;
const BODY_AT: usize = 40;
const HEAD_BYTES: usize = 44;
const HASH_BYTES: usize = 16;
const ENTRY_HEAD_BYTES: usize = 4;
/// The kind of an entry is above its length.
const KIND_SHIFT: u32 = 28;

/// What tells the frames of a file from those that it had before, and from all that users may have written into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Salt(pub(crate) [u8; 16]);

/// The number of a frame: they go up one by one, over all files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sequence(pub(crate) u64);

impl Sequence {
    pub(crate) const fn next(self) -> Self {
        Self(self.0 + 1)
    }

    pub(crate) const fn before(self) -> Self {
        Self(self.0.saturating_sub(1))
    }
}

/// What an entry of a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A row of the log.
    Row,
    /// The end of a match, with its record.
    Finish,
    /// A request that named itself, with its answer.
    Request,
    /// Nothing: that it can be written is all that it says.
    Trial,
}

impl Kind {
    const fn number(self) -> u32 {
        match self {
            Self::Row => 1,
            Self::Finish => 2,
            Self::Request => 3,
            Self::Trial => 4,
        }
    }

    const fn of(number: u32) -> Option<Self> {
        match number {
            1 => Some(Self::Row),
            2 => Some(Self::Finish),
            3 => Some(Self::Request),
            4 => Some(Self::Trial),
            _ => None,
        }
    }
}

/// A frame in the making.
#[derive(Debug)]
pub(crate) struct FrameBuilder {
    bytes: Vec<u8>,
    rows: u32,
}

impl Default for FrameBuilder {
    fn default() -> Self {
        Self { bytes: vec![0; HEAD_BYTES], rows: 0 }
    }
}

impl FrameBuilder {
    /// Adds an entry, which has to be shorter than 256 MiB.
    pub(crate) fn push(&mut self, kind: Kind, entry: &[u8]) {
        // The journal's values have bounds far below this.
        let length = u32::try_from(entry.len()).unwrap_or(u32::MAX) & ((1 << KIND_SHIFT) - 1);
        self.bytes.extend_from_slice(&(kind.number() << KIND_SHIFT | length).to_be_bytes());
        self.bytes.extend_from_slice(entry);
        self.rows += u32::from(kind == Kind::Row);
    }

    pub(crate) const fn rows(&self) -> u32 {
        self.rows
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.len() == HEAD_BYTES
    }

    /// How long it is in a file.
    pub(crate) fn len(&self) -> usize {
        (self.bytes.len() + HASH_BYTES).next_multiple_of(SECTOR_BYTES)
    }

    /// What is to be written. `first` is the position of its first row.
    pub(crate) fn seal(&mut self, salt: Salt, sequence: Sequence, first: Position) -> &[u8] {
        let body = u32::try_from(self.bytes.len() - HEAD_BYTES).unwrap_or(u32::MAX);
        let head = &mut self.bytes[..HEAD_BYTES];
        head[..SALT_AT].copy_from_slice(&MAGIC);
        head[SALT_AT..SEQUENCE_AT].copy_from_slice(&salt.0);
        head[SEQUENCE_AT..FIRST_AT].copy_from_slice(&sequence.0.to_be_bytes());
        head[FIRST_AT..ROWS_AT].copy_from_slice(&first.to_be_bytes());
        head[ROWS_AT..BODY_AT].copy_from_slice(&self.rows.to_be_bytes());
        head[BODY_AT..].copy_from_slice(&body.to_be_bytes());
        let hash = XxHash3_128::oneshot(&self.bytes);
        self.bytes.extend_from_slice(&hash.to_be_bytes());
        self.bytes.resize(self.bytes.len().next_multiple_of(SECTOR_BYTES), 0);
        &self.bytes
    }

    /// Takes all out of it.
    pub(crate) fn clear(&mut self) {
        self.bytes.truncate(HEAD_BYTES);
        self.rows = 0;
    }
}

/// A frame that is as it was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) sequence: Sequence,
    first: Position,
    rows: u32,
    body: &'a [u8],
}

impl<'a> Frame<'a> {
    /// The frame that begins where these bytes do, if it is one of the file with this salt and as it was written.
    pub(crate) fn read(bytes: &'a [u8], salt: Salt) -> Option<Self> {
        let head = bytes.first_chunk::<HEAD_BYTES>()?;
        if head[..SALT_AT] != MAGIC || head[SALT_AT..SEQUENCE_AT] != salt.0 {
            return None;
        }
        let body = usize::try_from(u32::from_be_bytes(part(head, BODY_AT))).ok()?;
        let (hashed, rest) = bytes.split_at_checked(HEAD_BYTES.checked_add(body)?)?;
        if XxHash3_128::oneshot(hashed).to_be_bytes() != *rest.first_chunk::<HASH_BYTES>()? {
            return None;
        }
        let frame = Self {
            sequence: Sequence(u64::from_be_bytes(part(head, SEQUENCE_AT))),
            first: Position::from_be_bytes(part(head, FIRST_AT)),
            rows: u32::from_be_bytes(part(head, ROWS_AT)),
            body: &hashed[HEAD_BYTES..],
        };
        let entries = Entries(frame.body).map(|(kind, entry)| (kind, ENTRY_HEAD_BYTES + entry.len()));
        let (mut rows, mut read) = (0, 0);
        for (kind, length) in entries {
            rows += u32::from(kind == Kind::Row);
            read += length;
        }
        (read == body && rows == frame.rows).then_some(frame)
    }

    /// How long the frame at the beginning of these bytes is, if one begins there; it may be damaged.
    pub(crate) fn length_at(bytes: &[u8; SECTOR_BYTES], salt: Salt) -> Option<usize> {
        let (head, _) = bytes.split_first_chunk::<HEAD_BYTES>()?;
        let begins = head[..SALT_AT] == MAGIC && head[SALT_AT..SEQUENCE_AT] == salt.0;
        let body = usize::try_from(u32::from_be_bytes(part(head, BODY_AT))).ok()?;
        begins.then_some((HEAD_BYTES + body + HASH_BYTES).next_multiple_of(SECTOR_BYTES))
    }

    /// How long it is in its file.
    pub(crate) const fn len(&self) -> usize {
        (HEAD_BYTES + self.body.len() + HASH_BYTES).next_multiple_of(SECTOR_BYTES)
    }

    /// Its rows, each with its position.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (Position, &'a [u8])> + use<'a> {
        let rows = self.entries().filter(|(kind, _)| *kind == Kind::Row).map(|(_, row)| row);
        (self.first..).zip(rows)
    }

    /// All of its entries, in order.
    pub(crate) const fn entries(&self) -> Entries<'a> {
        Entries(self.body)
    }
}

/// The entries of a body, up to one that is none.
#[derive(Clone, Debug)]
pub(crate) struct Entries<'a>(&'a [u8]);

impl<'a> Iterator for Entries<'a> {
    type Item = (Kind, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (head, rest) = self.0.split_first_chunk()?;
        let head = u32::from_be_bytes(*head);
        let kind = Kind::of(head >> KIND_SHIFT)?;
        let length = usize::try_from(head & ((1 << KIND_SHIFT) - 1)).ok()?;
        let (entry, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((kind, entry))
    }
}

fn part<const N: usize>(head: &[u8; HEAD_BYTES], at: usize) -> [u8; N] {
    std::array::from_fn(|i| head[at + i])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SALT: Salt = Salt([3; 16]);

    fn kind() -> impl Strategy<Value = Kind> {
        prop_oneof![Just(Kind::Row), Just(Kind::Finish), Just(Kind::Request), Just(Kind::Trial)]
    }

    fn sealed(entries: &[(Kind, Vec<u8>)]) -> Vec<u8> {
        let mut builder = FrameBuilder::default();
        for (kind, entry) in entries {
            builder.push(*kind, entry);
        }
        let length = builder.len();
        let bytes = builder.seal(SALT, Sequence(9), 70).to_vec();
        assert_eq!(bytes.len(), length);
        bytes
    }

    proptest! {
        #[test]
        fn a_frame_reads_back_as_written(
            entries in prop::collection::vec((kind(), prop::collection::vec(any::<u8>(), 0..200)), 0..20),
        ) {
            let bytes = sealed(&entries);
            let frame = Frame::read(&bytes, SALT).expect("it is whole");
            prop_assert_eq!(frame.len(), bytes.len());
            prop_assert_eq!(frame.sequence, Sequence(9));
            let read: Vec<_> = frame.entries().map(|(kind, entry)| (kind, entry.to_vec())).collect();
            let rows = entries.iter().filter(|(kind, _)| *kind == Kind::Row);
            let rows: Vec<_> = (70..).zip(rows.map(|(_, row)| row.clone())).collect();
            prop_assert_eq!(frame.rows().map(|(at, row)| (at, row.to_vec())).collect::<Vec<_>>(), rows);
            prop_assert_eq!(read, entries);
        }

        #[test]
        fn anything_is_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            let mut bytes = bytes;
            prop_assert!(Frame::read(&bytes, SALT).is_none());
            for (at, byte) in MAGIC.iter().chain(&SALT.0).enumerate() {
                if let Some(place) = bytes.get_mut(at) {
                    *place = *byte;
                }
            }
            prop_assert!(Frame::read(&bytes, SALT).is_none());
        }
    }

    #[test]
    fn every_flipped_bit_and_every_cut_of_a_frame_is_found() {
        let bytes = sealed(&[(Kind::Row, vec![1; 30]), (Kind::Finish, vec![2; 9])]);
        let written = HEAD_BYTES + 2 * ENTRY_HEAD_BYTES + 39 + HASH_BYTES;
        for bit in 0..written * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(Frame::read(&flipped, SALT).is_none(), "bit {bit}");
        }
        for length in 0..written {
            assert!(Frame::read(&bytes[..length], SALT).is_none(), "length {length}");
        }
        assert!(Frame::read(&bytes, Salt([4; 16])).is_none());
    }

    #[test]
    fn a_builder_can_be_used_again() {
        let mut builder = FrameBuilder::default();
        builder.push(Kind::Row, b"first");
        builder.seal(SALT, Sequence(1), 1);
        builder.clear();
        assert!(builder.is_empty() && builder.rows() == 0);
        builder.push(Kind::Request, b"second");
        let bytes = builder.seal(SALT, Sequence(2), 2).to_vec();
        assert_eq!(bytes.len(), SECTOR_BYTES);
        assert_eq!(Frame::read(&bytes, SALT).map(|frame| frame.rows().count()), Some(0));
    }

    /// The format is frozen.
    #[test]
    fn the_format_stays() {
        let bytes = sealed(&[(Kind::Row, b"row".to_vec()), (Kind::Trial, Vec::new())]);
        let head = b"ZRED\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03\
            \0\0\0\0\0\0\0\x09\0\0\0\0\0\0\0\x46\0\0\0\x01\0\0\0\x0b";
        let body = b"\x10\0\0\x03row\x40\0\0\0";
        let hashed = [&head[..], body].concat();
        assert_eq!(bytes[..hashed.len()], hashed);
        assert_eq!(bytes[hashed.len()..][..HASH_BYTES], XxHash3_128::oneshot(&hashed).to_be_bytes());
        assert!(bytes[hashed.len() + HASH_BYTES..].iter().all(|byte| *byte == 0));
    }
}
