//! `zetema load`.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::server::{Served, parse, text, zetema};

/// Short enough that matches end within the time.
const SHORT: [&str; 8] = ["--set", "target=20", "--warmup", "0s", "--duration", "3s", "--format", "json"];

/// The same for bots that wait for a match before they play it, on a machine that may be busy.
const ON_A_LADDER: [&str; 6] = ["--warmup", "0s", "--duration", "10s", "--format", "json"];

/// What was measured, of a run without a fault.
fn figures(report: &Value) -> (u64, u64, u64) {
    let summary = &report["summary"];
    assert_eq!(report["outcome"]["faults"]["all"], 0, "{report}");
    assert_eq!(report["passed"], true, "{report}");
    let counts = &summary["counts"];
    let count = |name: &str| counts[name].as_u64().unwrap_or(0);
    for measure in ["action_to_receipt", "action_to_observation", "create_to_decision"] {
        let times = &summary["latencies"][measure];
        let [p50, max] = ["p50_ms", "max_ms"].map(|name| times[name].as_f64().unwrap());
        assert!(0.0 < p50 && p50 <= max, "{measure}: {times}");
    }
    (count("action_acknowledged"), count("match_finished"), count("offered"))
}

#[test]
fn a_load_plays_matches_in_a_server_of_its_own_and_measures_them() {
    for via in ["play", "unary"] {
        let output = zetema().args(["load", "--matches", "4", "--via", via]).args(SHORT).output().unwrap();
        let report = parse(&output);
        let (actions, finished, offered) = figures(&report);
        assert!(actions > 4 && finished > 0, "{via}: {actions} actions, {finished} matches");
        assert_eq!(report["outcome"]["server"]["version"], env!("CARGO_PKG_VERSION"), "{via}");
        assert_eq!(offered, 0, "nothing is due on a schedule in a closed loop");
    }
}

#[test]
fn a_load_on_schedule_offers_what_it_was_asked_to() {
    let server = Served::start();
    let check = |rate: &str, expected: std::ops::Range<u64>| {
        let output = server.command(&["load", "--rate", rate]).args(SHORT).output().unwrap();
        let (actions, _, offered) = figures(&parse(&output));
        assert!(expected.contains(&offered), "{rate}: {offered} offered, {actions} actions");
    };
    // In three seconds.
    check("100actions/s", 220..380);
    check("5matches/s", 4..30);
}

#[test]
fn a_cut_connection_comes_back_to_every_seat_without_a_fault() {
    for via in ["play", "unary"] {
        let output = zetema()
            .args(["load", "--matches", "8", "--connections", "2", "--drop-every", "300ms", "--via", via])
            .args(SHORT)
            .output()
            .unwrap();
        let report = parse(&output);
        figures(&report);
        let summary = &report["summary"];
        assert!(summary["counts"]["dropped"].as_u64().unwrap() > 2, "{via}: {summary}");
        assert!(
            summary["latencies"]["reconnect_to_snapshot"]["p50_ms"].as_f64().unwrap() > 0.0,
            "{via}: {summary}"
        );
    }
}

#[test]
fn players_leave_and_join_again_without_a_fault() {
    for via in ["play", "unary"] {
        let output = zetema()
            .args(["load", "--matches", "8", "--rejoin-every", "20ms", "--via", via])
            .args(SHORT)
            .output()
            .unwrap();
        let report = parse(&output);
        figures(&report);
        let summary = &report["summary"];
        let rejoined = summary["counts"]["rejoined"].as_u64().unwrap();
        assert!(rejoined > 20, "{via}: {summary}");
        let snapshots = &summary["latencies"]["reconnect_to_snapshot"];
        assert!(snapshots["count"].as_u64().unwrap() >= rejoined, "{via}, two seats each: {summary}");
        // On a busy machine the server may be late.
        let errors = summary["errors"].as_object().unwrap();
        assert!(errors.keys().all(|reason| reason == "OVERLOADED"), "{via}: {summary}");
    }
}

#[test]
fn an_slo_that_is_not_kept_is_the_exit_code() {
    let output = zetema().args(["load", "--slo", "p50<1us"]).args(SHORT).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("the SLO was not kept"), "{}", text(&output.stderr));
}

#[test]
fn sessions_of_the_sdk_play_and_are_measured() {
    let output = zetema()
        .args(["load", "--client", "sdk", "--matches", "3", "--think", "1ms", "--spectators", "2"])
        .args(SHORT)
        .output()
        .unwrap();
    let report = parse(&output);
    let (actions, finished, _) = figures(&report);
    assert!(actions > 3 && finished > 0, "{actions} actions, {finished} matches");
    assert!(report["summary"]["counts"]["spectator_observation"].as_u64().unwrap() > 0);
    assert_eq!(report["outcome"]["server"]["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn a_scenario_runs_its_phases_one_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scenario.toml");
    let scenario = "[[phase]]\nname = \"rise\"\nduration = \"2s\"\nramp = \"1s\"\nmatches = 6\nspectators = 3\nslow_readers = 1\n\
         [[phase.mix]]\nvia = \"unary\"\n[[phase.mix]]\nclient = \"sdk\"\npreset = \"fosdick\"\nplayers = 4\n\
         [[phase]]\nname = \"trouble\"\nduration = \"2s\"\nmatches = 6\ndrop_every = \"300ms\"\n";
    std::fs::write(&file, scenario).unwrap();
    let output = zetema().args(["load", "--format", "json", "--scenario"]).arg(&file).output().unwrap();
    let report = parse(&output);
    figures(&report);
    let phases = report["outcome"]["phases"].as_array().unwrap();
    let names: Vec<&str> = phases.iter().map(|phase| phase["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["warm-up", "rise", "trouble", "drain"]);
    assert!(report["summary"]["counts"]["dropped"].as_u64().unwrap() > 2, "{}", report["summary"]);
    // A key that no scenario has is told, and nothing is run.
    std::fs::write(&file, format!("{scenario}speed = 3\n")).unwrap();
    let output = zetema().args(["load", "--scenario"]).arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("speed"), "{}", text(&output.stderr));
}

#[test]
fn a_search_finds_a_limit_and_leaves_its_histograms_and_its_page() {
    let folder = tempfile::tempdir().unwrap();
    let [hdr, html] = ["hdr", "page.html"].map(|name| folder.path().join(name));
    let output = zetema()
        .args(["load", "--rate", "50actions/s", "--find-limit", "--slo", "p99<1s", "--resolution", "100%"])
        .args([
            "--time-control",
            "none",
            "--warmup",
            "500ms",
            "--duration",
            "1s",
            "--format",
            "json",
            "--hdr",
        ])
        .arg(&hdr)
        .arg("--html")
        .arg(&html)
        .output()
        .unwrap();
    let report = parse(&output);
    let steps = report["search"]["steps"].as_array().unwrap();
    assert!(report["search"]["limit"].as_f64().unwrap() > 0.0 && steps.len() > 1, "{}", report["search"]);
    assert!(hdr.join("receipt.hgrm").is_file());
    assert!(std::fs::read_to_string(html).unwrap().contains("</svg>"));
}

#[test]
fn bots_of_a_load_meet_on_a_ladder_of_a_server_of_its_own() {
    let output =
        zetema().args(["load", "--ladder", "quick-2", "--bots", "6"]).args(ON_A_LADDER).output().unwrap();
    let report = parse(&output);
    assert_eq!(
        (&report["outcome"]["faults"]["all"], &report["passed"]),
        (&0.into(), &true.into()),
        "{report}"
    );
    let counts = &report["summary"]["counts"];
    assert!(counts["match_finished"].as_u64().unwrap() > 0, "{counts}");
}

#[test]
fn bots_wait_on_a_ladder_play_what_it_gives_them_and_are_retired() {
    let server = Served::start();
    let run = |more: &[&str]| {
        let mut command = server.command(&["load", "--ladder", "quick-2", "--bots", "6", "--places", "2"]);
        command.args(["--warmup", "0s", "--duration", "10s"]).args(more);
        command.output().unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let report = parse(&run(&["--format", "json", "--html", page.to_str().unwrap()]));
    assert_eq!(report["outcome"]["faults"]["all"], 0, "{report}");
    let summary = &report["summary"];
    let count = |name: &str| summary["counts"][name].as_u64().unwrap_or(0);
    let (finished, rated) = (count("match_finished"), count("rated_result"));
    assert!(finished > 0 && rated > 0, "{summary}");
    assert!(count("seat_assigned") >= 2 * finished, "{summary}");
    assert_eq!(count("ladder_notice"), 0, "nobody stays away, and nobody forfeits: {summary}");
    let waits = &summary["latencies"]["place_to_seat"];
    assert!(waits["count"].as_u64().unwrap() > 0 && waits["max_ms"].as_f64().unwrap() > 0.0, "{waits}");
    let an_hour = summary["ladder"]["matches_per_hour"].as_f64().unwrap();
    assert!(an_hour > 0.0 && summary["ladder"]["rated_results"] == rated, "{summary}");
    assert!(summary["ladder"]["server_memory"]["first_bytes"].as_u64().unwrap() > 0, "{summary}");
    assert_eq!(report["outcome"]["description"]["ladder"], "quick-2");
    assert!(std::fs::read_to_string(page).unwrap().contains("matches an hour"));

    // None is left.
    let bots =
        parse(&server.command(&["bot", "list", "--state", "active", "--format", "json"]).output().unwrap());
    assert_eq!(bots.as_array().unwrap().len(), 0, "{bots}");

    let output = run(&["--owners", "1"]);
    let said = "bots of different owners, and the run has bots of 1";
    assert!(!output.status.success() && text(&output.stderr).contains(said), "{}", text(&output.stderr));
    let output = server.command(&["load", "--ladder", "nowhere"]).output().unwrap();
    let said = "the server has no ladder \"nowhere\": it has quick-2";
    assert!(!output.status.success() && text(&output.stderr).contains(said), "{}", text(&output.stderr));
}

#[test]
fn a_run_is_put_beside_one_before() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("before.json");
    let run = |more: &[&str]| {
        let mut command = zetema();
        command.args(["load", "--matches", "2"]).args(SHORT).args(more);
        command
    };
    let before = run(&[]).output().unwrap();
    figures(&parse(&before));
    std::fs::write(&file, &before.stdout).unwrap();
    let report = parse(&run(&["--via", "unary", "--compare", file.to_str().unwrap()]).output().unwrap());
    let rows = report["comparison"]["rows"].as_array().unwrap();
    let median = rows.iter().find(|row| row["what"] == "receipt.p50").unwrap();
    assert!(median["change"]["measured"].is_number(), "{median}");
    assert_eq!(median["finding"], "too_little", "of three seconds the noise is not known: {median}");
    let unlike = report["comparison"]["unlike"].as_array().unwrap();
    assert!(unlike.iter().any(|line| line.as_str().unwrap().contains("Play streams")), "{unlike:?}");

    // It is read before anything is begun.
    std::fs::write(&file, "{\"schema\":9}").unwrap();
    for (name, expected) in [("before.json", "its schema is version 9"), ("no.json", "can't be read")] {
        let output = run(&["--compare", folder.path().join(name).to_str().unwrap()]).output().unwrap();
        let said = text(&output.stderr);
        assert!(!output.status.success() && said.contains(name) && said.contains(expected), "{said}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_server_goes_with_who_keeps_its_stdin_open() {
    let data = tempfile::tempdir().unwrap();
    let mut server = zetema()
        .args(["serve", "--listen", "127.0.0.1:0", "--log", "error", "--until-stdin-ends", "--data"])
        .arg(data.path())
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("zetema serves at")), "it serves");
    drop(server.stdin.take());
    let rest: Vec<String> = lines.collect();
    assert!(server.wait().unwrap().success(), "{rest:?}");
}

/// Waits for what nobody tells.
#[expect(clippy::disallowed_methods, reason = "files grow without a word")]
fn until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_mins(2), "waited too long for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether matches are played on the server whose data is in this folder for temporary files, as the journal says: its files are there
/// before, empty.
#[cfg(unix)]
fn is_played_in(folder: &Path) -> bool {
    let journal = || {
        let data = std::fs::read_dir(folder).ok()?.next()?.ok()?.path();
        let files = std::fs::read_dir(data).ok()?.filter_map(|file| std::fs::read(file.ok()?.path()).ok());
        Some(files.flatten().filter(|byte| *byte != 0).count())
    };
    journal().is_some_and(|bytes| bytes > 200_000)
}

/// A terminal tells all programs that run in it.
#[cfg(unix)]
#[test]
fn ctrl_c_in_a_terminal_stops_the_load_and_not_the_server_before_it() {
    use std::os::unix::process::CommandExt;
    let folder = tempfile::tempdir().unwrap();
    let load = zetema()
        .args(["load", "--matches", "20", "--warmup", "0s", "--duration", "5m", "--format", "json"])
        .env("TMPDIR", folder.path())
        .process_group(0)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    until("matches to be played", || is_played_in(folder.path()));
    let group = format!("-{}", load.id());
    assert!(Command::new("kill").args(["-INT", "--", &group]).status().unwrap().success());
    let output = load.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "it was stopped before its time");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["outcome"]["faults"]["all"], 0, "{report}");
    assert_eq!((&report["passed"], &report["outcome"]["is_stopped"]), (&false.into(), &true.into()));
}

/// The processes that this one has started.
#[cfg(target_os = "linux")]
fn children(process: u32) -> Vec<String> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let of_thread = |thread: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(thread.unwrap().path().join("children")).unwrap_or_default()
    };
    threads
        .map(of_thread)
        .flat_map(|line| line.split(' ').map(str::to_owned).collect::<Vec<_>>())
        .filter(|child| !child.is_empty())
        .collect()
}

#[cfg(target_os = "linux")]
#[test]
fn who_is_told_to_stop_twice_does_not_wait_for_a_server_that_hangs() {
    let folder = tempfile::tempdir().unwrap();
    let mut load = zetema()
        .args(["load", "--matches", "20", "--warmup", "0s", "--duration", "5m"])
        .env("TMPDIR", folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("matches to be played", || is_played_in(folder.path()));
    let servers = children(load.id());
    let [server] = servers.as_slice() else { panic!("it has started one server: {servers:?}") };
    let signal = |name: &str, process: &str| {
        assert!(Command::new("kill").args([name, process]).status().unwrap().success());
    };
    signal("-STOP", server);
    let load_id = load.id().to_string();
    let mut said = BufReader::new(load.stderr.take().unwrap()).lines().map_while(Result::ok);
    signal("-INT", &load_id);
    assert!(said.any(|line| line.contains("tell it again")), "it says that it waits");
    let began = Instant::now();
    signal("-TERM", &load_id);
    let rest: Vec<String> = said.collect();
    assert_eq!(load.wait().unwrap().code(), Some(1), "{rest:?}");
    // In order it takes three times 15 s, and 10 for the server.
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert!(rest.iter().any(|line| line.contains("was not waited for")), "{rest:?}");
    assert!(!Path::new("/proc").join(server).exists(), "the server is gone");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "and its data");
}
