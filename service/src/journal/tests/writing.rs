//! Creating and appending.

use std::io::{Seek, SeekFrom, Write};
use std::time::Instant;

use futures::future::join_all;

use super::*;
use crate::journal::{
    AppendRefusal, BodyHash, Caller, CreateRefusal, Epoch, Health, MetaKey, MetaValue, RequestId, RequestKey,
    RequestState, Response, TokenChange,
};

#[tokio::test]
async fn records_read_back_in_order_before_and_after_reopening() {
    let mut f = Fixture::new().await;
    f.created([1, 2]).await;
    f.appended(1, 1, "a").await;
    f.appended(2, 1, "b").await;
    f.appended(1, 2, "").await;
    for _ in 0..2 {
        assert_eq!(f.texts(1).await, ["created", "a", ""]);
        assert_eq!(f.texts(2).await, ["created", "b"]);
        assert_eq!(f.journal.read(id(3)).await, Ok(None));
        let mut unfinished = f.journal.unfinished().await.unwrap();
        unfinished.sort_unstable();
        assert_eq!(unfinished, [id(1), id(2)]);
        f = f.reopen().await;
    }
    assert_eq!(f.recovery, Recovery { unfinished: 2, rows_read: 5, ..Recovery::default() });
    f.appended(1, 3, "after").await;
}

#[tokio::test]
async fn several_records_of_one_append_follow_each_other() {
    let f = Fixture::new().await;
    f.created([1]).await;
    let payloads = ["a", "b", "c"].map(|text| Payload::new(text).unwrap()).to_vec();
    let append = Append { records: NewRecords::new(payloads).unwrap(), ..f.to_append(1, 1, "") };
    assert_eq!(f.journal.append(append).await, Outcome::Done(Version::new(4)));
    assert_eq!(f.texts(1).await, ["created", "a", "b", "c"]);
}

#[tokio::test]
async fn what_waits_is_committed_together() {
    let f = Fixture::new().await;
    f.created(0..100).await;
    let before = f.journal.stats();
    // While another connection holds the write lock, one commit at most can have begun.
    let other = f.database();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let release = async {
        tokio::task::yield_now().await;
        other.execute_batch("ROLLBACK").unwrap();
    };
    let appends = join_all((0..100).map(|number| f.append(number, 1, "a")));
    let (outcomes, ()) = tokio::join!(appends, release);
    assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Done(Version::new(2))));
    let after = f.journal.stats();
    assert_eq!((after.writes - before.writes, after.rows - before.rows), (100, 100));
    assert!(after.commits - before.commits <= 2, "{} commits", after.commits - before.commits);
}

#[tokio::test]
async fn an_append_at_another_version_is_refused_and_told_the_version() {
    let f = Fixture::new().await;
    f.created([1]).await;
    f.appended(1, 1, "a").await;
    for expected in [0, 1, 3, u32::MAX] {
        let refused = Outcome::Refused(AppendRefusal::Version { actual: Version::new(2) });
        assert_eq!(f.append(1, expected, "b").await, refused, "{expected}");
    }
    assert_eq!(f.append(9, 0, "b").await, Outcome::Refused(AppendRefusal::NoMatch));
    assert_eq!(f.texts(1).await, ["created", "a"]);
}

#[tokio::test]
async fn of_two_appends_at_one_version_in_one_commit_one_is_refused() {
    let f = Fixture::new().await;
    f.created([1]).await;
    let (a, b) = tokio::join!(f.append(1, 1, "a"), f.append(1, 1, "b"));
    assert_eq!(a, Outcome::Done(Version::new(2)));
    assert_eq!(b, Outcome::Refused(AppendRefusal::Version { actual: Version::new(2) }));
    assert_eq!(f.texts(1).await, ["created", "a"]);
}

#[tokio::test]
async fn an_owner_is_fenced_once_a_later_one_has_written() {
    let f = Fixture::new().await;
    f.created([1]).await;
    let first = f.to_append(1, 1, "first owner");
    let f = f.reopen().await;
    assert!(f.journal.epoch() > first.epoch);
    assert_eq!(f.journal.append(first.clone()).await, Outcome::Done(Version::new(2)));
    f.appended(1, 2, "second owner").await;
    let late = Append { expected: Version::new(3), ..first };
    let refused = Outcome::Refused(AppendRefusal::StaleEpoch { actual: f.journal.epoch() });
    assert_eq!(f.journal.append(late.clone()).await, refused);
    let f = f.reopen().await;
    let actual = Epoch::new(f.journal.epoch().get() - 1);
    assert_eq!(f.journal.append(late).await, Outcome::Refused(AppendRefusal::StaleEpoch { actual }));
}

#[tokio::test]
async fn a_batch_of_matches_is_created_whole_or_not_at_all() {
    let f = Fixture::new().await;
    f.created([500]).await;
    assert_eq!(f.create(0..1000).await, Outcome::Refused(CreateRefusal::MatchExists(id(500))));
    assert_eq!(f.journal.unfinished().await.unwrap(), [id(500)]);
    f.created(1000..2000).await;
    assert_eq!(f.journal.unfinished().await.unwrap().len(), 1001);
    assert!(matches!(f.finish(500, 1).await, Outcome::Done(_)));
    assert_eq!(f.create([500]).await, Outcome::Refused(CreateRefusal::MatchExists(id(500))));
}

#[test]
fn a_batch_of_none_of_too_many_or_with_a_match_twice_can_not_be_made() {
    let make = |numbers: &[u32]| {
        let matches = numbers.iter().map(|number| new_match(*number)).collect();
        NewMatches::new(matches, Epoch::new(1), UnixMillis::new(0), None)
            .map(|_| ())
            .map_err(|e| e.to_string())
    };
    assert_eq!(make(&[1, 2]), Ok(()));
    assert_eq!(make(&[]), Err("0 matches at once, 1 to 1000 are allowed".to_owned()));
    assert_eq!(
        make(&(0..1001).collect::<Vec<_>>()),
        Err("1001 matches at once, 1 to 1000 are allowed".to_owned())
    );
    let twice = "match 00000002000000000000000000000000 occurs twice in one batch";
    assert_eq!(make(&[2, 1, 2]), Err(twice.to_owned()));
}

fn request(request_id: &str, body: u8, response: &str) -> Request {
    Request {
        key: RequestKey {
            caller: Caller::new("caller").unwrap(),
            request_id: RequestId::new(request_id).unwrap(),
            body_hash: BodyHash([body; 32]),
        },
        response: Response::new(response.to_owned()).unwrap(),
    }
}

#[tokio::test]
async fn a_request_that_comes_again_gets_its_answer_again() {
    let mut f = Fixture::new().await;
    let first = request("r", 1, "answer");
    assert_eq!(f.journal.request(first.key.clone(), UnixMillis::new(0)).await, Ok(RequestState::New));
    assert_eq!(f.create_for([1], Some(first.clone()), 0).await, Outcome::Done(Created::New));
    for _ in 0..2 {
        let again = request("r", 1, "another answer");
        let before = Outcome::Done(Created::Before(first.response.clone()));
        assert_eq!(f.create_for([2], Some(again.clone()), 5).await, before);
        let answered = RequestState::Answered(first.response.clone());
        assert_eq!(f.journal.request(again.key, UnixMillis::new(5)).await, Ok(answered));
        assert_eq!(f.journal.unfinished().await.unwrap(), [id(1)]);
        f = f.reopen().await;
    }
}

#[tokio::test]
async fn a_request_id_with_another_body_is_refused() {
    let f = Fixture::new().await;
    assert_eq!(f.create_for([1], Some(request("r", 1, "answer")), 0).await, Outcome::Done(Created::New));
    let other = request("r", 2, "answer");
    assert_eq!(f.journal.request(other.key.clone(), UnixMillis::new(0)).await, Ok(RequestState::Reused));
    assert_eq!(f.create_for([2], Some(other), 0).await, Outcome::Refused(CreateRefusal::RequestReused));
    assert_eq!(f.create_for([3], Some(request("s", 2, "answer")), 0).await, Outcome::Done(Created::New));
}

#[tokio::test]
async fn a_refused_batch_leaves_no_request_behind() {
    let f = Fixture::new().await;
    f.created([1]).await;
    let asked = request("r", 1, "answer");
    let refused = Outcome::Refused(CreateRefusal::MatchExists(id(1)));
    assert_eq!(f.create_for([1], Some(asked.clone()), 0).await, refused);
    assert_eq!(f.journal.request(asked.key, UnixMillis::new(0)).await, Ok(RequestState::New));
}

/// Breaks the first page of a table or an index, under the journal, which is open.
pub(super) fn break_page(f: &Fixture, name: &str) {
    let conn = f.database();
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let page: u64 = conn.query_row(sql, [name], |row| row.get::<_, u32>(0)).unwrap().into();
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let mut file = std::fs::File::options().write(true).open(f.path()).unwrap();
    file.seek(SeekFrom::Start((page - 1) * 4096)).unwrap();
    // Not what a page begins with.
    file.write_all(&[1]).unwrap();
    // What another connection changes is read anew.
    conn.execute_batch("PRAGMA user_version = 1").unwrap();
}

#[tokio::test]
async fn what_is_damaged_of_requests_fails_the_request_alone() {
    let damages: [fn(&Fixture); 4] = [
        |f| assert_eq!(f.database().execute("UPDATE requests SET response = x'00'", []).unwrap(), 1),
        |f| assert_eq!(f.database().execute("UPDATE requests SET created_ms = 5", []).unwrap(), 1),
        |f| break_page(f, "requests"),
        |f| break_page(f, "requests_by_age"),
    ];
    for (case, damage) in damages.into_iter().enumerate() {
        let f = Fixture::new().await;
        assert_eq!(f.create_for([1], Some(request("r", 1, "answer")), 0).await, Outcome::Done(Created::New));
        // What is damaged is in the database.
        assert!(f.journal.request(request("r", 1, "").key, UnixMillis::new(0)).await.is_ok());
        damage(&f);
        // Where the row can be read, the index makes trouble for the next that is written.
        let asked = request(if case == 3 { "s" } else { "r" }, 1, "answer");
        for number in 2..6 {
            let (created, remembered, changed, appended, other) = tokio::join!(
                f.create_for([number], Some(asked.clone()), 0),
                f.journal.remember(asked.clone(), UnixMillis::new(0)),
                f.journal
                    .change_tokens(TokenChange { request: Some(asked.clone()), ..tokens::change(0, None) }),
                f.append(1, number - 1, "goes on"),
                f.create([number + 100]),
            );
            assert!(matches!(created, Outcome::Damaged(_)), "{case}: {created:?}");
            assert!(matches!(remembered, Outcome::Damaged(_)), "{case}: {remembered:?}");
            assert!(matches!(changed, Outcome::Damaged(_)), "{case}: {changed:?}");
            assert_eq!(appended, Outcome::Done(Version::new(number)), "{case}");
            assert_eq!(other, Outcome::Done(Created::New), "{case}");
            assert_eq!(*f.journal.health().borrow(), Health::Writing, "{case}");
        }
        assert!(f.journal.read(id(2)).await.unwrap().is_none(), "{case}: a match of a request that failed");
    }
}

#[tokio::test]
async fn a_request_is_forgotten_after_a_day() {
    let f = Fixture::new().await;
    let day = Request::KEPT_MS;
    for (number, name) in ["a", "b", "c"].into_iter().enumerate() {
        let number = u32::try_from(number).unwrap();
        assert_eq!(
            f.create_for([number], Some(request(name, 1, "old")), 7).await,
            Outcome::Done(Created::New)
        );
    }
    let key = request("a", 2, "").key;
    assert_eq!(f.journal.request(key.clone(), UnixMillis::new(7 + day - 1)).await, Ok(RequestState::Reused));
    assert_eq!(f.journal.request(key, UnixMillis::new(7 + day)).await, Ok(RequestState::New));
    let new = request("a", 2, "new");
    assert_eq!(f.create_for([10], Some(new), 7 + day).await, Outcome::Done(Created::New));
    let asked = f.journal.request(request("a", 2, "").key, UnixMillis::new(8 + day)).await;
    assert!(matches!(asked, Ok(RequestState::Answered(_))), "{asked:?}");
    let left: i64 = f.database().query_row("SELECT count(*) FROM requests", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 1);
}

#[tokio::test]
async fn the_first_value_under_a_key_stands() {
    let f = Fixture::new().await;
    let key = MetaKey::new("service key").unwrap();
    let [a, b] = ["a", "b"].map(|value| MetaValue::new(value).unwrap());
    assert_eq!(f.journal.meta(key.clone()).await, Ok(None));
    assert_eq!(f.journal.meta_or_insert(key.clone(), a.clone()).await, Outcome::Done(a.clone()));
    assert_eq!(f.journal.meta_or_insert(key.clone(), b).await, Outcome::Done(a.clone()));
    let f = f.reopen().await;
    assert_eq!(f.journal.meta(key).await, Ok(Some(a)));
}

/// A file that may not grow stands for a full disk.
#[tokio::test]
async fn a_full_disk_fails_the_whole_commit_and_the_journal_goes_on() {
    let f = Fixture::with(Options { max_file_bytes: Some(512 * 1024), ..Options::default() }).await;
    f.created(0..30).await;
    assert_eq!(*f.journal.health().borrow(), Health::Writing);
    let health = f.journal.health();
    let big = "x".repeat(Payload::MAX_BYTES);
    let mut filling = 10..30;
    while matches!(f.append(filling.next().unwrap(), 1, &big).await, Outcome::Done(_)) {}
    // Handed in while another connection holds the write lock, these are a few commits, none of which fits.
    let other = f.database();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let release = async {
        tokio::task::yield_now().await;
        other.execute_batch("ROLLBACK").unwrap();
    };
    let appends = join_all((0..10).map(|number| f.append(number, 1, &big)));
    let (outcomes, ()) = tokio::join!(appends, release);
    let failed = |outcome: &AppendOutcome| matches!(outcome, Outcome::Failed(_));
    assert!(outcomes.iter().all(failed), "{outcomes:?}");
    assert!(health.has_changed().unwrap(), "it was failing, whether or not it has found room since");
    // What was there stays, and what fits is written, at the version that is there.
    for number in 0..10 {
        assert_eq!(f.texts(number).await, ["created"]);
        f.appended(number, 1, "small").await;
    }
    assert_eq!(*f.journal.health().borrow(), Health::Writing);
    let f = f.reopen().await;
    assert_eq!(f.recovery.quarantined, []);
    for number in 0..10 {
        assert_eq!(f.texts(number).await, ["created", "small"]);
    }
}

#[tokio::test]
async fn a_journal_that_can_be_written_again_finds_out_by_itself() {
    let f = Fixture::with(Options { max_file_bytes: Some(512 * 1024), ..Options::default() }).await;
    f.created([1]).await;
    let mut health = f.journal.health();
    let payloads: Vec<_> = (0..10).map(|_| Payload::new("x".repeat(Payload::MAX_BYTES)).unwrap()).collect();
    let append = Append { records: NewRecords::new(payloads).unwrap(), ..f.to_append(1, 1, "") };
    assert!(matches!(f.journal.append(append).await, Outcome::Failed(_)));
    assert!(matches!(*health.borrow_and_update(), Health::Failing(_)));
    // Nobody writes any more: what fits is tried by the journal.
    health.wait_for(|health| *health == Health::Writing).await.unwrap();
    assert_eq!(f.texts(1).await, ["created"]);
}

/// A limit on the size of files makes the commit itself fail, and not the writing of a row before it.
#[cfg(unix)]
#[test]
fn a_commit_that_fails_in_the_wal_is_unknown_and_the_journal_goes_on() {
    // A limit belongs to a process, and is set by a shell: so the test runs in one of its own. The unit of `ulimit -f` is
    // 512 or 1024 bytes.
    let inner = "journal::tests::writing::inside_of_a_process_with_a_limit_on_files";
    let run = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 2048; exec \"$0\" --exact \"$1\" --ignored"])
        .arg(std::env::current_exe().unwrap())
        .arg(inner)
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && output.contains("1 passed"), "{output}");
}

#[tokio::test]
#[ignore = "run by a_commit_that_fails_in_the_wal_is_unknown_and_the_journal_goes_on"]
async fn inside_of_a_process_with_a_limit_on_files() {
    let f = Fixture::in_tables().await;
    f.created(0..10).await;
    let big = "x".repeat(Payload::MAX_BYTES);
    let payloads: Vec<_> = (0..10).map(|_| Payload::new(big.clone()).unwrap()).collect();
    let append = Append { records: NewRecords::new(payloads).unwrap(), ..f.to_append(1, 1, "") };
    let reader = f.database();
    reader.execute_batch("BEGIN; SELECT count(*) FROM meta").unwrap();
    let outcome = f.journal.append(append.clone()).await;
    assert!(matches!(outcome, Outcome::Unknown(_)), "{outcome:?}");
    // What may be left of it can't go as long as someone reads. Nobody waits for that, which SQLite would for five seconds each time.
    let begun_at = Instant::now();
    for _ in 0..3 {
        let outcome = f.append(1, 1, "small").await;
        assert!(matches!(outcome, Outcome::Failed(_)), "{outcome:?}");
    }
    assert!(begun_at.elapsed() < Duration::from_secs(5), "{:?}", begun_at.elapsed());
    drop(reader);
    for _ in 0..3 {
        let outcome = f.journal.append(append.clone()).await;
        assert!(matches!(outcome, Outcome::Unknown(_)), "{outcome:?}");
        assert!(matches!(*f.journal.health().borrow(), Health::Failing(_)));
        assert_eq!(f.texts(1).await, ["created"]);
    }
    f.appended(1, 1, "small").await;
    assert_eq!(*f.journal.health().borrow(), Health::Writing);
    let f = f.reopen().await;
    assert_eq!(f.texts(1).await, ["created", "small"]);
    f.appended(1, 2, "on").await;
}

#[tokio::test]
async fn a_closed_journal_fails_what_comes_later() {
    let f = Fixture::new().await;
    f.created([1]).await;
    f.journal.close().await;
    f.journal.close().await;
    assert!(matches!(f.append(1, 1, "a").await, Outcome::Failed(_)));
    assert!(f.journal.read(id(1)).await.is_err());
    assert_eq!(*f.journal.health().borrow(), Health::Closed);
}

#[tokio::test]
async fn a_log_that_a_reader_made_long_is_short_again_when_the_reader_is_gone() {
    let f = Fixture::in_tables().await;
    f.created([1]).await;
    let bytes = || SqliteJournal::file_sizes(f.folder.path()).unwrap().wal;
    let long = "a".repeat(256 * 1024);
    let reader = f.database();
    reader.execute_batch("BEGIN; SELECT count(*) FROM meta").unwrap();
    let mut version = 1;
    while bytes() < 32 * 1024 * 1024 {
        f.appended(1, version, &long).await;
        version += 1;
    }
    reader.execute_batch("ROLLBACK").unwrap();
    // Its length is looked at after some commits, and all is copied then; what comes after that begins anew.
    for _ in 0..32 {
        f.appended(1, version, "b").await;
        version += 1;
    }
    assert!(bytes() <= 17 * 1024 * 1024, "{} bytes", bytes());
    f.reopen().await.appended(1, version, "c").await;
}
