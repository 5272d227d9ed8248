//! The example of a backend: killed again and again, as is the server, it has every result, and each once.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use rusqlite::Connection;
use tempfile::TempDir;
use zetema_proto::v1;
use zetema_tests::harness::{Process, Program, built, soon};

const MATCHES: u64 = 1_000;

fn backend(server: &Process, folder: &Path) -> Program {
    Program::start(
        Command::new(built("backend-rust"))
            .arg(MATCHES.to_string())
            .current_dir(folder)
            .env("ZETEMA_SERVER", server.url())
            .env("ZETEMA_TOKEN", server.admin_token()),
    )
}

fn house_bots(server: &Process, folder: &Path) -> Program {
    Program::start(
        Command::new(built("zetema"))
            .args(["bot", "random", "--token-file", "seat-tokens.txt", "--server", server.url()])
            .current_dir(folder)
            .env_remove("ZETEMA_TOKEN"),
    )
}

/// What the backend has stored: for each match its result's number.
fn stored(folder: &Path) -> BTreeMap<String, u64> {
    let db = Connection::open(folder.join("backend.sqlite")).unwrap();
    let mut results = db.prepare("SELECT match_id, result_number FROM results").unwrap();
    let rows = results.query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs()))).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

/// The same from the server: every record that it has.
async fn recorded(server: &Process) -> BTreeMap<String, u64> {
    let clients = server.connect().await;
    let request = v1::ListRecordsRequest { page_size: 1_000, ..v1::ListRecordsRequest::default() };
    let answer = soon("ListRecords", clients.matches().list_records(request)).await.unwrap().into_inner();
    assert_eq!(answer.next_page_token, "", "there are no more records than matches");
    answer.records.into_iter().map(|record| (record.match_id, record.result_number)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backend_reads_every_result_once_whoever_is_killed() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    let mut server = Process::start_quietly().await;

    // Killed while it asks for the matches, it asks for the same again.
    let asking = backend(&server, at);
    asking.says("creating", 1).await;
    asking.kill();
    let mut running = backend(&server, at);
    running.says("handed out 2000 seats", 1).await;

    let bots = house_bots(&server, at);
    for round in 1..=4 {
        running.says("result ", usize::try_from(MATCHES / 10).unwrap()).await;
        if round % 2 == 0 {
            server = server.restart().await;
        }
        running.kill();
        running = backend(&server, at);
    }
    running.says("result ", 1).await;
    server = server.restart().await;
    running.end().await;

    let stored = stored(at);
    assert_eq!(stored, recorded(&server).await);
    assert!(stored.values().copied().collect::<std::collections::BTreeSet<_>>().into_iter().eq(1..=MATCHES));
    let played = bots.end().await;
    assert_eq!(played.lines().count(), 2 * usize::try_from(MATCHES).unwrap());
    server.kill();
}
