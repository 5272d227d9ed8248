//! Rows that were committed together.

use super::*;
use crate::journal::{OpenError, ReadError};

/// Matches 1 to 60, created together, which is 60 rows in three packs of 25 and less; those up to `to` go on, each record in a commit of its own.
async fn sixty(to: u32) -> Fixture {
    let f = Fixture::in_tables().await;
    f.created(1..=60).await;
    for number in 1..=to {
        f.appended(number, 1, "goes on").await;
        f.appended(number, 2, "on").await;
    }
    f
}

/// Where rows of the table are, and how long.
fn written(conn: &Connection) -> Vec<(i64, i64)> {
    let mut rows = conn.prepare("SELECT position, length(row) FROM log_1 ORDER BY position").unwrap();
    rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
}

fn flip(conn: &Connection, position: i64, byte: usize) {
    let mut row = row_at(conn, position);
    row[byte] ^= 1;
    put_row(conn, position, &row);
}

fn quarantined(f: &Fixture) -> Vec<MatchId> {
    f.recovery.quarantined.iter().map(|q| q.match_id).collect()
}

#[tokio::test]
async fn what_is_committed_together_takes_a_row_of_the_table_for_each_third_of_a_page() {
    let f = sixty(2).await;
    let rows = written(&f.database());
    assert_eq!(rows.iter().map(|(position, _)| *position).collect::<Vec<_>>(), [25, 50, 60, 61, 62, 63, 64]);
    assert!((1_250..1_341).contains(&rows[0].1), "{rows:?}");
    let f = f.reopen().await;
    assert_eq!((f.recovery.unfinished, f.recovery.rows_read, f.recovery.stray.len()), (60, 64, 0));
    for number in 1..=60 {
        let want: &[&str] = if number <= 2 { &["created", "goes on", "on"] } else { &["created"] };
        assert_eq!(f.texts(number).await, want, "{number}");
    }
    f.appended(60, 1, "goes on").await;
    assert_eq!(f.texts(60).await, ["created", "goes on"]);
}

#[tokio::test]
async fn a_bit_in_a_row_of_a_pack_quarantines_its_match_alone() {
    let f = sixty(60).await;
    // The payload of match 25 is in the first pack before the last hash, of 16 bytes, and the last place, of 4.
    let last = usize::try_from(written(&f.database())[0].1 - 1 - 16 - 4).unwrap();
    let f = f.reopen_after(|conn| flip(conn, 25, last)).await;
    assert_eq!((quarantined(&f), f.recovery.unfinished), (vec![id(25)], 59));
    assert_eq!(f.texts(24).await, ["created", "goes on", "on"]);
}

#[tokio::test]
async fn where_a_packs_lengths_are_damaged_all_its_matches_are_quarantined() {
    for byte in [0, 1, 2, 3, 20] {
        let f = sixty(60).await.reopen_after(|conn| flip(conn, 60, byte)).await;
        assert_eq!(quarantined(&f), (51..=60).map(id).collect::<Vec<_>>(), "byte {byte}");
        assert_eq!(f.texts(50).await, ["created", "goes on", "on"]);
        f.journal.close().await;
    }
}

/// One of them may have gone on to what is lost, and nothing would tell.
#[tokio::test]
async fn a_damaged_pack_whose_matches_have_no_later_record_stops_the_start_and_can_be_repaired() {
    let changes: [fn(&Connection); 3] = [
        |conn| flip(conn, 60, 2),
        |conn| conn.execute_batch("DELETE FROM log_1 WHERE position = 60").unwrap(),
        |conn| {
            conn.execute_batch("UPDATE log_1 SET row = zeroblob(length(row)) WHERE position = 60").unwrap();
        },
    ];
    for change in changes {
        let f = sixty(59).await;
        f.journal.close().await;
        change(&f.database());
        let Err(OpenError::Damaged { what }) = SqliteJournal::open(f.folder.path(), f.options.clone()).await
        else {
            panic!("it was opened")
        };
        assert!(what.starts_with("1 rows of the log are gone"), "{what}");
        assert!(repair(f.folder.path()).unwrap().is_some());
        let f = f.reopen().await;
        let of_sixty = quarantined(&f).into_iter().filter(|match_id| *match_id != id(0));
        assert_eq!(of_sixty.collect::<Vec<_>>(), (51..=59).map(id).collect::<Vec<_>>());
        assert_eq!(f.texts(50).await, ["created", "goes on", "on"]);
        f.journal.close().await;
    }
}

#[tokio::test]
async fn packs_end_with_their_segment_and_are_copied_on() {
    let f = Fixture::with(Options { segment_rows: 16, ..in_tables() }).await;
    for hundred in 1..=20 {
        // Of forty that are created together, over three segments, two are played on.
        let first = 100 * hundred;
        f.created(first..first + 40).await;
        for number in first + 2..first + 40 {
            assert!(matches!(f.finish(number, 1).await, Outcome::Done(_)));
        }
    }
    assert!(f.journal.stats().copied_rows > 0);
    let f = f.reopen().await;
    assert_eq!((f.recovery.unfinished, f.recovery.stray.len()), (40, 0));
    assert!(f.recovery.rows_read <= 2 * 40 + 3 * 16, "{:?}", f.recovery);
    for hundred in 1..=20 {
        for number in [100 * hundred, 100 * hundred + 1] {
            assert_eq!(f.texts(number).await, ["created"]);
            f.appended(number, 1, "goes on").await;
        }
    }
}

#[tokio::test]
async fn a_record_that_no_page_holds_is_alone_between_packs() {
    let f = Fixture::in_tables().await;
    f.created([1, 2]).await;
    let long = "long".repeat(2_000);
    tokio::join!(f.appended(1, 1, "short"), f.appended(2, 1, &long), f.created(3..6));
    let f = f.reopen().await;
    assert_eq!(f.recovery.unfinished, 5);
    assert_eq!(f.texts(2).await, ["created", long.as_str()]);
}

/// The start stops, and a repair loses nothing of sixty matches.
async fn repaired_whole(f: Fixture, damage: &str) {
    assert!(SqliteJournal::open(f.folder.path(), f.options.clone()).await.is_err(), "{damage}");
    assert!(repair(f.folder.path()).unwrap().is_some());
    let f = f.reopen().await;
    assert_eq!((quarantined(&f), f.recovery.unfinished), (vec![], 60), "{damage}");
    for number in 1..=60 {
        assert_eq!(f.texts(number).await, ["created"], "{damage}");
    }
    f.journal.close().await;
}

/// A key that is damaged makes the places of a pack those of another.
#[tokio::test]
async fn where_a_packs_key_is_damaged_a_repair_loses_nothing() {
    for key in [20, 40, 51, 70] {
        let f = sixty(0).await;
        f.journal.close().await;
        let change = format!("UPDATE log_1 SET position = {key} WHERE position = 50");
        f.database().execute_batch(&change).unwrap();
        repaired_whole(f, &format!("{key}")).await;
    }
}

#[tokio::test]
async fn a_pack_that_is_damaged_while_the_journal_is_open_is_damage_to_who_reads() {
    for byte in [0, 2, 4] {
        let f = sixty(0).await;
        flip(&f.database(), 50, byte);
        for number in [26, 40, 49] {
            let read = f.journal.read(id(number)).await;
            assert!(matches!(read, Err(ReadError::Damaged(_))), "byte {byte}, match {number}: {read:?}");
        }
        assert_eq!(f.texts(25).await, ["created"]);
        assert_eq!(f.texts(51).await, ["created"]);
    }
}

/// SQLite looks for a key among others that are in order, and so finds neither one that is not nor some of those beside it.
#[tokio::test]
async fn where_one_bit_of_a_packs_key_is_flipped_in_the_file_a_repair_loses_nothing() {
    for bit in 0..7 {
        let f = sixty(0).await;
        f.journal.close().await;
        let mut bytes = std::fs::read(f.path()).unwrap();
        // The key 50, the head of SQLite's record, and that of the pack.
        let is_it = |at: &[u8]| at[..3] == [50, 4, 0] && at[5..8] == [0xfc, 0, 25];
        // What a cell has left behind where it was before is of no use.
        let all: Vec<usize> = (0..bytes.len() - 8).filter(|at| is_it(&bytes[*at..at + 8])).collect();
        for at in all {
            bytes[at] ^= 1 << bit;
        }
        std::fs::write(f.path(), &bytes).unwrap();
        repaired_whole(f, &format!("bit {bit}")).await;
    }
}
