//! The commands that need a server, against one that runs as a process of its own or inside the program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

fn zetema() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zetema"));
    for name in ["ZETEMA_TOKEN", "ZETEMA_SERVER", "ZETEMA_DATA", "ZETEMA_LOG"] {
        command.env_remove(name);
    }
    command
}

/// A `zetema serve` of its own, stopped when it is dropped.
struct Served {
    child: Child,
    url: String,
    data: TempDir,
}

impl Served {
    fn start() -> Self {
        Self::on(tempfile::tempdir().unwrap()).0
    }

    /// A server on this data folder, and the line in which it says that it serves.
    fn on(data: TempDir) -> (Self, String) {
        let mut child = zetema()
            .args(["serve", "--listen", "127.0.0.1:0", "--log", "warn", "--data"])
            .arg(data.path())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let line =
            lines.by_ref().find(|line| line.contains("serves at ")).expect("the server says where it serves");
        let url = line.split_once("serves at ").unwrap().1.split_once(';').unwrap().0.to_owned();
        // What else it says must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        (Self { child, url, data }, line)
    }

    /// A command against this server, with the admin token from its data folder.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = zetema();
        command.args(args).arg("--server").arg(&self.url);
        command.env("ZETEMA_DATA", self.data.path());
        command
    }

    fn output(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        let mut args = args.to_vec();
        args.extend(["--format", "json"]);
        parse(&self.output(&args))
    }

    /// Has the house bot take all these seats, and waits for their matches to end.
    fn play(&self, tokens: &[String]) -> Output {
        let mut command = self.command(&["bot", "greedy", "--format", "json"]);
        for token in tokens {
            command.args(["--token", token]);
        }
        command.output().unwrap()
    }
}

impl Served {
    /// Stops the server and gives its data folder.
    fn stop(mut self) -> TempDir {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::mem::replace(&mut self.data, tempfile::tempdir().unwrap())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The JSON on the stdout of a command that succeeded.
fn parse(output: &Output) -> Value {
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output.stdout)))
}

fn tokens(created: &Value) -> Vec<String> {
    let tokens = created["seat_tokens"].as_array().unwrap().iter();
    tokens.map(|token| token["token"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_server_says_when_its_folder_does_not_hold_the_admin_token() {
    let data = tempfile::tempdir().unwrap();
    let (first, said) = Served::on(data);
    assert!(said.contains("; the admin token is in "), "{said}");
    let kept = tempfile::tempdir().unwrap();
    for name in ["journal.sqlite3", "journal.sqlite3-wal"] {
        fs::copy(first.data.path().join(name), kept.path().join(name)).unwrap();
    }
    let (_second, said) = Served::on(kept);
    assert!(said.contains("does not hold any more"), "{said}");
}

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

#[test]
fn refusals_say_what_to_do_and_exit_with_1() {
    let server = Served::start();
    let check = |args: &[&str], says: &str| {
        let output = server.output(args);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {stderr}");
        assert!(stderr.contains(says) && stderr.starts_with("error: "), "{args:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{args:?}");
    };
    check(&["match", "show", "nothing"], "NOT_FOUND");
    check(&["match", "list", "--token", "nonsense"], "--token or ZETEMA_TOKEN");
    check(&["match", "create", "--reference", &"x".repeat(65)], "client_reference");
    check(&["record", "verify", "nothing"], "NOT_FOUND");
    check(&["match", "list", "--data", "nowhere"], "there is no admin token");
    let bot = server.output(&["bot", "greedy", "--token", "nonsense"]);
    assert_eq!(bot.status.code(), Some(1));
    assert!(text(&bot.stdout).contains("UNAUTHENTICATED"), "{}", text(&bot.stdout));
    let created = server.json(&["match", "create"]);
    let id = created["match"]["match_id"].as_str().unwrap();
    check(&["record", "verify", id], "NOT_REVEALED");
}

#[test]
fn a_demo_of_many_matches_gives_json_on_stdout_alone() {
    let records = tempfile::tempdir().unwrap();
    let output = zetema()
        .args(["demo", "--matches", "5", "--seed", "40", "--bots", "greedy,random", "--format", "json"])
        .arg("--records")
        .arg(records.path())
        .output()
        .unwrap();
    let demo = parse(&output);
    assert_eq!(demo["summary"]["matches"], 5);
    assert_eq!(demo["summary"]["verified"], 5);
    assert_eq!(demo["summary"]["seats"][0]["won"], 5, "greedy against random: {demo}");
    let played = demo["matches"].as_array().unwrap();
    let ids: BTreeSet<&str> = played.iter().map(|played| played["match_id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 5);
    let files: Vec<_> = fs::read_dir(records.path()).unwrap().map(|file| file.unwrap().path()).collect();
    let verified = zetema().args(["record", "verify"]).args(&files).output().unwrap();
    assert!(verified.status.success(), "{}", text(&verified.stderr));
    assert_eq!(files.len(), 5);
}

#[test]
fn a_demo_with_the_same_seed_plays_the_same_matches() {
    // With bots that choose at random: those choices follow from the seed too.
    let outcomes = || {
        let output = zetema()
            .args([
                "demo",
                "--matches",
                "2",
                "--seed",
                "9",
                "--preset",
                "quick",
                "--bots",
                "random",
                "--format",
                "json",
            ])
            .output()
            .unwrap();
        let demo = parse(&output);
        let played = demo["matches"].as_array().unwrap().iter();
        played.map(|played| played["outcome"].to_string()).collect::<Vec<String>>()
    };
    assert_eq!(outcomes(), outcomes());
}

#[test]
fn the_demo_without_a_terminal_tells_the_match_line_by_line() {
    let output = zetema().args(["demo", "--seed", "1", "--players", "3"]).output().unwrap();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{stderr}");
    for told in ["deal 0 begins", "seat 2 (greedy) discards", "wins", "verified", "record verify "] {
        assert!(stdout.contains(told), "{told}: {stdout}");
    }
    assert!(!stdout.contains('\u{1b}'), "colours without a terminal: {stdout}");
    // The record that it names verifies.
    let path = stdout.split("record verify ").nth(1).unwrap().lines().next().unwrap().trim();
    let verified = zetema().args(["record", "verify", path]).output().unwrap();
    assert!(verified.status.success(), "{}", text(&verified.stderr));
    fs::remove_file(path).unwrap();
}

#[test]
fn data_that_are_kept_serve_again() {
    let data = tempfile::tempdir().unwrap();
    let demo =
        zetema().args(["demo", "--matches", "2", "--format", "json", "--data"]).arg(data.path()).output();
    let demo = parse(&demo.unwrap());
    assert!(data.path().join("admin-token").exists());
    let again =
        zetema().args(["demo", "--matches", "1", "--format", "json", "--data"]).arg(data.path()).output();
    let again = parse(&again.unwrap());
    assert_ne!(demo["matches"][0]["match_id"], again["matches"][0]["match_id"]);
}

fn play(args: &[&str], typed: &str, folder: &Path) -> Output {
    let mut child = zetema()
        .arg("play")
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn a_person_plays_a_match_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let output = play(&["--set", "target=20", "--bots", "random"], &"1\n".repeat(400), folder.path());
    let stdout = text(&output.stdout);
    assert!(output.status.success(), "{}\n{stdout}", text(&output.stderr));
    assert!(stdout.contains("your hand (seat 0)") && stdout.contains("wins"), "{stdout}");
    assert!(stdout.contains("The deals were verified"), "{stdout}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn a_person_who_resigns_or_types_no_more_is_done() {
    let folder = tempfile::tempdir().unwrap();
    for typed in ["1\nq\ny\n", "1\nq\nn\n1\n", ""] {
        let output = play(&["--players", "3", "--seat", "1"], typed, folder.path());
        let stdout = text(&output.stdout);
        assert!(output.status.success(), "{typed:?}: {}\n{stdout}", text(&output.stderr));
        assert!(stdout.contains("You resigned."), "{typed:?}: {stdout}");
    }
}

#[test]
fn a_person_takes_a_seat_on_a_server() {
    let server = Served::start();
    let created = server.json(&["match", "create", "--set", "target=15"]);
    let tokens = tokens(&created);
    let mut bot =
        server.command(&["bot", "random", "--token", &tokens[0]]).stdout(Stdio::null()).spawn().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let args = ["--server", &server.url, "--token", &tokens[1]];
    let output = play(&args, &"1\n".repeat(400), folder.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("your hand (seat 1)"));
    assert!(bot.wait().unwrap().success());
}

/// Starts a house bot on a server, and waits until it has joined this seat of this match.
fn joined_bot(server: &Served, args: &[&str], id: &str, seat: usize) -> Child {
    let mut command = server.command(&["bot", "greedy", "--format", "json"]);
    let bot = command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while server.json(&["match", "show", id])["seats"][seat]["state"] != "joined" {}
    bot
}

#[test]
fn a_bot_that_another_program_evicts_exits_with_3_and_does_not_come_back() {
    let server = Served::start();
    let created = server.json(&["match", "create", "--set", "target=15"]);
    let (id, tokens) = (created["match"]["match_id"].as_str().unwrap(), tokens(&created));
    let evicted = joined_bot(&server, &["--token", &tokens[0]], id, 0);
    // The second does not know the first one's nonce: it has to wait for the deal, or there would be none.
    let mut second = server.command(&["bot", "greedy", "--format", "json", "--token", &tokens[0]]);
    let second = second.stdout(Stdio::piped()).spawn().unwrap();
    let mut opponent = server.command(&["play", "--token", &tokens[1]]);
    let mut opponent = opponent.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let output = evicted.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("another program took 1 of 1 seats"), "{}", text(&output.stderr));
    let seat: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&seat["end"], &seat["match_id"]), (&"superseded".into(), &id.into()));
    opponent.stdin.take().unwrap().write_all("1\n".repeat(400).as_bytes()).unwrap();
    assert!(opponent.wait().unwrap().success());
    let seat = parse(&second.wait_with_output().unwrap());
    assert_eq!((&seat["end"], &seat["verified"]), (&"result".into(), &true.into()), "{seat}");
}

#[test]
fn a_bot_that_died_before_the_deal_sends_the_nonce_that_it_had_promised() {
    let server = Served::start();
    let created = server.json(&["match", "create", "--set", "target=20"]);
    let (id, tokens) = (created["match"]["match_id"].as_str().unwrap(), tokens(&created));
    let secret = server.data.path().join("nonce-secret");
    let args = ["--token", &tokens[0], "--nonce-secret", secret.to_str().unwrap()];
    let mut died = joined_bot(&server, &args, id, 0);
    died.kill().unwrap();
    died.wait().unwrap();
    let mut again = server.command(&["bot", "greedy", "--format", "json"]);
    let again = again.args(args).stdout(Stdio::piped()).spawn().unwrap();
    let opponent = server.play(&tokens[1..]);
    assert!(opponent.status.success(), "{}", text(&opponent.stderr));
    let seat = parse(&again.wait_with_output().unwrap());
    assert_eq!((&seat["end"], &seat["verified"]), (&"result".into(), &true.into()), "{seat}");
    assert_eq!(seat["faults"], serde_json::json!([]));
}

#[test]
fn a_bots_token_is_given_alone() {
    let output = zetema().args(["bot", "greedy", "--token", "ztb_1,zts_1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("a bot's token and others"), "{}", text(&output.stderr));
}

#[test]
fn tokens_are_made_listed_and_revoked() {
    let server = Served::start();
    let made = server.output(&["token", "create", "--owner", "shop", "--label", "backend"]);
    assert!(made.status.success(), "{made:?}");
    let secret = text(&made.stdout);
    let secret = secret.strip_suffix('\n').expect("the secret alone");
    assert!(secret.starts_with("zto_") && secret.bytes().all(|byte| byte.is_ascii_graphic()), "{secret}");
    let bot = server.json(&["token", "create", "--bot", "greedy", "--expires-in-days", "90"]);
    assert!(bot["secret"].as_str().unwrap().starts_with("ztb_"));
    assert_eq!(
        (bot["token"]["scope"].as_str(), bot["token"]["account"].as_str()),
        (Some("bot"), Some("greedy"))
    );
    assert!(bot["token"]["expire_time"].is_string());

    let listed = server.json(&["token", "list", "--owner", "shop"]);
    let [token] = listed.as_array().unwrap().as_slice() else { panic!("{listed}") };
    assert_eq!((&token["scope"], &token["label"]), (&"owner".into(), &"backend".into()));
    let all = server.output(&["token", "list", "--void"]);
    assert!(!text(&all.stdout).contains(secret), "a list shows no secret");

    let as_owner = |args: &[&str]| server.command(args).env("ZETEMA_TOKEN", secret).output().unwrap();
    assert!(as_owner(&["match", "create"]).status.success());
    let refused = as_owner(&["token", "list"]);
    assert!(text(&refused.stderr).contains("UNAUTHENTICATED"));

    let id = token["token_id"].as_str().unwrap();
    let replaced = server.json(&["token", "create", "--replaces", id]);
    assert_eq!(replaced["token"]["account"], "shop");
    assert!(!as_owner(&["match", "list"]).status.success());
    let id = replaced["token"]["token_id"].as_str().unwrap();
    let revoked = server.json(&["token", "revoke", id]);
    assert!(revoked["revoke_time"].is_string(), "{revoked}");
    assert_eq!(server.json(&["token", "revoke", id]), revoked);
    assert_eq!(server.json(&["token", "list", "--owner", "shop"]), Value::Array(Vec::new()));
    assert_eq!(server.json(&["token", "list", "--owner", "shop", "--void"]).as_array().unwrap().len(), 2);
}

#[test]
fn what_others_wrote_gives_a_terminal_no_orders() {
    let server = Served::start();
    let (orders, shown) = ("a\u{1b}[2J\nb", "a\\u{1b}[2J\\nb");
    let created = server.json(&["match", "create", "--reference", orders]);
    let id = created["match"]["match_id"].as_str().unwrap();
    assert!(server.output(&["match", "cancel", id]).status.success());
    assert!(server.output(&["token", "create", "--owner", "shop", "--label", orders]).status.success());
    for args in [
        &["match", "list"][..],
        &["match", "show", id],
        &["match", "results"],
        &["record", "show", id],
        &["token", "list"],
    ] {
        let stdout = text(&server.output(args).stdout);
        assert!(stdout.contains(shown) && !stdout.contains('\u{1b}'), "{args:?}: {stdout}");
    }
    assert_eq!(created["match"]["client_reference"], orders, "JSON has its own escapes");
}

#[test]
fn a_token_needs_one_scope_and_one_expiry() {
    for args in [
        &["token", "create"][..],
        &["token", "create", "--admin", "--owner", "shop"],
        &["token", "create", "--bot", "b", "--expires", "tomorrow"],
        &["token", "create", "--bot", "b", "--expires-in-days", "0"],
        // Sent again it would ask for another time, and be refused.
        &["token", "create", "--bot", "b", "--expires-in-days", "9", "--request-id", "a"],
    ] {
        assert_eq!(zetema().args(args).output().unwrap().status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn a_lost_admin_token_is_replaced_on_a_stopped_server() {
    let server = Served::start();
    let file = server.data.path().join("admin-token");
    let old = fs::read_to_string(&file).unwrap();
    let owner = server.json(&["token", "create", "--owner", "shop"])["secret"].as_str().unwrap().to_owned();
    let reset = |data: &Path| zetema().args(["token", "reset-admin", "--data"]).arg(data).output().unwrap();
    let refused = reset(server.data.path());
    assert!(text(&refused.stderr).contains("in use by another server"));
    let nothing = tempfile::tempdir().unwrap();
    let refused = reset(nothing.path());
    assert!(text(&refused.stderr).contains("no server's data folder"));
    assert_eq!(fs::read_dir(nothing.path()).unwrap().count(), 0, "nothing was made there");

    let data = server.stop();
    let done = reset(data.path());
    assert!(done.status.success() && done.stdout.is_empty(), "{done:?}");
    let new = fs::read_to_string(&file).unwrap();
    assert!(new != old && !text(&done.stderr).contains(new.trim()));
    let (server, _) = Served::on(data);
    let list = |token: &str| server.command(&["token", "list"]).env("ZETEMA_TOKEN", token).output().unwrap();
    assert!(list(new.trim()).status.success());
    assert!(!list(old.trim()).status.success());
    let list = server.command(&["match", "list"]).env("ZETEMA_TOKEN", owner).output().unwrap();
    assert!(list.status.success(), "{list:?}");
}
