//! `zetema journal`, run as a user runs it.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use zetema_load::scrape::Scrape;
use zetema_service::config::{Config, Number};
use zetema_service::journal::{Options, SqliteJournal};
use zetema_service::metrics::{INCIDENTS, START_TIME, page};
use zetema_service::server::Server;

fn journal(args: &[&str], data: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zetema"));
    command.arg("journal").args(args).env("ZETEMA_DATA", data).output().unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[tokio::test]
async fn a_journal_is_checked_and_repaired() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let nothing = journal(&["check"], &data);
    assert_eq!(nothing.status.code(), Some(1));
    assert!(stderr(&nothing).contains("holds no journal"), "{}", stderr(&nothing));
    assert!(!data.exists());

    let server = Server::start(Config::embedded(&data)).await.unwrap();
    for command in [&["check"][..], &["repair", "--accept-loss"]] {
        let refused = journal(command, &data);
        assert_eq!(refused.status.code(), Some(1));
        assert!(stderr(&refused).contains("is in use by another server"), "{}", stderr(&refused));
    }
    server.shutdown().await;

    let sound = journal(&["check", "--format", "json"], &data);
    assert_eq!(sound.status.code(), Some(0), "{}", stderr(&sound));
    let found = json(&sound);
    assert_eq!((&found["sound"], &found["damage"]), (&Value::Bool(true), &Value::Null));
    assert_eq!(found["journal"]["running"], 0);
    let nothing = journal(&["repair", "--accept-loss"], &data);
    assert_eq!(
        (nothing.status.code(), nothing.stdout.as_slice()),
        (Some(0), &b"There was nothing to repair.\n"[..])
    );

    // As if it had been killed, and somebody had deleted its WAL.
    fs::write(data.join("journal.lock"), "open\n").unwrap();
    assert!(SqliteJournal::open(&data, Options::default()).await.is_err());
    let damaged = journal(&["check", "--format", "json"], &data);
    assert_eq!(damaged.status.code(), Some(1));
    assert_eq!(json(&damaged)["sound"], false);
    assert!(stderr(&damaged).contains("journal.sqlite3-wal is missing"), "{}", stderr(&damaged));
    assert_eq!(journal(&["check"], &data).status.code(), Some(1));
    assert_eq!(journal(&["repair"], &data).status.code(), Some(2), "without a word about the loss");
    let repaired = journal(&["repair", "--accept-loss", "--format", "json"], &data);
    assert_eq!(repaired.status.code(), Some(0), "{}", stderr(&repaired));
    let done = json(&repaired);
    assert_eq!((&done["repaired"], done["lost"].as_array().unwrap().len()), (&Value::Bool(true), 1));
    let kept = Path::new(done["kept"].as_str().unwrap()).join("journal.sqlite3");
    assert!(kept.starts_with(&data));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(kept.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
    }
    assert_eq!(journal(&["check"], &data).status.code(), Some(0));
    Server::start(Config::embedded(&data)).await.unwrap().shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_match_that_is_found_damaged_at_the_start_counts_once_before_anybody_asks_for_it() {
    const REFERENCE: &[u8] = b"a reference that is written down";
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let at_once = || Config::embedded(&data).with(Number::DrainTimeoutMs, 0).unwrap();
    let command = |url: &str, args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zetema"));
        command.arg("match").args(args).args(["--format", "json", "--server", url]);
        command.env("ZETEMA_DATA", &data).output().unwrap()
    };
    let scrape = || Scrape::parse(&page().unwrap().render()).unwrap();

    let server = Server::start(at_once()).await.unwrap();
    let reference = std::str::from_utf8(REFERENCE).unwrap();
    let created = command(&server.url(), &["create", "--reference", reference]);
    assert!(created.status.success(), "{}", stderr(&created));
    let id = json(&created)["match"]["match_id"].as_str().unwrap().to_owned();
    server.shutdown().await;
    let (before, started) = (scrape().sum(INCIDENTS), scrape().sum(START_TIME));

    let database = data.join("journal.sqlite3");
    let mut bytes = fs::read(&database).unwrap();
    let at = bytes.windows(REFERENCE.len()).position(|window| window == REFERENCE).unwrap();
    *bytes.get_mut(at).unwrap() ^= 1;
    fs::write(&database, bytes).unwrap();
    let server = Server::start(at_once()).await.unwrap();
    assert!(scrape().sum(START_TIME) > started, "it was started again");
    for _ in 0..2 {
        assert!((scrape().sum(INCIDENTS) - before - 1.0).abs() < f64::EPSILON, "{:?}", scrape());
        assert!(!command(&server.url(), &["show", &id]).status.success(), "it is damaged");
    }
    server.shutdown().await;
}
