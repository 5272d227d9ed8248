//! Checking and repairing.

use super::*;
use crate::journal::{
    BotName, Checked, ClientReference, FinishedFilter, MetaKey, MetaValue, OpenError, PageSize, Quarantine,
    ReadError, Reader, ResultNumber,
};

/// Matches 1 to 4 run with three records each, 5 to 7 have ended.
async fn mixed() -> Fixture {
    let f = Fixture::in_tables().await;
    f.created(1..8).await;
    for version in 1..3 {
        for number in 1..=4 {
            f.appended(number, version, "some text").await;
        }
    }
    for number in 5..8 {
        assert!(matches!(f.finish(number, 1).await, Outcome::Done(_)));
    }
    f
}

fn files(f: &Fixture) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(f.folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .filter(|path| path.is_file())
        .map(|path| (path.display().to_string(), std::fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

/// Checks, and that nothing is changed by it.
fn checked(f: &Fixture) -> Checked {
    let before = files(f);
    let checked = SqliteJournal::check(f.folder.path()).unwrap();
    assert!(files(f) == before);
    checked
}

async fn reopened(f: Fixture) -> Fixture {
    let Fixture { folder, options, .. } = f;
    let (journal, recovery) = SqliteJournal::open(folder.path(), options.clone()).await.unwrap();
    Fixture { folder, options, journal, recovery }
}

#[tokio::test]
async fn a_sound_journal_is_counted_and_has_nothing_to_repair() {
    let f = mixed().await;
    assert!(matches!(SqliteJournal::check(f.folder.path()), Err(OpenError::InUse { .. })));
    assert!(matches!(repair(f.folder.path()), Err(OpenError::InUse { .. })));
    f.journal.close().await;
    let found = checked(&f);
    assert!(found.is_sound(), "{found:?}");
    let recovery = found.recovery.unwrap();
    assert_eq!((recovery.unfinished, recovery.results, recovery.rows_read), (4, 3, 18));
    let before = files(&f);
    assert!(repair(f.folder.path()).unwrap().is_none());
    assert!(files(&f) == before);
    let elsewhere = tempfile::tempdir().unwrap();
    assert!(matches!(SqliteJournal::check(elsewhere.path()), Err(OpenError::NoJournal { .. })));
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_match_with_damage_is_told_and_is_nothing_to_repair() {
    let f = mixed().await;
    f.journal.close().await;
    f.database().execute("UPDATE log_1 SET row = zeroblob(80) WHERE position = 9", []).unwrap();
    let found = checked(&f);
    assert!(!found.is_sound());
    let quarantined: Vec<_> = found.recovery.unwrap().quarantined;
    assert!(
        quarantined.iter().any(|q| q.match_id == id(2) && q.intact == Version::new(1)),
        "{quarantined:?}"
    );
}

/// What is lost is copied beside, told, and gone; all else goes on.
#[tokio::test]
async fn what_stops_the_start_is_left_out() {
    let changes = [
        // The last record of match 2, of which nothing tells whose it was.
        "DELETE FROM log_1 WHERE position = 13",
        "UPDATE log_1 SET row = zeroblob(3) WHERE position = 13",
        "UPDATE tokens SET scope = 1",
        "DELETE FROM records WHERE result_number = 2",
        "UPDATE requests SET response = x'00'",
    ];
    for change in changes {
        let f = mixed().await;
        let owner = crate::journal::Scope::Owner(crate::journal::Owner::new("shop").unwrap());
        let token = tokens::token(1, owner);
        assert_eq!(f.journal.change_tokens(tokens::change(1, Some(&token))).await, Outcome::Done(()));
        let epoch = f.journal.epoch();
        f.journal.close().await;
        f.database().execute(change, []).unwrap();
        if change.contains("requests") {
            // Nobody has asked by a request id here.
            assert!(checked(&f).is_sound());
            continue;
        }
        assert!(checked(&f).damage.is_some(), "{change}");
        assert!(SqliteJournal::open(f.folder.path(), in_tables()).await.is_err(), "{change}");
        let damaged = std::fs::read(f.path()).unwrap();
        let repaired = repair(f.folder.path()).unwrap().unwrap();
        assert!(!repaired.lost.is_empty() || change.contains("log_1"), "{change}: {repaired:?}");
        assert_eq!(repaired.kept, f.folder.path().join("damaged-1"));
        assert!(std::fs::read(repaired.kept.join("journal.sqlite3")).unwrap() == damaged);
        assert!(checked(&f).is_sound() || change.contains("records"), "{change}: {:?}", checked(&f));
        let f = reopened(f).await;
        assert!(f.journal.epoch() > epoch);
        for number in [1, 3, 4] {
            assert_eq!(f.texts(number).await, ["created", "some text", "some text"], "{change}");
        }
        let left = if change.contains("log_1") { 2 } else { 3 };
        assert_eq!(f.texts(2).await.len(), left, "{change}");
        f.appended(2, u32::try_from(left).unwrap(), "goes on").await;
        assert_eq!(f.journal.tokens().await.unwrap().len(), usize::from(!change.contains("tokens")));
        for number in [5, 7] {
            assert!(matches!(f.journal.read(id(number)).await, Ok(Some(StoredMatch::Finished(_)))));
        }
        if change.contains("records") {
            // Its last row is still there, and its number is not given again.
            assert!(matches!(f.journal.read(id(6)).await, Ok(Some(StoredMatch::Quarantined { .. }))));
        }
        assert_eq!(f.finish(1, 3).await, Outcome::Done(ResultNumber::new(4)), "{change}");
    }
}

#[tokio::test]
async fn a_damaged_result_is_left_out_and_stays_missing() {
    let f = mixed().await;
    f.journal.close().await;
    f.database().execute("UPDATE records SET record = x'00' WHERE result_number = 3", []).unwrap();
    let found = checked(&f);
    assert!(!found.is_sound() && found.damage.is_none(), "{found:?}");
    let f = reopened(f).await;
    assert!(matches!(f.journal.read(id(7)).await, Err(ReadError::Damaged(_))));
    f.journal.close().await;
    let repaired = repair(f.folder.path()).unwrap().unwrap();
    assert_eq!(repaired.lost.len(), 1, "{repaired:?}");
    let f = reopened(f).await;
    let Quarantine { match_id, .. } = &f.recovery.quarantined[0];
    assert_eq!(*match_id, id(7));
    assert!(matches!(f.journal.read(id(7)).await, Ok(Some(StoredMatch::Quarantined { .. }))));
    assert_eq!(f.finish(1, 3).await, Outcome::Done(ResultNumber::new(4)));
}

#[tokio::test]
async fn a_damaged_page_of_the_log_is_left_out() {
    let f = mixed().await;
    // So many that they take several pages.
    f.created(100..300).await;
    f.journal.close().await;
    let sql = "SELECT max(pageno) FROM dbstat WHERE name = 'log_1' AND pagetype = 'leaf'";
    let page = f.database().query_row(sql, [], |row| row.get::<_, u32>(0));
    // Without that table, which not every SQLite has: the last page of the file is one of the log.
    let bytes = std::fs::metadata(f.path()).unwrap().len();
    let page = page.map_or(bytes / 4096 - 2, |page| u64::from(page) - 1);
    let mut bytes = std::fs::read(f.path()).unwrap();
    let at = usize::try_from(page * 4096).unwrap();
    bytes[at..at + 8].fill(0xff);
    std::fs::write(f.path(), &bytes).unwrap();
    assert!(SqliteJournal::open(f.folder.path(), in_tables()).await.is_err());
    let repaired = repair(f.folder.path()).unwrap().unwrap();
    assert!(!repaired.lost.is_empty());
    let f = reopened(f).await;
    assert!((100..204).contains(&f.recovery.unfinished), "{:?}", f.recovery);
    assert_eq!(f.texts(1).await.len(), 3);
}

#[tokio::test]
async fn a_damaged_wal_is_cut() {
    let f = mixed().await;
    let copy = tempfile::tempdir().unwrap();
    for name in ["journal.lock", "journal.sqlite3", "journal.sqlite3-wal"] {
        std::fs::copy(f.folder.path().join(name), copy.path().join(name)).unwrap();
    }
    f.journal.close().await;
    let f = Fixture { folder: copy, ..f };
    let wal = f.folder.path().join("journal.sqlite3-wal");
    let mut bytes = std::fs::read(&wal).unwrap();
    let last_third = bytes.len() * 2 / 3;
    bytes[last_third] ^= 1;
    std::fs::write(&wal, &bytes).unwrap();
    assert!(matches!(checked(&f).damage, Some(OpenError::Wal { .. })));
    let repaired = repair(f.folder.path()).unwrap().unwrap();
    assert_eq!(repaired.lost.len(), 1);
    assert!(std::fs::read(repaired.kept.join("journal.sqlite3-wal")).unwrap() == bytes);
    let f = reopened(f).await;
    assert_eq!(f.recovery.unfinished, 7);
    assert_eq!(f.texts(5).await, ["created"]);
    f.journal.close().await;
    // Nor is one that is gone in the way any longer.
    std::fs::write(f.folder.path().join("journal.lock"), "open\n").unwrap();
    assert!(matches!(checked(&f).damage, Some(OpenError::WalGone { .. })));
    let repaired = repair(f.folder.path()).unwrap().unwrap();
    assert_eq!(repaired.kept, f.folder.path().join("damaged-2"));
    assert_eq!(reopened(f).await.recovery.unfinished, 7);
}

#[tokio::test]
async fn a_lost_value_is_named_with_what_follows() {
    for (key, follows) in [
        ("service_key", "every seat token is void"),
        ("admin_token_sha256", "another admin token"),
        ("incarnations", "cursors of results"),
        ("not-aborted", "could not abort"),
        ("not-aborted-2", "could not abort"),
        ("reinstated-00", "ReinstateBot"),
    ] {
        let f = mixed().await;
        let meta = (MetaKey::new(key).unwrap(), MetaValue::new("value").unwrap());
        assert!(matches!(f.journal.meta_or_insert(meta.0, meta.1).await, Outcome::Done(_)));
        f.journal.close().await;
        assert_eq!(f.database().execute("UPDATE meta SET value = x'00' WHERE key = ?1", [key]).unwrap(), 1);
        let lost = repair(f.folder.path()).unwrap().unwrap().lost;
        assert!(lost.iter().any(|lost| lost.contains(key) && lost.contains(follows)), "{lost:?}");
    }
}

/// The numbers of the results in a bot's list: of all, and of those with the reference.
async fn listed(f: &Fixture, bot: &str) -> [Vec<u64>; 2] {
    let mut lists = [Vec::new(), Vec::new()];
    for (list, reference) in lists.iter_mut().zip([None, Some("season-4")]) {
        let filter = FinishedFilter {
            reader: Reader::Bot(BotName::new(bot).unwrap()),
            client_reference: reference.map(|reference| ClientReference::new(reference).unwrap()),
        };
        let page = f.journal.list_finished(filter, None, PageSize::new(10).unwrap()).await.unwrap();
        *list = page.matches.iter().map(|row| row.number.get()).collect();
    }
    lists
}

#[tokio::test]
async fn a_damaged_list_of_a_bot_shows_nothing_to_others_and_is_made_anew() {
    // And of how many matches the start tells.
    let cases = [
        ("DELETE FROM bots WHERE result_number = 1", 1),
        ("UPDATE bots SET bot = 'eve' WHERE bot = 'rex'", 2),
        ("UPDATE bots SET client_reference = NULL WHERE result_number = 2", 1),
        ("INSERT INTO bots VALUES ('eve', 1, NULL), ('eve', 2, 'season-4'), ('eve', 3, NULL)", 0),
    ];
    for (damage, told) in cases {
        let f = Fixture::in_tables().await;
        f.created(1..4).await;
        for (number, bots) in [(1, &["rex"][..]), (2, &["rex", "fido"]), (3, &[])] {
            let listing = Listing {
                owner: None,
                visibility: Visibility::Private,
                client_reference: (number == 2).then(|| ClientReference::new("season-4").unwrap()),
            };
            let finish = Finish { listing, summary: summary_of(bots), ..f.to_finish(number, 1) };
            assert!(matches!(f.journal.finish(finish).await, Outcome::Done(_)));
        }
        let (sound, none) = ([vec![2, 1], vec![2]], [const { Vec::<u64>::new() }; 2]);
        assert_eq!(listed(&f, "rex").await, sound);
        let f = f.reopen_after(|conn| assert!(conn.execute(damage, []).unwrap() > 0)).await;
        assert_eq!(f.recovery.stray.len(), told, "{damage}: {:?}", f.recovery);
        assert_eq!(listed(&f, "eve").await, none, "{damage}");
        f.journal.close().await;
        let found = checked(&f);
        assert!(!found.is_sound(), "{damage}");
        let repaired = repair(f.folder.path()).unwrap().unwrap();
        assert!(repaired.lost.is_empty(), "{damage}: {repaired:?}");
        assert!(checked(&f).is_sound(), "{damage}");
        let f = reopened(f).await;
        assert_eq!((listed(&f, "rex").await, listed(&f, "eve").await), (sound, none), "{damage}");
    }
}

/// The old WAL goes before the new database is in its place.
#[tokio::test]
async fn a_repair_that_was_cut_short_between_the_old_database_and_the_new_one_goes_on_with_the_new_one() {
    let f = Fixture::new().await;
    f.created(1..4).await;
    f.appended(1, 1, "a").await;
    let sql = "INSERT INTO meta (key, value, seal) VALUES ('damaged', x'00', x'00')";
    f.database().execute_batch(sql).unwrap();
    let (folder, other) = (f.killed(), f.killed());
    f.journal.close().await;
    let at = |folder: &TempDir, name: &str| folder.path().join(name);
    assert!(repair(other.path()).unwrap().is_some());
    std::fs::copy(at(&other, "journal.sqlite3"), at(&folder, "journal.repaired")).unwrap();
    std::fs::create_dir(at(&folder, "damaged-1")).unwrap();
    std::fs::write(at(&folder, "repairing"), "damaged-1").unwrap();
    std::fs::remove_file(at(&folder, "journal.sqlite3-wal")).unwrap();
    let repaired = repair(folder.path()).unwrap().unwrap();
    assert_eq!(repaired.kept, at(&folder, "damaged-1"));
    assert!(!at(&folder, "journal.repaired").exists());
    let f = Fixture::opened(folder, f.options).await;
    assert_eq!((f.recovery.unfinished, f.texts(1).await.len()), (3, 2), "{repaired:?}");
}

#[tokio::test]
async fn a_repair_that_can_not_be_had_leaves_a_journal_as_it_was() {
    let f = Fixture::in_tables().await;
    f.created(1..2).await;
    f.journal.close().await;
    std::fs::write(f.path(), "a letter, and not a database").unwrap();
    let folder = f.path().parent().unwrap().to_owned();
    let error = repair(&folder).unwrap_err().to_string();
    assert!(error.contains("file is not a database"), "{error}");
    assert!(!folder.join("repairing").exists());
    let error = SqliteJournal::open(&folder, f.options).await.err().unwrap().to_string();
    assert!(error.starts_with("the journal is damaged: file is not a database"), "{error}");
}

#[tokio::test]
async fn a_new_database_of_an_earlier_repair_is_put_over_no_journal() {
    let f = Fixture::new().await;
    f.created(1..4).await;
    let sql = "INSERT INTO meta (key, value, seal) VALUES ('damaged', x'00', x'00')";
    f.database().execute_batch(sql).unwrap();
    let folder = f.killed();
    f.journal.close().await;
    let old = folder.path().join("journal.repaired");
    std::fs::write(&old, "of long ago").unwrap();
    assert!(repair(folder.path()).unwrap().is_some());
    assert!(!old.exists());
    let f = Fixture::opened(folder, f.options).await;
    assert_eq!(f.recovery.unfinished, 3);
}
