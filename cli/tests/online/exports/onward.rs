//! That an export that is gone on with is the whole, and what can't be gone on with.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use super::{
    Row, assert_rows, csv_rows, export, filters_keep_some_and_drop_some, in_folder, listed, parquet_rows,
};
use crate::ladders::{LADDER, season};
use crate::server::{Served, text};

/// What the file and what is kept beside it are, what is asked for, with which flags, and what is said.
type Case<'a> = (&'a [u8], Option<&'a [u8]>, [&'a str; 3], &'a [&'a str], &'a str);

/// What an export keeps beside its file.
fn kept(file: &Path) -> PathBuf {
    let mut path = file.as_os_str().to_owned();
    path.push(".cursor");
    path.into()
}

/// What is kept beside a file, but for the cursor and the bytes of another run.
fn keep(file: &Path, of: &Path, cursor: &str, bytes: usize) {
    let mut said: Value = serde_json::from_slice(&fs::read(kept(of)).unwrap()).unwrap();
    (said["cursor"], said["bytes"]) = (cursor.into(), bytes.into());
    fs::write(kept(file), said.to_string()).unwrap();
}

#[test]
fn an_export_that_is_gone_on_with_is_the_whole_wherever_it_was_cut() {
    let server = Served::start();
    season(&server, ["ann", "bob"], 3);
    let grown = ["csv", "jsonl"].map(|form| in_folder(&server, &format!("grown.{form}")));
    let cursors = grown.each_ref().map(|file| export(&server, "results", file, &["--page-size", "2"]));
    // Nothing has come since.
    let before = fs::read(&grown[0]).unwrap();
    assert_eq!(export(&server, "results", &grown[0], &[]), cursors[0]);
    assert_eq!(export(&server, "results", &grown[0], &["--after", &cursors[0]]), cursors[0]);
    assert_eq!(fs::read(&grown[0]).unwrap(), before);

    season(&server, ["cyd", "dan"], 6);
    for (file, cursor) in grown.iter().zip(&cursors) {
        let form = file.extension().unwrap().to_str().unwrap();
        let whole = in_folder(&server, &format!("whole.{form}"));
        let end = export(&server, "results", &whole, &[]);
        assert_eq!(export(&server, "results", file, &["--page-size", "1"]), end, "{cursor}");
        assert_eq!(text(&fs::read(file).unwrap()), text(&fs::read(&whole).unwrap()));
    }
    let whole = csv_rows(&fs::read(in_folder(&server, "whole.csv")).unwrap());
    assert_rows(&whole[..], &listed(&server));
    filters_keep_some_and_drop_some(&server);

    // The very same command goes on, after the cursor with which it began too.
    let begun = in_folder(&server, "begun.csv");
    for _ in 0..2 {
        export(&server, "results", &begun, &["--page-size", "1", "--after", &cursors[0]]);
        let rows = csv_rows(&fs::read(&begun).unwrap());
        let before = csv_rows(&before);
        assert_eq!(rows[..], whole[before.len()..]);
    }

    // Cut after each result: a cursor of `match results` is one of exports.
    for (at, result) in server.json(&["match", "results"]).as_array().unwrap().iter().enumerate() {
        let (number, cursor) =
            (result["result_number"].as_u64().unwrap(), result["cursor"].as_str().unwrap());
        let rest = in_folder(&server, &format!("rest-{at}.parquet"));
        export(&server, "results", &rest, &["--after", cursor]);
        let number_of = |row: &Row| row["result_number"].parse::<u64>().unwrap();
        let parted: Vec<Row> = whole.iter().filter(|row| number_of(row) > number).cloned().collect();
        assert_eq!(parquet_rows(&rest), parted, "after {number}");
    }
}

#[test]
fn a_record_that_the_server_can_not_give_is_missed_at_each_run() {
    let server = Served::start();
    season(&server, ["ann", "bob"], 3);
    let results = listed(&server);
    let number = results[1]["result_number"].as_u64().unwrap();
    let database = rusqlite::Connection::open(server.data.path().join("journal.sqlite3")).unwrap();
    database.busy_timeout(std::time::Duration::from_mins(1)).unwrap();
    // The server alone copies its WAL.
    database.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    let change = "UPDATE records SET record = x'ff' WHERE result_number = ?1";
    assert_eq!(database.execute(change, [i64::try_from(number).unwrap()]).unwrap(), 1);
    drop(database);
    let records = in_folder(&server, "records.jsonl");
    let args = ["ladder", "export", "records", LADDER, "--format", "jsonl"];
    for said in ["left out: the record of", "lacks 1 record", "lacks 1 record"] {
        let output = server.command(&args).arg("--output").arg(&records).output().unwrap();
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains(said) && told.contains("to go on from here"), "{told}");
        assert_eq!(fs::read_to_string(&records).unwrap().lines().count(), results.len() - 1);
    }
    // The results are all there.
    export(&server, "results", &in_folder(&server, "results.jsonl"), &[]);
}

#[test]
fn a_file_never_has_ratings_by_two_settings() {
    let server = Served::start();
    season(&server, ["ann", "bob"], 2);
    let files = [("results", "csv"), ("results", "jsonl"), ("records", "jsonl")];
    for (what, form) in files {
        export(&server, what, &in_folder(&server, &format!("{what}.{form}")), &[]);
    }
    let data = server.stop();
    let config = data.path().join("config.toml");
    let ladder = "[[ladder]]\nname = \"quick-2\"\npreset = \"quick\"\nplayers = 2\nrating.beta = 11.0\n";
    fs::write(&config, ladder).unwrap();
    let (server, _) = Served::on_with(data, &["--config", config.to_str().unwrap()]);
    for (what, form) in files {
        let file = in_folder(&server, &format!("{what}.{form}"));
        if what == "records" {
            export(&server, what, &file, &[]);
            continue;
        }
        let before = fs::read(&file).unwrap();
        let args = ["ladder", "export", what, LADDER, "--format", form];
        let output = server.command(&args).arg("--output").arg(&file).output().unwrap();
        let told = text(&output.stderr);
        assert!(!output.status.success() && told.contains("beta 10,") && told.contains("beta 11,"), "{told}");
        assert!(fs::read(&file).unwrap() == before);
        export(&server, what, &in_folder(&server, &format!("other.{form}")), &[]);
    }
}

#[test]
fn a_file_of_an_earlier_version_is_gone_on_with_where_its_lines_are_as_now() {
    let server = Served::start();
    season(&server, ["ann", "bob"], 2);
    let results = server.json(&["match", "results"]);
    let cursor = results[0]["cursor"].as_str().unwrap();
    let files =
        [("results", "csv", 3), ("records", "csv", 2), ("records", "jsonl", 1), ("results", "jsonl", 1)];
    for (what, form, lines) in files {
        let file = in_folder(&server, &format!("{what}.{form}"));
        let end = export(&server, what, &file, &[]);
        let (whole, now) = (fs::read(&file).unwrap(), fs::read(kept(&file)).unwrap());
        // The first result, as a version left it that did not keep the settings.
        let bytes: usize = whole.split_inclusive(|&byte| byte == b'\n').take(lines).map(<[u8]>::len).sum();
        let part = &whole[..bytes];
        keep(&file, &file, cursor, bytes);
        let mut said: Value = serde_json::from_slice(&fs::read(kept(&file)).unwrap()).unwrap();
        for setting in ["rating", "rates", "lost_results"] {
            said.as_object_mut().unwrap().remove(setting).expect("it is kept");
        }
        let old = said.to_string().into_bytes();
        let refused = |content: &[u8], says: &str| {
            fs::write(&file, content).unwrap();
            fs::write(kept(&file), &old).unwrap();
            let output = file.to_str().unwrap();
            let args = ["ladder", "export", what, LADDER, "--format", form, "--output", output];
            let output = server.command(&args).output().unwrap();
            let told = text(&output.stderr);
            assert!(!output.status.success() && told.contains(says), "{what} {form}: {told}");
            assert!(fs::read(&file).unwrap() == content && fs::read(kept(&file)).unwrap() == old);
        };
        if (what, form) == ("results", "jsonl") {
            refused(part, "whose lines have adjusted_score");
            continue;
        }
        // Settings are kept only if the file is ours.
        refused(&part.to_ascii_uppercase(), "was changed");
        fs::write(&file, part).unwrap();
        assert_eq!(export(&server, what, &file, &[]), end);
        assert!(fs::read(&file).unwrap() == whole && fs::read(kept(&file)).unwrap() == now, "{what} {form}");
        // Nor is it left to a later page where nothing has come since.
        let mut said: Value = serde_json::from_slice(&now).unwrap();
        said.as_object_mut().unwrap().remove("rating").expect("it is kept");
        fs::write(kept(&file), said.to_string()).unwrap();
        assert_eq!(export(&server, what, &file, &[]), end);
        assert!(fs::read(kept(&file)).unwrap() == now, "{what} {form}");
    }
}

#[test]
fn a_run_that_was_killed_is_gone_on_with_and_the_file_has_each_row_once() {
    let server = Served::start();
    season(&server, ["ann", "bob"], 5);
    for what in ["results", "records"] {
        for form in ["csv", "jsonl"] {
            let whole = in_folder(&server, &format!("whole-{what}.{form}"));
            let end = export(&server, what, &whole, &[]);
            let content = fs::read(&whole).unwrap();

            // Killed as soon as something is kept, wherever it is then.
            let killed = in_folder(&server, &format!("killed-{what}.{form}"));
            let args = ["ladder", "export", what, LADDER, "--format", form, "--page-size", "1", "--output"];
            let mut run = server.command(&args).arg(&killed).stderr(Stdio::null()).spawn().unwrap();
            while !kept(&killed).exists() && run.try_wait().unwrap().is_none() {
                std::thread::yield_now();
            }
            run.kill().unwrap();
            run.wait().unwrap();
            assert_eq!(export(&server, what, &killed, &["--page-size", "2"]), end);
            assert!(fs::read(&killed).unwrap() == content, "{what} {form}");

            // Whatever it had written when it was killed, each result may have been the last one that was kept.
            let lines: Vec<&[u8]> = content.split_inclusive(|&byte| byte == b'\n').collect();
            let headings = usize::from(form == "csv");
            let each = if form == "csv" && what == "results" { 2 } else { 1 };
            let results = server.json(&["match", "results"]);
            for (at, result) in results.as_array().unwrap().iter().enumerate() {
                let bytes: usize = lines[..headings + each * (at + 1)].iter().map(|line| line.len()).sum();
                let beyond = [bytes, bytes + 5, bytes + 40, content.len()];
                for end_of_file in beyond.map(|end| end.min(content.len())) {
                    fs::write(&killed, &content[..end_of_file]).unwrap();
                    keep(&killed, &whole, result["cursor"].as_str().unwrap(), bytes);
                    assert_eq!(export(&server, what, &killed, &["--page-size", "2"]), end);
                    assert!(fs::read(&killed).unwrap() == content, "{what} {form} {at} {end_of_file}");
                }
            }
            // And none: a file of which nothing was kept, and one that was not made yet.
            for is_made in [true, false] {
                fs::remove_file(&killed).unwrap();
                if is_made {
                    fs::write(&killed, &content[..30]).unwrap();
                }
                keep(&killed, &whole, "", 0);
                assert_eq!(export(&server, what, &killed, &[]), end);
                assert!(fs::read(&killed).unwrap() == content, "{what} {form}");
            }
        }
    }
}

#[test]
fn what_can_not_be_gone_on_with_is_refused_and_left_as_it_is() {
    let server = Served::start();
    season(&server, ["ann", "bob"], 1);
    let file = in_folder(&server, "results.csv");
    let cursor = export(&server, "results", &file, &[]);
    let (whole, said) = (fs::read(&file).unwrap(), fs::read(kept(&file)).unwrap());
    let other = b"bot,points\nann,3\n".repeat(whole.len());
    let after = ["--after", "r-000000000000000c-2b44c90e"];
    let mut half = said.clone();
    half.truncate(said.len() / 2);
    let command = |what: &str, ladder: &str, form: &str, flags: &[&str]| {
        let args = ["ladder", "export", what, ladder, "--format", form, "--output", file.to_str().unwrap()];
        server.output(&[&args, flags].concat())
    };
    let nothing_of = |form: &str| {
        let mut said: Value = serde_json::from_slice(&said).unwrap();
        (said["format"], said["bytes"], said["cursor"]) = (form.into(), 0.into(), "".into());
        said.to_string().into_bytes()
    };
    let [nothing, no_line] = ["csv", "jsonl"].map(nothing_of);
    let mut lines: Value = serde_json::from_slice(&said).unwrap();
    lines["format"] = "jsonl".into();
    let lines = lines.to_string().into_bytes();
    let cases: [Case<'_>; 16] = [
        // Nothing of the export is in what is there.
        (&other[..], Some(&nothing[..]), ["results", LADDER, "csv"], &[], "nothing of this export is in it"),
        (&whole[..], Some(&nothing[..]), ["results", LADDER, "csv"], &[], "nothing of this export is in it"),
        (b"ladder;", Some(&nothing[..]), ["results", LADDER, "csv"], &[], "nothing of this export is in it"),
        (
            &other[..],
            Some(&no_line[..]),
            ["results", LADDER, "jsonl"],
            &[],
            "nothing of this export is in it",
        ),
        (&whole[..], None, ["results", LADDER, "csv"], &[], "which would say how far it is, is not"),
        (
            b"",
            None,
            ["results", LADDER, "csv"],
            &["--after", &cursor],
            "which would say how far it is, is not",
        ),
        (&whole[..], Some(&half[..]), ["results", LADDER, "csv"], &[], "does not say how far"),
        (&whole[..whole.len() - 3], Some(&said[..]), ["results", LADDER, "csv"], &[], "was changed"),
        (&other[..], Some(&said[..]), ["results", LADDER, "csv"], &[], "was changed"),
        (&whole[..], Some(&lines[..]), ["results", LADDER, "jsonl"], &[], "was changed"),
        (&whole[..], Some(&said[..]), ["results", LADDER, "csv"], &after, "goes on after another cursor"),
        (&whole[..], Some(&said[..]), ["results", "sackson-2", "csv"], &[], "is another export"),
        (&whole[..], Some(&said[..]), ["records", LADDER, "csv"], &[], "is another export"),
        (&whole[..], Some(&said[..]), ["results", LADDER, "jsonl"], &[], "is another export"),
        (&whole[..], Some(&said[..]), ["results", LADDER, "csv"], &["--bot", "ann"], "is another export"),
        (&whole[..], Some(&said[..]), ["results", LADDER, "parquet"], &[], "a Parquet file is of one run"),
    ];
    for (content, kept_beside, [what, ladder, form], flags, says) in cases {
        fs::write(&file, content).unwrap();
        match kept_beside {
            Some(said) => fs::write(kept(&file), said).unwrap(),
            None => fs::remove_file(kept(&file)).unwrap_or_default(),
        }
        let output = command(what, ladder, form, flags);
        let told = text(&output.stderr);
        assert!(!output.status.success() && told.contains(says), "{says}: {told}");
        assert_eq!(fs::read(&file).unwrap(), content, "{says}");
        assert_eq!(fs::read(kept(&file)).ok().as_deref(), kept_beside, "{says}");
    }
    // A file that is gone is not made anew as if nothing had been in it.
    fs::remove_file(&file).unwrap();
    let told = text(&command("results", LADDER, "csv", &[]).stderr);
    assert!(told.contains("is not there any more") && !file.exists(), "{told}");

    // Of a ladder that is not there, no file is, nor after a cursor that is none.
    for (ladder, flags, says) in [
        ("nowhere", &[][..], "nowhere"),
        (LADDER, &["--after", "r-000000000000000c-00000000"], "is no cursor of results"),
        (LADDER, &["--after", "r-000000000000ffff-7d4a1ec6"], "oldest_first.after"),
    ] {
        for form in ["csv", "jsonl", "parquet"] {
            let none = in_folder(&server, &format!("none.{form}"));
            let args = ["ladder", "export", "records", ladder, "--format", form];
            let output = server.command(&args).arg("--output").arg(&none).args(flags).output().unwrap();
            assert!(
                !output.status.success() && text(&output.stderr).contains(says),
                "{}",
                text(&output.stderr)
            );
            assert!(!none.exists() && !kept(&none).exists());
        }
    }
}
