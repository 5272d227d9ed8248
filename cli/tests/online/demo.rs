//! The demo.

use std::collections::BTreeSet;
use std::fs;

use crate::server::{parse, text, zetema};

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
