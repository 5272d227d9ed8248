//! `zetema play`: a person at a terminal.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use crate::server::{Served, text, tokens, zetema};

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
fn a_person_who_fixes_the_cards_is_not_told_that_nobody_could_choose_them() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--set", "target=20", "--bots", "random", "--seed", "1"];
    let output = play(&args, &"1\n".repeat(400), folder.path());
    let stdout = text(&output.stdout);
    assert!(output.status.success(), "{}\n{stdout}", text(&output.stderr));
    assert!(stdout.contains("The deals were fixed") && !stdout.contains("nobody"), "{stdout}");
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
