//! The file in which faults outlast the server.
//!
//! ```text
//! file  = "zetema faults 1\n" ‖ u64 incarnation of the journal ‖ entries
//! entry = u32 length ‖ SeatFaults of zetema.journal.v1 ‖ the first 8 bytes of its SHA-256
//! ```
//!
//! Another form has another number. A file is written whole and synced, and then takes its name. Players chose some of what is in it,
//! and it may tell of their hands, as the journal does: its owner alone may read it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::Path;
use std::sync::Arc;

use prost::Message;
use zetema_proto::Wire;
use zetema_proto::journal::v1::{NumberedFault, SeatFaults, seat_faults};
use zetema_proto::v1;
use zetema_rules::Seat;

use super::PlayerFault;
use super::remembered::{KeptSeat, SeatKey, Whose};
use crate::encoding::{millis, timestamp};
use crate::journal::{BotName, MatchId, Owner, UnixMillis};
use crate::kept_file::{self, CHECKSUM_BYTES, checksum};
use crate::limits::MAX_SAVED_FAULTS_BYTES;
use crate::matches::Incarnation;

const BEGINS: &[u8; 16] = b"zetema faults 1\n";

/// Why not all of a file is taken up.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unread {
    /// It can't be read, or ends too early.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// It is of another form.
    #[error("it does not begin as this release writes it: it is damaged, or of a later release")]
    Form,
    /// The matches and the bots of its names may be others by now.
    #[error("it was written before the journal was restored or repaired")]
    OtherLife,
    /// Entries were changed.
    #[error("the faults of {0} seats are not as they were written")]
    Entries(usize),
}

/// Reads the faults of so many seats at most, and says why there are not all of them. A file that is not there has none.
pub(super) fn read(path: &Path, life: Incarnation, most: usize) -> (Vec<KeptSeat>, Option<Unread>) {
    let mut seats = Vec::new();
    let unread = read_into(&mut seats, path, life, most).err();
    (seats, unread)
}

fn read_into(seats: &mut Vec<KeptSeat>, path: &Path, life: Incarnation, most: usize) -> Result<(), Unread> {
    let mut file = match File::open(path) {
        Ok(file) => BufReader::new(file),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let (mut begins, mut of) = ([0; BEGINS.len()], [0; 8]);
    match file.read_exact(&mut begins) {
        Err(error) if error.kind() != ErrorKind::UnexpectedEof => return Err(error.into()),
        _ if begins != *BEGINS => return Err(Unread::Form),
        _ => {}
    }
    file.read_exact(&mut of)?;
    if Incarnation(u64::from_be_bytes(of)) != life {
        return Err(Unread::OtherLife);
    }
    let mut changed = 0;
    while seats.len() + changed < most && !file.fill_buf()?.is_empty() {
        match read_entry(&mut file)? {
            Some(seat) => seats.push(seat),
            None => changed += 1,
        }
    }
    if changed > 0 { Err(Unread::Entries(changed)) } else { Ok(()) }
}

/// `None`: it is not as it was written.
fn read_entry(file: &mut impl Read) -> io::Result<Option<KeptSeat>> {
    let (mut length, mut sum) = ([0; 4], [0; CHECKSUM_BYTES]);
    file.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length);
    if length > MAX_SAVED_FAULTS_BYTES {
        let what = format!("an entry of {length} bytes, where {MAX_SAVED_FAULTS_BYTES} are the most");
        return Err(io::Error::new(ErrorKind::InvalidData, what));
    }
    let mut message = vec![0; length as usize];
    file.read_exact(&mut message)?;
    file.read_exact(&mut sum)?;
    let whole = checksum(&message) == sum;
    Ok(whole.then(|| SeatFaults::decode(&*message).ok()).flatten().and_then(decode))
}

/// Writes a file in the place of what is there, one part after the other.
pub(super) fn write(
    path: &Path,
    life: Incarnation,
    parts: impl Iterator<Item = Vec<KeptSeat>>,
) -> io::Result<()> {
    kept_file::replace_synced(path, |file| {
        let mut file = BufWriter::new(file);
        file.write_all(BEGINS)?;
        file.write_all(&life.0.to_be_bytes())?;
        for seats in parts {
            for seat in seats {
                write_entry(&mut file, seat)?;
            }
            // So that the syncs of the journal never wait for much of it.
            file.flush()?;
            file.get_ref().sync_data()?;
        }
        file.flush()
    })
}

fn write_entry(file: &mut impl Write, seat: KeptSeat) -> io::Result<()> {
    let message = encode(seat).encode_to_vec();
    // One that is too long would be taken for damage, and the rest with it.
    if let Ok(length) = u32::try_from(message.len())
        && length <= MAX_SAVED_FAULTS_BYTES
    {
        file.write_all(&length.to_be_bytes())?;
        file.write_all(&message)?;
        file.write_all(&checksum(&message))?;
    }
    Ok(())
}

fn encode(seat: KeptSeat) -> SeatFaults {
    let KeptSeat { key: (match_id, seat), whose, until, faults } = seat;
    let whose = match whose {
        Whose::Bot(bot) => Some(seat_faults::Whose::Bot(bot.to_string())),
        Whose::Owner(owner) => Some(seat_faults::Whose::Owner(owner.to_string())),
        Whose::Admin => None,
    };
    let numbered = |(number, fault): (u64, Arc<PlayerFault>)| {
        let PlayerFault { at, count, match_id: _, seat: _, kind } = &*fault;
        let (time, kind) = (Some(timestamp(*at)), Some(kind.clone()));
        let fault = v1::PlayerFault { time, match_id: String::new(), seat: 0, kind, count: *count };
        NumberedFault { number, fault: Some(fault) }
    };
    SeatFaults {
        match_id: match_id.as_bytes().to_vec(),
        seat: seat.to_wire(),
        whose,
        kept_until_ms: until.map_or(0, UnixMillis::get),
        faults: faults.into_iter().map(numbered).collect(),
    }
}

/// `None` if nobody has written this.
fn decode(message: SeatFaults) -> Option<KeptSeat> {
    let SeatFaults { match_id, seat, whose, kept_until_ms, faults } = message;
    let key = (MatchId::from_bytes(match_id.try_into().ok()?), Seat::from_wire(&seat).ok()?);
    let whose = match whose {
        Some(seat_faults::Whose::Bot(bot)) => Whose::Bot(BotName::new(bot).ok()?),
        Some(seat_faults::Whose::Owner(owner)) => Whose::Owner(Owner::new(owner).ok()?),
        None => Whose::Admin,
    };
    let until = (kept_until_ms > 0).then(|| UnixMillis::new(kept_until_ms));
    let faults: Option<Vec<_>> = faults.into_iter().filter_map(|fault| numbered(key, fault)).collect();
    Some(KeptSeat { key, whose, until, faults: faults? })
}

/// `None` if it is of a kind that is not known here, `Some(None)` if nobody has written this.
#[allow(clippy::option_option, reason = "the one is left out, the other is damage")]
fn numbered((match_id, seat): SeatKey, fault: NumberedFault) -> Option<Option<(u64, Arc<PlayerFault>)>> {
    let NumberedFault { number, fault } = fault;
    let Some(fault) = fault else { return Some(None) };
    let v1::PlayerFault { time, match_id: _, seat: _, kind, count } = fault;
    let kind = kind?;
    let at = time.and_then(|time| millis(&time).ok());
    let valid = (1..=u64::MAX / 2).contains(&number) && count > 0;
    Some(at.filter(|_| valid).map(|at| (number, Arc::new(PlayerFault { at, count, match_id, seat, kind }))))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use zetema_proto::v1::player_fault::Kind;

    use super::*;

    const LIFE: Incarnation = Incarnation(7);

    fn fault(number: u64, kind: Kind) -> (u64, PlayerFault) {
        let (match_id, seat) = (MatchId::from_bytes([9; 16]), Seat::new(0).unwrap());
        let count = u32::try_from(number).unwrap();
        (number, PlayerFault { at: UnixMillis::new(1_700_000_000_123), count, match_id, seat, kind })
    }

    fn seat(index: usize, whose: Whose, until: Option<u64>, faults: Vec<(u64, PlayerFault)>) -> KeptSeat {
        let (match_id, seat) = (MatchId::from_bytes([9; 16]), Seat::new(index).unwrap());
        let of_seat = |(number, fault)| (number, Arc::new(PlayerFault { match_id, seat, ..fault }));
        let faults = faults.into_iter().map(of_seat).collect();
        KeptSeat { key: (match_id, seat), whose, until: until.map(UnixMillis::new), faults }
    }

    /// Faults of every kind, and seats of everyone.
    fn seats() -> Vec<KeptSeat> {
        let rejection = v1::Error { message: "no such action".to_owned(), ..v1::Error::default() };
        let panic = v1::BotPanic { message: "no idea".to_owned() };
        let late = v1::TimedOut { seat: 1, decision_number: 3, strikes: 1 };
        vec![
            seat(
                0,
                Whose::Bot(BotName::new("rex").unwrap()),
                None,
                vec![fault(1, Kind::Rejection(rejection)), fault(4, Kind::Panicked(panic))],
            ),
            seat(
                1,
                Whose::Owner(Owner::new("kennel").unwrap()),
                Some(1_700_000_100_000),
                vec![fault(2, Kind::Lost(v1::ConnectionLost {})), fault(5, Kind::TimedOut(late))],
            ),
            seat(2, Whose::Admin, None, vec![fault(3, Kind::Cut(v1::StreamCut::default()))]),
        ]
    }

    /// A file of these seats, each in a part of its own.
    fn written(seats: &[KeptSeat]) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("faults");
        write(&path, LIFE, seats.chunks(1).map(<[KeptSeat]>::to_vec)).unwrap();
        (folder, path)
    }

    #[test]
    fn what_is_written_reads_back_and_is_for_nobody_else_on_the_machine() {
        let (folder, path) = written(&seats());
        let (read, unread) = read(&path, LIFE, 10);
        assert!(unread.is_none(), "{unread:?}");
        assert_eq!(read, seats());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_file_that_is_not_there_has_no_faults_and_no_damage() {
        let folder = tempfile::tempdir().unwrap();
        let (read, unread) = read(&folder.path().join("faults"), LIFE, 10);
        assert_eq!((read, unread.is_none()), (Vec::new(), true));
    }

    #[test]
    fn a_byte_that_has_changed_is_told_and_no_fault_is_another_by_it() {
        let (_folder, path) = written(&seats());
        let whole = fs::read(&path).unwrap();
        let mut most = 0;
        for place in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[place] ^= 0x10;
            fs::write(&path, &bytes).unwrap();
            let (read, unread) = read(&path, LIFE, 10);
            assert!(unread.is_some(), "byte {place}");
            assert!(read.iter().all(|seat| seats().contains(seat)), "byte {place}: {read:?}");
            most = most.max(read.len());
        }
        assert_eq!(most, 2, "a changed entry takes no other along");
    }

    #[test]
    fn a_file_that_ends_too_early_has_the_seats_before_its_end() {
        let (_folder, path) = written(&seats());
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let (read, _) = read(&path, LIFE, 10);
            assert_eq!(read, seats()[..read.len()], "{length} bytes");
        }
    }

    #[test]
    fn a_file_of_a_later_release_or_of_another_life_of_the_journal_is_not_taken_up() {
        let (_folder, path) = written(&seats());
        let (none, unread) = read(&path, Incarnation::FIRST, 10);
        assert!(none.is_empty() && matches!(unread, Some(Unread::OtherLife)), "{unread:?}");
        fs::write(&path, "zetema faults 2\n with more in it").unwrap();
        let (none, unread) = read(&path, LIFE, 10);
        assert!(none.is_empty() && matches!(unread, Some(Unread::Form)), "{unread:?}");
    }

    #[test]
    fn no_more_is_read_than_may_be_remembered_and_no_entry_of_any_length() {
        let (_folder, path) = written(&seats());
        assert_eq!(read(&path, LIFE, 2).0, seats()[..2]);
        let mut bytes = fs::read(&path).unwrap();
        bytes.extend_from_slice(&[0xff; 4]);
        fs::write(&path, &bytes).unwrap();
        let (read, unread) = read(&path, LIFE, 10);
        assert_eq!(read, seats());
        assert!(unread.unwrap().to_string().starts_with("an entry of 4294967295 bytes"));
    }

    #[test]
    fn a_fault_of_a_kind_that_is_not_known_here_is_left_out_and_no_damage() {
        let mut message = encode(seats().remove(0));
        message.faults[0].fault.as_mut().unwrap().kind = None;
        let decoded = decode(message).unwrap();
        assert_eq!(decoded.faults, seats().remove(0).faults[1..]);
    }
}
