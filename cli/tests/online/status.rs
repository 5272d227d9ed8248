//! How a server is, at a glance and from moment to moment.

use serde_json::Value;

use crate::server::{Served, text, tokens, zetema};

/// The status of a server, once it has measured itself.
fn status(server: &Served) -> Value {
    let ready =
        (0..1_000).map(|_| server.output(&["status", "--format", "json"])).find(|out| out.status.success());
    serde_json::from_slice(&ready.expect("the server is ready").stdout).unwrap()
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
    assert!(status["disk_free_bytes"].as_u64().unwrap() > 0, "{status}");
    assert!(status["database_bytes"].as_u64().unwrap() > 0, "{status}");
    let output = server.output(&["status"]);
    let text = text(&output.stdout);
    let first = format!("zetema {} at {}: ready, up ", env!("CARGO_PKG_VERSION"), server.url);
    assert!(text.starts_with(&first), "{text}");
    for part in ["matches", "clients", "journal", "process", "refused", "closed"] {
        assert!(text.lines().any(|line| line.starts_with(part)), "{part}: {text}");
    }
}

#[test]
fn top_shows_rates_and_the_slowest_stage_as_often_as_it_is_told() {
    let server = Served::start();
    let mut top = server.command(&["top", "--count", "2", "--format", "json"]);
    let top = std::thread::spawn(move || top.output().unwrap());
    while !top.is_finished() {
        let created = server.json(&["match", "create", "--preset", "quick", "--players", "2"]);
        let tokens = tokens(&created);
        server.play(&tokens);
    }
    let output = top.join().unwrap();
    assert!(output.status.success(), "{output:?}");
    let pictures: Vec<Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(pictures.len(), 2);
    let sum = |name: &str| pictures.iter().map(|picture| picture[name].as_f64().unwrap()).sum::<f64>();
    assert!(sum("actions_per_s") > 0.0 && sum("matches_per_s") > 0.0, "{pictures:#?}");
    let stages: Vec<&str> = pictures[1]["stages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|stage| stage["stage"].as_str().unwrap())
        .collect();
    assert_eq!(stages.len(), 4, "{stages:?}");
    assert_eq!(stages[0], "action");
    for part in ["inbox", "journal", "publish"] {
        assert!(stages.contains(&part), "{stages:?}");
    }
    let calls: Vec<&str> = pictures
        .iter()
        .flat_map(|picture| picture["rpcs"].as_array().unwrap())
        .map(|call| call["rpc"].as_str().unwrap())
        .collect();
    assert!(calls.iter().any(|call| call.ends_with("CreateMatch")), "{calls:?}");
}

#[test]
fn what_is_no_zetema_server_has_no_status() {
    for command in ["status", "top"] {
        let output = zetema().args([command, "--server", "http://127.0.0.1:1"]).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains("no server answers at http://127.0.0.1:1"), "{output:?}");
    }
    let called_wrongly = zetema().args(["top", "--interval", "0"]).output().unwrap();
    assert_eq!(called_wrongly.status.code(), Some(2));
}
