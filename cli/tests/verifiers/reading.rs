//! What the verifiers can read.

use std::path::Path;

use serde_json::json;

use crate::played::victorian;
use crate::verifier::{verify, verify_text};

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
    let names: Vec<&str> = lines.lines().map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!((code, names), (0, vec!["ok record 1", "ok 5d06cbc3", "ok record 3"]));
}
