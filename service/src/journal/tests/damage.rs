//! Damaged rows.

use super::*;
use crate::journal::{AppendRefusal, ReadError};

/// Three matches with three records each: match 2's are at the positions 2, 5 and 8.
async fn three() -> Fixture {
    let f = Fixture::new().await;
    f.created([1, 2, 3]).await;
    for version in 1..3 {
        for number in 1..=3 {
            f.appended(number, version, "some text").await;
        }
    }
    f
}

fn flip(conn: &Connection, position: i64, byte: usize) {
    let sql = "SELECT row FROM log_1 WHERE position = ?1";
    let mut row: Vec<u8> = conn.query_row(sql, [position], |row| row.get(0)).unwrap();
    row[byte] ^= 0x10;
    conn.execute("UPDATE log_1 SET row = ?1 WHERE position = ?2", rusqlite::params![row, position]).unwrap();
}

/// Match 2 is quarantined with this many intact records, the others run.
async fn only_match_2_is_quarantined(f: &Fixture, intact: usize) {
    let quarantined: Vec<_> = f.recovery.quarantined.iter().filter(|q| q.match_id == id(2)).collect();
    assert_eq!(quarantined.len(), 1, "{:?}", f.recovery);
    let mut unfinished = f.journal.unfinished().await.unwrap();
    unfinished.sort_unstable();
    assert_eq!(unfinished, [id(1), id(3)]);
    let Some(StoredMatch::Quarantined { intact: history, .. }) = f.journal.read(id(2)).await.unwrap() else {
        panic!("match 2 is not quarantined")
    };
    assert_eq!(texts(&history).len(), intact);
    let refused = f.append(2, u32::try_from(intact).unwrap(), "more").await;
    assert!(matches!(refused, Outcome::Refused(AppendRefusal::Quarantined(_))), "{refused:?}");
}

#[tokio::test]
async fn a_flipped_byte_anywhere_in_a_row_quarantines_its_match_alone() {
    let mut f = three().await;
    f.journal.close().await;
    let intact_file = std::fs::read(f.path()).unwrap();
    let some_of_each_part = [0, 1, 2, 17, 18, 21, 22, 30, 61, 62];
    let all = 0..62 + "some text".len();
    let first = some_of_each_part.map(|byte| (2, byte, 0));
    let second = some_of_each_part.map(|byte| (5, byte, 1));
    let last = all.map(|byte| (8, byte, 2));
    for (position, byte, intact) in first.into_iter().chain(second).chain(last) {
        let flipped = |conn: &Connection| flip(conn, position, byte);
        std::fs::write(f.path(), &intact_file).unwrap();
        f = f.reopen_after(flipped).await;
        only_match_2_is_quarantined(&f, intact).await;
        for number in [1, 3] {
            assert_eq!(f.texts(number).await, ["created", "some text", "some text"]);
        }
        f.appended(1, 3, "goes on").await;
        f.journal.close().await;
    }
}

#[tokio::test]
async fn a_missing_row_is_found() {
    let delete = |conn: &Connection| {
        assert_eq!(conn.execute("DELETE FROM log_1 WHERE position = 5", []).unwrap(), 1);
    };
    let f = three().await.reopen_after(delete).await;
    only_match_2_is_quarantined(&f, 1).await;
    assert_eq!(f.recovery.stray, ["log_1 has no row from position 5 to 5"]);
}

#[tokio::test]
async fn a_position_that_can_not_be_stops_the_start() {
    for position in [0, -1, i64::MIN, 1 << 62, i64::MAX] {
        let f = three().await;
        f.journal.close().await;
        let sql = "UPDATE log_1 SET position = ?1 WHERE position = 5";
        assert_eq!(f.database().execute(sql, [position]).unwrap(), 1);
        let error = SqliteJournal::open(f.folder.path(), Options::default()).await.map(|_| ());
        let want = format!("the journal is damaged: log_1 has a row at position {position}");
        assert!(error.unwrap_err().to_string().starts_with(&want));
    }
}

#[tokio::test]
async fn a_row_that_is_not_a_record_is_told_and_the_others_run() {
    for row in ["x''", "zeroblob(61)", "zeroblob(200)"] {
        let sql = format!("INSERT INTO log_1 (position, row) VALUES (10, {row})");
        let f = three().await.reopen_after(|conn| conn.execute_batch(&sql).unwrap()).await;
        assert_eq!(f.recovery.unfinished, 3, "{row}");
        assert_eq!(f.recovery.stray.len() + f.recovery.quarantined.len(), 1, "{row}");
        f.appended(2, 3, "goes on").await;
        let f = f.reopen().await;
        assert_eq!(f.texts(2).await.len(), 4);
    }
}

#[tokio::test]
async fn a_quarantine_outlives_its_damaged_rows() {
    let f = three().await.reopen_after(|conn| flip(conn, 5, 65)).await;
    only_match_2_is_quarantined(&f, 1).await;
    let f = f
        .reopen_after(|conn| {
            assert_eq!(conn.execute("DELETE FROM log_1 WHERE position IN (5, 8)", []).unwrap(), 2);
        })
        .await;
    only_match_2_is_quarantined(&f, 1).await;
}

#[tokio::test]
async fn an_end_without_its_finished_record_is_found() {
    let f = three().await;
    assert!(matches!(f.finish(2, 3).await, Outcome::Done(_)));
    let f = f
        .reopen_after(|conn| {
            assert_eq!(conn.execute("DELETE FROM records", []).unwrap(), 1);
        })
        .await;
    only_match_2_is_quarantined(&f, 4).await;
}

#[tokio::test]
async fn a_changed_finished_record_is_not_served() {
    for change in [
        "record = x'00'",
        "summary = x'00'",
        "version = 1",
        "owner = 'eve'",
        "client_reference = 'x'",
        "visibility = 1",
        "finished_ms = 1",
        "hash = x'00'",
    ] {
        let f = three().await;
        assert!(matches!(f.finish(2, 3).await, Outcome::Done(_)));
        let f = f
            .reopen_after(|conn| {
                assert_eq!(conn.execute(&format!("UPDATE records SET {change}"), []).unwrap(), 1);
            })
            .await;
        assert!(matches!(f.journal.read(id(2)).await, Err(ReadError::Damaged(_))), "{change}");
    }
}
