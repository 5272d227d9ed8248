//! What is refused, and how what others wrote is shown.

use crate::server::{Served, text};

#[test]
fn refusals_say_what_to_do() {
    let server = Served::start();
    let check = |args: &[&str], says: &str| {
        let output = server.output(args);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {stderr}");
        assert!(stderr.contains(says) && stderr.starts_with("error: "), "{args:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{args:?}");
    };
    check(&["match", "show", "nothing"], "`zetema match list` shows the matches");
    check(&["token", "revoke", "nothing"], "`zetema token list --void` shows the ids of all tokens");
    check(&["token", "create", "--replaces", "nothing"], "`zetema token list --void`");
    check(&["match", "list", "--token", "nonsense"], "--token or ZETEMA_TOKEN");
    check(&["match", "create", "--reference", &"x".repeat(65)], "client_reference");
    check(&["record", "verify", "nothing"], "NOT_FOUND");
    check(&["match", "list", "--data", "nowhere"], "there is no admin token");
    let bot = server.output(&["bot", "greedy", "--token", "nonsense"]);
    assert_eq!(bot.status.code(), Some(4));
    assert!(text(&bot.stdout).contains("UNAUTHENTICATED"), "{}", text(&bot.stdout));
    let created = server.json(&["match", "create"]);
    let id = created["match"]["match_id"].as_str().unwrap();
    check(&["record", "verify", id], "NOT_REVEALED");
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
