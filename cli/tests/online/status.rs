//! How a server is, at a glance and from moment to moment.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::server::{Served, text, tokens, zetema};

/// The status of a server, once it has measured itself.
fn status(server: &Served) -> Value {
    let statuses = (0..1_000).map(|_| server.output(&["status", "--format", "json"]));
    let statuses = statuses.filter(|out| out.status.success());
    let mut statuses = statuses.map(|out| serde_json::from_slice::<Value>(&out.stdout).unwrap());
    // The disk is measured beside all else.
    let measured = statuses.find(|status| status["disk_free_bytes"] != 0);
    measured.expect("the server is ready and has measured its disk")
}

#[test]
fn the_status_of_a_server_says_what_it_does_and_may_do() {
    let server = Served::start();
    for _ in 0..3 {
        let created = server.output(&["match", "create"]);
        assert!(created.status.success(), "{created:?}");
    }
    let status = status(&server);
    assert_eq!((&status["ready"], &status["version"]), (&true.into(), &env!("CARGO_PKG_VERSION").into()));
    assert_eq!((&status["matches_created"], &status["live_matches_limit"]), (&3.into(), &100_000.into()));
    assert!(status["connections"].as_u64().unwrap() >= 1, "that of the command: {status}");
    assert!(status["memory_bytes"].as_u64().unwrap() > 1_000_000, "{status}");
    assert!(status["database_bytes"].as_u64().unwrap() > 0, "{status}");
    let output = server.output(&["status"]);
    let text = text(&output.stdout);
    let first = format!("zetema {} at {}: ready, up ", env!("CARGO_PKG_VERSION"), server.url);
    assert!(text.starts_with(&first), "{text}");
    for part in ["matches", "clients", "journal", "process", "refused", "closed"] {
        assert!(text.lines().any(|line| line.starts_with(part)), "{part}: {text}");
    }
}

/// A `zetema top` that runs, and what it shows as it shows it.
fn top(server: &Served, args: &[&str]) -> (Child, impl Iterator<Item = Value> + use<>) {
    let args = [&["top", "--format", "json"], args].concat();
    let mut top =
        server.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let lines = BufReader::new(top.stdout.take().unwrap()).lines();
    (top, lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()))
}

#[test]
fn top_shows_rates_and_the_slowest_stage() {
    let server = Served::start();
    let (mut top, mut pictures) = top(&server, &[]);
    pictures.next().expect("a first picture");
    let created = server.json(&["match", "create", "--preset", "quick", "--players", "2"]);
    assert!(server.play(&tokens(&created)).status.success());
    // All of that is shown once, in whichever picture.
    let (mut matches, mut actions, mut calls, mut stages) = (0.0, 0.0, Vec::new(), Vec::new());
    while matches == 0.0 || actions == 0.0 || !calls.contains(&"CreateMatch".to_owned()) {
        let picture = pictures.next().expect("it goes on until it is stopped");
        matches += picture["matches_per_s"].as_f64().unwrap();
        actions += picture["actions_per_s"].as_f64().unwrap();
        let names = |list: &str, name: &str| -> Vec<String> {
            let list = picture[list].as_array().unwrap().iter();
            list.map(|entry| entry[name].as_str().unwrap().to_owned()).collect()
        };
        calls.extend(names("rpcs", "rpc"));
        stages = names("stages", "stage");
    }
    top.kill().unwrap();
    top.wait().unwrap();
    assert_eq!((stages.len(), stages[0].as_str()), (4, "action"), "{stages:?}");
    for part in ["inbox", "journal", "publish"] {
        assert!(stages.contains(&part.to_owned()), "{stages:?}");
    }
}

#[test]
fn top_shows_as_many_pictures_as_it_is_told() {
    let server = Served::start();
    let (mut top, pictures) = top(&server, &["--count", "2"]);
    assert_eq!(pictures.count(), 2);
    assert!(top.wait().unwrap().success());
}

#[test]
fn top_goes_on_when_its_server_is_gone_for_a_while() {
    let server = Served::start();
    let (top, mut pictures) = top(&server, &["--count", "3"]);
    pictures.next().expect("a first picture");
    server.stop();
    let output = top.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(text(&output.stderr).contains("no reading, it is tried again: "), "{output:?}");
}

#[test]
fn a_probe_asks_whether_a_server_is_ready_and_nothing_else() {
    let server = Served::start();
    let created = server.output(&["match", "create"]);
    assert!(created.status.success(), "{created:?}");
    let ready = server.output(&["status", "--ready"]);
    assert!(ready.status.success(), "{ready:?}");
    assert_eq!(text(&ready.stdout), "ready\n");
    // It drains for as long as its match goes on.
    server.terminate();
    let mut asked = (0..1_000).map(|_| server.output(&["status", "--ready"]));
    let not_ready = asked.find(|ready| !ready.status.success()).expect("it drains");
    assert_eq!((not_ready.status.code(), text(&not_ready.stdout)), (Some(1), String::new()));
    assert!(text(&not_ready.stderr).contains("the server is not ready: its log says why"), "{not_ready:?}");
}

#[test]
fn what_is_no_zetema_server_has_no_status() {
    for command in [&["status"][..], &["status", "--ready"], &["top"]] {
        let output = zetema().args(command).args(["--server", "http://127.0.0.1:1"]).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains("no server answers at http://127.0.0.1:1"), "{output:?}");
    }
    let called_wrongly = zetema().args(["top", "--interval", "0"]).output().unwrap();
    assert_eq!(called_wrongly.status.code(), Some(2));
}

#[test]
fn a_server_that_is_full_still_shows_how_full_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (server, _) = Served::on_with(folder, &["--max-streams", "1"]);
    let created = server.json(&["match", "create"]);
    server.json(&["match", "cancel", created["match"]["match_id"].as_str().unwrap()]);
    let mut follow = server.command(&["match", "results", "--follow", "--format", "json"]);
    let mut following = follow.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    // It takes the only place there is: until it has told a result, nobody else asks for one.
    let mut told = BufReader::new(following.stdout.take().unwrap()).lines();
    told.next().expect("it follows").unwrap();
    let refused = server.output(&["match", "list"]);
    assert!(!refused.status.success(), "{refused:?}");
    assert!(text(&refused.stderr).contains("too many calls and streams are open"), "{refused:?}");
    let status = server.output(&["status"]);
    following.kill().unwrap();
    following.wait().unwrap();
    assert!(status.status.success(), "{}", text(&status.stderr));
}
