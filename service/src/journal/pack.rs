//! Several rows of the log in one: what is committed together takes a row of the table for each third of a page.
//! Its format is in `docs/journal.md`.

/// The form of a pack, where a row has its own, from which it differs in seven bits.
const FORM: u8 = 0xfc;
/// The form and how many rows it has.
const HEAD_BYTES: usize = 3;
const LENGTH_BYTES: usize = 2;
/// A page of the database holds three of them: it is nearly full then, and who looks for a record reads one page.
const MOST_BYTES: usize = 1_340;

/// Rows at positions one after the other, that are written together.
#[derive(Debug, Default)]
pub(crate) struct Pack {
    rows: Vec<u8>,
    lengths: Vec<u16>,
    /// What is written.
    bytes: Vec<u8>,
}

impl Pack {
    /// Whether a row has room in it. One has room in an empty pack, however long it is.
    pub(crate) fn has_room_for(&self, row: &[u8]) -> bool {
        let head = HEAD_BYTES + LENGTH_BYTES * (self.lengths.len() + 1);
        self.lengths.is_empty() || head + self.rows.len() + row.len() <= MOST_BYTES
    }

    /// Adds a row, which has room.
    pub(crate) fn push(&mut self, row: &[u8]) {
        self.rows.extend_from_slice(row);
        // One that is longer is alone, where its length is not written.
        self.lengths.push(u16::try_from(row.len()).unwrap_or(u16::MAX));
    }

    /// Whether it has no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// What is written of it: a single row as it is.
    pub(crate) fn encode(&mut self) -> &[u8] {
        let Some(count) = u16::try_from(self.lengths.len()).ok().filter(|count| *count > 1) else {
            return &self.rows;
        };
        self.bytes.clear();
        self.bytes.push(FORM);
        self.bytes.extend_from_slice(&count.to_be_bytes());
        for length in &self.lengths {
            self.bytes.extend_from_slice(&length.to_be_bytes());
        }
        self.bytes.extend_from_slice(&self.rows);
        &self.bytes
    }

    /// Takes all rows out of it.
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.lengths.clear();
    }
}

/// A pack that is not as it was written: where its rows begin can't be told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a pack of rows that is not as it was written")]
pub(crate) struct PackError;

/// The rows in what was written, each with its position: those of a pack, or the one that it is. What was written is under the position of
/// the last.
///
/// # Errors
/// [`PackError`] if its lengths don't fit; a row itself may be anything.
pub(crate) fn rows(last: i64, bytes: &[u8]) -> Result<impl Iterator<Item = (i64, &[u8])>, PackError> {
    let (lengths, mut rest) = if bytes.first() == Some(&FORM) { split(bytes)? } else { (None, bytes) };
    let single = lengths.is_none().then_some(rest);
    let packed =
        lengths.into_iter().flat_map(|lengths| lengths.chunks_exact(LENGTH_BYTES)).map(move |length| {
            let (row, after) = rest.split_at_checked(number(length)).unwrap_or((rest, &[]));
            rest = after;
            row
        });
    let count = lengths.map_or(1, |lengths| lengths.len() / LENGTH_BYTES);
    let first = last.saturating_add(1).saturating_sub_unsigned(count as u64);
    let all = single.into_iter().chain(packed).enumerate();
    Ok(all.map(move |(at, row)| (first.saturating_add_unsigned(at as u64), row)))
}

/// The lengths and the rows of a pack, which has at least two.
fn split(bytes: &[u8]) -> Result<(Option<&[u8]>, &[u8]), PackError> {
    let count = number(bytes.get(1..HEAD_BYTES).ok_or(PackError)?);
    let (head, rows) = bytes.split_at_checked(HEAD_BYTES + LENGTH_BYTES * count).ok_or(PackError)?;
    let lengths = &head[HEAD_BYTES..];
    let sum: usize = lengths.chunks_exact(LENGTH_BYTES).map(number).sum();
    if count > 1 && sum == rows.len() { Ok((Some(lengths), rows)) } else { Err(PackError) }
}

/// A number, the highest byte first.
fn number(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |number, byte| number << 8 | usize::from(*byte))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn packed(all: &[Vec<u8>]) -> Vec<u8> {
        let mut pack = Pack::default();
        for row in all {
            assert!(pack.has_room_for(row));
            pack.push(row);
        }
        pack.encode().to_vec()
    }

    fn read(bytes: &[u8]) -> Result<Vec<Vec<u8>>, PackError> {
        let last = 77;
        let all: Vec<(i64, &[u8])> = rows(last, bytes)?.collect();
        assert!(all.last().is_some_and(|(position, _)| *position == last));
        assert!(all.windows(2).all(|pair| pair[0].0 + 1 == pair[1].0));
        Ok(all.into_iter().map(|(_, row)| row.to_vec()).collect())
    }

    /// A row as one is: its first byte is its form.
    fn row() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(any::<u8>(), 1..100).prop_map(|mut row| {
            row[0] = 2;
            row
        })
    }

    proptest! {
        #[test]
        fn rows_read_back_as_packed(all in prop::collection::vec(row(), 1..12)) {
            prop_assert_eq!(read(&packed(&all)), Ok(all));
        }

        #[test]
        fn anything_is_read_without_a_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..100),
            form in prop_oneof![Just(FORM), any::<u8>()],
            last in prop_oneof![Just(i64::MIN), Just(i64::MAX), any::<i64>()],
        ) {
            let bytes: Vec<u8> = [form].into_iter().chain(bytes).collect();
            if let Ok(all) = rows(last, &bytes) {
                prop_assert!(all.count() > 0);
            }
        }
    }

    #[test]
    fn a_single_row_is_written_as_it_is_however_long() {
        for length in [1, 70, MOST_BYTES, 1 << 20] {
            let row = vec![2; length];
            assert_eq!(packed(std::slice::from_ref(&row)), row);
            assert_eq!(read(&row), Ok(vec![row]));
        }
    }

    #[test]
    fn three_packs_fit_into_a_page() {
        let mut pack = Pack::default();
        while pack.has_room_for(&[7; 107]) {
            pack.push(&[7; 107]);
        }
        assert_eq!(pack.lengths.len(), 12);
        assert!((MOST_BYTES - 109..=MOST_BYTES).contains(&pack.encode().len()));
        let long = vec![2; 1 << 20];
        assert!(!pack.has_room_for(&long));
        pack.clear();
        assert!(pack.has_room_for(&long));
        // The head of the page; of each pack its place in it, its length, its key and the record's own head.
        const { assert!(8 + 3 * (2 + 2 + 9 + 4 + MOST_BYTES) <= 4_096) };
    }

    #[test]
    fn every_flipped_bit_of_a_head_and_every_cut_is_found() {
        let bytes = packed(&[vec![2; 70], vec![2; 80], vec![2; 90]]);
        let head = HEAD_BYTES + 3 * LENGTH_BYTES;
        for bit in 0..head * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            // With another form it is a row by itself, which has an unknown one.
            let single = (bit < 8).then(|| vec![flipped.clone()]).ok_or(PackError);
            assert_eq!(read(&flipped), single, "bit {bit}");
        }
        for length in 1..bytes.len() {
            assert_eq!(read(&bytes[..length]), Err(PackError), "length {length}");
        }
        // The rows have hashes of their own.
        let mut flipped = bytes.clone();
        flipped[head] = 0;
        assert_eq!(read(&flipped).map(|all| all.len()), Ok(3));
    }

    #[test]
    fn no_flipped_bit_makes_a_row_a_pack() {
        for form in [1, 2, 7_u8] {
            assert!((form ^ FORM).count_ones() > 1);
        }
    }

    /// The format is frozen.
    #[test]
    fn the_format_stays() {
        let bytes = packed(&[b"2a".to_vec(), b"2bc".to_vec()]);
        assert_eq!(bytes, *b"\xfc\x00\x02\x00\x02\x00\x032a2bc");
    }
}
