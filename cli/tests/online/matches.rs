//! Matches: made, played, watched, listed, cancelled, and their results.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::server::{Served, parse, text, tokens, zetema};

#[test]
fn a_match_is_created_played_listed_watched_and_verified() {
    let server = Served::start();
    let created = server.json(&[
        "match",
        "create",
        "--preset",
        "fosdick",
        "--players",
        "4",
        "--reference",
        "r1",
        "--budget",
        "20.5",
        "--bank",
        "60",
        "--on-time-out",
        "autoplay:2",
        "--join-timeout",
        "30",
    ]);
    let control = serde_json::json!({
        "join_timeout_ms": 30_000,
        "idle_timeout_ms": null,
        "clock": {
            "budget_ms": 20_500, "first_budget_ms": 20_500, "bank_ms": 60_000, "increment_ms": 0,
            "network_credit_ms": 100, "network_credit_total_ms": 10_000,
            "time_out": {"autoplay": {"strikes": 2}},
        },
    });
    assert_eq!(created["match"]["time_control"], control);
    let id = created["match"]["match_id"].as_str().unwrap();
    assert_eq!(created["match"]["state"], "waiting-for-seats");
    assert_eq!(created["match"]["seats"][3]["bot"], Value::Null, "it is played by token");
    assert_eq!(created["match"]["rules"]["teams"], "pairs");
    let tokens = tokens(&created);
    assert_eq!(tokens.len(), 4);

    let watching = server.command(&["match", "watch", id, "--format", "json"]).stdout(Stdio::piped()).spawn();
    let watching = watching.unwrap();
    let played = server.play(&tokens);
    assert!(played.status.success(), "{}", text(&played.stderr));
    let seats: Vec<Value> =
        text(&played.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(seats.len(), 4);
    assert!(seats.iter().all(|seat| seat["verified"] == true && seat["end"] == "result"), "{seats:?}");

    let watched = watching.wait_with_output().unwrap();
    let watched = text(&watched.stdout);
    assert!(watched.lines().next().unwrap().starts_with("{\"start\":"), "{watched}");
    assert!(watched.lines().last().unwrap().starts_with("{\"end\":{\"outcome\":{\"result\":"), "{watched}");
    assert!(watched.contains("\"hand\":[]"), "a spectator sees no hand: {watched}");

    let shown = server.json(&["match", "show", id]);
    assert_eq!(shown["state"], "finished");
    assert_eq!(shown["outcome"], seats[0]["outcome"]);
    assert_eq!(server.json(&["match", "list", "--reference", "r1"])[0], shown);
    assert_eq!(server.json(&["match", "list", "--state", "playing"]), serde_json::json!([]));

    let verified = server.json(&["record", "verify", id]);
    assert_eq!(verified[0]["verified"], true);
    let file = server.data.path().join("match.record");
    let export = ["record", "export", id, "--format", "binary", "--output", file.to_str().unwrap()];
    assert!(server.output(&export).status.success());
    // From the file it verifies, shows and replays without the server.
    for command in ["verify", "show", "replay"] {
        let output = zetema().args(["record", command]).arg(&file).output().unwrap();
        assert!(output.status.success(), "{command}: {}", text(&output.stderr));
    }
    let shown = zetema().args(["record", "show", "--format", "json"]).arg(&file).output().unwrap();
    let shown = parse(&shown);
    assert_eq!(shown["match"]["match_id"], id);
    assert_eq!(shown["time_control"], control);
}

#[test]
fn matches_have_the_standard_clock_unless_another_or_none_is_given() {
    let server = Served::start();
    for (flags, told, clock, idle_timeout_ms) in [
        (&[][..], "standard: 10 s a decision, ", true, Value::Null),
        (&["--time-control", "correspondence"], "correspondence: 1 d a decision, ", true, Value::Null),
        (&["--budget", "1"], "own: 1 s a decision, 1 s the first, 0 s in the bank, ", true, Value::Null),
        (&["--time-control", "none"], "none: aborted when nothing happens for 1 d", false, 86_400_000.into()),
        (
            &["--time-control", "none", "--idle-timeout", "90"],
            "none: aborted when nothing happens for 90 s",
            false,
            90_000.into(),
        ),
    ] {
        let batch = server.json(&[&["match", "batch", "1"], flags].concat());
        let created = &batch[0]["match"];
        let control = &created["time_control"];
        assert_eq!((control["clock"].is_object(), &control["idle_timeout_ms"]), (clock, &idle_timeout_ms));
        let shown = text(&server.output(&["match", "show", created["match_id"].as_str().unwrap()]).stdout);
        assert!(shown.contains("time control") && shown.contains(told), "{told}: {shown}");
    }
}

#[test]
fn results_are_read_once_each_from_wherever_one_begins() {
    let server = Served::start();
    let end = |reference: &str| {
        let id = server.json(&["match", "create", "--reference", reference])["match"]["match_id"].clone();
        server.json(&["match", "cancel", id.as_str().unwrap()]);
        id
    };
    let ended = [end("x"), end("y"), end("x")];
    let numbered = |results: &Value| -> Vec<(u64, Value)> {
        let results = results.as_array().unwrap().iter();
        results
            .map(|one| (one["result_number"].as_u64().unwrap(), one["match"]["match_id"].clone()))
            .collect()
    };
    let all = server.json(&["match", "results"]);
    assert_eq!(numbered(&all), [1, 2, 3].into_iter().zip(ended.clone()).collect::<Vec<_>>());
    let x = server.json(&["match", "results", "--client-reference", "x"]);
    assert_eq!(numbered(&x), [(1, ended[0].clone()), (3, ended[2].clone())]);
    let first = all[0]["cursor"].as_str().unwrap();
    let rest = server.json(&["match", "results", "--after", first]);
    assert_eq!(numbered(&rest), [(2, ended[1].clone()), (3, ended[2].clone())]);
    assert_eq!(server.json(&["match", "results", "--from-now"]), Value::Array(Vec::new()));

    let table = server.output(&["match", "results"]);
    assert!(text(&table.stdout).contains("cancelled"), "{}", text(&table.stdout));
    let last = all[2]["cursor"].as_str().unwrap();
    assert!(text(&table.stderr).contains(&format!("--after {last}")), "{}", text(&table.stderr));
    let wrong = server.output(&["match", "results", "--after", "x"]);
    assert!(!wrong.status.success() && text(&wrong.stderr).contains("cursor"), "{}", text(&wrong.stderr));

    let mut following =
        server.command(&["match", "results", "--follow", "--format", "json", "--after", last]);
    let mut child = following.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let next = end("z");
    let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!((line["result_number"].as_u64(), &line["match"]["match_id"]), (Some(4), &next));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_match_that_is_cancelled_is_aborted_and_keeps_its_record() {
    let server = Served::start();
    let batch = server.json(&["match", "batch", "3", "--seed", "5"]);
    assert_eq!(batch.as_array().unwrap().len(), 3);
    let id = batch[1]["match"]["match_id"].as_str().unwrap();
    let cancelled = server.json(&["match", "cancel", id]);
    assert_eq!(cancelled["state"], "aborted");
    assert_eq!(cancelled["outcome"]["aborted"]["reason"], "cancelled");
    assert_eq!(server.json(&["record", "verify", id])[0]["verified"], true);
    assert_eq!(server.json(&["match", "list", "--state", "waiting-for-seats"]).as_array().unwrap().len(), 2);
    let two = server.output(&["match", "list", "--limit", "2"]);
    assert!(text(&two.stderr).contains("there are more"), "{}", text(&two.stderr));
}
