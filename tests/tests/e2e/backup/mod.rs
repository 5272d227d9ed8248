//! `zetema backup` and `zetema restore`, run as an operator runs them.

mod cut_short;
mod refusals;
mod under_load;

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use zetema_proto::v1;
use zetema_proto::v1::watch_results_request::From;
use zetema_proto::v1::watch_results_response::Kind;
use zetema_tests::harness::{Clients, built, soon};

/// The program with these words, which does nothing but what they say.
fn program<'a>(args: impl IntoIterator<Item = &'a OsStr>) -> Command {
    let mut command = Command::new(built("zetema"));
    command.args(args).env_remove("ZETEMA_DATA").env_remove("ZETEMA_CONFIG").stdin(Stdio::null());
    command
}

fn to_back_up(data: &Path, to: &Path) -> Command {
    let words = ["backup", "--format", "json", "--data"].map(OsStr::new);
    program(words.into_iter().chain([data.as_os_str(), OsStr::new("--to"), to.as_os_str()]))
}

fn to_restore(from: &Path, data: &Path) -> Command {
    let words = ["restore", "--format", "json", "--from"].map(OsStr::new);
    program(words.into_iter().chain([from.as_os_str(), OsStr::new("--data"), data.as_os_str()]))
}

/// Runs a command to its end, and gives what it said.
async fn run(mut command: Command) -> Output {
    let ended = tokio::task::spawn_blocking(move || command.output().unwrap());
    soon("the program to end", ended).await.unwrap()
}

async fn backup(data: &Path, to: &Path) -> Output {
    run(to_back_up(data, to)).await
}

async fn restore(from: &Path, data: &Path) -> Output {
    run(to_restore(from, data)).await
}

/// What a command that went well said.
fn json(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A number in what a command said.
fn count(said: &serde_json::Value, field: &str) -> usize {
    usize::try_from(said[field].as_u64().unwrap()).unwrap()
}

/// That the program failed, and said this.
fn check_refused(output: &Output, said: &str) {
    check_exit(output, 1, said);
}

fn check_exit(output: &Output, code: i32, said: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}: {stderr}");
    assert!(stderr.contains(said), "{said}: {stderr}");
}

/// No server starts on this folder until somebody does something, for this reason.
async fn check_no_start(data: &Path, said: &str) {
    check_exit(&serve(data).await, 5, said);
}

/// A server that does not start on this folder.
async fn serve(data: &Path) -> Output {
    let words = ["serve", "--listen", "127.0.0.1:0", "--data"].map(OsStr::new);
    run(program(words.into_iter().chain([data.as_os_str()]))).await
}

/// Reads all of a journal.
async fn check_journal(data: &Path) -> Output {
    run(program(["journal", "check", "--data"].map(OsStr::new).into_iter().chain([data.as_os_str()]))).await
}

/// Nothing in a journal is damaged.
async fn check_sound(data: &Path) {
    let output = check_journal(data).await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A result, and the cursor behind it.
type Read = (v1::EndedMatch, String);

/// All results from there on.
async fn results(clients: &Clients, from: Option<From>) -> Result<Vec<Read>, v1::Error> {
    let request = v1::WatchResultsRequest { from, filter: None };
    let watched = soon("WatchResults", clients.matches().watch_results(request)).await;
    let mut stream = watched.map_err(|status| v1::Error::from_status(&status).unwrap())?.into_inner();
    let mut results = Vec::new();
    loop {
        let message = soon("a result", stream.message()).await.unwrap().unwrap();
        match message.kind.unwrap() {
            Kind::Ended(ended) => results.push((ended, message.cursor)),
            Kind::CaughtUp(_) => return Ok(results),
            Kind::Draining(draining) => panic!("{draining:?}"),
        }
    }
}

fn after(cursor: &str) -> From {
    From::After(cursor.to_owned())
}

/// A server that met nothing out of the ordinary logs none of these. A busy machine stalls it.
fn check_quiet(log: &str) {
    let loud = |line: &&str| {
        [" ERROR ", " WARN ", "panicked"].iter().any(|sign| line.contains(sign)) && !line.contains("stalled")
    };
    assert_eq!(log.lines().filter(loud).collect::<Vec<_>>(), Vec::<&str>::new());
}
