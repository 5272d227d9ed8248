//! What the verifiers can read.

use std::path::Path;

use serde_json::json;

use crate::played::victorian;
use crate::verifier::{verify, verify_text};

/// The lines without what comes after the name of the record.
fn names(lines: &str) -> Vec<&str> {
    lines.lines().map(|line| line.split(':').next().unwrap()).collect()
}

#[test]
fn what_can_t_be_read_is_told_from_what_does_not_hold() {
    let record = victorian().to_string();
    for (what, text) in [
        ("nothing", Vec::new()),
        ("the text notation", b"zetema record 1\nrules sackson".to_vec()),
        ("half a record", record.as_bytes()[..record.len() / 2].to_vec()),
        ("bytes that are no text", vec![b'{', 0xff, b'}']),
        ("a record and then none", format!("{record}\n{{\"rules\":").into_bytes()),
    ] {
        assert_eq!(verify_text(text).0, 2, "{what}");
    }
    assert_eq!(verify(Path::new("no/such/file")).0, 2);
    let (code, lines) = verify_text("{}");
    assert_eq!((code, lines.as_str()), (1, "DIFFERS record 1: record.rules_revision is missing\n"));
}

#[test]
fn records_may_stand_on_many_lines_and_are_named_by_their_match() {
    let mut record = victorian();
    let pretty = serde_json::to_string_pretty(&record).unwrap();
    record["match"] =
        json!({"match_id": "5d06cbc3", "client_reference": "", "create_time": "", "end_time": ""});
    let (code, lines) = verify_text(format!("\n{pretty}\n{record}\n\n{pretty}"));
    assert_eq!((code, names(&lines)), (0, vec!["ok record 1", "ok 5d06cbc3", "ok record 3"]));
}

#[test]
fn after_one_that_does_not_hold_or_can_t_be_read_the_next_ones_are_checked() {
    let record = victorian();
    let mut wrong = record.clone();
    wrong["dealer"] = json!("length");
    let half = &record.to_string()[..100];
    let deep = format!("{{\"rules\": {}", "[".repeat(1_000_000));
    for (second, said, exit) in [
        (wrong.to_string().as_str(), "DIFFERS record 2", 1),
        ("{\"rules_revision\": 1}", "DIFFERS record 2", 1),
        (half, "UNREADABLE record 2", 2),
        ("{\"rules_revision\": NaN}", "UNREADABLE record 2", 2),
        (&deep, "UNREADABLE record 2", 2),
    ] {
        let (code, lines) = verify_text(format!("{record}\n{second}\n{record}"));
        assert_eq!((code, names(&lines)), (exit, vec!["ok record 1", said, "ok record 3"]));
    }
}

#[test]
fn a_separator_of_lines_in_a_text_separates_no_records() {
    for separator in ['\u{2028}', '\u{2029}', '\u{85}', '\u{b}'] {
        let mut record = victorian();
        record["match"] = json!({
            "match_id": "5d06cbc3", "client_reference": format!("a{separator}{{b"), "create_time": "", "end_time": "",
        });
        let (code, lines) = verify_text(format!("{record}\r\n{record}"));
        assert_eq!((code, names(&lines)), (0, vec!["ok 5d06cbc3"; 2]), "{separator:?}");
    }
}

#[test]
fn numbers_are_compared_and_not_how_they_are_written() {
    let mut record = victorian().to_string();
    record = record.replace("\"rules_revision\":1,", "\"rules_revision\":1.0,");
    record = record.replace("\"seat\":0", "\"seat\":0e1");
    assert!(record.contains(":1.0,") && record.contains(":0e1"));
    let (code, lines) = verify_text(record);
    assert_eq!((code, names(&lines)), (0, vec!["ok record 1"]));
}

#[test]
fn what_a_forfeit_says_moves_no_card_and_is_passed_over() {
    let mut record = victorian();
    let forfeit = json!({"forfeit": {"seat": 0, "reason": "time", "said_by_a_later_version": true}});
    record["steps"].as_array_mut().unwrap().insert(0, forfeit);
    let (code, lines) = verify_text(record.to_string());
    assert_eq!((code, names(&lines)), (0, vec!["ok record 1"]));
}
