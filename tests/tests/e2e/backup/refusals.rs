//! What is no backup, and what is no journal.

use tempfile::TempDir;
use zetema_proto::v1::Preset;
use zetema_tests::harness::{Process, TestServer, preset, unhurried};

use super::{backup, check_journal, check_no_start, check_refused, check_sound, count, json, restore};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_backup_and_what_is_no_journal_is_taken_for_neither() {
    let (server, clients) = TestServer::start().await;
    clients.create(unhurried(preset(Preset::Sackson, 2))).await;
    let data = server.data();
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let file = at("zetema.backup");
    json(&backup(&data, &file).await);
    check_refused(&restore(&data.join("journal.sqlite3"), &at("new")).await, "is no backup");
    check_refused(&restore(&at("nothing"), &at("new")).await, "can't read");
    check_refused(&restore(&file, &data).await, "is in use by another server");
    check_refused(&backup(&at("empty"), &at("other.backup")).await, "holds no journal");
    let _kept = server.stop_and_keep().await;
    check_refused(&restore(&file, &data).await, "has a journal");

    // A file that was changed.
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[4096..8192].fill(0xff);
    let damaged = at("damaged.backup");
    std::fs::write(&damaged, &bytes).unwrap();
    check_refused(&restore(&damaged, &at("damaged")).await, "damaged");
    json(&restore(&file, &at("damaged")).await);

    // A backup by the name of a journal.
    std::fs::create_dir_all(at("copied")).unwrap();
    std::fs::copy(&file, at("copied").join("journal.sqlite3")).unwrap();
    check_no_start(&at("copied"), "is a backup: put it back by `zetema restore").await;
}

/// What a restore that is killed may leave, from its first step to its last.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_a_restore_did_not_come_to_its_end_in_is_none_to_start_on() {
    let (server, clients) = TestServer::start().await;
    clients.create(unhurried(preset(Preset::Sackson, 2))).await;
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let file = at("zetema.backup");
    json(&backup(&server.data(), &file).await);
    server.stop().await;

    let cut = "a backup was being restored into";
    for (case, mark, database) in [
        ("before the copy", "", None),
        ("in the copy", "", Some(&b"SQLite format 3\0"[..])),
        ("when it is moved", "made\n", Some(b"SQLite format 3\0")),
        ("in the place of a journal that was deleted", "open\n", None),
    ] {
        let data = at(case);
        let inner = data.join("restoring");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::write(data.join("journal.lock"), mark).unwrap();
        if let Some(database) = database {
            std::fs::write(inner.join("journal.sqlite3"), database).unwrap();
            std::fs::write(inner.join("journal.sqlite3-wal"), "").unwrap();
        }
        check_no_start(&data, cut).await;
        check_refused(&check_journal(&data).await, cut);
        check_refused(&backup(&data, &at("of-cut.backup")).await, cut);
        let said = json(&restore(&file, &data).await);
        assert_eq!(count(&said, "aborted_matches"), 1, "{case}");
        assert!(!inner.exists(), "{case}");
        check_sound(&data).await;
        // What never ran can be backed up too.
        let said = json(&backup(&data, &at(&format!("{case}.backup"))).await);
        assert_eq!((count(&said, "latest_result_number"), count(&said, "unfinished_matches")), (1, 0));
        check_sound(&data).await;
    }

    // All was done, but for what is left of it.
    let data = at("before the copy");
    std::fs::create_dir(data.join("restoring")).unwrap();
    std::fs::write(data.join("restoring").join("journal.lock"), "made\n").unwrap();
    check_sound(&data).await;
    check_refused(&restore(&file, &data).await, "has a journal");
    // No admin token is in a backup, so nobody connects: that the server starts is enough.
    let data_of = tempfile::tempdir().unwrap();
    std::fs::rename(&data, data_of.path().join("data")).unwrap();
    let mut process = Process::spawn("127.0.0.1:0", "warn", data_of, &[]);
    assert!(process.serves().await);
    let (kept, log) = process.kill();
    assert!(!kept.path().join("data").join("restoring").exists(), "{log}");
}
