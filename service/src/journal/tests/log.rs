//! The log stays short.

use super::writing::break_page;
use super::*;

const SEGMENT_ROWS: u64 = 16;

async fn small_segments() -> Fixture {
    Fixture::with(Options { segment_rows: 16, ..in_tables() }).await
}

fn segments(f: &Fixture) -> i64 {
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name GLOB 'log_*'";
    f.database().query_row(sql, [], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn segments_without_a_live_match_are_dropped() {
    let f = small_segments().await;
    for number in 0..100 {
        f.created([number]).await;
        for version in 1..10 {
            f.appended(number, version, "a").await;
        }
        assert!(matches!(f.finish(number, 10).await, Outcome::Done(_)));
    }
    // A thousand rows were written; at most the current segment and one that waits are left.
    assert_eq!(f.journal.stats().copied_rows, 0);
    let f = f.reopen().await;
    assert!(f.recovery.rows_read <= 2 * SEGMENT_ROWS, "{:?}", f.recovery);
    assert!(segments(&f) <= 2);
}

#[tokio::test]
async fn recovery_reads_twice_the_live_rows_at_most_whatever_the_history() {
    let mut f = small_segments().await;
    f.created(0..5).await;
    let mut live = [1_u32; 5];
    for number in 10..200 {
        // Five long matches grow, one record at a time, among many short ones that come and go.
        let long = usize::try_from(number % 50).unwrap();
        if let Some(version) = live.get_mut(long) {
            f.appended(u32::try_from(long).unwrap(), *version, &format!("record {number}")).await;
            *version += 1;
        }
        f.created([number]).await;
        for version in 1..8 {
            f.appended(number, version, "a").await;
        }
        assert!(matches!(f.finish(number, 8).await, Outcome::Done(_)));
        if number % 60 == 0 {
            f = f.reopen().await;
        }
    }
    let before = [f.texts(0).await, f.texts(1).await, f.texts(4).await];
    let f = f.reopen().await;
    assert_eq!(f.recovery.stray, [""; 0]);
    assert_eq!(f.recovery.quarantined, []);
    let rows: u64 = live.iter().map(|rows| u64::from(*rows)).sum();
    assert!(f.recovery.rows_read <= 2 * rows + 3 * SEGMENT_ROWS, "{rows} live, {:?}", f.recovery);
    assert_eq!([f.texts(0).await, f.texts(1).await, f.texts(4).await], before);
    f.appended(0, live[0], "goes on").await;
}

fn has_first_segment(f: &Fixture) -> bool {
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name = 'log_1'";
    f.database().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap() > 0
}

/// A match of so many rows, to its end.
async fn played(f: &Fixture, number: u32, rows: u32) {
    f.created([number]).await;
    for version in 1..rows - 1 {
        f.appended(number, version, "short").await;
    }
    assert!(matches!(f.finish(number, rows - 1).await, Outcome::Done(_)));
}

#[tokio::test]
async fn a_segment_with_a_live_row_that_can_not_be_read_stays_and_the_others_are_cleaned() {
    fn change(f: &Fixture, sql: &str) {
        f.database().execute_batch(sql).unwrap();
    }
    let damages: [fn(&Fixture); 5] = [
        // Another match id: that its row is live, cleaning can't see.
        |f| {
            let other = "CAST(substr(row, 1, 2) || x'01' || substr(row, 4) AS BLOB)";
            change(f, &format!("UPDATE log_1 SET row = {other} WHERE position = 1"));
        },
        // A pack of which the lengths are gone.
        |f| change(f, "UPDATE log_1 SET row = x'fc0002' WHERE position = 1"),
        |f| change(f, "DELETE FROM log_1 WHERE position = 1"),
        |f| change(f, "DELETE FROM log_1"),
        |f| break_page(f, "log_1"),
    ];
    for (case, damage) in damages.into_iter().enumerate() {
        let f = small_segments().await;
        // The first segment is the one with the fewest live rows.
        f.created([1]).await;
        played(&f, 3, 15).await;
        damage(&f);
        f.created([2]).await;
        for number in 100..200 {
            // One live row among four.
            f.appended(2, number - 99, "long").await;
            played(&f, number, 3).await;
        }
        let stats = f.journal.stats();
        assert!(stats.copied_rows > 50 && stats.dropped_segments > 10, "{case}: {stats:?}");
        assert!(segments(&f) <= 20, "{case}: {} segments", segments(&f));
        assert!(has_first_segment(&f), "{case}");
        assert_eq!((f.texts(2).await.len(), stats.failed_commits), (101, 0), "{case}");
        // When it has no live row any more it goes, if it can; what it can't keep is the others.
        assert!(matches!(f.finish(1, 1).await, Outcome::Done(_)));
        let before = stats.dropped_segments;
        for number in 200..300 {
            f.appended(2, number - 99, "long").await;
            played(&f, number, 3).await;
        }
        let stats = f.journal.stats();
        assert!(stats.dropped_segments > before + 10, "{case}: {stats:?}");
        assert_eq!(has_first_segment(&f), case == 4, "{case}");
        assert_eq!((f.texts(2).await.len(), stats.failed_commits), (201, 0), "{case}");
        assert_eq!(stats.damaged_segments, u64::from(case == 4), "{case}");
        f.journal.close().await;
    }
}

#[tokio::test]
async fn segments_that_stay_make_nothing_be_copied_again_and_again() {
    let f = small_segments().await;
    // Eight segments of one live row each, which is gone.
    for number in 0..8 {
        f.created([10 + number]).await;
        let damage = format!("DELETE FROM log_{} WHERE position % 16 = 1", number + 1);
        assert_eq!(f.database().execute(&damage, []).unwrap(), 1);
        played(&f, 50 + number, 15).await;
    }
    f.created([2]).await;
    for version in 1..200 {
        f.appended(2, version, "goes on").await;
    }
    let stats = f.journal.stats();
    // Two are left as the log may have so many beside its live rows: nobody has looked at them.
    assert_eq!((stats.copied_rows, stats.failed_commits, stats.damaged_segments), (0, 0, 6));
    assert_eq!(f.texts(2).await.len(), 200);
    // When they are dead they are dropped all the same.
    for number in 0..8 {
        assert!(matches!(f.finish(10 + number, 1).await, Outcome::Done(_)));
    }
    f.appended(2, 200, "goes on").await;
    let stats = f.journal.stats();
    assert_eq!((stats.dropped_segments, stats.damaged_segments), (8, 0));
}

#[tokio::test]
async fn a_match_is_read_while_its_records_are_copied_on() {
    let f = small_segments().await;
    f.created([1]).await;
    for number in 100..200 {
        // One live row among four.
        f.appended(1, number - 99, "long").await;
        f.created([number]).await;
        f.appended(number, 1, "short").await;
        let (read, outcome) = tokio::join!(f.texts(1), f.finish(number, 2));
        assert_eq!(read.len(), usize::try_from(number - 98).unwrap());
        assert!(matches!(outcome, Outcome::Done(_)));
    }
    assert!(f.journal.stats().copied_rows > 0);
    assert!(f.journal.stats().dropped_segments > 0);
}

#[tokio::test]
async fn a_row_that_is_there_twice_counts_once() {
    let f = small_segments().await;
    f.created_alone([1, 2]).await;
    f.appended(1, 1, "a").await;
    // What a crash leaves behind between copying a segment and dropping it.
    let copy = |conn: &Connection| {
        conn.execute_batch("CREATE TABLE log_2 (position INTEGER PRIMARY KEY, row BLOB NOT NULL) STRICT")
            .unwrap();
        for position in 1..=3 {
            copy_row(conn, ("log_1", position), ("log_2", position + 3));
        }
        list_segments(conn, &[(1, 1, 4), (2, 4, 0)]);
    };
    let f = f.reopen_after(copy).await;
    assert_eq!((f.recovery.unfinished, f.recovery.rows_read), (2, 6));
    assert_eq!((f.recovery.quarantined.len(), f.recovery.stray.len()), (0, 0));
    f.appended(1, 2, "b").await;
    assert_eq!(f.texts(1).await, ["created", "a", "b"]);
}

#[tokio::test]
async fn the_rows_of_the_first_release_are_read_and_copied_on() {
    let f = small_segments().await;
    f.created([1]).await;
    f.appended(1, 1, "a").await;
    let mut f = f.reopen_after(as_the_first_release_wrote_them).await;
    assert_eq!((f.recovery.unfinished, &f.recovery.stray), (1, &vec![]));
    for number in 100..200 {
        f.created([number]).await;
        assert!(matches!(f.finish(number, 1).await, Outcome::Done(_)));
        if number % 30 == 0 {
            f = f.reopen().await;
        }
    }
    assert!(f.journal.stats().dropped_segments > 0);
    let f = f.reopen().await;
    assert_eq!((f.recovery.unfinished, &f.recovery.stray), (1, &vec![]));
    assert_eq!(f.texts(1).await, ["created", "a"]);
}
