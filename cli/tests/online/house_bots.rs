//! House bots in the process of a server, on its ladders.

use std::collections::BTreeSet;
use std::process::Child;

use serde_json::Value;

use crate::ladders::{interrupt, ladder, play, register, until};
use crate::server::{Served, parse, text, tokens};

const LADDER: &str = "quick-2";
/// Long enough to play out what runs, also in a debug build on a busy machine.
const DRAIN: [&str; 2] = ["--drain-timeout-ms", "60000"];

fn on(data: tempfile::TempDir, house_bots: &str) -> Served {
    Served::on_with(data, &[&DRAIN[..], &["--house-bots", house_bots]].concat()).0
}

fn names(listed: &Value, key: &str) -> BTreeSet<String> {
    listed.as_array().unwrap().iter().map(|entry| entry[key].as_str().unwrap().to_owned()).collect()
}

/// Waits until the standings have these bots.
fn until_rated(server: &Served, bots: &[&str]) {
    let wanted = bots.iter().map(ToString::to_string).collect();
    let mut standings = (0..10_000).map(|_| server.json(&["ladder", "standings", LADDER]));
    let found = standings.find(|standings| names(standings, "bot").is_superset(&wanted));
    assert!(found.is_some(), "{bots:?} come to be rated");
}

fn kill(mut bot: Child) {
    bot.kill().unwrap();
    bot.wait().unwrap();
}

fn results(server: &Served) -> Vec<Value> {
    let results = server.json(&["ladder", "results", LADDER, "--limit", "1000"]);
    results.as_array().unwrap().clone()
}

/// The ids of matches that are not over.
fn running(server: &Served) -> BTreeSet<String> {
    ["waiting-for-seats", "waiting-for-nonces", "playing"]
        .into_iter()
        .flat_map(|state| names(&server.json(&["match", "list", "--state", state]), "match_id"))
        .collect()
}

#[test]
fn house_bots_play_the_bots_of_others_also_after_a_restart_and_leave_before_the_server_drains() {
    let flags = [&DRAIN[..], &["--log", "info", "--house-bots", "greedy:2,random"]].concat();
    let server = Served::on_with(tempfile::tempdir().unwrap(), &flags).0;
    let token = register(&server, "ann", "ada");
    let ann = play(&server, "ann", &token);
    until_rated(&server, &["ann", "greedy", "random"]);
    let owner = |server: &Served, bot: &str| server.json(&["bot", "show", bot])["owner"].clone();
    assert_eq!(["greedy", "random"].map(|bot| owner(&server, bot)), ["house-greedy", "house-random"]);

    // They meet one another too, with or without her.
    let mut read = (0..10_000).map(|_| results(&server));
    let house: BTreeSet<String> = ["greedy", "random"].map(str::to_owned).into();
    let met = |results: &Vec<Value>| results.iter().any(|result| names(&result["seats"], "bot") == house);
    assert!(read.any(|results| met(&results)), "greedy and random meet");
    let counted = ladder(&server)["rated_matches"].as_u64().unwrap();
    // While she plays: the house bots have left before no match is created any more.
    server.terminate();
    let before: Vec<String> =
        server.log.iter().take_while(|line| !line.contains("draining: no match")).collect();
    for bot in ["greedy", "random"] {
        let left = |line: &&String| line.contains("has left its ladders") && line.contains(bot);
        assert_eq!(before.iter().filter(left).count(), 1, "{bot}");
    }
    let (status, data) = server.stopped();
    kill(ann);
    assert!(status.success(), "{status}");

    // The same accounts again, with other tokens; one more is registered.
    let server = on(data, "greedy,random,appraiser,greedy-without-zetemas");
    let ann = play(&server, "ann", &token);
    until(&server, |ladder| ladder["rated_matches"].as_u64().unwrap() > counted);
    until_rated(&server, &["appraiser"]);
    interrupt(ann);
    assert_eq!(["greedy", "appraiser"].map(|bot| owner(&server, bot)), ["house-greedy", "house-appraiser"]);
    // Four are enough for the ladder for four.
    let mut ladders = (0..10_000).map(|_| server.json(&["ladder", "list"]));
    let for_four =
        |ladder: &Value| ladder["name"] == "sackson-4" && ladder["rated_matches"].as_u64() > Some(0);
    assert!(
        ladders.any(|ladders| ladders.as_array().unwrap().iter().any(for_four)),
        "four of the house play"
    );
    for result in results(&server) {
        assert_ne!(result["reason"], "aborted", "no bot was missed: {result}");
    }
    assert!(server.told_to_stop().0.success());
}

#[test]
fn house_bots_play_on_what_ran_when_the_server_was_killed() {
    let server = on(tempfile::tempdir().unwrap(), "greedy:2");
    let token = register(&server, "ann", "ada");
    // Without her none of her matches goes on.
    let mut left = (0..100).map(|_| {
        let ann = play(&server, "ann", &token);
        until(&server, |ladder| ladder["live_matches"].as_u64().unwrap() > 0);
        kill(ann);
        running(&server)
    });
    let left = left.find(|left| !left.is_empty()).expect("a match runs without her");
    let server = on(server.stop(), "greedy:2");
    let ann = play(&server, "ann", &token);
    let mut read = (0..10_000).map(|_| results(&server));
    let over = |results: &Vec<Value>| names(&results.clone().into(), "match_id").is_superset(&left);
    let results = read.find(over).expect("what ran comes to its end");
    for result in results {
        assert!(result["reason"] != "aborted" && result["reason"] != "forfeit", "{result}");
    }
    interrupt(ann);
    assert!(server.told_to_stop().0.success());
}

#[test]
fn a_user_of_another_owner_plays_a_house_bot_by_its_name_and_a_second_signal_stops_at_once() {
    let flags = ["--drain-timeout-ms", "600000", "--house-bots", "greedy"];
    let server = Served::on_with(tempfile::tempdir().unwrap(), &flags).0;
    let shop = server.json(&["token", "create", "--owner", "shop"])["secret"].as_str().unwrap().to_owned();
    let create = || {
        let seats = ["--seat", "token", "--seat", "bot:greedy", "--join-timeout", "60"];
        let args = [&["match", "create", "--preset", "quick", "--format", "json"][..], &seats].concat();
        server.command(&args).env("ZETEMA_TOKEN", &shop).output().unwrap()
    };
    let created = (0..1_000).map(|_| create()).find(|created| created.status.success());
    let created = parse(&created.expect("greedy accepts it once it is there"));
    let played = server.play(&tokens(&created));
    assert!(played.status.success(), "{}", text(&played.stderr));
    let shown = server.json(&["match", "show", created["match"]["match_id"].as_str().unwrap()]);
    assert_eq!((&shown["state"], &shown["ladder"]), (&"finished".into(), &Value::Null));

    // Nobody takes the seat of the next one, for which the server would wait as long as it drains.
    let created = (0..1_000).map(|_| create()).find(|created| created.status.success());
    let waits = parse(&created.expect("greedy has a place again"));
    let waits = waits["match"]["match_id"].as_str().unwrap();
    server.terminate();
    server.log.iter().find(|line| line.contains("zetema stops when no match runs")).unwrap();
    server.terminate();
    let (status, data) = server.stopped();
    assert!(status.success(), "{status}");
    let server = Served::on(data).0;
    assert_eq!(server.json(&["match", "show", waits])["state"], "waiting-for-seats");
}

#[test]
fn a_house_bot_that_can_not_play_is_told_in_the_log_and_the_server_serves_on() {
    // Somebody has registered by the name of one, somebody has a token of another, and one is the house's by another hand.
    let server = Served::start();
    register(&server, "greedy", "ada");
    let given = server.output(&["token", "create", "--bot", "searcher"]);
    assert!(given.status.success(), "{}", text(&given.stderr));
    register(&server, "appraiser", "house");
    let server = on(server.stop(), "greedy,random,searcher,appraiser");
    for bot in ["greedy", "searcher", "appraiser"] {
        let told = server.log.iter().find(|line| line.contains("a house bot can't play")).unwrap();
        assert!(told.contains(bot) && told.contains("NAME_TAKEN"), "{told}");
    }
    until(&server, |ladder| ladder["queued_bots"] == 1);
    assert_eq!(server.json(&["bot", "show", "greedy"])["owner"], "ada");
    assert!(!server.output(&["bot", "show", "searcher"]).status.success(), "it was not registered");

    // Somebody takes the token from the other one.
    let rotated = server.output(&["bot", "rotate", "random"]);
    assert!(rotated.status.success(), "{}", text(&rotated.stderr));
    let told = server.log.iter().find(|line| line.contains("plays no more")).unwrap();
    assert!(told.contains("random") && told.contains("TOKEN_ROTATED"), "{told}");
    until(&server, |ladder| ladder["queued_bots"] == 0);
    assert!(server.told_to_stop().0.success());
}
