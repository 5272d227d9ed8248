//! Bots on a ladder: they wait, are paired, play and are rated, and a crash of the server changes nothing of that.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::server::{Served, text};

const LADDER: &str = "quick-2";

fn register(server: &Served, bot: &str, owner: &str) -> String {
    let registered = server.output(&["bot", "register", bot, "--owner", owner]);
    assert!(registered.status.success(), "{}", text(&registered.stderr));
    text(&registered.stdout).trim().to_owned()
}

/// A house bot that waits on the ladder for two matches at once.
fn play(server: &Served, bot: &str, token: &str) -> Child {
    let mut command = server.command(&["bot", "greedy", "--token", token, "--queue", "quick-2:2"]);
    command.arg("--nonce-secret").arg(server.data.path().join(bot));
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn interrupt(mut bot: Child) {
    assert!(Command::new("kill").args(["-INT", &bot.id().to_string()]).status().unwrap().success());
    bot.wait().unwrap();
}

fn ladder(server: &Served) -> Value {
    let ladders = server.json(&["ladder", "list"]);
    let all = ladders.as_array().unwrap();
    all.iter().find(|ladder| ladder["name"] == LADDER).expect("it is one of the usual ladders").clone()
}

/// Waits until the ladder is so.
fn until(server: &Served, wanted: impl Fn(&Value) -> bool) -> Value {
    let mut ladders = (0..10_000).map(|_| ladder(server));
    ladders.find(|ladder| wanted(ladder)).expect("the ladder comes to it")
}

/// Standings, results and head-to-heads tell of the same matches. The answer is the standings, without what passes with time, and the
/// results.
fn agreed(server: &Served) -> (Value, Value) {
    let mut standings = server.json(&["ladder", "standings", LADDER]);
    let results = server.json(&["ladder", "results", LADDER, "--limit", "100000"]);
    for standing in standings.as_array().unwrap() {
        let bot = standing["bot"].as_str().unwrap();
        let played = results.as_array().unwrap().iter().filter(|result| {
            let seats = result["seats"].as_array().unwrap();
            seats.iter().any(|seat| seat["bot"] == bot && !seat["after"].is_null())
        });
        assert_eq!(standing["matches"], played.count(), "{standing}");
        let met = server.json(&["ladder", "head-to-head", LADDER, "--bot", bot]);
        let met = met.as_array().unwrap().iter().map(|met| met["matches"].as_u64().unwrap());
        assert_eq!(standing["matches"].as_u64().unwrap(), met.sum::<u64>(), "{standing}");
        let history = server.json(&["ladder", "history", LADDER, "--bot", bot, "--limit", "1"]);
        assert_eq!(history[0]["rating"], standing["rating"], "the last rating is that of the standings");
    }
    for standing in standings.as_array_mut().unwrap() {
        standing.as_object_mut().unwrap().remove("conduct").expect("it is told how the bot behaves");
    }
    (standings, results)
}

#[test]
fn bots_play_day_and_night_and_a_kill_of_the_server_changes_no_rating() {
    let server = Served::start();
    let tokens = [("ann", "ada"), ("bob", "ben"), ("cyd", "ben")]
        .map(|(bot, owner)| (bot, register(&server, bot, owner)));
    let bots = tokens.map(|(bot, token)| play(&server, bot, &token));

    // Somebody follows the standings meanwhile.
    let mut watch = server.command(&["ladder", "standings", LADDER, "--watch", "--format", "json"]);
    let mut watch = watch.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut told = BufReader::new(watch.stdout.take().unwrap()).lines();
    let first: Value = serde_json::from_str(&told.next().unwrap().unwrap()).unwrap();
    assert_eq!(first["kind"], "all");
    let changed: Value = serde_json::from_str(&told.next().unwrap().unwrap()).unwrap();
    assert_eq!(changed["kind"], "changed");
    watch.kill().unwrap();
    watch.wait().unwrap();

    until(&server, |ladder| ladder["rated_matches"].as_u64().unwrap() >= 12);
    bots.into_iter().for_each(interrupt);
    // What they left is not played on.
    for state in ["waiting-for-seats", "waiting-for-nonces", "playing"] {
        for info in server.json(&["match", "list", "--state", state]).as_array().unwrap() {
            server.output(&["match", "cancel", info["match_id"].as_str().unwrap()]);
        }
    }
    until(&server, |ladder| ladder["live_matches"] == 0 && ladder["queued_bots"] == 0);
    let before = agreed(&server);
    let owners = |result: &Value| {
        let seats = result["seats"].as_array().unwrap().iter();
        seats.filter(|seat| seat["bot"] != "ann").count()
    };
    assert!(
        before.1.as_array().unwrap().iter().all(|result| owners(result) == 1),
        "bob and cyd are of one owner"
    );

    let counted = ladder(&server)["rated_matches"].clone();
    let (server, _) = Served::on(server.stop());
    until(&server, |ladder| ladder["rated_matches"] == counted);
    assert_eq!(agreed(&server), before);
}
