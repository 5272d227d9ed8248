//! The commands that need no server, run as a user runs them.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use zetema_rules::fair::ServerSeed;
use zetema_rules::{Clocks, LedgerEntry, NamedTimeControl, Preset, Record, SeatClock, Step, TimeControl};
use zetema_sdk::{Bot, Decision, numbered_seed, simulate};

struct Last;

impl Bot for Last {
    fn choose(&mut self, decision: &Decision) -> zetema_sdk::Action {
        decision.legal.iter().last().unwrap_or(decision.first())
    }
}

/// The record of a match of two, a text that every run of the tests gives again.
fn record() -> Record {
    let rules = Preset::Sackson.rules(2, None).unwrap();
    let seed: ServerSeed = numbered_seed(7);
    let played = simulate(rules, &seed, |_| Last).unwrap();
    played.record().unwrap()
}

fn zetema(args: &[&str], stdin: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_zetema"))
        .args(args)
        .env_remove("ZETEMA_TOKEN")
        .env_remove("ZETEMA_SERVER")
        .env_remove("ZETEMA_DATA")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that fails before it reads closes its end.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    child.wait_with_output().unwrap()
}

/// Runs the program and expects this exit code, this text in stdout and this in stderr.
fn check(args: &[&str], stdin: &str, code: i32, out: &str, err: &str) -> String {
    let output = zetema(args, stdin);
    let stdout = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let told = format!("{args:?}\nstdout: {stdout}\nstderr: {stderr}");
    assert_eq!(output.status.code(), Some(code), "{told}");
    assert!(stdout.contains(out), "{told}");
    assert!(stderr.contains(err), "{told}");
    assert!(!stdout.contains('\u{1b}'), "colours without a terminal: {told}");
    stdout
}

fn json(args: &[&str], stdin: &str) -> Value {
    let output = zetema(args, stdin);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn help_names_every_command_and_gives_examples() {
    let help = check(&["--help"], "", 0, "Examples:", "");
    for command in ["demo", "play", "serve", "status", "top", "bot", "match", "record", "rules"] {
        assert!(help.contains(&format!("\n  {command} ")), "{command}: {help}");
    }
    check(&["record", "verify", "--help"], "", 0, "exit code is 1", "");
    check(&["--version"], "", 0, "zetema ", "");
}

#[test]
fn a_wrong_call_exits_with_2_and_says_what_to_give() {
    check(&["rumba"], "", 2, "", "unrecognized subcommand");
    check(&["rules", "list", "--fromat", "json"], "", 2, "", "--format");
    check(&["rules", "list", "--format", "xml"], "", 2, "", "possible values: table, json");
    check(&["rules", "show", "whist"], "", 2, "", "possible values: victorian");
    check(&["rules", "show", "victorian", "--players", "5"], "", 2, "", "give 2, 3, 4, 6");
    check(&["rules", "show", "quick", "--players", "4", "--teams", "pairs"], "", 2, "", "give individual");
    check(&["rules", "show", "quick", "--set", "target"], "", 2, "", "--set OPTION=VALUE");
    check(&["rules", "show", "quick", "--set", "goal=3"], "", 2, "", "\"goal\" is no option");
    check(&["rules", "show", "quick", "--set", "players=3"], "", 2, "", "give --players 3");
    check(&["demo", "--bots", "gready"], "", 2, "", "possible values: random, greedy");
    check(&["demo", "--bots", "greedy,greedy,random"], "", 2, "", "3 bots for 2 players");
    check(&["demo", "--matches", "0"], "", 2, "", "give at least 1");
    check(&["demo", "--ladder", "--matches", "0"], "", 2, "", "give at least 1");
    check(&["demo", "--matches", "few"], "", 2, "", "give a number from 1 to ");
    for flags in [
        &["--preset", "quick"][..],
        &["--players", "3"],
        &["--bots", "greedy"],
        &["--seed", "1"],
        &["--bank", "1"],
    ] {
        check(&[&["demo", "--ladder"], flags].concat(), "", 2, "", "cannot be used with");
    }
    check(&["demo", "--preset", "quick", "--players", "7"], "", 2, "", "players is 7");
    check(&["play", "--seat", "2"], "", 2, "", "give 0 to 1");
    check(&["play", "--token", "t", "--players", "3"], "", 2, "", "cannot be used with");
    check(&["bot", "greedy"], "", 2, "", "--token");
    check(&["serve", "--listen", "nowhere", "--check-config"], "", 2, "", "the flag --listen");
    let unknown = "\"gready\" is no house bot: give one of random, greedy, ";
    check(&["serve", "--house-bots", "random,gready", "--check-config"], "", 2, "", unknown);
    for bots in ["greedy:0", "greedy:101", "greedy,greedy:2", "greedy,"] {
        check(&["serve", "--house-bots", bots, "--check-config"], "", 2, "", "the flag --house-bots");
    }
    check(&["serve", "--listen", "0.0.0.0:1", "--check-config"], "", 2, "", "--plaintext anywhere");
    check(&["match", "create", "--seed", "x"], "", 2, "", "64 hexadecimal digits");
    check(&["match", "batch", "1001"], "", 2, "", "1..=1000");
    check(&["record", "verify"], "", 2, "", "<ID|FILE>");
}

#[test]
fn time_controls_that_contradict_themselves_name_the_flag() {
    let cases: &[(&[&str], &str)] = &[
        (&["--time-control", "fast"], "possible values: bullet, blitz, standard, correspondence, none"),
        (&["--time-control", "blitz", "--budget", "1"], "'--budget <SECONDS>'"),
        (&["--time-control", "blitz", "--bank", "1"], "'--bank <SECONDS>'"),
        (&["--bank", "1"], "--budget <SECONDS>"),
        (&["--on-time-out", "forfeit"], "--budget <SECONDS>"),
        (&["--budget", "0.0001"], "'--budget <SECONDS>': give seconds, with up to three decimals"),
        (&["--budget", "0"], "--budget is 0 seconds: give 0.001 to 2592000"),
        (&["--budget", "1", "--increment", "86400.001"], "--increment is 86400.001 seconds: give 0 to 86400"),
        (&["--budget", "1", "--network-credit", "1.5"], "--network-credit is 1.5 seconds: give 0 to 1"),
        (&["--budget", "1", "--on-time-out", "pass"], "neither forfeit nor autoplay:STRIKES"),
        (&["--budget", "1", "--on-time-out", "autoplay:0"], "give autoplay:1 to autoplay:1000"),
        (&["--idle-timeout", "5"], "--idle-timeout is for matches without a clock, and standard has one"),
        (&["--idle-timeout", "5", "--time-control", "blitz"], "and blitz has one: give --time-control none"),
        (&["--idle-timeout", "5", "--budget", "1"], "'--idle-timeout <SECONDS>'"),
        (&["--idle-timeout", "0.5", "--time-control", "none"], "--idle-timeout is 0.5 seconds: give 1 to"),
        (&["--join-timeout", "604801"], "--join-timeout is 604801 seconds: give 1 to 604800"),
    ];
    for (flags, says) in cases {
        check(&[&["match", "create"], *flags].concat(), "", 2, "", says);
        check(&[&["match", "batch", "2"], *flags].concat(), "", 2, "", says);
        if !flags.contains(&"--join-timeout") && !says.contains("standard has one") {
            check(&[&["demo"], *flags].concat(), "", 2, "", says);
            check(&[&["play"], *flags].concat(), "", 2, "", says);
        }
    }
    check(&["play", "--token", "t", "--bank", "1"], "", 2, "", "'--bank <SECONDS>'");
    check(&["play", "--token", "t", "--time-control", "none"], "", 2, "", "'--time-control <NAME>'");
}

#[test]
fn the_named_time_controls_are_listed_with_their_numbers() {
    let listed = json(&["rules", "time-controls", "--format", "json"], "");
    let names: Vec<&str> =
        listed.as_array().unwrap().iter().map(|named| named["name"].as_str().unwrap()).collect();
    assert_eq!(names, NamedTimeControl::ALL.map(NamedTimeControl::name));
    let standard = serde_json::json!({
        "budget_ms": 10_000, "first_budget_ms": 30_000, "bank_ms": 120_000, "increment_ms": 0,
        "network_credit_ms": 100, "network_credit_total_ms": 10_000, "time_out": {"autoplay": {"strikes": 3}},
    });
    assert_eq!(listed[2]["clock"], standard);
    assert_eq!(
        (&listed[1]["clock"]["time_out"], &listed[4]["clock"]),
        (&Value::from("forfeit"), &Value::Null)
    );
    let table = check(&["rules", "time-controls"], "", 0, "standard (default)", "");
    for told in ["500 ms", "2 min", "3 d", "100 ms up to 10 s", "played for, time-out 3 forfeits"] {
        assert!(table.contains(told), "{told}: {table}");
    }
}

#[test]
fn a_server_that_is_not_there_is_said_so() {
    let nobody = ["match", "list", "--server", "http://127.0.0.1:1"];
    check(&nobody, "", 1, "", "no server answers at http://127.0.0.1:1: start one by `zetema serve`");
    check(&["match", "list", "--server", "nonsense://"], "", 1, "", "is no address of a server");
}

#[test]
fn serve_checks_its_configuration_without_starting() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("zetema.toml");
    fs::write(&file, "listen = \"127.0.0.1:7000\"\nmax_connections = 9\nhouse_bots = \"greedy:2,random\"\n")
        .unwrap();
    let file = file.to_str().unwrap();
    let args = ["serve", "--check-config", "--config", file, "--listen", "127.0.0.1:0", "--format", "json"];
    let settings = json(&args, "");
    assert_eq!(settings["listen"], "127.0.0.1:0");
    assert_eq!(settings["max_connections"], 9);
    assert_eq!(settings["house_bots"], "greedy:2,random");
    assert_eq!(settings["log"], "info");
    check(&["serve", "--check-config", "--config", file], "", 0, "127.0.0.1:7000", "");
}

#[test]
fn a_wrong_setting_exits_with_2_wherever_it_was_given_and_a_file_that_is_not_there_with_1() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("zetema.toml");
    let file = path.to_str().unwrap();
    let in_file = |text: &str, wrong: &str| {
        fs::write(file, text).unwrap();
        check(&["serve", "--check-config", "--config", file], "", 2, "", wrong);
    };
    in_file("lissen = \"127.0.0.1:7000\"\n", "unknown key `lissen`");
    in_file("listen = \"nowhere\"\n", "\"nowhere\" is not valid");
    in_file("max_streams = 0\n", "a number (streams)");
    in_file("listen =\n", "is not valid TOML");
    in_file("tls_cert = \"cert.pem\"\n", "tls_cert is given without tls_key");
    in_file("listen = \"0.0.0.0:4680\"\n", "without TLS would send tokens in the clear");
    let by_variable = |name: &str, value: &str, wrong: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zetema"));
        let output = command.args(["serve", "--check-config"]).env(name, value).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(wrong), "{told}");
    };
    by_variable("ZETEMA_LISTEN", "nowhere", "the variable ZETEMA_LISTEN");
    by_variable("ZETEMA_LISSEN", "127.0.0.1:7000", "did you mean `ZETEMA_LISTEN`?");
    let data = folder.path().join("data");
    let serve = ["serve", "--listen", "127.0.0.1:0", "--data", data.to_str().unwrap()];
    check(&[&serve[..], &["--log", "loud=louder"]].concat(), "", 2, "", "is no filter of a log");
    check(&["serve", "--check-config", "--config", "no.toml"], "", 1, "", "no.toml can't be read");
}

#[test]
fn a_log_for_programs_has_nothing_beside_its_lines_of_json() {
    let folder = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let data = folder.path().join("data");
    let serve = ["serve", "--log-format", "json", "--listen", &address, "--data", data.to_str().unwrap()];
    let output = zetema(&serve, "");
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let last = &lines.last().expect("why it could not start")["fields"];
    assert!(last["error"].as_str().unwrap().contains(&format!("can't listen on {address}")), "{last}");
    // A log that is off tells nothing, so it is said beside it.
    let output = zetema(&[&serve[..], &["--log", "off"]].concat(), "");
    assert!(String::from_utf8(output.stderr).unwrap().contains("can't listen on"));
}

#[test]
fn rules_list_gives_every_preset_to_programs() {
    let presets = json(&["rules", "list", "--format", "json"], "");
    let names: Vec<&str> =
        presets.as_array().unwrap().iter().map(|preset| preset["preset"].as_str().unwrap()).collect();
    assert_eq!(names, ["victorian", "sackson", "fosdick", "quick", "akagiri", "parlett"]);
    let fosdick = &presets[2]["players"][4];
    assert_eq!(*fosdick, serde_json::json!({"players": 6, "teams": ["trios", "pairs", "individual"]}));
    check(&["rules", "list"], "", 0, "sackson (default)", "");
}

#[test]
fn rules_that_are_shown_can_be_checked() {
    let args = ["rules", "show", "quick", "--players", "3", "--set", "target=77", "--format", "json"];
    let shown = json(&args, "");
    assert_eq!(shown["target"], 77);
    let text = shown.to_string();
    check(&["rules", "check", "--file", "-"], &text, 0, "quick players=3 teams=individual target=77\n", "");
    let wrong = text.replace("\"hand_size\":6", "\"hand_size\":60");
    check(&["rules", "check", "--file", "-"], &wrong, 1, "", "hand_size is 60");
    check(&["rules", "check", "sackson", "players=4", "target=0"], "", 1, "", "target is 0");
    check(&["rules", "check", "sackson", "players=4"], "", 0, "sackson players=4 teams=pairs\n", "");
    check(&["rules", "show", "sackson"], "", 0, "R22", "");
}

#[test]
fn a_record_verifies_in_every_form_that_export_writes() {
    let text = record().to_string();
    check(&["record", "verify", "-"], &text, 0, "verified -: ", "");
    let as_json = check(&["record", "export", "-", "--format", "json"], &text, 0, "server_seed", "");
    let verified = json(&["record", "verify", "-", "--format", "json"], &as_json);
    assert_eq!(verified[0]["verified"], true);
    assert_eq!(verified[0]["error"], Value::Null);
    check(&["record", "export", "-"], &as_json, 0, &text, "");
    check(&["record", "export", "-", "--format", "binary"], &text, 1, "", "export it from the server");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("match.txt");
    let file = file.to_str().unwrap();
    check(&["record", "export", "-", "--output", file], &text, 0, "", "");
    assert_eq!(fs::read_to_string(file).unwrap(), text);
    check(
        &["record", "export", "-", "--output", file],
        "",
        1,
        "",
        "is there already, and an export replaces nothing",
    );
    let nowhere = folder.path().join("none").join("match.txt");
    let nowhere = nowhere.to_str().unwrap();
    check(
        &["record", "export", "-", "--output", nowhere],
        "",
        1,
        "",
        "give a file in a folder that is there",
    );
    check(&["record", "verify", file, file], "", 0, "verified", "");
}

/// As on a disk that is full.
#[cfg(unix)]
#[test]
fn an_export_that_can_t_be_written_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record.txt");
    fs::write(&record, self::record().to_string()).unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" record export record.txt --output match.txt"]);
    let output = shell.arg(env!("CARGO_BIN_EXE_zetema")).current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && said.contains("match.txt can't be written"), "{said}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "the record alone");
}

#[test]
fn several_records_are_json_lines() {
    let text = record().to_string();
    let folder = tempfile::tempdir().unwrap();
    let [one, lines] = ["one.txt", "two.jsonl"].map(|name| folder.path().join(name));
    fs::write(&one, &text).unwrap();
    let [one, lines] = [one.to_str().unwrap(), lines.to_str().unwrap()];
    let both = check(&["record", "export", one, one, "--format", "json-lines"], "", 0, "server_seed", "");
    assert_eq!(both.lines().count(), 2);
    let mut changed: Value = serde_json::from_str(both.lines().next().unwrap()).unwrap();
    changed["steps"][0]["play"]["points"] = Value::from(3);
    fs::write(lines, format!("{both}{changed}\n")).unwrap();
    let told = format!("verified record 2 of {lines}: ");
    let told = check(&["record", "verify", lines, one], "", 1, &told, "1 of 4 records did not verify");
    assert!(told.contains(&format!("DIFFERS  record 3 of {lines}: step 0: ")), "{told}");
    assert!(told.contains(&format!("verified {one}: ")), "{told}");
    check(&["record", "show", lines], "", 1, "", "holds 3 records: give a file that holds one");
    check(&["record", "export", one, one], "", 1, "", "give --format json-lines");
    changed["rules"]["hand_size"] = Value::from(60);
    fs::write(lines, format!("{both}{changed}\n")).unwrap();
    check(&["record", "verify", lines], "", 1, "", "its record 3: ");
}

/// The record with a clock. Each decision is published as the last one is answered, after 2 ms; the first takes 5,400 ms,
/// 70 of which are the network's.
fn timed() -> Record {
    let mut record = record();
    let control = TimeControl::named(NamedTimeControl::Bullet);
    let mut clocks: Vec<SeatClock> =
        record.rules.seats().map(|_| SeatClock::new(*control.clock().unwrap())).collect();
    let mut published_ms = 0;
    let entry = |(decision, step): (u32, &Step)| {
        let elapsed_ms = if decision == 1 { 5_400 } else { 2 };
        let charge = clocks[step.seat().index()].answer(elapsed_ms, Some(70)).unwrap();
        let received_ms = published_ms + elapsed_ms;
        let entry = LedgerEntry {
            decision,
            seat: step.seat(),
            published_ms,
            received_ms: Some(received_ms),
            charge,
            interrupted: false,
            attendance: None,
        };
        published_ms = received_ms;
        entry
    };
    let ledger = (1..).zip(&record.steps).map(entry).collect();
    record.clocks = Some(Clocks { control, ledger });
    record
}

#[test]
fn a_record_shows_its_time_control_and_its_ledger_and_keeps_them_in_text_and_json() {
    let record = timed();
    let text = record.to_string();
    check(&["record", "verify", "-"], &text, 0, "verified -: ", "");
    let decisions = record.steps.len();
    let ledger = check(&["record", "show", "-", "--ledger"], &text, 0, "bullet: 100 ms a decision", "");
    let first = ["1", "seat 0", "0", "5400", "5400", "70", "5330", "4670"];
    let rows: Vec<Vec<&str>> =
        ledger.lines().map(|line| line.trim_matches(['│', ' ']).split("  ").collect()).collect();
    let words = |row: &[&str]| -> Vec<String> {
        row.iter().map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
    };
    assert!(rows.iter().any(|row| words(row) == first), "{ledger}");
    let shown = check(&["record", "show", "-"], &text, 0, "time control", "decisions: --ledger");
    assert!(!shown.contains("5330"), "the ledger of {decisions} decisions is long: {shown}");
    let as_json = check(&["record", "export", "-", "--format", "json"], &text, 0, "\"ledger\"", "");
    check(&["record", "export", "-"], &as_json, 0, &text, "");
    let shown: Value = serde_json::from_str(&as_json).unwrap();
    assert_eq!(shown["ledger"].as_array().map(Vec::len), Some(decisions));
    assert_eq!(shown["time_control"]["clock"]["bank_ms"], 5_000);
    for (from, to, says) in [
        ("\"ledger\"", "\"ledgers\"", "unknown field `ledgers`"),
        ("\"budget_ms\": 100", "\"budget_ms\": 0", "time_control: clock: budget_ms is 0: give 1 to"),
        ("\"idle_timeout_ms\": null", "\"idle_timeout_ms\": 1000", "give either idle_timeout_ms or clock"),
    ] {
        assert!(as_json.contains(from), "{from}: {as_json}");
        check(&["record", "show", "-"], &as_json.replacen(from, to, 1), 1, "", says);
    }
    let mut without = shown.clone();
    without["ledger"] = Value::Null;
    check(
        &["record", "show", "-"],
        &without.to_string(),
        1,
        "",
        "ledger is missing: give it with time_control",
    );
}

#[test]
fn a_ledger_that_was_changed_names_the_first_entry_that_differs() {
    let mut record = timed();
    if let Some(Clocks { ledger, .. }) = &mut record.clocks {
        ledger[7].charge.bank_ms += 1;
        ledger[9].charge.bank_ms += 1;
    }
    let told =
        check(&["record", "verify", "-"], &record.to_string(), 1, "ledger entry 7: bank_ms=", "1 of 1");
    assert!(told.contains("is right (the entry is: decision=8 seat="), "{told}");
}

#[test]
fn the_ledger_says_which_decisions_were_interrupted_or_ran_out_of_time() {
    let mut record = timed();
    if let Some(Clocks { ledger, .. }) = &mut record.clocks {
        ledger.truncate(2);
        ledger[0].interrupted = true;
        ledger[1].received_ms = None;
    }
    let shown = check(&["record", "show", "-"], &record.to_string(), 0, "interrupted", "");
    assert!(shown.contains("time out"), "{shown}");
}

#[test]
fn a_record_that_was_changed_names_the_first_step_that_differs() {
    let mut changed = record();
    let number = changed
        .steps
        .iter()
        .position(|step| matches!(step, Step::Play { points, .. } if *points > 0))
        .unwrap();
    if let Step::Play { points, .. } = &mut changed.steps[number] {
        *points += 5;
    }
    let text = changed.to_string();
    check(&["record", "verify", "-"], &text, 1, &format!("step {number}: "), "1 of 1 record did not verify");
    check(&["record", "replay", "-"], &text, 1, "", &format!("step {number}: "));
    let args = ["record", "verify", "-", "--format", "json"];
    let output = zetema(&args, &text);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(answer[0]["error"].as_str().unwrap().starts_with(&format!("step {number}: ")), "{answer}");
}

#[test]
fn what_is_no_record_says_what_was_expected() {
    check(&["record", "verify", "-"], "", 1, "", "it is empty");
    check(&["record", "verify", "-"], "zetema record 1\nrules whist", 1, "", "line 2");
    check(&["record", "verify", "-"], "{\"rules\": 1}", 1, "", "no JSON of a record");
    check(&["record", "verify", "-"], "\u{1}hello", 1, "", "nor a zetema.v1.Record");
    check(&["record", "verify", "no/such/file"], "", 1, "", "no/such/file can't be read");
}

#[test]
fn a_replay_shows_every_step_and_the_table() {
    let text = record().to_string();
    let lines = check(&["record", "replay", "-"], &text, 0, "wins", "");
    assert!(lines.contains("deal 0 begins"), "{lines}");
    check(&["record", "replay", "-", "--until", "3"], &text, 0, "decision 4", "");
    let output = zetema(&["record", "replay", "-", "--format", "json"], &text);
    let steps: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(steps.len(), record().steps.len());
    assert_eq!(steps[3]["step"], 3);
    assert!(steps.last().unwrap()["events"].to_string().contains("match_over"));
    check(&["record", "show", "-"], &text, 0, "commitment", "");
}

#[test]
fn a_cause_is_said_once() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let output = zetema(&["serve", "--listen", "127.0.0.1:0", "--data", file.path().to_str().unwrap()], "");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stderr.matches("os error").count(), 1, "{stderr}");
}
