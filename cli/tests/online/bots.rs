//! `zetema bot`.

use std::io::Write;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::server::{Served, parse, text, tokens, zetema};

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
