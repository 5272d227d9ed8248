//! Damaged rows.

use super::*;
use crate::journal::{
    AppendRefusal, OpenError, Owner, PageSize, ReadError, ResultFilter, ResultNumber, Scope,
};

/// Three matches with three records each: match 2's are at the positions 2, 5 and 8.
async fn three() -> Fixture {
    let f = Fixture::in_tables().await;
    f.created_alone([1, 2, 3]).await;
    for version in 1..3 {
        for number in 1..=3 {
            f.appended(number, version, "some text").await;
        }
    }
    f
}

fn flip(conn: &Connection, position: i64, byte: usize) {
    flip_bit(conn, position, byte, 4);
}

fn flip_bit(conn: &Connection, position: i64, byte: usize, bit: u32) {
    let mut row = row_at(conn, position);
    row[byte] ^= 1 << bit;
    put_row(conn, position, &row);
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
    let some_of_each_part = [0, 1, 2, 17, 18, 21, 22, 23, 29, 32, 45];
    // Where it says that it is follows in four bytes: the row is whole without them.
    let placed_at = 23 + "some text".len() + 16;
    let all = 0..placed_at;
    let first = some_of_each_part.map(|byte| (2, byte, 0));
    let second = some_of_each_part.map(|byte| (5, byte, 1));
    let last = all.map(|byte| (8, byte, 2));
    for byte in placed_at..placed_at + 4 {
        std::fs::write(f.path(), &intact_file).unwrap();
        f = f.reopen_after(|conn| flip(conn, 8, byte)).await;
        assert_eq!((f.recovery.unfinished, f.recovery.stray.len()), (3, 1));
        assert_eq!(f.texts(2).await, ["created", "some text", "some text"]);
        f.journal.close().await;
    }
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
        let error = SqliteJournal::open(f.folder.path(), in_tables()).await.map(|_| ());
        let want = format!("the journal is damaged: log_1 has a row at position {position}");
        assert!(error.unwrap_err().to_string().starts_with(&want));
    }
}

async fn stopped(f: Fixture, change: impl FnOnce(&Connection)) -> String {
    f.journal.close().await;
    change(&f.database());
    let before = std::fs::read(f.path()).unwrap();
    let opened = SqliteJournal::open(f.folder.path(), in_tables()).await;
    let Err(OpenError::Damaged { what }) = opened else { panic!("{:?}", opened.map(|(_, found)| found)) };
    assert_eq!(std::fs::read(f.path()).unwrap(), before);
    what
}

/// It may have been the last of any match.
#[tokio::test]
async fn a_row_that_is_not_a_record_stops_the_start() {
    for row in ["x''", "zeroblob(61)", "zeroblob(200)"] {
        let sql = format!("INSERT INTO log_1 (position, row) VALUES (10, {row})");
        let what = stopped(three().await, |conn| conn.execute_batch(&sql).unwrap()).await;
        assert!(what.starts_with("1 rows of the log are gone or not what was written there"), "{what}");
    }
}

#[tokio::test]
async fn a_last_row_that_is_missing_stops_the_start() {
    let delete = |conn: &Connection| {
        assert_eq!(conn.execute("DELETE FROM log_1 WHERE position = 8", []).unwrap(), 1);
    };
    let what = stopped(three().await, delete).await;
    assert!(what.ends_with("log_1 has no row from position 8 to 8"), "{what}");
}

#[tokio::test]
async fn a_row_that_stands_where_another_was_is_found() {
    // Match 2's last record is gone, and one of match 1 is there instead, as it was written or as if it belonged there.
    let overwrite = |conn: &Connection| {
        let sql = "UPDATE log_1 SET row = (SELECT row FROM log_1 WHERE position = 4) WHERE position = 8";
        assert_eq!(conn.execute(sql, []).unwrap(), 1);
    };
    let what = stopped(three().await, overwrite).await;
    assert!(what.ends_with("a row that was written elsewhere is at position 8 of log_1"), "{what}");
    stopped(three().await, |conn| copy_row(conn, ("log_1", 4), ("log_1", 8))).await;
    // In the middle it is known whose it was.
    let f = three().await.reopen_after(|conn| copy_row(conn, ("log_1", 4), ("log_1", 5))).await;
    only_match_2_is_quarantined(&f, 1).await;
    // Rows of the first release don't say where they are.
    let overwrite_first = |conn: &Connection| {
        as_the_first_release_wrote_them(conn);
        overwrite(conn);
    };
    stopped(three().await, overwrite_first).await;
}

#[tokio::test]
async fn a_row_of_an_ended_match_stands_for_no_other() {
    let f = three().await;
    assert!(matches!(f.finish(1, 3).await, Outcome::Done(_)));
    stopped(f, |conn| copy_row(conn, ("log_1", 4), ("log_1", 8))).await;
    // Its own are dead.
    let f = three().await;
    assert!(matches!(f.finish(1, 3).await, Outcome::Done(_)));
    let f = f.reopen_after(|conn| flip(conn, 4, 10)).await;
    assert_eq!((f.recovery.unfinished, f.recovery.quarantined.len()), (2, 0));
}

#[tokio::test]
async fn a_record_with_another_version_is_no_copy() {
    // Version 3 becomes version 2.
    let f = three().await.reopen_after(|conn| flip_bit(conn, 8, 21, 0)).await;
    only_match_2_is_quarantined(&f, 2).await;
}

#[tokio::test]
async fn a_quarantine_outlives_its_damage() {
    let f = three().await.reopen_after(|conn| flip(conn, 5, 28)).await;
    only_match_2_is_quarantined(&f, 1).await;
    let f = f.reopen_after(|conn| flip(conn, 5, 28)).await;
    only_match_2_is_quarantined(&f, 1).await;
}

#[tokio::test]
async fn a_page_that_can_not_be_read_stops_the_start() {
    let f = three().await;
    f.journal.close().await;
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'log_1'";
    let page: usize = f.database().query_row(sql, [], |row| row.get::<_, u32>(0)).unwrap() as usize;
    let mut bytes = std::fs::read(f.path()).unwrap();
    // The number of its cells: one less, so that the last row would be lost without a word.
    bytes[(page - 1) * 4096 + 4] -= 1;
    std::fs::write(f.path(), &bytes).unwrap();
    let what = stopped(f, |_| {}).await;
    assert!(what.contains("Fragmentation"), "{what}");
}

#[tokio::test]
async fn a_changed_row_of_a_small_table_stops_the_start() {
    let token = tokens::token(1, Scope::Owner(Owner::new("shop").unwrap()));
    for (change, table) in [
        ("UPDATE meta SET value = x'00' WHERE key = 'journal/epoch'", "meta"),
        ("UPDATE tokens SET scope = 1, account = NULL", "tokens"),
        ("UPDATE tokens SET expires_ms = 5", "tokens"),
        ("UPDATE tokens SET seal = NULL", "tokens"),
        ("INSERT INTO quarantine (match_id, intact, damage) VALUES (zeroblob(16), 1, 'x')", "quarantine"),
    ] {
        let f = three().await;
        let made = f.journal.change_tokens(tokens::change(1, Some(&token))).await;
        assert_eq!(made, Outcome::Done(()));
        let what = stopped(f, |conn| assert_eq!(conn.execute(change, []).unwrap(), 1)).await;
        assert_eq!(what, format!("1 rows of the table {table} were changed"));
    }
}

#[tokio::test]
async fn a_missing_result_stops_the_start() {
    let f = three().await;
    for number in 1..=3 {
        assert!(matches!(f.finish(number, 3).await, Outcome::Done(_)));
    }
    // Of the first two nothing else tells: their rows are gone with a segment.
    let delete = |conn: &Connection| {
        conn.execute_batch("DELETE FROM records WHERE result_number = 2; DROP TABLE log_1").unwrap();
        list_segments(conn, &[]);
    };
    assert_eq!(stopped(f, delete).await, "result 2: it is missing");
}

#[tokio::test]
async fn a_changed_result_is_not_listed() {
    let f = three().await;
    assert!(matches!(f.finish(2, 3).await, Outcome::Done(_)));
    let f = f
        .reopen_after(|conn| assert_eq!(conn.execute("UPDATE records SET owner = 'eve'", []).unwrap(), 1))
        .await;
    assert_eq!(f.recovery.stray.len(), 1);
    let filter = ResultFilter::default();
    let page = PageSize::new(10).unwrap();
    let results = f.journal.results_after(filter, ResultNumber::new(0), page).await;
    assert!(matches!(results, Err(ReadError::Damaged(_))), "{results:?}");
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

#[tokio::test]
async fn the_first_record_of_a_match_is_read_whatever_became_of_the_others() {
    let mut f = three().await;
    let Some(StoredMatch::Running(history)) = f.journal.read(id(2)).await.unwrap() else { panic!() };
    let first = &history.records[0];
    assert_eq!(f.journal.first(id(2)).await.unwrap().as_ref(), Some(first));
    // While it is open, and then at the next opening.
    flip(&f.database(), 5, 23);
    assert!(matches!(f.journal.read(id(2)).await, Err(ReadError::Damaged(_))));
    assert_eq!(f.journal.first(id(2)).await.unwrap().as_ref(), Some(first));
    f = f.reopen().await;
    only_match_2_is_quarantined(&f, 1).await;
    assert_eq!(f.journal.first(id(2)).await.unwrap().as_ref(), Some(first));
    flip(&f.database(), 2, 23);
    assert!(matches!(f.journal.first(id(2)).await, Err(ReadError::Damaged(_))));
    f = f.reopen().await;
    only_match_2_is_quarantined(&f, 0).await;
    assert_eq!(f.journal.first(id(2)).await, Ok(None));
    assert_eq!(f.journal.first(id(9)).await, Ok(None), "there is none");
    assert!(matches!(f.finish(1, 3).await, Outcome::Done(_)));
    assert_eq!(f.journal.first(id(1)).await, Ok(None), "it is over");
}
