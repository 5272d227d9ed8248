//! Bots on a ladder: they wait, are paired, play and are rated, and a crash of the server changes nothing of that.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::server::{Served, parse, text, zetema};

pub(crate) const LADDER: &str = "quick-2";

pub(crate) fn register(server: &Served, bot: &str, owner: &str) -> String {
    let registered = server.output(&["bot", "register", bot, "--owner", owner]);
    assert!(registered.status.success(), "{}", text(&registered.stderr));
    text(&registered.stdout).trim().to_owned()
}

/// A house bot that waits on the ladder for two matches at once.
pub(crate) fn play(server: &Served, bot: &str, token: &str) -> Child {
    let mut command = server.command(&["bot", "greedy", "--token", token, "--queue", "quick-2:2"]);
    command.arg("--nonce-secret").arg(server.data.path().join(bot));
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

pub(crate) fn interrupt(mut bot: Child) {
    assert!(Command::new("kill").args(["-INT", &bot.id().to_string()]).status().unwrap().success());
    bot.wait().unwrap();
}

pub(crate) fn ladder(server: &Served) -> Value {
    let ladders = server.json(&["ladder", "list"]);
    let all = ladders.as_array().unwrap();
    all.iter().find(|ladder| ladder["name"] == LADDER).expect("it is one of the usual ladders").clone()
}

/// Waits until the ladder is so.
pub(crate) fn until(server: &Served, wanted: impl Fn(&Value) -> bool) -> Value {
    let mut ladders = (0..10_000).map(|_| ladder(server));
    ladders.find(|ladder| wanted(ladder)).expect("the ladder comes to it")
}

/// Interrupts the bots, and cancels what they left: that is not played on.
fn quiet(server: &Served, bots: impl IntoIterator<Item = Child>) {
    bots.into_iter().for_each(interrupt);
    for state in ["waiting-for-seats", "waiting-for-nonces", "playing"] {
        for info in server.json(&["match", "list", "--state", state]).as_array().unwrap() {
            server.output(&["match", "cancel", info["match_id"].as_str().unwrap()]);
        }
    }
    until(server, |ladder| ladder["live_matches"] == 0 && ladder["queued_bots"] == 0);
}

/// Two new bots play until the ladder has so many rated matches. Then nothing runs any more.
pub(crate) fn season(server: &Served, names: [&str; 2], matches: u64) {
    let bots = names.map(|bot| play(server, bot, &register(server, bot, &format!("owner-of-{bot}"))));
    until(server, |ladder| ladder["rated_matches"].as_u64().unwrap() >= matches);
    quiet(server, bots);
}

/// The standings, when the luck of all rated matches is computed.
fn standings(server: &Served) -> Value {
    let mut read = (0..10_000).map(|_| server.json(&["ladder", "standings", LADDER]));
    let known = |standing: &Value| standing["points"]["matches"] == standing["matches"];
    let all = read.find(|standings| standings.as_array().unwrap().iter().all(known));
    all.expect("the luck of the cards is computed")
}

/// Standings, results and head-to-heads tell of the same matches. The answer is the standings, without what passes with time, and the
/// results.
fn agreed(server: &Served) -> (Value, Value) {
    let mut standings = standings(server);
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
        let scores =
            results.as_array().unwrap().iter().flat_map(|result| result["seats"].as_array().unwrap());
        let scores = scores
            .filter(|seat| seat["bot"] == bot)
            .filter_map(|seat| seat["adjusted_score"]["score"].as_f64());
        let (mut count, mut sum) = (0.0, 0.0);
        scores.for_each(|score| (count, sum) = (count + 1.0, sum + score));
        let mean = standing["points"]["scored"]["mean"].as_f64().unwrap();
        assert!((mean - sum / count).abs() < 1e-6, "{mean}, not {sum} / {count}");
        let adjusted = &standing["luck_adjusted_rating"];
        assert_eq!(adjusted["matches"], standing["points"]["matches"], "{standing}");
        let shown = adjusted["mu"].as_f64().unwrap() - 3.0 * adjusted["sigma"].as_f64().unwrap();
        assert!((adjusted["shown"].as_f64().unwrap() - shown).abs() < 1e-9, "{standing}");
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

    // And the lists, of which ann is in every match.
    until(&server, |ladder| ladder["rated_matches"].as_u64().unwrap() >= 1);
    for list in [
        &["results", LADDER][..],
        &["history", LADDER, "--bot", "ann"],
        &["head-to-head", LADDER, "--bot", "ann"],
    ] {
        let args = [&["ladder"], list, &["--watch", "--format", "json"]].concat();
        let mut watch = server.command(&args).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(watch.stdout.take().unwrap()).lines();
        let told: Vec<Value> =
            lines.take(2).map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
        assert!(told.iter().all(|list| list[0].is_object()) && told[0] != told[1], "{list:?}: {told:?}");
        watch.kill().unwrap();
        watch.wait().unwrap();
    }

    until(&server, |ladder| ladder["rated_matches"].as_u64().unwrap() >= 12);
    quiet(&server, bots);
    let before = agreed(&server);
    let owners = |result: &Value| {
        let seats = result["seats"].as_array().unwrap().iter();
        seats.filter(|seat| seat["bot"] != "ann").count()
    };
    assert!(
        before.1.as_array().unwrap().iter().all(|result| owners(result) == 1),
        "bob and cyd are of one owner"
    );

    // Of bots that are not there is no list that is empty.
    let refused = server.output(&["ladder", "head-to-head", LADDER, "--bot", "ann", "--opponent", "nobody"]);
    assert_eq!(refused.status.code(), Some(1), "{}", text(&refused.stderr));
    assert!(text(&refused.stderr).contains("--opponent nobody: "), "{}", text(&refused.stderr));
    let met = server.output(&["ladder", "head-to-head", LADDER, "--bot", "bob", "--opponent", "cyd"]);
    assert_eq!((met.status.code(), text(&met.stderr).trim()), (Some(0), "no result meets the filter"));

    let counted = ladder(&server)["rated_matches"].clone();
    let season = server.json(&["ladder", "suspicions", LADDER]);
    assert_eq!((&season["matches"], &season["suspicion_count"]), (&counted, &0.into()), "{season}");
    let all = server.json(&["ladder", "suspicions", LADDER, "--all", "--before", "4"]);
    assert_eq!(
        (&all["first_result_number"], &all["left_out_to"]),
        (&season["first_result_number"], &0.into()),
        "{all}"
    );
    assert!(all["last_result_number"].as_u64().unwrap() < 4, "{all}");
    let (server, _) = Served::on(server.stop());
    until(&server, |ladder| ladder["rated_matches"] == counted);
    assert_eq!(agreed(&server), before);

    // Its journal is the server's as long as it runs.
    let refused = recompute(server.data.path(), &["--check"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("in use by another server"), "{}", text(&refused.stderr));
    ratings_are_recomputed(server.told_to_stop().1.path(), &counted);
}

fn recompute(data: &Path, args: &[&str]) -> Output {
    zetema().args(["ladder", "recompute", "--data"]).arg(data).args(args).output().unwrap()
}

/// The ratings that the server has stored are those of its results; one that is changed is found, and stored anew.
fn ratings_are_recomputed(data: &Path, rated_matches: &Value) {
    let check = |args: &[&str]| recompute(data, &[&["--check", "--ladder", LADDER], args].concat());
    let json = ["--format", "json"];
    let equal = parse(&check(&json));
    let ladder = &equal["ladders"][0];
    assert_eq!((&equal["differs"], &ladder["state"]), (&false.into(), &"compared".into()), "{equal}");
    assert_eq!((&ladder["rated_matches"], &ladder["differences"]), (rated_matches, &Value::Array(vec![])));
    assert_eq!(ladder["by_other_rules"], 0);
    let told = check(&[]);
    assert!(text(&told.stdout).contains("equal"), "{}", text(&told.stdout));
    assert!(text(&told.stderr).contains("results were looked at, up to number"), "{}", text(&told.stderr));

    // The last bit of one rating.
    let journal = rusqlite::Connection::open(data.join("journal.sqlite3")).unwrap();
    let mu: f64 =
        journal.query_row("SELECT mu FROM ladder_ratings WHERE bot = 'bob'", [], |row| row.get(0)).unwrap();
    let changed = f64::from_bits(mu.to_bits() ^ 1);
    assert_eq!(journal.execute("UPDATE ladder_ratings SET mu = ?1 WHERE bot = 'bob'", [changed]).unwrap(), 1);
    drop(journal);
    let exact = check(&["--exact"]);
    assert_eq!(exact.status.code(), Some(1), "{}", text(&exact.stderr));
    assert!(text(&exact.stderr).contains("same bits"), "{}", text(&exact.stderr));
    let found = check(&json);
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    // To the last digit, as numbers of JSON are read less exactly.
    let both = [changed, mu].map(|mu| format!("\"mu\": {mu},"));
    assert!(both.iter().all(|mu| text(&found.stdout).contains(mu)), "{both:?}: {}", text(&found.stdout));
    let found: Value = serde_json::from_slice(&found.stdout).unwrap();
    let difference = &found["ladders"][0]["differences"][0];
    assert_eq!((&found["differs"], &found["rounded"]), (&false.into(), &true.into()), "{found}");
    assert_eq!(difference["bot"], "bob", "{found}");
    assert_eq!(
        (&difference["rounding"], &difference["stored"]["matches"]),
        (&true.into(), &difference["recomputed"]["matches"])
    );
    let found = check(&[]);
    let printed = text(&found.stdout);
    for part in ["bob".to_owned(), mu.to_string(), changed.to_string()] {
        assert!(printed.contains(&part), "{part}: {printed}");
    }
    assert!(!printed.contains("ann"), "{printed}");
    assert!(text(&found.stderr).contains("but for rounding"), "{}", text(&found.stderr));

    // More than rounding.
    let journal = rusqlite::Connection::open(data.join("journal.sqlite3")).unwrap();
    let changed = [mu + 1e-8];
    assert_eq!(journal.execute("UPDATE ladder_ratings SET mu = ?1 WHERE bot = 'bob'", changed).unwrap(), 1);
    drop(journal);
    let found = check(&json);
    assert_eq!(found.status.code(), Some(1), "{}", text(&found.stderr));
    let found: Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!((&found["differs"], &found["rounded"]), (&true.into(), &false.into()), "{found}");

    let stored = recompute(data, &[]);
    assert!(stored.status.success(), "{}", text(&stored.stderr));
    assert_eq!(parse(&check(&json))["differs"], false);
    let unknown = recompute(data, &["--ladder", "nowhere"]);
    assert!(text(&unknown.stderr).contains("no ladder nowhere"), "{}", text(&unknown.stderr));
    let config = data.join("config.toml");
    let rating =
        "[[ladder]]\nname = \"quick-2\"\npreset = \"quick\"\nplayers = 2\nrating = { beta = 11.0 }\n";
    std::fs::write(&config, rating).unwrap();
    let other = parse(&check(&["--config", config.to_str().unwrap(), "--format", "json"]));
    assert_eq!(other["ladders"][0]["state"], "other-settings");
    let other = check(&["--config", config.to_str().unwrap()]);
    assert!(text(&other.stderr).contains("Nothing was compared"), "{}", text(&other.stderr));
    std::fs::write(&config, "[[ladder]]\nname = \"quick-2\"\npreset = \"sackson\"\nplayers = 2\n").unwrap();
    let config_of_other_rules = ["--config", config.to_str().unwrap()];
    let of_other_rules = parse(&check(&[&config_of_other_rules[..], &json].concat()));
    assert_eq!(&of_other_rules["ladders"][0]["by_other_rules"], rated_matches);
    let told = check(&config_of_other_rules);
    let warning = format!(
        "of the {rated_matches} rated results of quick-2, {rated_matches} were played by other rules"
    );
    assert!(text(&told.stderr).contains(&warning), "{}", text(&told.stderr));
    std::fs::write(&config, rating.replace("quick-2", "elsewhere")).unwrap();
    let args = ["--check", "--config", config.to_str().unwrap()];
    let unknown = recompute(data, &args);
    assert_eq!(unknown.status.code(), Some(1), "{}", text(&unknown.stderr));
    assert!(text(&unknown.stderr).contains("nothing was compared"), "{}", text(&unknown.stderr));
    let nothing = recompute(data, &args[1..]);
    assert!(text(&nothing.stderr).contains("no ratings to store"), "{}", text(&nothing.stderr));
    let nothing = recompute(&data.join("elsewhere"), &["--check"]);
    assert_eq!(nothing.status.code(), Some(1), "{}", text(&nothing.stderr));
}
