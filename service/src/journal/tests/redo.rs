//! The redo log: what a kill leaves of it, what is missing or damaged in it, and how it stays short.

use std::path::Path;

use rusqlite::config::DbConfig;

use super::*;
use crate::journal::{
    BodyHash, Caller, FinishedFilter, OpenError, PageSize, Reader, Repaired, RequestId, RequestKey,
    RequestState, Response, ResultFilter, ResultNumber, backup,
};

/// Where the first commit of a file is.
const FIRST: usize = 512;

async fn small_files() -> Fixture {
    Fixture::with(Options { segment_rows: 2, ..Options::default() }).await
}

fn request(name: &str) -> Request {
    let caller = Caller::new("caller").unwrap();
    let key = RequestKey { caller, request_id: RequestId::new(name).unwrap(), body_hash: BodyHash([1; 32]) };
    Request { key, response: Response::new(name.to_owned()).unwrap() }
}

/// The files of the redo log, the oldest first.
fn files(folder: &Path) -> Vec<PathBuf> {
    super::super::redo::files(folder).unwrap()
}

async fn refused(folder: &TempDir) -> String {
    match SqliteJournal::open(folder.path(), Options::default()).await {
        Err(OpenError::Redo { damage }) => damage.what.to_owned(),
        other => panic!("{:?}", other.map(|(_, found)| found)),
    }
}

/// How many results can be read, for which they are put into the database.
async fn results(f: &Fixture) -> usize {
    let page = PageSize::new(100).unwrap();
    f.journal.results_after(ResultFilter::default(), ResultNumber::ZERO, page).await.unwrap().rows.len()
}

/// Changes the database, of which the write-ahead log stays as it was left, with that change behind it.
fn change_database(folder: &TempDir, sql: &str) {
    let conn = Connection::open(folder.path().join("journal.sqlite3")).unwrap();
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    conn.execute_batch(sql).unwrap();
}

fn change(file: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(file).unwrap();
    change(&mut bytes);
    std::fs::write(file, bytes).unwrap();
}

#[tokio::test]
async fn a_killed_journal_goes_on_with_all_that_was_acknowledged() {
    let mut f = Fixture::new().await;
    assert_eq!(f.create_for([1, 2], Some(request("r")), 5).await, Outcome::Done(Created::New));
    f.appended(1, 1, "a").await;
    assert_eq!(f.finish(2, 1).await, Outcome::Done(ResultNumber::new(1)));
    let mut commits = 3;
    for _ in 0..2 {
        f = f.kill().await;
        let Recovery { unfinished, redo_commits, rows_read, results, .. } = f.recovery;
        assert_eq!((unfinished, rows_read, results), (1, 2, 1));
        assert_eq!(redo_commits, commits);
        // They were put into the database.
        commits = 0;
        assert_eq!(f.texts(1).await, ["created", "a"]);
        assert!(matches!(f.journal.read(id(2)).await, Ok(Some(StoredMatch::Finished(_)))));
        let answered = RequestState::Answered(request("r").response);
        assert_eq!(f.journal.request(request("r").key, UnixMillis::new(6)).await, Ok(answered));
        let again = f.create_for([3], Some(request("r")), 6).await;
        assert_eq!(again, Outcome::Done(Created::Before(request("r").response)));
    }
    f.appended(1, 2, "b").await;
    assert_eq!(f.finish(1, 3).await, Outcome::Done(ResultNumber::new(2)));
}

#[tokio::test]
async fn what_has_ended_is_read_at_once() {
    let f = Fixture::new().await;
    for number in 1..20_u32 {
        f.created([number]).await;
        assert_eq!(f.finish(number, 1).await, Outcome::Done(ResultNumber::new(number.into())));
        assert_eq!(f.journal.latest_result().borrow().get(), u64::from(number));
        let page = PageSize::new(1).unwrap();
        match number % 3 {
            0 => assert!(matches!(f.journal.read(id(number)).await, Ok(Some(StoredMatch::Finished(_))))),
            1 => {
                let after = ResultNumber::new(u64::from(number) - 1);
                let results = f.journal.results_after(ResultFilter::default(), after, page).await.unwrap();
                assert_eq!(results.rows.len(), 1);
            }
            _ => {
                let filter = FinishedFilter { reader: Reader::Admin, client_reference: None };
                let matches = f.journal.list_finished(filter, None, page).await.unwrap();
                assert_eq!(matches.matches[0].match_id, id(number));
            }
        }
    }
}

#[tokio::test]
async fn one_commit_knows_what_is_before_it_in_the_same() {
    let f = Fixture::new().await;
    let (first, second, third) = tokio::join!(
        f.create_for([1], Some(request("r")), 0),
        f.create_for([2], Some(request("r")), 0),
        f.create_for([1], Some(request("s")), 0),
    );
    assert_eq!(first, Outcome::Done(Created::New));
    assert_eq!(second, Outcome::Done(Created::Before(request("r").response)));
    assert!(matches!(third, Outcome::Refused(_)), "{third:?}");
    let (end, again) = tokio::join!(f.finish(1, 1), f.finish(1, 1));
    assert_eq!(end, Outcome::Done(ResultNumber::new(1)));
    assert!(matches!(again, Outcome::Refused(_)), "{again:?}");
    let f = f.kill().await;
    assert_eq!((f.recovery.unfinished, f.recovery.results), (0, 1));
}

#[tokio::test]
async fn a_closed_journal_has_all_in_its_database() {
    let f = Fixture::new().await;
    f.created([1, 2]).await;
    f.appended(1, 1, "a").await;
    assert!(matches!(f.finish(2, 1).await, Outcome::Done(_)));
    f.journal.close().await;
    assert_eq!(files(f.folder.path()), [""; 0].map(PathBuf::from));
    let rows: i64 = f.database().query_row("SELECT count(*) FROM log_1", [], |row| row.get(0)).unwrap();
    // Both in one pack, and none of the match that has ended.
    assert_eq!(rows, 1);
    let f = Fixture::opened(f.folder, f.options).await;
    assert_eq!(f.texts(1).await, ["created", "a"]);
}

/// Creates in commits of their own, killed. Each takes a sector of the first file.
async fn ten_commits() -> TempDir {
    let f = Fixture::new().await;
    f.created_alone(0..10).await;
    f.killed()
}

#[tokio::test]
async fn a_last_commit_that_is_damaged_is_an_earlier_one() {
    for damage in [
        |bytes: &mut Vec<u8>| bytes[FIRST + 9 * 512 + 60] ^= 1,
        |bytes: &mut Vec<u8>| {
            bytes.truncate(FIRST + 9 * 512 + 100);
        },
    ] {
        let folder = ten_commits().await;
        change(&files(folder.path())[0], damage);
        let f = Fixture::opened(folder, Options::default()).await;
        assert_eq!(f.recovery.unfinished, 9);
        f.created([9]).await;
    }
}

#[tokio::test]
async fn damage_before_the_last_commit_stops_the_start_and_nothing_is_changed() {
    type Damage = fn(&Path);
    let cases: [(&str, Damage); 6] = [
        ("a commit is not as it was written, and later ones are there", |folder| {
            change(&files(folder)[0], |bytes| bytes[FIRST + 60] ^= 1);
        }),
        ("a commit is not as it was written, and later ones are there", |folder| {
            change(&files(folder)[0], |bytes| bytes[FIRST + 3 * 512..FIRST + 5 * 512].fill(0));
        }),
        ("its header is not as it was written", |folder| {
            change(&files(folder)[0], |bytes| bytes[25] ^= 4);
        }),
        ("its header is not as it was written", |folder| {
            change(&files(folder)[1], |bytes| bytes[0] ^= 4);
        }),
        ("it is missing", |folder| std::fs::remove_file(&files(folder)[0]).unwrap()),
        ("it is missing", |folder| files(folder).iter().for_each(|file| std::fs::remove_file(file).unwrap())),
    ];
    for (what, damage) in cases {
        let folder = ten_commits().await;
        damage(folder.path());
        let before: Vec<_> = files(folder.path()).iter().map(|file| std::fs::read(file).unwrap()).collect();
        for _ in 0..2 {
            assert_eq!(refused(&folder).await, what);
            let checked = SqliteJournal::check(folder.path()).unwrap();
            assert!(matches!(checked.damage, Some(OpenError::Redo { .. })), "{what}: {checked:?}");
        }
        let after: Vec<_> = files(folder.path()).iter().map(|file| std::fs::read(file).unwrap()).collect();
        assert!(before == after, "{what}");
    }
}

/// What was told of to others is in the database by then, and says how far the redo log was.
#[tokio::test]
async fn commits_that_the_database_knows_are_missed_at_the_end_too() {
    let f = Fixture::new().await;
    f.created([1, 2]).await;
    assert!(matches!(f.finish(1, 1).await, Outcome::Done(_)));
    assert_eq!(results(&f).await, 1);
    let folder = f.killed();
    change(&files(folder.path())[0], |bytes| bytes[FIRST..].fill(0));
    assert_eq!(refused(&folder).await, "commits that the database knows are missing at its end");
}

/// What says that there is a redo log was in the write-ahead log alone, and is gone.
#[tokio::test]
async fn commits_that_the_database_does_not_know_of_stop_the_start() {
    let f = Fixture::new().await;
    f.created([1]).await;
    let f = f.reopen().await;
    let without = f.killed();
    f.created([2]).await;
    f.appended(1, 1, "a").await;
    let folder = f.killed();
    std::fs::write(folder.path().join("journal.sqlite3-wal"), "").unwrap();
    assert_eq!(refused(&folder).await, "it has commits, and the database does not know of it");
    let repaired = repair(folder.path()).unwrap().unwrap();
    assert_eq!(repaired.recovery.unfinished, 2, "{repaired:?}");
    // Without a commit nothing is lost.
    std::fs::write(without.path().join("journal.sqlite3-wal"), "").unwrap();
    assert_eq!(Fixture::opened(without, Options::default()).await.recovery.unfinished, 1);
}

#[tokio::test]
async fn a_repair_goes_on_with_what_is_before_the_damage() {
    let folder = ten_commits().await;
    change(&files(folder.path())[0], |bytes| bytes[FIRST + 3 * 512 + 60] ^= 1);
    let repaired = repair(folder.path()).unwrap().unwrap();
    assert_eq!((repaired.recovery.unfinished, repaired.lost.len()), (3, 1), "{repaired:?}");
    assert_eq!(files(&repaired.kept).len(), 3);
    let f = Fixture::opened(folder, Options::default()).await;
    assert_eq!(f.recovery.unfinished, 3);
    assert_eq!(f.texts(2).await, ["created"]);
}

/// With a database of which nothing but the results is left, too.
#[tokio::test]
async fn a_repair_of_the_database_keeps_what_is_in_the_redo_log() {
    let f = Fixture::new().await;
    f.created([1, 2, 3]).await;
    assert!(matches!(f.finish(1, 1).await, Outcome::Done(_)));
    assert_eq!(results(&f).await, 1);
    f.appended(2, 1, "a").await;
    assert!(matches!(f.finish(3, 1).await, Outcome::Done(_)));
    for damage in [
        "UPDATE meta SET value = x'00' WHERE key = 'journal/redo'",
        "DELETE FROM meta WHERE key = 'journal/redo'",
    ] {
        let folder = f.killed();
        change_database(&folder, damage);
        assert!(SqliteJournal::open(folder.path(), Options::default()).await.is_err(), "{damage}");
        let repaired = repair(folder.path()).unwrap().unwrap();
        assert_eq!(
            (repaired.recovery.unfinished, repaired.recovery.results),
            (1, 2),
            "{damage}: {repaired:?}"
        );
        let again = Fixture::opened(folder, Options::default()).await;
        assert_eq!(again.texts(2).await, ["created", "a"], "{damage}");
    }
}

/// What was stored in the database and is lost there is in the redo log for a while, of which what is before damage is read.
#[tokio::test]
async fn a_repair_takes_results_and_requests_that_the_database_has_lost_from_the_redo_log() {
    let f = Fixture::new().await;
    f.created([1, 2, 3, 4]).await;
    let (asked, now) = (request("asked"), UnixMillis::new(5));
    assert!(matches!(f.journal.remember(asked.clone(), now).await, Outcome::Done(_)));
    for number in 1..=3 {
        assert!(matches!(f.finish(number, 1).await, Outcome::Done(_)));
    }
    assert_eq!(results(&f).await, 3);
    for (version, text) in [(1, "whole"), (2, "to be damaged"), (3, "last")] {
        f.appended(4, version, text).await;
    }
    let damage_the_redo_log = |folder: &Path| {
        change(&files(folder)[0], |bytes| {
            let at = bytes.windows(13).position(|text| text == b"to be damaged").unwrap();
            bytes[at] ^= 1;
        });
    };
    for start_stops_by in [
        Some("DELETE FROM meta WHERE key = 'journal/redo'"),
        Some("INSERT INTO meta (key, value, seal) VALUES ('damaged', x'00', x'00')"),
        // Damage in the redo log.
        None,
    ] {
        for lost in [
            "UPDATE records SET record = x'00' WHERE result_number = 1",
            "DELETE FROM records WHERE result_number = 2",
            // Of which nothing tells any more that there was one.
            "DELETE FROM records WHERE result_number = 3",
            "DELETE FROM records",
            "DELETE FROM requests",
            "UPDATE requests SET response = x'00'",
        ] {
            let folder = f.killed();
            change_database(&folder, &format!("{}; {lost}", start_stops_by.unwrap_or_default()));
            if start_stops_by.is_none() {
                damage_the_redo_log(folder.path());
            }
            assert!(SqliteJournal::open(folder.path(), Options::default()).await.is_err());
            let Repaired { recovery, lost: told, .. } = repair(folder.path()).unwrap().unwrap();
            let what = format!("{start_stops_by:?}; {lost}: {told:?}, {recovery:?}");
            assert!(!told.iter().any(|told| told.contains("result")), "{what}");
            assert!(SqliteJournal::check(folder.path()).unwrap().is_sound(), "{what}");
            let again = Fixture::opened(folder, Options::default()).await;
            assert_eq!(results(&again).await, 3, "{what}");
            for number in 1..=3 {
                let read = again.journal.read(id(number)).await.unwrap();
                assert!(matches!(read, Some(StoredMatch::Finished(_))), "{what}: {read:?}");
            }
            let texts = ["created", "whole", "to be damaged", "last"];
            let kept = if start_stops_by.is_some() { &texts[..] } else { &texts[..2] };
            assert_eq!(again.texts(4).await, kept, "{what}");
            let known = again.journal.request(asked.key.clone(), now).await.unwrap();
            assert_eq!(known, RequestState::Answered(asked.response.clone()), "{what}");
        }
    }
}

/// Its rows are in the redo log still, and would go on. Only that log tells that the last result is gone.
#[tokio::test]
async fn a_match_whose_end_the_database_has_lost_does_not_go_on() {
    let f = Fixture::new().await;
    f.created([1, 2]).await;
    for number in 1..=2 {
        assert!(matches!(f.finish(number, 1).await, Outcome::Done(_)));
    }
    assert_eq!(results(&f).await, 2);
    f.created([3]).await;
    for lost in ["DELETE FROM records WHERE result_number = 2", "DELETE FROM records"] {
        let folder = f.killed();
        change_database(&folder, lost);
        let missing = |error: &dyn std::fmt::Display| {
            assert!(error.to_string().contains("has ended, and its result"), "{lost}: {error}");
        };
        missing(&SqliteJournal::open(folder.path(), Options::default()).await.map(drop).unwrap_err());
        missing(&SqliteJournal::check(folder.path()).unwrap().damage.unwrap());
        let to = tempfile::tempdir().unwrap();
        missing(&backup(folder.path(), &to.path().join("copy")).unwrap_err());
        let repaired = repair(folder.path()).unwrap().unwrap();
        assert_eq!(
            (repaired.recovery.unfinished, repaired.recovery.results, repaired.lost.len()),
            (1, 2, 0),
            "{lost}: {repaired:?}"
        );
        let again = Fixture::opened(folder, Options::default()).await;
        for number in 1..=2 {
            let read = again.journal.read(id(number)).await.unwrap();
            assert!(matches!(read, Some(StoredMatch::Finished(_))), "{lost}: {read:?}");
        }
        assert_eq!(again.texts(3).await, ["created"], "{lost}");
    }
}

/// What is in the place of a result counts. The match that has lost its own ended, and does not go on.
#[tokio::test]
async fn a_repair_goes_on_where_the_database_has_a_match_under_another_number_than_the_redo_log() {
    let other = Fixture::new().await;
    other.created([9, 1]).await;
    for number in [9, 1] {
        assert!(matches!(other.finish(number, 1).await, Outcome::Done(_)));
    }
    other.journal.close().await;
    let f = Fixture::new().await;
    f.created([1, 2, 3]).await;
    for number in [1, 2] {
        assert!(matches!(f.finish(number, 1).await, Outcome::Done(_)));
    }
    assert_eq!(results(&f).await, 2);
    f.appended(3, 1, "a").await;
    let folder = f.killed();
    let first_as_second = format!(
        "ATTACH '{}' AS other; DELETE FROM records;
         INSERT INTO records SELECT * FROM other.records WHERE result_number = 2;
         DELETE FROM meta WHERE key = 'journal/redo'",
        other.path().display()
    );
    change_database(&folder, &first_as_second);
    let Repaired { recovery, lost, .. } = repair(folder.path()).unwrap().unwrap();
    assert!(lost.iter().any(|lost| lost.contains("result 1")), "{lost:?}");
    assert_eq!((recovery.unfinished, recovery.results), (1, 2), "{recovery:?}");
    let again = Fixture::opened(folder, Options::default()).await;
    let first = again.journal.read(id(1)).await.unwrap();
    assert!(matches!(first, Some(StoredMatch::Finished(first)) if first.result.number.get() == 2));
    assert!(matches!(again.journal.read(id(2)).await, Ok(Some(StoredMatch::Quarantined { .. }))));
    assert_eq!(again.texts(3).await, ["created", "a"]);
}

#[tokio::test]
async fn files_are_written_again_when_their_matches_are_over() {
    let f = Fixture::with(Options { segment_rows: 64, ..Options::default() }).await;
    let long = "a".repeat(600);
    for number in 0..200 {
        f.created([number]).await;
        for version in 1..5 {
            f.appended(number, version, &long).await;
        }
        assert!(matches!(f.finish(number, 5).await, Outcome::Done(_)));
    }
    // Some 60 files of commits: those that are needed, the next one, and such as are to be written again.
    assert!(files(f.folder.path()).len() < 10, "{:?}", files(f.folder.path()));
    let stats = f.journal.stats();
    assert!(stats.dropped_segments > 50 && stats.copied_rows == 0, "{stats:?}");
    let f = f.kill().await;
    assert_eq!((f.recovery.unfinished, f.recovery.results), (0, 200));
}

#[tokio::test]
async fn a_match_that_outlives_the_redo_log_is_copied_into_the_tables() {
    let mut f = small_files().await;
    f.created([1000]).await;
    let mut texts = vec!["created".to_owned()];
    for number in 0..60 {
        f.created([number]).await;
        let text = format!("record {number} {}", "b".repeat(500));
        f.appended(1000, u32::try_from(texts.len()).unwrap(), &text).await;
        texts.push(text);
        for version in 1..5 {
            f.appended(number, version, &"a".repeat(600)).await;
        }
        assert!(matches!(f.finish(number, 5).await, Outcome::Done(_)));
        assert_eq!(f.texts(1000).await, texts);
        if number % 25 == 24 {
            assert!(f.journal.stats().copied_rows > 5, "{:?}", f.journal.stats());
            f = f.kill().await;
        }
    }
    assert_eq!(f.texts(1000).await, texts);
    assert!(files(f.folder.path()).len() < 12);
}

#[tokio::test]
async fn a_commit_that_is_longer_than_a_file_has_one_of_its_own() {
    let mut f = small_files().await;
    f.created([1]).await;
    let long = "a".repeat(Payload::MAX_BYTES);
    f.appended(1, 1, &long).await;
    f.appended(1, 2, "short").await;
    for _ in 0..2 {
        assert_eq!(f.texts(1).await, ["created", long.as_str(), "short"]);
        f = f.kill().await;
    }
}

#[tokio::test]
async fn a_backup_has_what_is_in_the_redo_log_alone() {
    let f = small_files().await;
    f.created([1, 2, 3]).await;
    f.appended(1, 1, "a").await;
    assert!(matches!(f.finish(2, 1).await, Outcome::Done(_)));
    let to = tempfile::tempdir().unwrap();
    let content = backup(f.folder.path(), &to.path().join("running")).unwrap();
    assert_eq!(
        (content.unfinished, content.latest_result, content.damage.len()),
        (2, ResultNumber::new(1), 0)
    );
    let killed = f.killed();
    let content = backup(killed.path(), &to.path().join("killed")).unwrap();
    assert_eq!(
        (content.unfinished, content.latest_result, content.damage.len()),
        (2, ResultNumber::new(1), 0)
    );
    f.appended(1, 2, "b").await;
    assert_eq!(f.texts(1).await, ["created", "a", "b"]);
}

/// A commit whose sync failed is read as any other until another one takes its place. The server says by a lock that it may be there.
#[tokio::test]
async fn a_backup_leaves_out_a_last_commit_of_which_the_server_says_that_it_failed() {
    let f = Fixture::new().await;
    f.created([1, 2]).await;
    assert!(matches!(f.finish(1, 1).await, Outcome::Done(_)));
    let folder = f.killed();
    f.journal.close().await;
    let next = std::fs::File::open(&files(folder.path())[1]).unwrap();
    let to = tempfile::tempdir().unwrap();
    for (failed, unfinished, results) in [(true, 2, 0), (false, 1, 1)] {
        if failed {
            next.try_lock().unwrap();
        } else {
            next.unlock().unwrap();
        }
        let content = backup(folder.path(), &to.path().join(format!("{failed}"))).unwrap();
        let found = (content.unfinished, content.latest_result.get(), content.damage.len());
        assert_eq!(found, (unfinished, results, 0), "{failed}");
    }
}

/// What a backup holds is not written again meanwhile, and is when it is done.
#[tokio::test]
async fn files_that_somebody_holds_stay() {
    let f = small_files().await;
    f.created([1000]).await;
    let first = files(f.folder.path())[0].clone();
    let bytes = std::fs::read(&first).unwrap();
    let held = std::fs::File::open(&first).unwrap();
    held.lock_shared().unwrap();
    let play = async |number: u32| {
        f.created([number]).await;
        f.appended(number, 1, &"a".repeat(3_000)).await;
        assert!(matches!(f.finish(number, 2).await, Outcome::Done(_)));
    };
    for number in 0..30 {
        play(number).await;
    }
    assert_eq!(std::fs::read(&first).unwrap()[..1024], bytes[..1024]);
    assert!(files(f.folder.path()).len() > 25);
    drop(held);
    for number in 30..60 {
        play(number).await;
    }
    assert!(files(f.folder.path()).len() < 10, "{}", files(f.folder.path()).len());
}
