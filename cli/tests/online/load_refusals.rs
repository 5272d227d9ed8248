//! What `zetema load` does not begin with.

use crate::server::{text, zetema};

#[test]
fn what_a_load_can_t_do_is_said_before_it_begins() {
    let check = |args: &[&str], said: &str| {
        let output = zetema().arg("load").args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(text(&output.stderr).contains(said), "{args:?}: {}", text(&output.stderr));
    };
    check(&["--rate", "50"], "50matches/s");
    check(&["--think", "soon"], "exponential:200ms");
    check(&["--duration", "5"], "500ms");
    check(&["--duration", "0s"], "give it a duration");
    check(&["--rate", "5matches/s", "--matches", "7"], "leave");
    check(&["--rate", "5actions/s", "--think", "5s"], "leave out think (--think)");
    check(&["--ca", "ca.pem"], "--server");
    check(&["--token", "x"], "leave --token out");
    check(&["--data", "/nonexistent"], "leave --data out");
    check(&["--client", "sdk", "--via", "unary"], "lean");
    check(&["--scenario", "x.toml", "--matches", "3"], "--matches");
    check(&["--find-limit", "--rate", "5actions/s"], "--slo");
    check(&["--resolution", "5%"], "--find-limit");
    check(&["--bots", "5"], "--ladder");
    for flag in ["--bots", "--owners", "--places"] {
        check(&["--matches", "5", flag, "2"], flag);
        check(&["--scenario", "x.toml", flag, "2"], flag);
        check(&["--join", "127.0.0.1:1", "--server", "http://127.0.0.1:1", flag, "2"], flag);
    }
    check(&["--ladder", "l", "--matches", "5"], "--matches");
    check(&["--ladder", "l", "--bots", "2", "--owners", "3"], "as many or fewer");
    check(&["--ladder", "l", "--bots", "6001"], "give 1 to 6000");
}

#[test]
fn a_server_that_is_not_there_is_told_as_by_any_command() {
    for load in [&["--matches", "2"][..], &["--ladder", "quick-2"], &["--join", "127.0.0.1:1"]] {
        let mut command = zetema();
        command.args(["load", "--server", "http://127.0.0.1:1", "--token", "t"]).args(load);
        let output = command.output().unwrap();
        let (said, expected) =
            (text(&output.stderr), "no server answers at http://127.0.0.1:1: start one by");
        assert!(output.status.code() == Some(1) && said.contains(expected), "{load:?}: {said}");
    }
}

#[test]
fn what_can_t_be_written_in_the_end_is_told_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "before").unwrap();
    let check = |flag: &str, path: &std::path::Path, says: &str| {
        for load in [&["--matches", "2"][..], &["--ladder", "quick-2"]] {
            let mut command = zetema();
            command.args(["load", "--warmup", "0s", "--duration", "1s"]).args(load).arg(flag).arg(path);
            let output = command.output().unwrap();
            let said = text(&output.stderr);
            assert!(output.status.code() == Some(1) && said.contains(says), "{load:?}: {said}");
            assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
        }
    };
    check("--html", &folder.path().join("none").join("page.html"), "give a file in a folder that is there");
    check("--html", folder.path(), "give a file in a folder that is there");
    check("--hdr", &file, "give a folder that you may write to");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "before");
}
