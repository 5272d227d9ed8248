//! What a ladder's exports hold, in every form.

mod onward;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;

use crate::ladders::{LADDER, season};
use crate::server::{Served, parse, text, zetema};

/// A row as CSV has it, by the names of its columns.
type Row = BTreeMap<String, String>;

/// What runs say to go on by.
fn cursor(stderr: &[u8]) -> String {
    let said = text(stderr);
    let (_, cursor) = said.split_once("to go on from here: --after ").expect(&said);
    cursor.lines().next().unwrap().to_owned()
}

/// Exports to a file, and gives the cursor at its end.
fn export(server: &Served, what: &str, file: &Path, flags: &[&str]) -> String {
    let form = file.extension().unwrap().to_str().unwrap();
    let args = ["ladder", "export", what, LADDER, "--format", form, "--output", file.to_str().unwrap()];
    let output = server.output(&[&args, flags].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(output.stdout.is_empty());
    cursor(&output.stderr)
}

fn csv_rows(bytes: &[u8]) -> Vec<Row> {
    csv::Reader::from_reader(bytes).deserialize().map(Result::unwrap).collect()
}

/// The rows of a Parquet file.
fn parquet_rows(file: &Path) -> Vec<Row> {
    let reader = SerializedFileReader::new(fs::File::open(file).unwrap()).unwrap();
    let row = |row: parquet::record::Row| {
        row.get_column_iter().map(|(name, field)| (name.clone(), told(field))).collect()
    };
    reader.get_row_iter(None).unwrap().map(|read| row(read.unwrap())).collect()
}

/// What CSV has for it.
fn told(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Long(number) => number.to_string(),
        Field::Double(real) => real.to_string(),
        Field::Bool(truth) => truth.to_string(),
        Field::Bytes(bytes) => STANDARD.encode(bytes.data()),
        Field::TimestampMillis(ms) => {
            let nanos = i32::try_from(ms.rem_euclid(1_000)).unwrap() * 1_000_000;
            prost_types::Timestamp { seconds: ms.div_euclid(1_000), nanos }.to_string()
        }
        other => panic!("no column has {other:?}"),
    }
}

/// Rows are those that JSON makes, whose numbers this program's reader rounds in the last digit.
fn assert_rows(rows: &[Row], results: &[Value]) {
    let near = |a: &str, b: &str| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= 1e-12,
        _ => a == b,
    };
    let expected = rows_of(results);
    assert_eq!(rows.len(), expected.len());
    for (row, expected) in rows.iter().zip(&expected) {
        assert!(row.keys().eq(expected.keys()), "{row:?} {expected:?}");
        let same = row.iter().zip(expected.values()).all(|((name, value), expected)| {
            let is_real = ["mu_", "sigma_", "shown_"].iter().any(|of| name.starts_with(of));
            if is_real { near(value, expected) } else { value == expected }
        });
        assert!(same, "{row:?} {expected:?}");
    }
}

/// The results that `ladder results` lists, the oldest first, without what is computed after them.
fn listed(server: &Served) -> Vec<Value> {
    let listed = server.json(&["ladder", "results", LADDER, "--limit", "100000"]);
    let mut results: Vec<Value> = listed.as_array().unwrap().iter().rev().cloned().collect();
    for seat in results.iter_mut().flat_map(|result| result["seats"].as_array_mut().unwrap()) {
        seat.as_object_mut()
            .unwrap()
            .remove("adjusted_score")
            .expect("it is told, or that there is none yet");
    }
    results
}

/// The rows that they make.
fn rows_of(results: &[Value]) -> Vec<Row> {
    let word = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) => {
            number.as_u64().map_or_else(|| number.as_f64().unwrap().to_string(), |n| n.to_string())
        }
        other => other.to_string(),
    };
    let mut rows = Vec::new();
    for result in results {
        for (at, seat) in result["seats"].as_array().unwrap().iter().enumerate() {
            let mut row =
                Row::from([("ladder".to_owned(), LADDER.to_owned()), ("seat".to_owned(), at.to_string())]);
            for name in ["result_number", "match_id", "time", "reason"] {
                row.insert(name.to_owned(), word(&result[name]));
            }
            for name in ["bot", "side", "rank", "total", "end"] {
                row.insert(name.to_owned(), word(&seat[name]));
            }
            for when in ["before", "after"] {
                for name in ["mu", "sigma", "shown", "provisional"] {
                    row.insert(format!("{name}_{when}"), word(&seat[when][name]));
                }
            }
            rows.push(row);
        }
    }
    rows
}

fn in_folder(server: &Served, name: &str) -> PathBuf {
    server.data.path().join(name)
}

#[test]
fn every_form_has_what_the_ladder_lists_and_the_records_verify() {
    let server = Served::start();
    season(&server, ["ann", "bob"], 6);
    let results = listed(&server);
    assert!(results.len() >= 6);

    let [csv, jsonl, parquet] =
        ["results.csv", "results.jsonl", "results.parquet"].map(|name| in_folder(&server, name));
    let ends = [&csv, &jsonl, &parquet].map(|file| export(&server, "results", file, &[]));
    assert!(ends.iter().all(|end| *end == ends[0]), "{ends:?}");
    let lines = fs::read_to_string(&jsonl).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines, results);
    let rows = csv_rows(&fs::read(&csv).unwrap());
    assert_rows(&rows, &results);
    assert_eq!(parquet_rows(&parquet), rows);

    // To stdout, and with a filter.
    let of = |flags: &[&str]| {
        let output = server.output(&[&["ladder", "export", "results", LADDER], flags].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        csv_rows(&output.stdout)
    };
    assert_eq!(of(&[]), rows);
    assert_eq!(of(&["--bot", "ann", "--opponent", "bob"]), rows);
    assert_eq!(of(&["--before", "2026-01-01"]), []);
    let aborted: Vec<Value> =
        results.iter().filter(|result| result["reason"] == "aborted").cloned().collect();
    assert_rows(&of(&["--reason", "aborted"]), &aborted);

    let [csv, jsonl, parquet] =
        ["records.csv", "records.jsonl", "records.parquet"].map(|name| in_folder(&server, name));
    for file in [&csv, &jsonl, &parquet] {
        assert_eq!(export(&server, "records", file, &[]), ends[0]);
    }
    let verified =
        parse(&zetema().args(["record", "verify", "--format", "json"]).arg(&jsonl).output().unwrap());
    assert_eq!(verified.as_array().unwrap().len(), results.len());
    let rows = csv_rows(&fs::read(&csv).unwrap());
    assert_eq!(parquet_rows(&parquet), rows);
    let lines = fs::read_to_string(&jsonl).unwrap();
    assert_eq!((lines.lines().count(), rows.len()), (results.len(), results.len()));
    for ((line, row), result) in lines.lines().zip(&rows).zip(&results) {
        let id = result["match_id"].as_str().unwrap();
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line, server.json(&["record", "show", id]));
        assert_eq!(row["match_id"], id);
        assert_eq!(row["result_number"], result["result_number"].to_string());
        assert_eq!(row["reason"], result["reason"].as_str().unwrap());
        assert_eq!(row["end_time"], result["time"].as_str().unwrap());
        assert_eq!(row["commitment"], line["dealing"]["commitment"].as_str().unwrap());
        assert_eq!(row["steps"], line["steps"].as_array().unwrap().len().to_string());
        // The bytes are the record.
        let binary = in_folder(&server, "one.record");
        fs::write(&binary, STANDARD.decode(&row["record"]).unwrap()).unwrap();
        let shown =
            parse(&zetema().args(["record", "show", "--format", "json"]).arg(&binary).output().unwrap());
        assert_eq!(shown, line);
    }
}

/// Whether a filter should keep a result.
type Wanted<'a> = &'a dyn Fn(&Value) -> bool;

/// Of results of ann and bob, and then of cyd and dan, each filter exports those that it should, and lists them.
fn filters_keep_some_and_drop_some(server: &Served) {
    let results = listed(server);
    let of = |name: &str, result: &Value| {
        result["seats"].as_array().unwrap().iter().any(|seat| seat["bot"] == name)
    };
    let time = |result: &Value| {
        result["time"]
            .as_str()
            .unwrap()
            .parse::<prost_types::Timestamp>()
            .map(|time| (time.seconds, time.nanos))
            .unwrap()
    };
    let middle = results.iter().find(|result| time(result) > time(&results[0])).expect("they take time");
    let at = middle["time"].as_str().unwrap();
    let is_since = |result: &Value| time(result) >= time(middle);
    let rated = |result: &Value| result["reason"] != "aborted";
    let check = |flags: &[&str], wanted: Wanted<'_>| {
        let wanted: Vec<Value> = results.iter().filter(|result| wanted(result)).cloned().collect();
        let output =
            server.output(&[&["ladder", "export", "results", LADDER, "--format", "jsonl"], flags].concat());
        let lines = text(&output.stdout);
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines, wanted, "{flags:?}");
        wanted.len()
    };
    let all = results.len();
    let cases: [(&[&str], Wanted<'_>); 5] = [
        (&["--bot", "ann"], &|result| of("ann", result)),
        (&["--bot", "dan", "--opponent", "cyd"], &|result| of("dan", result)),
        (&["--since", at], &is_since),
        (&["--before", at], &|result| !is_since(result)),
        (&["--bot", "cyd", "--since", at], &|result| of("cyd", result) && is_since(result)),
    ];
    for (flags, wanted) in cases {
        let kept = check(flags, wanted);
        assert!(0 < kept && kept < all, "{flags:?} keeps {kept} of {all}");
    }
    assert_eq!(check(&["--bot", "ann", "--opponent", "cyd"], &|_| false), 0);
    // One of the two may be all of them, if no match was left when the bots went.
    let one = check(&["--reason", "aborted"], &|result| !rated(result));
    let other = check(&["--reason", "target", "--reason", "deal-over", "--reason", "forfeit"], &rated);
    assert_eq!((one + other, other > 0), (all, true));
}

#[test]
fn told_to_stop_twice_an_export_ends_though_nobody_reads_what_it_writes() {
    let server = Served::start();
    // More than a pipe takes.
    season(&server, ["ann", "bob"], 12);
    let args = ["ladder", "export", "records", LADDER, "--format", "jsonl"];
    assert!(server.output(&args).stdout.len() > 96 * 1024);
    let mut run = server.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(run.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut stdout = run.stdout.take().unwrap();
    stdout.read_exact(&mut [0]).unwrap();
    let interrupt = || {
        let id = run.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    };
    interrupt();
    assert!(said.any(|line| line.contains("Ctrl-C again stops it at once")));
    interrupt();
    assert!(said.any(|line| line.contains("stop at once")));
    assert_eq!(run.wait().unwrap().code(), Some(1));
}
