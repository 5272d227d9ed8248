//! The benchmark works: all rows once, so small that no figure means anything.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a failed expectation is the test's failure")]

use std::process::{Command, Output};

use zetema_tests::bench::{ROWS, Report, SCHEMA};
use zetema_tests::harness::built;

/// Runs the program, which starts itself anew: nobody may have it built while it runs.
fn bench(args: &[&str]) -> Output {
    Command::new(built("bench")).args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_smoke_run_measures_every_row_and_judges_none() {
    let folder = tempfile::tempdir().unwrap();
    let [json, markdown] = ["bench.json", "bench.md"].map(|name| folder.path().join(name));
    let [json_flag, markdown_flag] = [&json, &markdown].map(|path| path.to_str().unwrap());
    let program = built("zetema").to_str().unwrap();
    let ran = bench(&["--smoke", "--program", program, "--json", json_flag, "--markdown", markdown_flag]);
    assert!(ran.status.success(), "{}{}", text(&ran.stdout), text(&ran.stderr));
    let report: Report = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    assert_eq!((report.schema.as_str(), report.judged), (SCHEMA, false));
    let rows: Vec<&str> = report.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(rows, ROWS.iter().map(|row| row.name).collect::<Vec<_>>());
    for row in &report.rows {
        // A few idle streams or matches take less than what the allocator may give back meanwhile.
        let is_memory = row.name.starts_with("idle-");
        assert!(row.value.is_finite() && (row.value > 0.0 || is_memory), "{row:?}");
    }
    let page = std::fs::read_to_string(markdown).unwrap();
    for row in ROWS {
        assert!(page.contains(&format!("| `{}` |", row.name)), "{} is not on the page", row.name);
        assert!(text(&ran.stdout).contains(row.name), "{} is not in the table", row.name);
    }
}

#[test]
fn an_unknown_row_is_an_error_that_lists_the_rows() {
    let ran = bench(&["--smoke", "--row", "plya"]);
    let told = text(&ran.stderr);
    assert_eq!(ran.status.code(), Some(1));
    assert!(told.contains("\"plya\"") && ROWS.iter().all(|row| told.contains(row.name)), "{told}");
}

#[test]
fn the_rows_are_named() {
    let ran = bench(&["--list"]);
    assert!(ran.status.success());
    assert!(ROWS.iter().all(|row| text(&ran.stdout).contains(row.what)), "{}", text(&ran.stdout));
}

#[test]
fn what_is_planted_is_measured_beside_a_server_without() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("bench.json");
    for (planted, words) in [("sleep", "slept"), ("wake", "a wake"), ("lock", "a lock")] {
        let flags = ["--smoke", "--row", "play", "--planted", planted, "--json", json.to_str().unwrap()];
        let ran = bench(&flags);
        assert!(ran.status.success(), "{}{}", text(&ran.stdout), text(&ran.stderr));
        let report: Report = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
        let of_planted: Vec<bool> = report.subjects.iter().map(|found| found.name.contains(words)).collect();
        assert_eq!(of_planted, [false, true], "{:?}", report.subjects);
    }
}

#[test]
fn two_builds_are_measured_in_turn_and_compared() {
    let that = built("bench").to_str().unwrap();
    let ran = bench(&["--smoke", "--row", "play", "--row", "rules", "--against", that]);
    let told = text(&ran.stdout);
    assert!(ran.status.success(), "{told}{}", text(&ran.stderr));
    for row in ["play", "rules"] {
        let found = told.lines().find(|line| line.split_whitespace().next() == Some(row));
        let ratio: f64 = found.unwrap().split_whitespace().nth(3).unwrap().parse().unwrap();
        assert!(ratio > 0.0, "{told}");
    }
}

#[test]
fn what_can_not_be_measured_in_turn_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let check = |args: &[&str], words: &[&str]| {
        let ran = bench(args);
        let told = text(&ran.stderr);
        assert!(!ran.status.success(), "{args:?}");
        assert!(words.iter().all(|word| told.contains(word)), "{args:?}: {told}");
    };
    let missing = missing.to_str().unwrap();
    check(&["--row", "few", "--against", "/bin/true"], &["few", "stands still"]);
    check(&["--row", "rules", "--against", missing], &[missing]);
    check(&["--row", "rules", "--smoke", "--against", "/bin/true"], &["/bin/true", "has measured nothing"]);
    check(&["--row", "rules", "--json", "x", "--against", "/bin/true"], &["--json"]);
}
