//! Segments that were dropped, and segments that are gone.

use std::collections::BTreeSet;

use super::*;
use crate::journal::OpenError;

/// Match 1 runs for long: its records are in the first segment, with the beginning of match 2, which went on through the
/// second and ended there. So the second was dropped. Match 3 is in the third, and goes on to the fourth.
async fn with_a_dropped_segment() -> Fixture {
    let f = Fixture::with(Options { segment_rows: 16, ..in_tables() }).await;
    f.created([1]).await;
    for version in 1..10 {
        f.appended(1, version, "long").await;
    }
    f.created([2]).await;
    for version in 1..21 {
        f.appended(2, version, "short").await;
    }
    assert!(matches!(f.finish(2, 21).await, Outcome::Done(_)));
    f.created([3]).await;
    for version in 1..18 {
        f.appended(3, version, "third").await;
    }
    assert_eq!(tables(&f), ["log_1", "log_3", "log_4"]);
    assert_eq!(f.journal.stats().copied_rows, 0);
    f
}

fn tables(f: &Fixture) -> Vec<String> {
    let conn = f.database();
    let mut tables =
        conn.prepare("SELECT name FROM sqlite_schema WHERE name GLOB 'log_*' ORDER BY name").unwrap();
    tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

async fn stopped(f: Fixture, change: &str) -> String {
    f.journal.close().await;
    assert!(f.database().execute_batch(change).is_ok(), "{change}");
    match SqliteJournal::open(f.folder.path(), f.options.clone()).await {
        Err(OpenError::Damaged { what }) => what,
        other => panic!("{change}: {:?}", other.map(|(_, found)| found)),
    }
}

const OVERWRITTEN: [&str; 4] = [
    "row = zeroblob(length(row))",
    "row = randomblob(length(row))",
    // A bit of the match id and one of the payload.
    "row = CAST(substr(row, 1, 2) || x'01' || substr(row, 4, length(row) - 24) || x'01' || substr(row, -20) AS BLOB)",
    "position = position + 1000",
];

#[tokio::test]
async fn what_was_rightly_dropped_stands_for_no_lost_row() {
    let f = with_a_dropped_segment().await.reopen().await;
    assert_eq!((f.recovery.unfinished, f.recovery.stray.len()), (2, 0));
    f.journal.close().await;
    for (table, position) in [("log_1", 10), ("log_4", 50)] {
        for change in OVERWRITTEN {
            let f = with_a_dropped_segment().await;
            let change = format!("UPDATE {table} SET {change} WHERE position = {position}");
            stopped(f, &change).await;
        }
    }
}

/// What is missing before a later record is known to be that match's.
#[tokio::test]
async fn a_lost_row_in_the_middle_of_a_match_quarantines_that_match_alone() {
    for change in &OVERWRITTEN[..3] {
        for (table, position, number) in
            [("log_1", 5, 1), ("log_3", 40, 3), ("log_3", 48, 3), ("log_4", 49, 3)]
        {
            let change = format!("UPDATE {table} SET {change} WHERE position = {position}");
            let f = with_a_dropped_segment().await;
            let f = f.reopen_after(|conn| conn.execute_batch(&change).unwrap()).await;
            let found: BTreeSet<MatchId> = f.recovery.quarantined.iter().map(|q| q.match_id).collect();
            assert_eq!(found, BTreeSet::from([id(number)]), "{change}: {:?}", f.recovery);
            f.journal.close().await;
        }
    }
}

/// As long as all is there between the rows around it.
#[tokio::test]
async fn a_lost_row_of_an_ended_match_is_harmless() {
    for change in &OVERWRITTEN[..3] {
        // Of a first record whose match id is damaged nothing says that it is not one of a match by itself.
        let first = (!change.contains("CAST")).then_some(11);
        for position in [13, 15].into_iter().chain(first) {
            let change = format!("UPDATE log_1 SET {change} WHERE position = {position}");
            let f = with_a_dropped_segment().await;
            let f = f.reopen_after(|conn| conn.execute_batch(&change).unwrap()).await;
            assert_eq!((f.recovery.unfinished, f.recovery.quarantined.len()), (2, 0), "{change}");
            assert!(!f.recovery.stray.is_empty(), "{change}");
            f.journal.close().await;
        }
    }
    // The last that is left of it may have been written where the next segment was.
    stopped(with_a_dropped_segment().await, "UPDATE log_1 SET row = zeroblob(80) WHERE position = 16").await;
}

#[tokio::test]
async fn a_segment_that_is_gone_stops_the_start_and_repair_says_so() {
    let f = with_a_dropped_segment().await;
    let folder = f.folder.path().to_owned();
    f.journal.close().await;
    f.database().execute_batch("DROP TABLE log_4").unwrap();
    let Err(OpenError::Damaged { what }) = SqliteJournal::open(&folder, f.options.clone()).await else {
        panic!("it was opened")
    };
    assert_eq!(what, "the table log_4 is gone, with the rows from position 49 on");
    let repaired = repair(&folder).unwrap().unwrap();
    let told = |list: &[String]| list.iter().any(|text| text.contains("log_4 is gone"));
    assert!(told(&repaired.found) && told(&repaired.lost), "{repaired:?}");
    let (journal, recovery) = SqliteJournal::open(&folder, f.options.clone()).await.unwrap();
    assert_eq!((recovery.unfinished, recovery.stray), (2, Vec::new()));
    journal.close().await;
}

#[tokio::test]
async fn what_does_not_fit_the_list_of_the_segments_stops_the_start() {
    let cases = [
        ("DELETE FROM meta WHERE key = 'journal/segments'", "the list of the log's segments"),
        (
            "CREATE TABLE log_2 (position INTEGER PRIMARY KEY, row BLOB NOT NULL) STRICT",
            "the table log_2 is not in",
        ),
        // The last of a full segment, and the first of any, by which nobody could tell that they were there.
        ("DELETE FROM log_1 WHERE position = 16", "1 rows of the log are gone"),
        ("UPDATE log_4 SET position = 51 WHERE position = 49", "1 rows of the log are gone"),
        ("UPDATE log_1 SET position = 17 WHERE position = 16", "log_1 has a row at position 17"),
    ];
    for (change, want) in cases {
        let what = stopped(with_a_dropped_segment().await, change).await;
        assert!(what.starts_with(want), "{change}: {what}");
    }
}

/// A database of more than 64 MiB, in which some pages are free.
async fn large() -> Fixture {
    let f = with_a_dropped_segment().await;
    f.journal.close().await;
    let fill = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 70)
        INSERT INTO requests SELECT 'x', n, x'00', zeroblob(1 << 20), 1, NULL FROM n;
        DELETE FROM requests WHERE request_id IN ('5', '50')";
    f.database().execute_batch(fill).unwrap();
    let f = f.reopen().await;
    assert_eq!((f.recovery.unfinished, f.recovery.stray.len()), (2, 0));
    f.journal.close().await;
    f
}

fn number(bytes: &[u8], at: usize) -> usize {
    u32::from_be_bytes(std::array::from_fn(|i| bytes[at + i])) as usize
}

#[tokio::test]
async fn a_flipped_bit_in_the_schema_or_the_free_pages_of_a_large_database_stops_the_start() {
    let f = large().await;
    let whole = std::fs::read(f.path()).unwrap();
    assert!(whole.len() > 64 << 20);
    let first_free = (number(&whole, 32) - 1) * 4096;
    assert!(number(&whole, first_free + 4) > 100);
    // How many cells the first page has, and which pages are free.
    let bits = [
        (104, 0),
        (first_free + 11, 0),
        (first_free + 10, 2),
        (first_free + 27, 3),
        (first_free + 7, 1),
        (39, 0),
    ];
    for (byte, bit) in bits {
        let mut bytes = whole.clone();
        bytes[byte] ^= 1 << bit;
        std::fs::write(f.path(), &bytes).unwrap();
        let opened = SqliteJournal::open(f.folder.path(), f.options.clone()).await;
        let refused = matches!(opened, Err(OpenError::Damaged { .. }));
        assert!(refused, "bit {bit} of byte {byte}: {:?}", opened.map(|(_, found)| found));
        assert!(std::fs::read(f.path()).unwrap() == bytes);
    }
}
