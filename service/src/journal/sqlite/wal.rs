//! The walk through SQLite's write-ahead log before SQLite opens it.
//!
//! SQLite takes the first frame that doesn't verify for the end of the log, and what follows is lost without a word. But
//! each transaction is synced before the next is written, so only the frames of the last one can be torn. A bad frame
//! whose transaction is followed by another one is damage. The format is at <https://sqlite.org/fileformat2.html#walformat>.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::RangeInclusive;
use std::path::Path;

/// The page size of every journal.
pub(super) const PAGE_BYTES: usize = 4096;
const HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;
pub(super) const FRAME_BYTES: usize = FRAME_HEADER_BYTES + PAGE_BYTES;
/// The last bit says in which order the checksum takes the bytes of a word.
const MAGIC: u32 = 0x377f_0682;
const VERSION: u32 = 3_007_000;

/// What a write-ahead log holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WalContent {
    /// Transactions that SQLite reads.
    pub commits: u64,
    /// Frames of these transactions, each one page of the database.
    pub frames: u64,
    /// Damage, if SQLite would read less than what was once durable.
    pub damage: Option<WalDamage>,
}

/// Damage in a write-ahead log: transactions that were durable, and that SQLite would leave out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalDamage {
    /// The first byte of the header or frame that is damaged.
    pub offset: u64,
    /// The number of the damaged frame, the first being 1; 0 for the header of the log.
    pub frame: u64,
    /// At least how many transactions would be left out.
    pub lost_commits: u64,
    /// How many frames would be left out that still are as they were written.
    pub lost_frames: u64,
    /// How many bytes from the start SQLite reads.
    pub kept_bytes: u64,
}

impl WalDamage {
    /// What is damaged, in words.
    pub(super) fn place(&self) -> String {
        match self.frame {
            0 => "in the header of the log".to_owned(),
            frame => format!("in frame {frame}"),
        }
    }
}

/// Walks the log in a file; a file that is not there holds nothing.
pub(super) fn walk(path: &Path) -> io::Result<WalContent> {
    match File::open(path) {
        Ok(file) => walk_bytes(BufReader::with_capacity(64 * FRAME_BYTES, file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(WalContent::default()),
        Err(error) => Err(error),
    }
}

fn walk_bytes(mut bytes: impl Read) -> io::Result<WalContent> {
    let mut header = [0; HEADER_BYTES];
    if !fill(&mut bytes, &mut header)? {
        return Ok(WalContent::default());
    }
    let header = Header(header);
    let mut frame = Frame::empty();
    if header.is_intact() {
        let mut walk = Walk::new(header.salts(), header.stored(), header.order());
        while fill(&mut bytes, &mut *frame.0)? {
            walk.take(&frame);
        }
        return Ok(walk.end());
    }
    if !fill(&mut bytes, &mut *frame.0)? {
        return Ok(WalContent::default());
    }
    // The header is synced before a frame with its salts is written, so such a frame says that the header was whole. With
    // other salts it is of the round before, and the header was torn when a new round began: then all that the
    // frames say had been copied into the database.
    let salts = frame.salts();
    let of_this_round = header.salts() == salts;
    if header.is_of_a_journal() && !of_this_round && !header.with_salts(salts).is_intact() {
        return Ok(WalContent::default());
    }
    let mut lost = Walk::new(salts, header.stored(), Order::NATIVE);
    // The first frame can't be checked without the header. The others can.
    lost.trust(&frame);
    while fill(&mut bytes, &mut *frame.0)? {
        lost.take(&frame);
    }
    let is_a_log = of_this_round || header.is_of_a_journal() || lost.verified > 1;
    let WalContent { commits, frames, .. } = lost.end();
    let damage = WalDamage { offset: 0, frame: 0, lost_commits: commits, lost_frames: frames, kept_bytes: 0 };
    // A sector is written whole: no crash leaves another header than one of a journal, or nothing.
    let is_damaged = if is_a_log { commits > 0 } else { !header.is_blank() };
    Ok(WalContent { damage: is_damaged.then_some(damage), ..WalContent::default() })
}

/// Reads the next bytes; `false` when there are not enough.
fn fill(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match from.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// The walk from frame to frame.
struct Walk {
    salts: [u8; 8],
    order: Order,
    /// What the checksum of the next frame may go on from: what the last one says, and what it should say.
    seeds: [Checksum; 2],
    /// Frames seen, and those before the first bad one.
    seen: u64,
    verified: u64,
    /// Whether the last frame ended a transaction.
    ended: bool,
    /// The size of the database after the last intact transaction, in pages; 0 when there is none.
    size: u32,
    intact: WalContent,
    /// After the first bad frame.
    bad: Option<Bad>,
}

/// What is found after a bad frame.
struct Bad {
    frame: u64,
    /// Whether a transaction follows that was written after that of the bad frame.
    followed: bool,
    /// Frames after it that verify, and transactions that it or they end.
    frames: u64,
    commits: u64,
}

impl Walk {
    const fn new(salts: [u8; 8], seed: Checksum, order: Order) -> Self {
        let intact = WalContent { commits: 0, frames: 0, damage: None };
        Self {
            salts,
            order,
            seeds: [seed; 2],
            seen: 0,
            verified: 0,
            ended: false,
            size: 0,
            intact,
            bad: None,
        }
    }

    /// The next frame, of which nothing is to be checked.
    fn trust(&mut self, frame: &Frame) {
        self.seen += 1;
        self.seeds = [frame.stored(); 2];
        self.count(frame);
    }

    fn take(&mut self, frame: &Frame) {
        self.seen += 1;
        let stored = frame.stored();
        let follows = self.seeds.iter().any(|seed| frame.checksum(*seed, self.order) == stored);
        let salted = frame.salts() == self.salts;
        let is_good = salted && frame.page() != 0 && frame.checksum(self.seeds[0], self.order) == stored;
        match &mut self.bad {
            None if is_good => self.count(frame),
            None => {
                // If it verifies but for its salts, it says the truth.
                self.ended = if follows {
                    frame.commit_size() != 0
                } else {
                    frame.ended(&self.sizes(), self.seeds[0], self.order)
                };
                // At least: here it is the size that may be damaged.
                let size_alone = frame.checksum_with(0, self.seeds[0], self.order) == stored;
                let commits = u64::from(frame.commit_size() != 0 && !size_alone);
                self.bad = Some(Bad { frame: self.seen, followed: false, frames: 0, commits });
            }
            Some(bad) => {
                if salted && follows {
                    bad.followed |= self.ended;
                    bad.frames += 1;
                    bad.commits += u64::from(frame.commit_size() != 0);
                }
                self.ended = salted && frame.commit_size() != 0;
            }
        }
        self.seeds = [stored, frame.checksum(self.seeds[0], self.order)];
    }

    /// How large the database can be after the transaction of the first bad frame, in pages: it never shrinks, and a
    /// new page has a frame.
    fn sizes(&self) -> RangeInclusive<u32> {
        let frames = u32::try_from(self.seen - self.intact.frames).unwrap_or(u32::MAX);
        self.size.max(1)..=if self.size == 0 { u32::MAX } else { self.size.saturating_add(frames) }
    }

    fn count(&mut self, frame: &Frame) {
        self.verified += 1;
        self.ended = frame.commit_size() != 0;
        if self.ended {
            self.intact.commits += 1;
            self.intact.frames = self.seen;
            self.size = frame.commit_size();
        }
    }

    fn end(self) -> WalContent {
        let Self { mut intact, bad, .. } = self;
        if let Some(Bad { frame, followed: true, frames, commits }) = bad {
            intact.damage = Some(WalDamage {
                offset: offset(frame - 1),
                frame,
                lost_commits: commits.max(1),
                lost_frames: frames,
                kept_bytes: offset(intact.frames),
            });
        }
        intact
    }
}

/// Where the frame after this many begins.
const fn offset(frames: u64) -> u64 {
    HEADER_BYTES as u64 + frames * FRAME_BYTES as u64
}

type Checksum = [u32; 2];

/// How the checksum takes the four bytes of a word.
#[derive(Clone, Copy)]
enum Order {
    Little,
    Big,
}

impl Order {
    /// The one in which SQLite writes here.
    const NATIVE: Self = if cfg!(target_endian = "big") { Self::Big } else { Self::Little };
}

/// SQLite's checksum, going on from a seed. The length is a multiple of eight.
fn checksum(seed: Checksum, bytes: &[u8], order: Order) -> Checksum {
    let (pairs, _none) = bytes.as_chunks::<8>();
    let word = |bytes: [u8; 4]| match order {
        Order::Little => u32::from_le_bytes(bytes),
        Order::Big => u32::from_be_bytes(bytes),
    };
    pairs.iter().fold(seed, |[first, second], &[a, b, c, d, e, f, g, h]| {
        let first = first.wrapping_add(word([a, b, c, d])).wrapping_add(second);
        [first, second.wrapping_add(word([e, f, g, h])).wrapping_add(first)]
    })
}

/// The number at an offset, which is big-endian whatever the order of the checksum.
fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(std::array::from_fn(|i| bytes[at + i]))
}

fn stored(bytes: &[u8], at: usize) -> Checksum {
    [number(bytes, at), number(bytes, at + 4)]
}

/// The head of the log: magic, version, page size, round, two salts, checksum.
#[derive(Clone, Copy)]
struct Header([u8; HEADER_BYTES]);

impl Header {
    /// Whether all is there that is the same in every round of every journal.
    fn is_of_a_journal(&self) -> bool {
        let page_bytes = usize::try_from(number(&self.0, 8));
        number(&self.0, 0) & !1 == MAGIC && number(&self.0, 4) == VERSION && page_bytes == Ok(PAGE_BYTES)
    }

    fn is_blank(&self) -> bool {
        self.0 == [0; HEADER_BYTES]
    }

    fn is_intact(&self) -> bool {
        self.is_of_a_journal() && checksum([0; 2], &self.0[..24], self.order()) == self.stored()
    }

    fn order(&self) -> Order {
        if self.0[3] & 1 == 0 { Order::Little } else { Order::Big }
    }

    fn salts(&self) -> [u8; 8] {
        std::array::from_fn(|i| self.0[16 + i])
    }

    fn with_salts(mut self, salts: [u8; 8]) -> Self {
        self.0[16..24].copy_from_slice(&salts);
        self
    }

    fn stored(&self) -> Checksum {
        stored(&self.0, 24)
    }
}

/// A frame: page number, size of the database in pages after a commit, two salts, checksum, page.
struct Frame(Box<[u8; FRAME_BYTES]>);

impl Frame {
    fn empty() -> Self {
        Self(Box::new([0; FRAME_BYTES]))
    }

    fn page(&self) -> u32 {
        number(&*self.0, 0)
    }

    /// 0 unless the frame ends a transaction.
    fn commit_size(&self) -> u32 {
        number(&*self.0, 4)
    }

    fn salts(&self) -> [u8; 8] {
        std::array::from_fn(|i| self.0[8 + i])
    }

    fn stored(&self) -> Checksum {
        stored(&*self.0, 16)
    }

    fn checksum(&self, seed: Checksum, order: Order) -> Checksum {
        self.checksum_with(self.commit_size(), seed, order)
    }

    fn checksum_with(&self, commit_size: u32, seed: Checksum, order: Order) -> Checksum {
        let mut header: [u8; 8] = std::array::from_fn(|i| self.0[i]);
        header[4..].copy_from_slice(&commit_size.to_be_bytes());
        checksum(checksum(seed, &header, order), &self.0[FRAME_HEADER_BYTES..], order)
    }

    /// Whether a frame that doesn't verify ended a transaction: it says so, unless just that is what is damaged. The
    /// checksum is too weak to tell by itself: a flipped bit of the page and one of the size may come to the same.
    fn ended(&self, sizes: &RangeInclusive<u32>, seed: Checksum, order: Order) -> bool {
        let was = |size| self.checksum_with(size, seed, order) == self.stored();
        match self.commit_size() {
            0 => (0..u32::BITS).map(|bit| 1 << bit).any(|size| sizes.contains(&size) && was(size)),
            size => sizes.contains(&size) || !was(0),
        }
    }
}

#[cfg(test)]
mod tests;
