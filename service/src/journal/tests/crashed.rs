//! The files of a journal that was not closed, and what is missing or damaged in them.

use super::*;
use crate::journal::OpenError;

/// A copy of the files as a kill would leave them, after ten matches were created one by one.
async fn killed() -> TempDir {
    let f = Fixture::in_tables().await;
    for number in 0..10 {
        f.created([number]).await;
    }
    let folder = tempfile::tempdir().unwrap();
    for name in ["journal.lock", "journal.sqlite3", "journal.sqlite3-wal"] {
        std::fs::copy(f.folder.path().join(name), folder.path().join(name)).unwrap();
    }
    folder
}

async fn opened(folder: &TempDir) -> Result<usize, OpenError> {
    let (journal, recovery) = SqliteJournal::open(folder.path(), in_tables()).await?;
    journal.close().await;
    Ok(recovery.unfinished)
}

fn wal(folder: &TempDir) -> PathBuf {
    folder.path().join("journal.sqlite3-wal")
}

#[tokio::test]
async fn a_killed_journal_goes_on() {
    let folder = killed().await;
    assert_eq!(opened(&folder).await.unwrap(), 10);
    assert_eq!(opened(&folder).await.unwrap(), 10);
}

#[tokio::test]
async fn a_damaged_wal_stops_the_start_and_is_left_as_it_is() {
    let folder = killed().await;
    let mut bytes = std::fs::read(wal(&folder)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(wal(&folder), &bytes).unwrap();
    for _ in 0..2 {
        let Err(OpenError::Wal { wal: path, damage }) = opened(&folder).await else {
            panic!("it was opened")
        };
        assert_eq!(path, wal(&folder));
        let distance = middle as u64 - damage.offset;
        assert!(distance < 4120 && damage.lost_commits > 1, "{damage:?}");
        assert_eq!(std::fs::read(wal(&folder)).unwrap(), bytes);
    }
}

#[tokio::test]
async fn a_wal_whose_last_commit_is_damaged_is_an_earlier_one() {
    let folder = killed().await;
    let mut bytes = std::fs::read(wal(&folder)).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(wal(&folder), &bytes).unwrap();
    assert_eq!(opened(&folder).await.unwrap(), 9);
}

#[tokio::test]
async fn a_wal_that_is_gone_is_missed_unless_the_journal_was_closed() {
    let folder = killed().await;
    std::fs::remove_file(wal(&folder)).unwrap();
    for _ in 0..2 {
        assert!(matches!(opened(&folder).await, Err(OpenError::WalGone { .. })));
    }
    let folder = killed().await;
    opened(&folder).await.unwrap();
    assert!(!wal(&folder).exists());
    assert_eq!(opened(&folder).await.unwrap(), 10);
}

#[tokio::test]
async fn a_database_that_is_gone_is_missed() {
    for leave in [&["journal.lock"][..], &["journal.sqlite3-wal"], &["journal.lock", "journal.sqlite3-wal"]] {
        for emptied in [false, true] {
            let folder = killed().await;
            for name in ["journal.lock", "journal.sqlite3-wal"] {
                if !leave.contains(&name) {
                    std::fs::remove_file(folder.path().join(name)).unwrap();
                }
            }
            let database = folder.path().join("journal.sqlite3");
            if emptied {
                std::fs::write(&database, "").unwrap();
            } else {
                std::fs::remove_file(&database).unwrap();
            }
            assert!(matches!(opened(&folder).await, Err(OpenError::DatabaseGone { .. })), "{leave:?}");
            assert_eq!(database.exists(), emptied);
            assert_eq!(wal(&folder).exists(), leave.contains(&"journal.sqlite3-wal"));
        }
    }
}

/// Before the first checkpoint all is in the WAL, and the database is empty.
#[tokio::test]
async fn a_wal_that_is_emptied_in_the_first_life_is_missed() {
    for bytes in [0, 31, 32, 5000] {
        let folder = killed().await;
        std::fs::write(wal(&folder), vec![0; bytes]).unwrap();
        for _ in 0..2 {
            let refused = opened(&folder).await;
            assert!(matches!(refused, Err(OpenError::DatabaseGone { .. })), "{bytes}: {refused:?}");
        }
        let checked = SqliteJournal::check(folder.path()).unwrap();
        assert!(matches!(checked.damage, Some(OpenError::DatabaseGone { .. })), "{checked:?}");
        let repaired = repair(folder.path());
        assert!(matches!(repaired, Err(OpenError::DatabaseGone { .. })), "{repaired:?}");
    }
}

#[tokio::test]
async fn a_wal_that_is_overwritten_is_found_in_any_life() {
    let first = killed().await;
    let later = killed().await;
    let (journal, _) = SqliteJournal::open(later.path(), in_tables()).await.unwrap();
    let new = NewMatches::new(vec![new_match(77)], journal.epoch(), UnixMillis::new(0), None).unwrap();
    assert_eq!(journal.create(new).await, Outcome::Done(Created::New));
    let copy = tempfile::tempdir().unwrap();
    for name in ["journal.lock", "journal.sqlite3", "journal.sqlite3-wal"] {
        std::fs::copy(later.path().join(name), copy.path().join(name)).unwrap();
    }
    journal.close().await;
    for (folder, left) in [(first, None), (copy, Some(10))] {
        let mut random = 1_u32;
        let bytes: Vec<u8> = (0..20_000)
            .map(|_| {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                random.to_be_bytes()[0]
            })
            .collect();
        std::fs::write(wal(&folder), &bytes).unwrap();
        for _ in 0..2 {
            let refused = opened(&folder).await;
            assert!(matches!(refused, Err(OpenError::Wal { .. })), "{refused:?}");
            assert_eq!(std::fs::read(wal(&folder)).unwrap(), bytes);
        }
        let repaired = repair(folder.path());
        match left {
            None => assert!(matches!(repaired, Err(OpenError::DatabaseGone { .. })), "{repaired:?}"),
            Some(left) => assert_eq!(repaired.unwrap().unwrap().recovery.unfinished, left),
        }
    }
}

/// Wherever the first start was cut short, the next one makes the journal.
#[tokio::test]
async fn a_first_start_that_was_cut_short_begins_again() {
    for lock in [false, true] {
        for database in [false, true] {
            for log in [0, 32, 4152, 8_272] {
                // There is no WAL without a database, which was synced before.
                if log > 0 && !database {
                    continue;
                }
                let folder = killed().await;
                let bytes = std::fs::read(wal(&folder)).unwrap();
                std::fs::write(wal(&folder), &bytes[..log]).unwrap();
                let lock_file = folder.path().join("journal.lock");
                if lock {
                    std::fs::write(lock_file, "").unwrap();
                } else {
                    std::fs::remove_file(lock_file).unwrap();
                }
                if !database {
                    std::fs::remove_file(folder.path().join("journal.sqlite3")).unwrap();
                }
                assert_eq!(opened(&folder).await.unwrap(), 0, "{lock} {database} {log}");
            }
        }
    }
}
