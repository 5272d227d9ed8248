//! Write-ahead logs that SQLite wrote, and what SQLite makes of them when they are changed.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use tempfile::TempDir;

use super::*;

/// The files of a database after some transactions, of which each has added a row of so many bytes.
struct Written {
    database: Vec<u8>,
    wal: Vec<u8>,
    /// How many frames each transaction has.
    sizes: Vec<u32>,
}

fn open(folder: &Path) -> Connection {
    let conn = Connection::open(folder.join("db")).unwrap();
    conn.execute_batch(
        "PRAGMA page_size = 4096; PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0;
         CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY, data BLOB)",
    )
    .unwrap();
    conn
}

fn frames(conn: &Connection) -> u32 {
    conn.query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| row.get(1)).unwrap()
}

fn add(conn: &Connection, bytes: u32) -> u32 {
    let before = frames(conn);
    conn.execute("INSERT INTO t (data) VALUES (randomblob(?1))", [bytes]).unwrap();
    frames(conn).saturating_sub(before)
}

fn files(folder: &Path) -> (Vec<u8>, Vec<u8>) {
    (fs::read(folder.join("db")).unwrap(), fs::read(folder.join("db-wal")).unwrap())
}

/// The table itself is in the database already.
fn written(rows: &[u32]) -> Written {
    let folder = TempDir::new().unwrap();
    let conn = open(folder.path());
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let sizes = rows.iter().map(|bytes| add(&conn, *bytes)).collect();
    let (database, wal) = files(folder.path());
    Written { database, wal, sizes }
}

/// How many rows SQLite finds.
fn rows_found(database: &[u8], wal: &[u8]) -> u64 {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("db"), database).unwrap();
    fs::write(folder.path().join("db-wal"), wal).unwrap();
    let conn = Connection::open(folder.path().join("db")).unwrap();
    conn.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, u32>(0)).unwrap().into()
}

fn walked(wal: &[u8]) -> WalContent {
    walk_bytes(wal).unwrap()
}

#[test]
fn what_sqlite_wrote_is_whole() {
    for rows in [&[][..], &[100], &[100; 8], &[100, 20_000, 5_000, 10]] {
        let Written { wal, sizes, .. } = written(rows);
        let frames: u64 = sizes.iter().sum::<u32>().into();
        assert_eq!(walked(&wal), WalContent { commits: rows.len() as u64, frames, damage: None });
    }
}

/// Every byte with one flipped bit: the walk reads what SQLite reads, and tells of every loss but that of the last
/// transaction, which can't be told from a torn one.
#[test]
fn a_flipped_bit_is_told_unless_it_is_in_the_last_transaction() {
    for rows in [&[100; 4][..], &[100, 9_000, 100, 9_000, 100], &[9_000, 9_000]] {
        let Written { database, wal, sizes } = written(rows);
        let all = rows.len() as u64;
        let last_begins = offset(sizes[..sizes.len() - 1].iter().sum::<u32>().into());
        for byte in 0..wal.len() {
            // All bits of the headers, one of each byte of the pages.
            let in_page = byte >= HEADER_BYTES && (byte - HEADER_BYTES) % FRAME_BYTES >= FRAME_HEADER_BYTES;
            if in_page && byte % 61 != 0 {
                continue;
            }
            for bit in if in_page { byte % 8..byte % 8 + 1 } else { 0..8 } {
                let mut flipped = wal.clone();
                flipped[byte] ^= 1 << bit;
                let found = walked(&flipped);
                let case = format!("{rows:?}, bit {bit} of byte {byte}: {found:?}");
                assert!(found.commits < all, "{case}");
                if byte % 7 == 0 && bit == byte % 8 {
                    assert_eq!(rows_found(&database, &flipped), found.commits, "{case}");
                }
                let in_last = byte as u64 >= last_begins;
                assert!(in_last || found.damage.is_some(), "{case}");
                assert!(!in_page || !in_last || found.damage.is_none(), "{case}");
                if let Some(damage) = found.damage {
                    assert!(damage.offset <= byte as u64, "{case}");
                    let lost = all - found.commits;
                    assert!(damage.lost_commits <= lost && lost <= damage.lost_commits + 1, "{case}");
                    assert_eq!(damage.kept_bytes == 0, byte < HEADER_BYTES, "{case}");
                }
            }
        }
    }
}

#[test]
fn a_truncated_log_is_an_earlier_one() {
    let Written { database, wal, sizes } = written(&[100, 9_000, 100]);
    for length in (0..wal.len()).filter(|length| length % 97 == 0 || length % FRAME_BYTES < 40) {
        let found = walked(&wal[..length]);
        let whole = (length.saturating_sub(HEADER_BYTES)) / FRAME_BYTES;
        let mut ends = sizes.iter().scan(0, |sum, size| {
            *sum += size;
            Some(*sum)
        });
        let commits = ends.by_ref().take_while(|end| *end as usize <= whole).count() as u64;
        assert_eq!((found.commits, found.damage), (commits, None), "{length}");
        assert_eq!(rows_found(&database, &wal[..length]), commits, "{length}");
    }
}

/// Files of two rounds: one of eight transactions, copied into the database, and one that has begun over it.
fn two_rounds(after: usize) -> (Vec<u8>, Vec<u8>) {
    let folder = TempDir::new().unwrap();
    let conn = open(folder.path());
    for _ in 0..8 {
        add(&conn, 100);
    }
    let (_, first) = files(folder.path());
    conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap();
    for _ in 0..after {
        add(&conn, 100);
    }
    let (_, second) = files(folder.path());
    assert_eq!(first.len(), second.len());
    (first, second)
}

#[test]
fn what_an_earlier_round_left_behind_is_no_damage() {
    for after in 1..4 {
        let (_, wal) = two_rounds(after);
        assert_eq!(walked(&wal).damage, None);
        assert_eq!(walked(&wal).commits, after as u64);
    }
}

#[test]
fn a_header_that_was_torn_when_a_new_round_began_is_no_damage() {
    let (first, second) = two_rounds(1);
    for cut in 0..HEADER_BYTES {
        // All of the number of the round is new, and no salt yet: that looks like damage, and is refused to be safe. A
        // disk doesn't tear within a sector.
        if (16..20).contains(&cut) {
            continue;
        }
        let mut torn = first.clone();
        torn[..cut].copy_from_slice(&second[..cut]);
        let before = torn[..HEADER_BYTES] == first[..HEADER_BYTES];
        assert_eq!(walked(&torn).damage, None, "{cut}");
        assert_eq!(walked(&torn).commits > 0, before, "{cut}");
    }
}

#[test]
fn a_torn_last_transaction_is_no_damage() {
    let Written { wal, sizes, .. } = written(&[100, 100, 40_000]);
    let begins = usize::try_from(offset((sizes[0] + sizes[1]).into())).unwrap();
    let mut random = 1_u32;
    for _ in 0..500 {
        let mut torn = wal.clone();
        for sector in torn[begins..].chunks_mut(512) {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if random >> 30 == 0 {
                sector.fill(0);
            }
        }
        let found = walked(&torn);
        let commits = if torn == wal { 3 } else { 2 };
        assert_eq!((found.commits, found.damage), (commits, None));
    }
}

/// After a torn transaction a shorter one is written over its beginning, and so on: what is left of the longer ones has
/// the same salts.
#[test]
fn what_torn_transactions_left_behind_is_no_damage() {
    let mut folder = TempDir::new().unwrap();
    let mut conn = open(folder.path());
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    add(&conn, 100);
    for (bytes, commits) in [(60_000, 1), (40_000, 2), (20_000, 3)] {
        let begins = usize::try_from(offset(walked(&files(folder.path()).1).frames)).unwrap();
        add(&conn, bytes);
        let (database, mut wal) = files(folder.path());
        wal[begins + 100] ^= 1;
        assert_eq!(walked(&wal).damage, None);
        folder = TempDir::new().unwrap();
        fs::write(folder.path().join("db"), &database).unwrap();
        fs::write(folder.path().join("db-wal"), &wal).unwrap();
        conn = open(folder.path());
        add(&conn, 100);
        let found = walked(&files(folder.path()).1);
        assert_eq!((found.commits, found.damage), (commits + 1, None), "{bytes}");
    }
}

#[test]
fn what_is_no_log_holds_nothing() {
    for bytes in [vec![], vec![0; 31], vec![0; 20_000]] {
        assert_eq!(walked(&bytes), WalContent::default());
    }
}
