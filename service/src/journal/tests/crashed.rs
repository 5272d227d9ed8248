//! The files of a journal that was not closed, and what is missing or damaged in them.

use super::*;
use crate::journal::OpenError;

/// A copy of the files as a kill would leave them, after ten matches were created one by one.
async fn killed() -> TempDir {
    let f = Fixture::new().await;
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
    let (journal, recovery) = SqliteJournal::open(folder.path(), Options::default()).await?;
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
