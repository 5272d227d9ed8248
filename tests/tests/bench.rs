//! The benchmark works: all rows once, so small that no figure means anything.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a failed expectation is the test's failure")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;
use zetema_tests::bench::{Machine, ROWS, Report, SCHEMA, in_turn};
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
    let report: Report = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
    assert_eq!((report.schema.as_str(), report.judged), (SCHEMA, false));
    let rows: Vec<&str> = report.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(rows, ROWS.iter().map(|row| row.name).collect::<Vec<_>>());
    for row in &report.rows {
        // A few idle streams or matches take less than what the allocator may give back meanwhile.
        let is_memory = row.name.starts_with("idle-");
        assert!(row.value.is_finite() && (row.value > 0.0 || is_memory), "{row:?}");
    }
    let page = fs::read_to_string(markdown).unwrap();
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
        let report: Report = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
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
    check(&["--row", "few", "--against", "/bin/true"], &["few", "in turn", "play-by-connection"]);
    check(&["--row", "rules", "--against", missing], &[missing]);
    check(&["--row", "rules", "--smoke", "--against", "/bin/true"], &["/bin/true", "has measured nothing"]);
    check(&["--row", "rules", "--json", "x", "--against", "/bin/true"], &["--json"]);
}

/// A program that stands for a build of the benchmark: it does this, with `$report` for the file of its report.
fn program(folder: &Path, name: &str, does: &str) -> PathBuf {
    let file = folder.join(name);
    let report = "while [ \"$1\" != --json ]; do shift; done\nreport=$2";
    fs::write(&file, format!("#!/bin/sh\n{report}\n{does}\n")).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o700)).unwrap();
    file
}

#[tokio::test]
async fn one_stands_still_while_the_other_runs() {
    const MARKS: usize = 200;
    let folder = tempfile::tempdir().unwrap();
    let report = Report {
        schema: SCHEMA.to_owned(),
        began: String::new(),
        machine: Machine::default(),
        rounds: 1,
        seconds: 1.0,
        warm_up: 0.0,
        judged: false,
        wide_open: String::new(),
        rows: Vec::new(),
        subjects: Vec::new(),
    };
    let report = serde_json::to_string(&report).unwrap();
    let marks = folder.path().join("marks");
    let program = |name: &str| {
        // Each mark is a process of its own, so that a turn has many and not all of them.
        let mark = format!("/bin/sh -c 'echo {name} >> {}'", marks.display());
        let does = format!("for _ in $(seq {MARKS}); do {mark}; done\necho '{report}' > $report");
        program(folder.path(), name, &does)
    };
    let (this, that) = (program("this"), program("that"));
    let reports = in_turn([&this, &that], &[], folder.path(), Duration::from_secs(1)).await.unwrap();
    assert_eq!(reports.map(|report| report.rounds), [1, 1]);
    let marks = fs::read_to_string(marks).unwrap();
    let marks: Vec<&str> = marks.lines().collect();
    assert_eq!(marks.len(), 2 * MARKS);
    // Side by side they would change with every second or third mark.
    let changes = marks.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!((1..MARKS / 2).contains(&changes), "{changes} changes: {marks:?}");
}

#[tokio::test]
async fn when_one_measures_nothing_the_other_is_killed_and_nothing_is_left() {
    let [folder, data] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let process = folder.path().join("process");
    let long = program(folder.path(), "long", &format!("echo $$ > {}\nexec sleep 1000", process.display()));
    let broken = program(folder.path(), "broken", "echo 'no such row' >&2\nexit 1");
    let ended = in_turn([&long, &broken], &[], data.path(), Duration::from_secs(1)).await;
    let told = format!("{:#}", ended.unwrap_err());
    assert!(told.contains("broken has measured nothing: no such row"), "{told}");
    assert_eq!(fs::read_dir(data.path()).unwrap().count(), 0);
    let process: i32 = fs::read_to_string(process).unwrap().trim().parse().unwrap();
    assert_eq!(kill(Pid::from_raw(process), None), Err(Errno::ESRCH));
}
