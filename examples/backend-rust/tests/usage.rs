//! What the program says to whom it can't help. (That there is a test of it here makes every test build build the program.)
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::process::Command;

#[test]
fn without_a_number_of_matches_it_says_how_it_is_called() {
    let folder = std::env::temp_dir();
    let run = Command::new(env!("CARGO_BIN_EXE_backend-rust")).current_dir(folder).output().unwrap();
    assert!(!run.status.success());
    let said = String::from_utf8(run.stderr).unwrap();
    assert!(said.contains("say how many matches: backend-rust COUNT"), "{said}");
}
