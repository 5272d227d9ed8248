//! Opening, and what can't be opened.

use super::*;
use crate::journal::{
    AccountStore, Accounts, BotName, ClientReference, FinishedFilter, OpenError, PagePosition, PageSize,
    Reader, WebhookStore,
};

async fn refused(f: &Fixture) -> String {
    match SqliteJournal::open(f.folder.path(), in_tables()).await {
        Ok(_) => panic!("it was opened"),
        Err(error) => error.to_string().replace(&f.folder.path().display().to_string(), "FOLDER"),
    }
}

#[tokio::test]
async fn a_second_server_on_the_same_folder_is_refused() {
    let f = Fixture::in_tables().await;
    let error = "FOLDER is in use by another server: stop it, or choose another folder";
    assert_eq!(refused(&f).await, error);
    f.created([1]).await;
    let f = f.reopen().await;
    assert_eq!(f.recovery.unfinished, 1);
}

#[tokio::test]
async fn a_journal_of_a_later_release_is_refused_and_left_as_it_is() {
    let f = Fixture::in_tables().await;
    f.journal.close().await;
    let later = "UPDATE meta SET value = x'000000000000000d' WHERE key = 'journal/schema'";
    assert_eq!(f.database().execute(later, []).unwrap(), 1);
    let error = "FOLDER/journal.sqlite3 has schema version 13, and this release knows version 12: \
                 use the release that wrote it, or a later one";
    assert_eq!(refused(&f).await, error);
    assert_eq!(refused(&f).await, error);
}

#[tokio::test]
async fn a_journal_without_tokens_gets_them_and_keeps_its_matches() {
    let f = Fixture::in_tables().await;
    f.created([1]).await;
    let f = f
        .reopen_after(|database| {
            database
                .execute_batch("DROP TABLE tokens; DROP TABLE webhooks; DROP TABLE dead_letters")
                .unwrap();
            without_accounts(database);
            without_indexes(database);
            for table in ["meta", "requests", "records", "quarantine"] {
                database.execute_batch(&format!("ALTER TABLE {table} DROP COLUMN seal")).unwrap();
            }
            database.execute_batch("ALTER TABLE quarantine DROP COLUMN result_number").unwrap();
            database.execute("DELETE FROM meta WHERE key = 'journal/segments'", []).unwrap();
            let earlier = "UPDATE meta SET value = x'0000000000000001' WHERE key = 'journal/schema'";
            assert_eq!(database.execute(earlier, []).unwrap(), 1);
        })
        .await;
    assert_eq!(f.recovery.unfinished, 1);
    assert_eq!(f.journal.tokens().await.unwrap(), []);
    assert_eq!(f.journal.webhooks().await.unwrap(), []);
    assert_eq!(f.journal.accounts().await.unwrap(), Accounts::default());
    let f = f.reopen().await;
    assert_eq!((f.recovery.unfinished, f.journal.tokens().await.unwrap()), (1, Vec::new()));
}

/// Takes away what the ninth layout added.
pub(super) fn without_rotations(database: &Connection) {
    database.execute_batch("DROP TABLE rotated_tokens").unwrap();
}

/// Takes away what the eighth layout added, and those after it.
pub(super) fn without_ladders(database: &Connection) {
    without_rotations(database);
    database.execute_batch("DROP TABLE ladders; DROP TABLE ladder_ratings").unwrap();
}

/// Takes away what the seventh layout added, and those after it.
pub(super) fn without_accounts(database: &Connection) {
    without_ladders(database);
    database.execute_batch("DROP TABLE registered_bots; DROP TABLE registered_owners").unwrap();
}

/// Takes away what the sixth layout added.
fn without_indexes(database: &Connection) {
    let drop = "DROP TABLE bots; DROP INDEX records_by_owner_and_client_reference;
        DROP INDEX records_by_visibility_and_client_reference";
    database.execute_batch(drop).unwrap();
}

#[tokio::test]
async fn a_journal_without_lists_of_bots_gets_them() {
    let f = Fixture::in_tables().await;
    let reference = Some(ClientReference::new("season-4").unwrap());
    for (number, bots) in [(1, &["rex", "", "rex"][..]), (2, &[]), (3, &["fido", "rex"])] {
        f.created([number]).await;
        let listing = Listing {
            owner: None,
            visibility: Visibility::Private,
            client_reference: reference.clone().filter(|_| number == 3),
        };
        let finish = Finish { listing, summary: summary_of(bots), ..f.to_finish(number, 1) };
        assert!(matches!(f.journal.finish(finish).await, Outcome::Done(_)));
    }
    // Its summary says no more, and it is in no list.
    f.created([4]).await;
    assert!(matches!(f.finish(4, 1).await, Outcome::Done(_)));
    let f = f
        .reopen_after(|database| {
            without_accounts(database);
            without_indexes(database);
            let changed = "UPDATE records SET summary = x'ff' WHERE result_number = 4";
            assert_eq!(database.execute(changed, []).unwrap(), 1);
            put_meta(database, "journal/schema", &5_u64.to_be_bytes());
        })
        .await;
    assert_eq!(f.recovery.stray.len(), 1, "{:?}", f.recovery);
    for (bot, client_reference, want) in [
        ("rex", None, &[3, 1][..]),
        ("fido", None, &[3]),
        ("rex", reference.clone(), &[3]),
        ("eve", None, &[]),
        ("eve", reference, &[]),
    ] {
        let filter = FinishedFilter { reader: Reader::Bot(BotName::new(bot).unwrap()), client_reference };
        let from = Some(PagePosition::new(3));
        let page = f.journal.list_finished(filter, from, PageSize::new(10).unwrap()).await.unwrap();
        let numbers: Vec<u64> = page.matches.iter().map(|row| row.number.get()).collect();
        assert_eq!(numbers, want, "{bot}");
    }
}

/// As a restore leaves it, and whoever copies it by other means than ours.
#[tokio::test]
async fn a_journal_without_a_wal_is_given_one_and_keeps_its_matches() {
    let f = Fixture::in_tables().await;
    f.created([1]).await;
    let mode = |database: &Connection, mode: &str| {
        database.pragma_update_and_check(None, "journal_mode", mode, |row| row.get::<_, String>(0)).unwrap()
    };
    let f = f.reopen_after(|database| assert_eq!(mode(database, "delete"), "delete")).await;
    assert_eq!(f.recovery.unfinished, 1);
    let f = f.reopen_after(|database| assert_eq!(mode(database, "wal"), "wal")).await;
    assert_eq!(f.recovery.unfinished, 1);
}

#[tokio::test]
async fn a_database_of_another_program_is_refused_and_left_as_it_is() {
    let f = Fixture::in_tables().await;
    f.journal.close().await;
    for change in ["PRAGMA application_id = 0", "PRAGMA application_id = 1"] {
        f.database().execute_batch(change).unwrap();
        assert_eq!(
            refused(&f).await,
            "FOLDER/journal.sqlite3 is not a journal of Zetema: choose another folder"
        );
    }
    std::fs::write(f.path(), "a letter, and not a database").unwrap();
    assert!(refused(&f).await.starts_with("the journal is damaged: file is not a database"));
    assert_eq!(std::fs::read(f.path()).unwrap(), b"a letter, and not a database");
}

#[tokio::test]
async fn a_folder_that_can_not_be_made_is_told() {
    let f = Fixture::in_tables().await;
    let below_a_file = f.path().join("folder");
    match SqliteJournal::open(&below_a_file, in_tables()).await {
        Err(OpenError::File { doing: "make the folder", path, .. }) => assert_eq!(path, below_a_file),
        other => panic!("{:?}", other.map(|(_, recovery)| recovery)),
    }
}

#[cfg(unix)]
#[tokio::test]
async fn the_files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let f = Fixture::in_tables().await;
    let folder = f.folder.path().join("a").join("b");
    let (journal, _) = SqliteJournal::open(&folder, in_tables()).await.unwrap();
    assert_eq!(mode(&folder), 0o700);
    let mut files = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        files += 1;
    }
    assert_eq!(files, 4, "lock, database, WAL and its index");
    journal.close().await;
    // A database that others may read, such as a restored copy, is made private.
    let database = folder.join("journal.sqlite3");
    std::fs::set_permissions(&database, std::fs::Permissions::from_mode(0o644)).unwrap();
    let (journal, _) = SqliteJournal::open(&folder, in_tables()).await.unwrap();
    assert_eq!(mode(&database), 0o600);
    journal.close().await;
}

#[tokio::test]
async fn every_opening_has_a_greater_epoch() {
    let mut f = Fixture::in_tables().await;
    for _ in 0..3 {
        let before = f.journal.epoch();
        f = f.reopen().await;
        assert!(f.journal.epoch() > before);
    }
}

#[tokio::test]
async fn payloads_are_not_shown() {
    let f = Fixture::in_tables().await;
    let append = f.to_append(1, 1, "the seed");
    assert!(!format!("{append:?}").contains("seed"), "{append:?}");
    let finish = Finish { record: RecordBytes::new("the seed").unwrap(), ..f.to_finish(1, 1) };
    assert!(!format!("{finish:?}").contains("the seed"), "{finish:?}");
}
