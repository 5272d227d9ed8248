//! A flipped bit and a cut file: a sample of what the program `damage` runs in full.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed expectation is the test's failure")]

use zetema_tests::damage::{Bits, Case, Scene, Target, Verdict, run};

fn check(target: Target, cases: impl FnOnce(usize) -> Vec<Case>, has_to_occur: &[Verdict]) {
    check_scene(|scene| cases(scene.length(target)), has_to_occur);
}

fn check_scene(cases: impl FnOnce(&Scene) -> Vec<Case>, has_to_occur: &[Verdict]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let scene = runtime.block_on(Scene::make()).unwrap();
    let below = tempfile::tempdir().unwrap();
    let report = run(&scene, &cases(&scene), below.path(), 2).unwrap();
    if let Some(problem) = report.problems.first() {
        panic!("{} problems, the first: {}: {}", report.problems.len(), problem.case, problem.what);
    }
    for verdict in has_to_occur {
        assert!(report.verdicts.contains_key(verdict), "{verdict:?} does not occur: {:?}", report.verdicts);
    }
}

#[test]
fn a_flipped_bit_in_a_closed_database_is_found_or_harmless() {
    let target = Target::ClosedDatabase;
    let cases = |length| Case::flips(target, length, 211, Bits::One { seed: 1 });
    check(target, cases, &[Verdict::Stopped, Verdict::Told, Verdict::Harmless]);
}

#[test]
fn any_flipped_bit_in_the_lists_of_bots_is_found_or_harmless() {
    let cases = |scene: &Scene| {
        let bytes = ["bots", "bots_by_client_reference"].map(|name| scene.bytes_of(name).unwrap());
        Case::flips_at(Target::ClosedDatabase, bytes.concat(), Bits::All)
    };
    check_scene(cases, &[Verdict::Stopped, Verdict::Told]);
}

#[test]
fn any_flipped_bit_in_the_stored_ratings_of_a_ladder_is_found_or_harmless() {
    let cases = |scene: &Scene| {
        let bytes = ["ladders", "ladder_ratings"].map(|name| scene.bytes_of(name).unwrap());
        Case::flips_at(Target::ClosedDatabase, bytes.concat(), Bits::All)
    };
    check_scene(cases, &[Verdict::Stopped, Verdict::Told]);
}

#[test]
fn a_flipped_bit_in_the_database_of_a_killed_journal_is_found_or_harmless() {
    let target = Target::Database;
    check(target, |length| Case::flips(target, length, 307, Bits::One { seed: 2 }), &[Verdict::Harmless]);
}

#[test]
fn a_flipped_bit_in_the_write_ahead_log_is_found_unless_it_is_in_the_last_commit() {
    let target = Target::Wal;
    let cases = |length| Case::flips(target, length, 499, Bits::One { seed: 3 });
    check(target, cases, &[Verdict::Stopped, Verdict::Earlier]);
}

#[test]
fn a_database_that_is_cut_is_found() {
    let target = Target::ClosedDatabase;
    check(target, |length| Case::cuts(target, length, 509), &[Verdict::Stopped]);
}

#[test]
fn a_write_ahead_log_that_is_cut_is_an_exact_earlier_commit() {
    let target = Target::Wal;
    check(target, |length| Case::cuts(target, length, 1021), &[Verdict::Earlier]);
}

#[test]
fn a_flipped_bit_in_the_redo_log_is_found_unless_it_is_in_the_last_commit() {
    let target = Target::Redo;
    let cases = |length| Case::flips(target, length, 79, Bits::One { seed: 4 });
    check(target, cases, &[Verdict::Stopped, Verdict::Harmless, Verdict::Earlier]);
}

#[test]
fn a_redo_log_that_is_cut_is_found_or_an_exact_earlier_commit() {
    let target = Target::Redo;
    let cases = |length| Case::cuts(target, length, 173);
    check(target, cases, &[Verdict::Stopped, Verdict::Harmless, Verdict::Earlier]);
}

#[test]
fn a_damaged_file_of_the_redo_log_without_commits_is_found_or_harmless() {
    let target = Target::NextRedo;
    let cases = |length| {
        [Case::flips(target, length, 13, Bits::One { seed: 5 }), Case::cuts(target, length, 29)].concat()
    };
    check(target, cases, &[Verdict::Stopped, Verdict::Harmless]);
}

#[test]
fn a_flipped_bit_in_the_write_ahead_log_beside_a_redo_log_is_found_unless_it_is_in_the_last_commit() {
    let target = Target::RedoWal;
    let cases = |length| Case::flips(target, length, 211, Bits::One { seed: 6 });
    check(target, cases, &[Verdict::Stopped, Verdict::Earlier]);
}

#[test]
fn a_write_ahead_log_that_is_cut_beside_a_redo_log_is_an_exact_earlier_commit() {
    let target = Target::RedoWal;
    check(target, |length| Case::cuts(target, length, 311), &[Verdict::Earlier]);
}
