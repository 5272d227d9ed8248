//! The files of the results that are not in memory any more: a number of one ladder's results each, with a checksum.
//!
//! ```text
//! file   = "zetema results 1\n" ‖ results ‖ the first 8 bytes of the SHA-256 of all before
//! result = u64 number ‖ 16 bytes of the match's id ‖ u64 milliseconds of its end ‖ u8 reason ‖ u8 seats ‖ seats, seat 0 first
//! seat   = u8 bytes of the name ‖ the bot's name ‖ u8 side ‖ u8 rank ‖ u32 points ‖ u8 what became of it ‖ u8 rated ‖ ratings
//! ratings, if rated is 1 = u64 bits of μ and of σ before, and of both after
//! ```
//!
//! A file is written whole and then takes its name. It is not synced: what a loss of power leaves of it is found by the checksum, and
//! the next start writes it anew.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zetema_ladder::{Mu, Rating, Sigma};
use zetema_rules::{Seat, Side};

use crate::journal::{BotName, MatchId, ResultNumber, UnixMillis};
use crate::kept_file::{self, CHECKSUM_BYTES, checksum};
use crate::ladders::query::Reason;
use crate::ladders::results::{LoggedResult, LoggedSeat, SeatEnd};

/// What a file begins with. Another form has another number.
const BEGINS: &[u8] = b"zetema results 1\n";

/// What their names end with.
const RESULTS: &str = "results";

/// Bytes of a result at most.
const RESULT_BYTES: usize = 8 + 16 + 8 + 2 + Seat::MAX * (1 + BotName::MAX_CHARS + 8 + 4 * 8);

/// A file of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Its first result.
    pub(super) first: ResultNumber,
    /// Its last.
    pub(super) last: ResultNumber,
    /// When the first one ended.
    pub(super) begins_at: UnixMillis,
    /// When the one ended that ended last.
    pub(super) ended_by: UnixMillis,
}

impl Block {
    /// That of these results; `None` if there are none.
    pub(super) fn of(results: &[Arc<LoggedResult>]) -> Option<Self> {
        let (first, last) = (results.first()?, results.last()?);
        let ended_by = results.iter().map(|result| result.ended_at).max()?;
        Some(Self { first: first.number, last: last.number, begins_at: first.ended_at, ended_by })
    }

    /// Whether any of its results ended then or later.
    pub(super) fn has_since(self, since: Option<UnixMillis>) -> bool {
        since.is_none_or(|since| self.ended_by >= since)
    }

    /// Where it is.
    pub(super) fn file(self, folder: &Path) -> PathBuf {
        folder.join(format!("{:016}.{RESULTS}", self.first.get()))
    }
}

/// Why a file can't be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum BlockError {
    /// It can't be now.
    #[error(transparent)]
    Io(io::Error),
    /// It is not there, or not as it was written.
    #[error("it is not as it was written: {0}")]
    Damaged(&'static str),
}

/// Writes a file, unless it is there as it should be, as after a start.
pub(super) fn write(path: &Path, results: &[Arc<LoggedResult>]) -> io::Result<()> {
    let bytes = encode(results);
    if bounded(path, bytes.len()).is_ok_and(|known| known == bytes) {
        return Ok(());
    }
    kept_file::replace(path, |file| file.write_all(&bytes))
}

/// Reads a file of this many results at most.
pub(super) fn read(path: &Path, most: usize) -> Result<Vec<Arc<LoggedResult>>, BlockError> {
    let most_bytes = BEGINS.len() + most.saturating_mul(RESULT_BYTES) + CHECKSUM_BYTES;
    let bytes = bounded(path, most_bytes).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => BlockError::Damaged("it is gone"),
        _ => BlockError::Io(error),
    })?;
    let (kept, sum) = bytes.split_last_chunk().ok_or(BlockError::Damaged("it is too short"))?;
    if checksum(kept) != *sum {
        return Err(BlockError::Damaged("its checksum is another"));
    }
    decode(kept).ok_or(BlockError::Damaged("it is of another form"))
}

/// Removes all files of results in a folder that are none of these.
pub(super) fn remove_all_but(folder: &Path, wanted: &HashSet<PathBuf>) -> io::Result<()> {
    let files = match fs::read_dir(folder) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for file in files {
        let path = file?.path();
        if path.extension() == Some(OsStr::new(RESULTS)) && !wanted.contains(&path) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// A file, of which no more than one byte over this is read.
fn bounded(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn encode(results: &[Arc<LoggedResult>]) -> Vec<u8> {
    let mut bytes = BEGINS.to_vec();
    for result in results {
        let LoggedResult { number, match_id, ended_at, reason, seats } = &**result;
        bytes.extend_from_slice(&number.get().to_be_bytes());
        bytes.extend_from_slice(match_id.as_bytes());
        bytes.extend_from_slice(&ended_at.get().to_be_bytes());
        bytes.push(match reason {
            Reason::Target => 0,
            Reason::DealOver => 1,
            Reason::Forfeit => 2,
            Reason::Aborted => 3,
        });
        bytes.push(byte(seats.len()));
        for seat in seats {
            encode_seat(seat, &mut bytes);
        }
    }
    let sum = checksum(&bytes);
    bytes.extend_from_slice(&sum);
    bytes
}

fn encode_seat(seat: &LoggedSeat, into: &mut Vec<u8>) {
    let LoggedSeat { bot, side, rank, total, end, rating } = seat;
    into.push(byte(bot.as_str().len()));
    into.extend_from_slice(bot.as_str().as_bytes());
    into.extend_from_slice(&[byte(side.index()), *rank]);
    into.extend_from_slice(&total.to_be_bytes());
    into.push(match end {
        SeatEnd::Played => 0,
        SeatEnd::Forfeited => 1,
        SeatEnd::NoShow => 2,
    });
    into.push(rating.is_some().into());
    for Rating { mu, sigma } in rating.iter().flat_map(|(before, after)| [before, after]) {
        into.extend_from_slice(&mu.to_bits().to_be_bytes());
        into.extend_from_slice(&sigma.to_bits().to_be_bytes());
    }
}

/// Names and seats are never more: what is would not be read as it was.
fn byte(count: usize) -> u8 {
    u8::try_from(count).unwrap_or(u8::MAX)
}

/// What is left to be read.
struct Rest<'a>(&'a [u8]);

fn decode(kept: &[u8]) -> Option<Vec<Arc<LoggedResult>>> {
    let mut rest = Rest(kept.strip_prefix(BEGINS)?);
    let mut results = Vec::new();
    while !rest.0.is_empty() {
        results.push(Arc::new(rest.result()?));
    }
    Some(results)
}

impl Rest<'_> {
    fn result(&mut self) -> Option<LoggedResult> {
        let number = ResultNumber::new(u64::from_be_bytes(self.bytes()?));
        let match_id = MatchId::from_bytes(self.bytes()?);
        let ended_at = UnixMillis::new(u64::from_be_bytes(self.bytes()?));
        let reason = match self.byte()? {
            0 => Reason::Target,
            1 => Reason::DealOver,
            2 => Reason::Forfeit,
            3 => Reason::Aborted,
            _ => return None,
        };
        let count = self.byte()?;
        let seats = (0..count).map(|_| self.seat()).collect::<Option<_>>()?;
        Some(LoggedResult { number, match_id, ended_at, reason, seats })
    }

    fn seat(&mut self) -> Option<LoggedSeat> {
        let bytes = usize::from(self.byte()?);
        let (name, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        let bot = BotName::new(str::from_utf8(name).ok()?).ok()?;
        let side = Side::new(usize::from(self.byte()?))?;
        let (rank, total) = (self.byte()?, u32::from_be_bytes(self.bytes()?));
        let end = match self.byte()? {
            0 => SeatEnd::Played,
            1 => SeatEnd::Forfeited,
            2 => SeatEnd::NoShow,
            _ => return None,
        };
        let rating = match self.byte()? {
            0 => None,
            1 => Some((self.rating()?, self.rating()?)),
            _ => return None,
        };
        Some(LoggedSeat { bot, side, rank, total, end, rating })
    }

    fn rating(&mut self) -> Option<Rating> {
        let mu = Mu::from_bits(u64::from_be_bytes(self.bytes()?)).ok()?;
        let sigma = Sigma::from_bits(u64::from_be_bytes(self.bytes()?)).ok()?;
        Some(Rating { mu, sigma })
    }

    fn byte(&mut self) -> Option<u8> {
        self.bytes().map(|[byte]: [u8; 1]| byte)
    }

    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*bytes)
    }
}
