//! The redo log as it is written, and what can be read of it.

use super::*;
use crate::journal::redo::{Frame, Kind, Unreadable, Walked, walk};
use crate::planted::{Bug, plant, take_out};

const SIZE: RedoSize = RedoSize { file_bytes: 4096, most_bytes: u64::MAX };

fn begun(folder: &Path) -> RedoLog {
    RedoLog::begin(folder, 0, Sequence(7), SIZE).unwrap()
}

fn write(log: &mut RedoLog, text: &str) -> Result<Written, WriteError> {
    let mut frame = FrameBuilder::default();
    frame.push(Kind::Row, text.as_bytes());
    log.append(&mut frame, 1)
}

/// A commit that is written, and whose sync fails: nobody knows whether it is there.
fn fail(log: &mut RedoLog) {
    plant(Bug::RedoSyncFails);
    let error = write(log, "failed").unwrap_err();
    take_out();
    assert!(matches!(error, WriteError::Unknown(_)), "{error}");
}

fn found(folder: &Path) -> Vec<(u64, String)> {
    let walked = walk(folder, 1, Sequence(7)).unwrap();
    assert_eq!(walked.damage, None);
    read(&walked)
}

/// What can be read, damage or not.
fn read(walked: &Walked) -> Vec<(u64, String)> {
    let mut found = Vec::new();
    let read = walked.frames(|frame: Frame<'_>| {
        let rows = frame.rows().map(|(_, row)| String::from_utf8(row.to_vec()).unwrap());
        found.extend(rows.map(|row| (frame.sequence.0, row)));
        Ok::<(), Unreadable>(())
    });
    assert!(read.is_ok());
    found
}

fn texts(from: u64, texts: &[&str]) -> Vec<(u64, String)> {
    (from..).zip(texts.iter().map(ToString::to_string)).collect()
}

#[test]
fn commits_are_found_in_order_over_all_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = begun(folder.path());
    let all: Vec<String> = (0..40).map(|number| format!("commit {number}")).collect();
    for text in &all {
        write(&mut log, text).unwrap();
    }
    assert!(log.current() > 4);
    assert_eq!(found(folder.path()), (8..).zip(all).collect::<Vec<_>>());
}

/// Neither where the next one is whole nor where that is damaged later: what was told since rests on it not being there.
#[test]
fn a_commit_that_failed_never_counts_when_another_one_was_acknowledged() {
    // In its place, in the next file, and in a longer one.
    for next in [1, 3500, 2 * 4096].map(|bytes| "a".repeat(bytes)) {
        for (commits_before, commits_after) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let folder = tempfile::tempdir().unwrap();
            let mut log = begun(folder.path());
            let before = &["before"; 1][..commits_before];
            for text in before {
                write(&mut log, text).unwrap();
            }
            fail(&mut log);
            let Written { file, offset, .. } = write(&mut log, &next).unwrap();
            for _ in 0..commits_after {
                write(&mut log, "after").unwrap();
            }
            let all = [before, &[next.as_str()], &["after"; 1][..commits_after]].concat();
            let what = format!("{} {commits_before} {commits_after}", next.len());
            assert_eq!(found(folder.path()), texts(8, &all), "{what}");
            let byte = file.read(offset + 60, 1).unwrap();
            file.write(&[byte[0] ^ 1], offset + 60).unwrap();
            let walked = walk(folder.path(), 1, Sequence(7)).unwrap();
            assert_eq!(walked.damage.is_some(), commits_after > 0, "{what}");
            assert_eq!(read(&walked), texts(8, before), "{what}");
        }
    }
}

#[test]
fn nothing_is_written_into_another_file_as_long_as_a_commit_that_failed_may_be_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = begun(folder.path());
    write(&mut log, "first").unwrap();
    fail(&mut log);
    let next = "a".repeat(3500);
    plant(Bug::RedoSyncFails);
    let error = write(&mut log, &next).unwrap_err();
    assert!(matches!(error, WriteError::NotBegun(_)), "{error}");
    take_out();
    write(&mut log, &next).unwrap();
    assert_eq!(found(folder.path()), texts(8, &["first", &next]));
}

/// A place of the disk may take nothing for ever.
#[test]
fn where_nothing_can_be_written_any_more_the_next_file_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = begun(folder.path());
    write(&mut log, "first").unwrap();
    plant(Bug::RedoSyncFails);
    for _ in 0..3 {
        assert_eq!(log.current(), 1);
        write(&mut log, "failed").unwrap_err();
    }
    take_out();
    assert_eq!(log.current(), 2);
    let last_counts = || walk(folder.path(), 1, Sequence(7)).unwrap().last_counts(folder.path());
    assert!(!last_counts());
    write(&mut log, "second").unwrap();
    assert!(last_counts());
    write(&mut log, "third").unwrap();
    assert_eq!(found(folder.path()), texts(8, &["first", "second", "third"]));
}

/// A backup, which reads the files while they are written, leaves it out.
#[test]
fn who_reads_meanwhile_is_told_of_a_commit_that_failed() {
    for next in [1, 3500, 2 * 4096].map(|bytes| "a".repeat(bytes)) {
        for commits_before in [0, 1] {
            let folder = tempfile::tempdir().unwrap();
            let last_counts = || walk(folder.path(), 1, Sequence(7)).unwrap().last_counts(folder.path());
            let mut log = begun(folder.path());
            assert!(last_counts());
            for _ in 0..commits_before {
                write(&mut log, "before").unwrap();
                assert!(last_counts());
            }
            for _ in 0..2 {
                fail(&mut log);
                assert!(!last_counts(), "{} {commits_before}", next.len());
            }
            write(&mut log, &next).unwrap();
            assert!(last_counts(), "{} {commits_before}", next.len());
        }
    }
}

/// So wrote builds of November 2026.
#[test]
fn of_a_commit_and_one_with_its_number_in_the_next_file_the_second_counts() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = begun(folder.path());
    write(&mut log, "first").unwrap();
    write(&mut log, "failed").unwrap();
    (log.last, log.end) = (log.last.before(), log.current.bytes);
    write(&mut log, "second").unwrap();
    write(&mut log, "third").unwrap();
    assert_eq!(found(folder.path()), texts(8, &["first", "second", "third"]));
}

/// Nothing that was acknowledged is in a file without a name, as a kill would lose it.
#[test]
fn a_longer_file_is_the_one_with_its_number_whatever_fails_behind_that() {
    let too_long = "a".repeat(2 * 4096);
    for commits_before in [0, 1] {
        let folder = tempfile::tempdir().unwrap();
        let mut log = begun(folder.path());
        let mut written = vec!["first".to_owned(); commits_before];
        for text in &written {
            write(&mut log, text).unwrap();
        }
        plant(Bug::FolderSyncFails);
        for _ in 0..2 {
            let error = write(&mut log, &too_long).unwrap_err();
            assert!(matches!(error, WriteError::NotBegun(_)), "{error}");
        }
        // What has room in the file of before goes on, and gets no commit in another one.
        while let Ok(_commit) = write(&mut log, "short") {
            written.push("short".to_owned());
        }
        assert_eq!(log.current(), 1);
        take_out();
        let number = log.current() + 3;
        while log.current() < number {
            write(&mut log, "later").unwrap();
            written.push("later".to_owned());
        }
        let expected: Vec<_> = (8..).zip(written).collect();
        assert_eq!(found(folder.path()), expected, "{commits_before}");
    }
}

#[test]
fn a_commit_that_failed_with_nothing_after_it_may_be_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = begun(folder.path());
    write(&mut log, "first").unwrap();
    fail(&mut log);
    assert_eq!(found(folder.path()), texts(8, &["first", "failed"]));
}

/// Else a disk that takes nothing would be filled.
#[test]
fn a_file_whose_first_commits_fail_one_after_the_other_stays_the_only_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = begun(folder.path());
    for _ in 0..10 {
        fail(&mut log);
    }
    write(&mut log, "first").unwrap();
    assert_eq!(log.current(), 1);
    assert_eq!(crate::journal::redo::files(folder.path()).unwrap().len(), 2);
    assert_eq!(found(folder.path()), texts(8, &["first"]));
}

#[test]
fn a_file_that_is_written_again_has_none_of_what_it_had() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = begun(folder.path());
    let first = write(&mut log, "old").unwrap().file;
    while log.current() < 2 {
        write(&mut log, "old").unwrap();
    }
    log.is_done(first);
    let used = log.last();
    while log.current() < 4 {
        write(&mut log, "new").unwrap();
    }
    let walked = walk(folder.path(), 2, Sequence(used.0 - 1)).unwrap();
    assert_eq!((walked.damage, walked.last), (None, log.last()));
    assert!(!file::path(folder.path(), 1).exists());
}

#[test]
fn what_would_be_longer_than_it_may_is_not_begun() {
    let folder = tempfile::tempdir().unwrap();
    let size = RedoSize { most_bytes: 4 * SIZE.file_bytes, ..SIZE };
    let mut log = RedoLog::begin(folder.path(), 0, Sequence(7), size).unwrap();
    let mut written = Vec::new();
    let error = loop {
        match write(&mut log, "a") {
            Ok(commit) => written.push(commit),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, WriteError::NotBegun(_)), "{error}");
    assert_eq!(found(folder.path()).len(), written.len());
    log.is_done(written.remove(0).file);
    write(&mut log, "goes on").unwrap();
}
