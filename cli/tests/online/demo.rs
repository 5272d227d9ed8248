//! The demo.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

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
    let folder = tempfile::tempdir().unwrap();
    // Another user's, as on a machine of several.
    fs::write(folder.path().join("zetema-demo"), "").unwrap();
    let mut demo = zetema();
    let output =
        demo.args(["demo", "--seed", "1", "--players", "3"]).env("TMPDIR", folder.path()).output().unwrap();
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
}

#[test]
fn what_a_demo_verified_is_told_also_where_its_record_can_t_be_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut demo = zetema();
    demo.args(["demo", "--preset", "quick", "--data"]).arg(folder.path().join("data"));
    let output = demo.env("TMPDIR", folder.path().join("none")).output().unwrap();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stdout.contains("verified") && stdout.contains("sha256sum"), "{stdout}");
    assert!(stderr.contains("give --records DIR"), "{stderr}");
}

#[test]
fn a_folder_that_can_t_take_the_records_is_told_before_the_first_match() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for matches in ["1", "2"] {
        let output =
            zetema().args(["demo", "--matches", matches, "--records"]).arg(file.path()).output().unwrap();
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains("--records ") && stderr.contains("give a folder"), "{stderr}");
        assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
    }
}

#[test]
fn a_demo_that_is_told_to_stop_prints_what_is_finished_as_whole_json() {
    let records = tempfile::tempdir().unwrap();
    let mut demo = zetema();
    demo.args(["demo", "--matches", "1000000", "--preset", "quick", "--format", "json", "--records"]);
    let demo = demo.arg(records.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while fs::read_dir(records.path()).unwrap().next().is_none() {
        std::thread::yield_now();
    }
    assert!(Command::new("kill").arg(demo.id().to_string()).status().unwrap().success());
    let output = demo.wait_with_output().unwrap();
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("stopped before the end: "), "{stderr}");
    let demo: Value = serde_json::from_slice(&output.stdout).unwrap();
    let finished = demo["matches"].as_array().unwrap().len();
    assert!(finished > 0 && demo["summary"]["matches"] == finished, "{demo}");
    assert_eq!(demo["summary"]["verified"], finished, "{demo}");
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

fn ladder(matches: &str, data: &Path) -> Value {
    let mut demo = zetema();
    demo.args(["demo", "--ladder", "--matches", matches, "--format", "json", "--data"]).arg(data);
    parse(&demo.output().unwrap())
}

/// The standings, which tell of all rated matches.
fn standings(demo: &Value) -> Vec<(String, u64)> {
    let standings = demo["standings"].as_array().unwrap().iter();
    let standings: Vec<(String, u64)> = standings
        .map(|bot| (bot["bot"].as_str().unwrap().to_owned(), bot["matches"].as_u64().unwrap()))
        .collect();
    let of_two: u64 = standings.iter().map(|(_, matches)| matches).sum();
    assert_eq!(demo["rated_matches"], of_two / 2, "{demo}");
    assert_eq!(demo["unfinished"], 0, "{demo}");
    assert_eq!(demo["failures"], serde_json::json!([]), "{demo}");
    standings
}

#[test]
fn a_ladder_of_six_bots_goes_on_where_it_was() {
    let data = tempfile::tempdir().unwrap();
    let first = ladder("6", data.path());
    let (played, bots) = (first["matches"].as_u64().unwrap(), standings(&first));
    assert!(played >= 6, "{first}");
    assert_eq!((&first["rated_matches"], bots.len()), (&first["matches"], 6), "{first}");
    let again = ladder("3", data.path());
    let more = again["matches"].as_u64().unwrap();
    assert!(more >= 3, "{again}");
    assert_eq!(again["rated_matches"], played + more);
    let later = standings(&again);
    assert_eq!(later.len(), 6);
    for (bot, matches) in bots {
        let (_, now) = later.iter().find(|(name, _)| *name == bot).unwrap();
        assert!(*now >= matches, "{bot}: {again}");
    }
    let mut recompute = zetema();
    recompute.args(["ladder", "recompute", "--check", "--format", "json", "--data"]).arg(data.path());
    let recomputed = parse(&recompute.output().unwrap());
    let ladders = recomputed["ladders"].as_array().unwrap();
    let of_demo = ladders.iter().find(|ladder| ladder["ladder"] == "quick-2").unwrap();
    assert_eq!(
        (&recomputed["differs"], &of_demo["state"]),
        (&false.into(), &"compared".into()),
        "{recomputed}"
    );
    assert_eq!(of_demo["rated_matches"], again["rated_matches"], "{recomputed}");
}

#[test]
fn a_ladder_that_is_interrupted_ends_with_its_standings() {
    let mut demo = zetema();
    demo.args(["demo", "--ladder"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut demo = demo.spawn().unwrap();
    let mut told = BufReader::new(demo.stderr.take().unwrap()).lines().map_while(Result::ok);
    let line = told.find(|line| line.contains("on the ladder quick-2 at ")).unwrap();
    let url = line.rsplit_once(' ').unwrap().1.to_owned();
    std::thread::spawn(move || told.for_each(drop));

    // When some matches are rated.
    let mut watch = zetema();
    watch.args(["ladder", "standings", "quick-2", "--watch", "--format", "json", "--server", &url]);
    let mut watch = watch.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(watch.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut standings = lines.map(|line| serde_json::from_str::<Value>(&line).unwrap()["standings"].clone());
    assert!(standings.any(|standings| !standings.as_array().unwrap().is_empty()));
    watch.kill().unwrap();
    watch.wait().unwrap();

    assert!(Command::new("kill").args(["-INT", &demo.id().to_string()]).status().unwrap().success());
    let output = demo.wait_with_output().unwrap();
    let stdout = text(&output.stdout);
    assert!(output.status.success(), "{}: {stdout}", output.status);
    for told in ["greedy", "searcher", " rated match", "rating"] {
        assert!(stdout.contains(told), "{told}: {stdout}");
    }
    assert!(!stdout.contains('\u{1b}') && !stdout.contains("not over"), "{stdout}");
}

#[test]
fn a_ladder_that_loses_its_bots_ends_and_says_why() {
    let data = tempfile::tempdir().unwrap();
    let mut demo = zetema();
    demo.args(["demo", "--ladder", "--data"]).arg(data.path()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut demo = demo.spawn().unwrap();
    let mut told = BufReader::new(demo.stderr.take().unwrap()).lines().map_while(Result::ok);
    let line = told.find(|line| line.contains("on the ladder quick-2 at ")).unwrap();
    let url = line.rsplit_once(' ').unwrap().1;
    let command = |args: &[&str]| {
        let mut command = zetema();
        command.args(args).args(["--server", url]).env("ZETEMA_DATA", data.path());
        command.output().unwrap()
    };
    let bots = parse(&command(&["bot", "list", "--format", "json"]));
    let bots: Vec<&str> = bots.as_array().unwrap().iter().map(|bot| bot["name"].as_str().unwrap()).collect();
    // All but one have another token then, which nobody plays by.
    for bot in &bots[1..] {
        command(&["bot", "rotate", bot]);
    }
    let why = told.find(|line| line.contains("fewer bots are left than a match needs")).unwrap();
    assert!(bots[1..].iter().all(|bot| why.contains(&format!("{bot}: "))), "{why}");
    assert_eq!(demo.wait().unwrap().code(), Some(1));
}
