//! A user of one owner plays against a bot of another that accepts challenges.

use std::process::{Child, Stdio};

use crate::server::{Served, parse, text, tokens, zetema};

/// The owner's token, and that of its bot.
fn owner_of(server: &Served, owner: &str, bot: &str) -> (String, String) {
    let secret = |args: &[&str]| server.json(args)["secret"].as_str().unwrap().to_owned();
    let token = secret(&["token", "create", "--owner", owner]);
    (token, secret(&["bot", "register", bot, "--owner", owner]))
}

fn start(server: &Served, token: &str, flags: &[&str]) -> Child {
    let mut command = server.command(&["bot", "greedy", "--token", token]);
    command.args(flags).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn a_user_plays_a_bot_of_another_that_accepts_challenges() {
    let server = Served::start();
    let (_, rex) = owner_of(&server, "kennel", "rex");
    let (shop, _) = owner_of(&server, "shop", "tom");
    let create = |seats: &[&str]| {
        let mut command = server.command(&["match", "create", "--preset", "fosdick", "--format", "json"]);
        command.args(seats).env("ZETEMA_TOKEN", &shop).output().unwrap()
    };
    let against_rex = ["--seat", "token", "--seat", "bot:rex"];
    let refused = create(&against_rex);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("CHALLENGE_REFUSED"), "{}", text(&refused.stderr));
    // One's own may be named whether it is there or not.
    assert_eq!(tokens(&parse(&create(&["--seat", "bot:tom"]))).len(), 1);

    let mut bot = start(&server, &rex, &["--challenges", "everyone:2"]);
    let created = (0..1_000).map(|_| create(&against_rex)).find(|created| created.status.success());
    let created = parse(&created.expect("the bot accepts it once it is there"));
    let played = server.play(&tokens(&created));
    assert!(played.status.success(), "{}", text(&played.stderr));
    let shown = server.json(&["match", "show", created["match"]["match_id"].as_str().unwrap()]);
    assert_eq!((&shown["state"], &shown["ladder"]), (&"finished".into(), &serde_json::Value::Null));
    bot.kill().unwrap();
    bot.wait().unwrap();
}

#[test]
fn what_is_no_challenge_and_no_seat_is_said_so() {
    for args in [
        &["bot", "greedy", "--token", "zts_0123", "--challenges", "everyone"][..],
        &["bot", "greedy", "--token", "ztb_0123", "--challenges", "all"],
        &["match", "create", "--seat", "rex"],
        &["match", "create", "--seat", "bot:"],
    ] {
        assert_eq!(zetema().args(args).output().unwrap().status.code(), Some(2), "{args:?}");
    }
    let server = Served::start();
    let too_many = server.output(&[
        "match",
        "create",
        "--players",
        "2",
        "--seat",
        "token",
        "--seat",
        "token",
        "--seat",
        "token",
    ]);
    assert_eq!(too_many.status.code(), Some(2), "{}", text(&too_many.stderr));
}
