//! Calls that can't be what was meant, and what is said of them.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// The program in this folder, for which no variable of its own is set.
fn zetema(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zetema"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("ZETEMA_")) {
        command.env_remove(name);
    }
    command.current_dir(folder).args(args);
    command
}

/// Expects this exit code, nothing on stdout, and gives what is said.
fn said(output: &Output, code: i32) -> String {
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    said
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn a_wrong_value_shows_the_usage_of_the_command_that_was_called() {
    let folder = folder();
    let check = |args: &[&str], usage: &str| {
        let said = said(&zetema(folder.path(), args).output().unwrap(), 2);
        assert!(said.contains(&format!("\nUsage: {usage} [OPTIONS]")), "{args:?}: {said}");
    };
    check(&["rules", "show", "victorian", "--players", "5"], "zetema rules show");
    check(&["match", "create", "--idle-timeout", "5"], "zetema match create");
    check(&["demo", "--bots", "greedy,greedy,random"], "zetema demo");
    check(&["serve", "--check-config", "--log", "loud=louder"], "zetema serve");
}

#[test]
fn an_empty_variable_counts_as_none() {
    let folder = folder();
    let check = |variable: &str, args: &[&str], code: i32, says: &str| {
        let said = said(&zetema(folder.path(), args).env(variable, "").output().unwrap(), code);
        assert!(said.contains(says), "{variable} {args:?}: {said}");
    };
    let list = ["match", "list", "--server", "http://127.0.0.1:1"];
    for variable in ["ZETEMA_DATA", "ZETEMA_TOKEN", "ZETEMA_CA", "ZETEMA_CLIENT_CERT", "ZETEMA_SERVER_NAME"] {
        check(variable, &list, 1, "no server answers at http://127.0.0.1:1");
    }
    // They are in the folder of every day then.
    check("ZETEMA_DATA", &["journal", "check"], 1, "zetema-data");
    check("ZETEMA_DATA", &["journal", "repair", "--accept-loss"], 1, "zetema-data");
    check("ZETEMA_DATA", &["backup", "--to", "copy"], 1, "zetema-data");
    check("ZETEMA_DATA", &["token", "reset-admin"], 1, "zetema-data");
    // A load starts its own server.
    check("ZETEMA_SERVER", &["load", "--token", "x"], 2, "leave --token out");
    check("ZETEMA_TOKEN", &["bot", "greedy"], 2, "required arguments were not provided");
    check("ZETEMA_TOKEN", &["match", "faults"], 2, "required arguments were not provided");
    // What is a setting of the server is named as what it was given by.
    check("ZETEMA_DATA", &["serve", "--check-config"], 2, "the variable ZETEMA_DATA");
    let checked =
        zetema(folder.path(), &["serve", "--check-config"]).env("ZETEMA_CONFIG", "").output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}

#[test]
fn a_list_of_nothing_is_refused() {
    let folder = folder();
    for list in [
        &["match", "list"][..],
        &["match", "faults", "--token", "t"],
        &["bot", "list"],
        &["bot", "faults", "rex"],
        &["token", "list"],
        &["webhook", "list"],
        &["webhook", "dead-letters", "id"],
        &["ladder", "standings", "quick-2"],
        &["ladder", "results", "quick-2"],
        &["ladder", "history", "quick-2", "--bot", "rex"],
        &["ladder", "head-to-head", "quick-2", "--bot", "rex"],
        &["ladder", "suspicions", "quick-2"],
    ] {
        let said = said(&zetema(folder.path(), list).args(["--limit", "0"]).output().unwrap(), 2);
        assert!(said.contains("invalid value '0' for '--limit <N>'"), "{list:?}: {said}");
    }
}

#[test]
fn a_number_from_one_is_asked_for_in_the_words_of_the_program() {
    let folder = folder();
    let check = |args: &[&str], says: &str| {
        let said = said(&zetema(folder.path(), args).output().unwrap(), 2);
        assert!(said.contains(says), "{args:?}: {said}");
    };
    for flag in ["--matches", "--connections", "--generators", "--bots", "--owners", "--places"] {
        check(&["load", flag, "0"], "give at least 1");
        check(&["load", flag, "few"], "give a number from 1 to ");
    }
    check(&["load", "--places", "65536"], "give a number from 1 to 65535");
    check(&["top", "--interval", "0"], "give at least 1");
    check(&["top", "--count", "few"], "give a number from 1 to 4294967295");
}
