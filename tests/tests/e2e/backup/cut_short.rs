//! Backups and restores that are killed (SIGKILL).

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use tempfile::TempDir;
use zetema_bots::House;
use zetema_proto::v1::Preset;
use zetema_sdk::{End, Session, Settings};
use zetema_service::access::ADMIN_TOKEN_FILE;
use zetema_tests::harness::{Process, preset, soon, unhurried};

use super::{
    Read, backup, check_no_start, check_quiet, check_refused, check_sound, count, json, restore, results,
    to_back_up, to_restore,
};

/// Matches that nobody plays, so that there is something to copy and to abort.
const WAITING: usize = 200;
/// Matches that bots play meanwhile.
const PLAYED: usize = 20;

fn bytes(file: &Path) -> u64 {
    std::fs::metadata(file).map_or(0, |metadata| metadata.len())
}

/// Kills a command once this is so, if it still runs then.
async fn kill_when(mut command: Command, instant: impl Fn() -> bool + Send + 'static) {
    let killed = tokio::task::spawn_blocking(move || {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while !instant() && child.try_wait().unwrap().is_none() {
            thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    });
    soon("the instant", killed).await.unwrap();
}

/// A backup, and what a server of it shows when nobody kills the restore.
struct Backup {
    folder: TempDir,
    admin_token: String,
    unfinished: usize,
}

impl Backup {
    async fn new() -> Self {
        let (process, clients) = Process::start().await;
        let folder = tempfile::tempdir().unwrap();
        clients.create_batch(vec![unhurried(preset(Preset::Sackson, 2)); WAITING]).await;
        let data = process.admin_token_file().parent().unwrap().to_owned();
        let said = json(&backup(&data, &folder.path().join("file")).await);
        let admin_token = process.admin_token();
        process.kill();
        Self { folder, admin_token, unfinished: count(&said, "unfinished_matches") }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("file")
    }

    /// A server of a restored folder has all results.
    async fn check(&self, folder: TempDir) {
        let data = folder.path().join("data");
        check_sound(&data).await;
        std::fs::write(data.join(ADMIN_TOKEN_FILE), &self.admin_token).unwrap();
        let (process, clients) = Process::start_in(folder).await;
        let results: Vec<Read> = results(&clients, None).await.unwrap();
        assert_eq!(results.len(), self.unfinished);
        process.kill();
    }
}

/// What a killed restore has left.
#[derive(Debug, PartialEq, Eq)]
enum Left {
    /// Nothing yet.
    Nothing,
    /// A folder that says that it is not done.
    Begun,
    /// All.
    Done,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restore_that_is_killed_is_all_there_or_says_that_it_has_to_be_done_again() {
    let backup = Backup::new().await;
    let whole = bytes(&backup.file());
    // Each holds from some moment of the restore on.
    let instants: [fn(&Path, u64) -> bool; 8] = [
        |data, _| data.join("journal.lock").exists(),
        |data, _| data.join("restoring").exists(),
        |data, _| data.join("restoring/journal.sqlite3").exists(),
        |data, whole| bytes(&data.join("restoring/journal.sqlite3")) == whole,
        |data, _| data.join("restoring/journal.lock").exists(),
        |data, _| bytes(&data.join("restoring/journal.sqlite3-wal")) > 0,
        |data, _| bytes(&data.join("restoring/journal.sqlite3-wal")) > 1 << 17,
        |data, _| data.join("journal.sqlite3").exists(),
    ];
    let mut begun = 0;
    for instant in instants {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let at = data.clone();
        kill_when(to_restore(&backup.file(), &data), move || instant(&at, whole)).await;
        let left = match (data.join("journal.sqlite3").exists(), data.join("restoring").exists()) {
            (true, _) => Left::Done,
            (false, true) => Left::Begun,
            (false, false) => Left::Nothing,
        };
        if left == Left::Begun {
            begun += 1;
            check_no_start(&data, "run `zetema restore` again").await;
        }
        let again = restore(&backup.file(), &data).await;
        if left == Left::Done {
            check_refused(&again, "has a journal");
        } else {
            assert_eq!(count(&json(&again), "aborted_matches"), backup.unfinished, "{left:?}");
        }
        backup.check(folder).await;
    }
    assert!(begun >= 3, "{begun} restores were killed when they were under way");
}

/// The files of a backup that did not come to its end.
fn unfinished(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files.filter(|file| file.file_name().unwrap().to_string_lossy().starts_with(".zetema-backup-")).collect()
}

/// Every match is in a restored backup, with its result.
fn check_whole(restored: &serde_json::Value) {
    assert_eq!(restored["damage"], serde_json::json!([]));
    let over = count(restored, "backup_result_number") + count(restored, "aborted_matches");
    assert_eq!((over, count(restored, "latest_result_number")), (WAITING + PLAYED, WAITING + PLAYED));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_that_is_killed_passes_for_none_unless_it_is_whole_and_the_server_plays_on() {
    let (process, clients) = Process::start().await;
    let data = process.admin_token_file().parent().unwrap().to_owned();
    clients.create_batch(vec![unhurried(preset(Preset::Sackson, 2)); WAITING]).await;
    let played = clients.create_batch(vec![unhurried(preset(Preset::Sackson, 4)); PLAYED]).await;
    let mut session =
        Session::open(&clients.url(), Settings::default(), |info| House::Random.make(info, 1)).unwrap();
    for token in played.iter().flat_map(|created| &created.tokens) {
        session.play(token.as_str().into()).unwrap();
    }

    let files = tempfile::tempdir().unwrap();
    let mut cut = 0;
    for (number, least) in [0, 1, 1 << 14, 1 << 16, 1 << 17].into_iter().enumerate() {
        let into = files.path().join(number.to_string());
        std::fs::create_dir(&into).unwrap();
        let (file, at) = (into.join("backup"), into.clone());
        kill_when(to_back_up(&data, &file), move || unfinished(&at).iter().any(|file| bytes(file) >= least))
            .await;
        if !file.exists() {
            for left in unfinished(&into) {
                let restored = restore(&left, &into.join("of-what-is-left")).await;
                // It was killed when all was copied and read, and the file lacked its name alone.
                if restored.status.success() {
                    check_whole(&json(&restored));
                } else {
                    check_refused(&restored, "is no backup");
                    cut += 1;
                }
            }
            json(&backup(&data, &file).await);
        }
        check_whole(&json(&restore(&file, &into.join("data")).await));
    }
    assert!(cut >= 2, "{cut} backups were killed when they were under way");

    while let Some(outcome) = soon("an outcome", session.next()).await {
        assert!(matches!(outcome.end, End::Result(_)) && outcome.faults.is_empty(), "{outcome}");
    }
    let (folder, log) = process.kill();
    check_quiet(&log);
    check_sound(&folder.path().join("data")).await;
}
