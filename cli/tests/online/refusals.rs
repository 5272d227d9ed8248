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
    // What a server says by its RPCs, it says for every client: here their commands follow.
    check(&["ladder", "standings", "nowhere"], "ListLadders names those that there are");
    check(&["ladder", "standings", "nowhere"], "`zetema ladder list`");
    check(&["match", "results", "--after", "x"], "(here WatchResults is `zetema match results`)");
    let owner = text(&server.output(&["token", "create", "--owner", "kennel"]).stdout);
    let owner = ["ladder", "suspicions", "quick-2", "--token", owner.trim()];
    check(&owner, "suspicions are for the admin alone, and the token is not the admin's: ");
    check(&[&owner[..], &["--all"]].concat(), "suspicions are for the admin alone");
    let created = server.json(&["match", "create"]);
    let id = created["match"]["match_id"].as_str().unwrap();
    check(&["record", "verify", id], "NOT_REVEALED");
}

#[test]
fn a_bot_that_is_not_there_is_an_error_and_an_empty_list_is_said_to_be_one() {
    let server = Served::start();
    for bot in ["rex", "tom"] {
        assert!(server.output(&["bot", "register", bot, "--owner", "kennel"]).status.success());
    }
    for (args, named) in [
        (&["ladder", "results", "quick-2", "--bot", "nobody"][..], "--bot nobody: "),
        (
            &["ladder", "results", "quick-2", "--bot", "rex", "--opponent", "nobody", "--format", "json"],
            "--opponent nobody: ",
        ),
        (&["ladder", "head-to-head", "quick-2", "--bot", "nobody"], "zetema ladder standings"),
        (&["ladder", "history", "quick-2", "--bot", "nobody"], "zetema ladder standings"),
        (&["ladder", "export", "results", "quick-2", "--bot", "nobody"], "--bot nobody: "),
        (
            &[
                "ladder",
                "export",
                "records",
                "quick-2",
                "--format",
                "jsonl",
                "--bot",
                "rex",
                "--opponent",
                "nobody",
            ],
            "--opponent nobody: ",
        ),
    ] {
        let refused = server.output(args);
        let stderr = text(&refused.stderr);
        assert_eq!((refused.status.code(), refused.stdout.len()), (Some(1), 0), "{args:?}: {stderr}");
        assert!(stderr.contains(named) && stderr.contains("NOT_FOUND"), "{args:?}: {stderr}");
    }
    let spans = [["2026-11-22", "2026-11-21"], ["2026-11-22", "2026-11-22"]];
    for ([since, before], command) in spans.into_iter().zip([
        &["ladder", "results", "quick-2"][..],
        &["ladder", "export", "results", "quick-2", "--format", "csv"],
    ]) {
        let refused = server.output(&[command, &["--since", since, "--before", before]].concat());
        let stderr = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("--since 2026-11-22") && stderr.contains("--before 2026-11-2"), "{stderr}");
    }
    let nothing = server.output(&["ladder", "results", "quick-2", "--bot", "rex", "--format", "json"]);
    assert_eq!((nothing.status.code(), text(&nothing.stdout).trim()), (Some(0), "[]"));
    assert_eq!(text(&nothing.stderr).trim(), "no result meets the filter");
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
