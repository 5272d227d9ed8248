//! One change to one file.

use std::fmt;

/// Which file is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The database of a journal that was closed.
    ClosedDatabase,
    /// The database of a journal that was killed.
    Database,
    /// The write-ahead log beside it.
    Wal,
    /// The file of the redo log that has the commits, of a journal that was killed with one.
    Redo,
    /// The file that is there for the commits to come.
    NextRedo,
    /// The write-ahead log of that journal.
    RedoWal,
}

impl Target {
    /// Each of them.
    pub const ALL: [Self; 6] =
        [Self::ClosedDatabase, Self::Database, Self::Wal, Self::Redo, Self::NextRedo, Self::RedoWal];
}

/// How it is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// One bit of one byte is flipped.
    Flip {
        /// Which byte.
        byte: usize,
        /// Which bit, 0 to 7.
        bit: u8,
    },
    /// Only so many bytes are left.
    Cut {
        /// How many.
        length: usize,
    },
}

/// A file and its change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Case {
    /// Which file.
    pub target: Target,
    /// How it is changed.
    pub change: Change,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = match self.target {
            Target::ClosedDatabase => "the database of a closed journal",
            Target::Database => "the database of a killed journal",
            Target::Wal => "the write-ahead log",
            Target::Redo => "the redo log",
            Target::NextRedo => "the next file of the redo log",
            Target::RedoWal => "the write-ahead log beside a redo log",
        };
        match self.change {
            Change::Flip { byte, bit } => write!(f, "bit {bit} of byte {byte} of {file}"),
            Change::Cut { length } => write!(f, "{file}, cut to {length} bytes"),
        }
    }
}

/// Which bits of a byte are flipped, one in each case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bits {
    /// One, that follows from this seed and the byte's place.
    One {
        /// The seed.
        seed: u64,
    },
    /// Each.
    All,
}

impl Bits {
    fn of(self, byte: usize) -> impl Iterator<Item = u8> {
        (0..8).filter(move |bit| match self {
            Self::All => true,
            Self::One { seed } => {
                // The upper bits of a multiplication are mixed well enough.
                let mixed = (seed ^ byte as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61;
                u64::from(*bit) == mixed
            }
        })
    }
}

impl Case {
    /// Flips in a file of this length, at every so-manieth byte, from one of the first on.
    pub fn flips(target: Target, length: usize, stride: usize, bits: Bits) -> Vec<Self> {
        Self::flips_at(target, (length % stride..length).step_by(stride), bits)
    }

    /// Flips of these bytes.
    pub fn flips_at(target: Target, bytes: impl IntoIterator<Item = usize>, bits: Bits) -> Vec<Self> {
        let flip = |byte, bit| Self { target, change: Change::Flip { byte, bit } };
        bytes.into_iter().flat_map(|byte| bits.of(byte).map(move |bit| flip(byte, bit))).collect()
    }

    /// Cuts of a file of this length, at every so-manieth length shorter than it, none and one less among them.
    pub fn cuts(target: Target, length: usize, stride: usize) -> Vec<Self> {
        let lengths = (0..length).step_by(stride).chain((stride > 1).then_some(length - 1));
        lengths.map(|length| Self { target, change: Change::Cut { length } }).collect()
    }
}
