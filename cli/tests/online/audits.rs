//! An audit of all records: of a server that is sound, and of one whose journal was made with records that are not.

use std::path::Path;
use std::process::{Output, Stdio};

use prost::Message;
use serde_json::{Value, json};
use tonic::Request;
use zetema_proto::v1;
use zetema_proto::v1::match_service_client::MatchServiceClient;
use zetema_proto::v1::play_service_client::PlayServiceClient;
use zetema_rules::Outcome as Ending;
use zetema_service::encoding::{decode_summary, encode_summary};
use zetema_service::journal::{
    Append, Finish, FinishedMatch, Journal, MatchId, NewMatch, NewMatches, Options, Outcome, Payload,
    RecordBytes, SqliteJournal, StoredMatch, Summary, UnixMillis, Version, Visibility,
};
use zetema_service::table::MatchInfo;

use crate::ladders::{LADDER, season};
use crate::server::{Served, text, tokens, zetema};

fn audited(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)))
}

fn audit_folder(data: &Path) -> Output {
    zetema().args(["ladder", "audit", "--format", "json", "--data"]).arg(data).output().unwrap()
}

#[test]
fn a_server_with_nothing_wrong_is_sound_to_everybody_and_its_folder_too() {
    let server = Served::start();
    let private = server.json(&["match", "create"])["match"]["match_id"].clone();
    server.json(&["match", "cancel", private.as_str().unwrap()]);
    season(&server, ["ann", "bob"], 3);
    let results = server.json(&["match", "results"]).as_array().unwrap().len();

    let on_ladder =
        server.json(&["ladder", "results", LADDER, "--limit", "100000"]).as_array().unwrap().len();
    let found = |records: usize, unseen: usize, why: &str, not_compared: usize| {
        let mut reasons = json!({"too_old": 0, "no_such_ladder": 0, "not_counted": 0, "no_server": 0});
        reasons[why] = not_compared.into();
        json!({
            "records": records, "sound": records, "held": 0, "unseen": unseen, "not_compared": reasons, "findings": [],
        })
    };
    let all = found(results, 0, "too_old", 0);
    let admin = server.output(&["ladder", "audit", "--format", "json"]);
    assert!(admin.status.success(), "{}", text(&admin.stdout));
    assert_eq!(audited(&admin), all);
    // Everybody sees the public ones, and is told that this is not all.
    let anyone = |flags: &[&str]| {
        let args = [&["ladder", "audit", "--server", &server.url], flags].concat();
        zetema().args(args).current_dir(server.data.path()).output().unwrap()
    };
    let public = found(results - 1, 1, "too_old", 0);
    assert_eq!(audited(&anyone(&["--format", "json"])), public);
    let told = anyone(&[]);
    assert!(told.status.success());
    let (said, noted) = (text(&told.stdout), text(&told.stderr));
    assert!(said.contains("not seen with this token"), "{said}");
    assert!(noted.contains("the admin's token"), "{noted}");

    // A server that runs keeps its folder for itself.
    let busy = audit_folder(server.data.path());
    assert!(!busy.status.success() && text(&busy.stderr).contains("--server URL"), "{}", text(&busy.stderr));
    let data = server.stop();
    let files = || {
        let files = std::fs::read_dir(data.path()).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = files
            .filter(|path| path.is_file() && !path.to_string_lossy().ends_with("-shm"))
            .map(|path| (std::fs::read(&path).unwrap(), path))
            .collect();
        files.sort();
        files
    };
    let before = files();
    let folder = audit_folder(data.path());
    assert!(folder.status.success(), "{}", text(&folder.stderr));
    // What ladders list a folder does not know.
    let in_folder = found(results, 0, "no_server", on_ladder);
    assert_eq!(audited(&folder), in_folder);
    assert!(files() == before, "the folder was changed");
    // What is typed counts for more than what the environment says.
    let mut command = zetema();
    command
        .env("ZETEMA_SERVER", "http://127.0.0.1:1")
        .args(["ladder", "audit", "--format", "json", "--data"]);
    let folder = command.arg(data.path()).output().unwrap();
    assert_eq!(audited(&folder), in_folder);
    let noted = text(&folder.stderr);
    assert!(noted.contains(&format!("the data folder {}", data.path().display())), "{noted}");

    // A server that has just been started again knows all the same, and one without the ladder says what it does not.
    let (server, _) = Served::on(data);
    assert_eq!(audited(&server.output(&["ladder", "audit", "--format", "json"])), all);
    let data = server.stop();
    let config = data.path().join("config.toml");
    let ladder = "[[ladder]]\nname = \"elsewhere\"\npreset = \"quick\"\nplayers = 2\n";
    std::fs::write(&config, ladder).unwrap();
    let (server, _) = Served::on_with(data, &["--config", config.to_str().unwrap()]);
    let without = found(results, 0, "no_such_ladder", on_ladder);
    assert_eq!(audited(&server.output(&["ladder", "audit", "--format", "json"])), without);
    let told = text(&server.output(&["ladder", "audit"]).stdout);
    assert!(told.contains("not compared with its ladder: that is not there any more"), "{told}");
}

#[test]
fn what_is_gone_and_what_was_changed_is_named_once_and_all_else_is_looked_at() {
    let server = Served::start();
    season(&server, ["ann", "bob"], 7);
    let results = server.json(&["match", "results"]).as_array().unwrap().len();
    // Behind the back of the server: one is gone, and the newest; one is not as it was written, and of one the record.
    let database = rusqlite::Connection::open(server.data.path().join("journal.sqlite3")).unwrap();
    database.busy_timeout(std::time::Duration::from_mins(1)).unwrap();
    // The server alone copies its WAL.
    database.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    for (change, rows) in [
        (format!("DELETE FROM records WHERE result_number IN (2, {results})"), 2),
        ("UPDATE records SET summary = x'ff' WHERE result_number = 4".to_owned(), 1),
        ("UPDATE records SET record = x'ff' WHERE result_number = 6".to_owned(), 1),
    ] {
        assert_eq!(database.execute(&change, []).unwrap(), rows, "{change}");
    }
    drop(database);
    let found = |output: &Output| {
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
        let audited = audited(output);
        let findings = audited["findings"].as_array().unwrap().iter();
        let mut found: Vec<(u64, String)> = findings
            .map(|found| {
                (found["result_number"].as_u64().unwrap(), found["kind"].as_str().unwrap().to_owned())
            })
            .collect();
        found.sort();
        (audited["records"].as_u64().unwrap(), audited["sound"].as_u64().unwrap(), found)
    };
    let named = |all: &[(u64, &str)]| -> Vec<(u64, String)> {
        all.iter().map(|&(number, kind)| (number, kind.to_owned())).collect()
    };
    let last = results as u64;
    // Those that are not listed any more are in the list of their ladder.
    let over_the_wire = named(&[
        (2, "number"),
        (2, "result"),
        (4, "number"),
        (4, "result"),
        (6, "unreadable"),
        (last, "number"),
        (last, "result"),
    ]);
    for page_size in ["1", "2", "1000"] {
        let flags = ["ladder", "audit", "--format", "json", "--page-size", page_size];
        assert_eq!(found(&server.output(&flags)), (last - 3, last - 4, over_the_wire.clone()), "{page_size}");
    }
    // Whoever does not read to the end is told by the exit code all the same.
    for form in ["table", "json"] {
        let mut unread = server.command(&["ladder", "audit", "--format", form]);
        let mut unread = unread.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        drop(unread.stdout.take());
        assert_eq!(unread.wait().unwrap().code(), Some(1), "{form}");
    }
    let data = server.stop();
    let in_folder = named(&[(2, "number"), (4, "unreadable"), (6, "unreadable")]);
    for page_size in ["1", "2", "1000"] {
        let mut command = zetema();
        command.args(["ladder", "audit", "--format", "json", "--page-size", page_size, "--data"]);
        let output = command.arg(data.path()).output().unwrap();
        assert_eq!(found(&output), (last - 2, last - 4, in_folder.clone()), "{page_size}");
    }
}

/// Two matches that share their deals, which are dealt.
fn deal_set(server: &Served) -> [String; 2] {
    let seat = v1::SeatSpec { kind: Some(v1::seat_spec::Kind::Token(v1::TokenSeat {})) };
    let preset = v1::PresetRules { preset: v1::Preset::Quick.into(), ..v1::PresetRules::default() };
    let shared = v1::deals::Kind::Shared(v1::SharedDeals { deal_set: 1 });
    let spec = v1::MatchSpec {
        rules: Some(v1::match_spec::Rules::Preset(preset)),
        seats: vec![seat; 2],
        deals: Some(v1::Deals { kind: Some(shared) }),
        ..v1::MatchSpec::default()
    };
    let mut request =
        Request::new(v1::BatchCreateMatchesRequest { matches: vec![spec; 2], request_id: String::new() });
    let token = std::fs::read_to_string(server.data.path().join("admin-token")).unwrap();
    let bearer = format!("Bearer {}", token.trim()).parse().unwrap();
    request.metadata_mut().insert("authorization", bearer);
    let created = tokio::runtime::Runtime::new().unwrap().block_on(async {
        let mut matches = MatchServiceClient::connect(server.url.clone()).await.unwrap();
        let created = matches.batch_create_matches(request).await.unwrap().into_inner();
        let mut play = PlayServiceClient::connect(server.url.clone()).await.unwrap();
        for seat in created.matches.iter().flat_map(|created| &created.seat_tokens) {
            let join = v1::JoinSeatRequest {
                seat_token: seat.token.clone(),
                nonce_hash: Vec::new(),
                assigned: None,
            };
            play.join_seat(join).await.unwrap();
        }
        created
    });
    let ids: Vec<String> =
        created.matches.into_iter().map(|created| created.r#match.unwrap().match_id).collect();
    ids.try_into().unwrap()
}

#[test]
fn records_that_wait_for_others_of_their_deal_set_are_counted_apart() {
    let server = Served::start();
    let matches = deal_set(&server);
    for (id, sound, held) in [(&matches[0], 0, 1), (&matches[1], 2, 0)] {
        server.json(&["match", "cancel", id]);
        let found = audited(&server.output(&["ladder", "audit", "--format", "json"]));
        let records = sound + held;
        let compared = json!({"too_old": 0, "no_such_ladder": 0, "not_counted": 0, "no_server": 0});
        assert_eq!(
            found,
            json!({
                "records": records, "sound": sound, "held": held, "unseen": 0, "not_compared": compared, "findings": [],
            })
        );
    }
}

/// Files a match as a server would that did not play by the rules.
async fn file(
    journal: &SqliteJournal,
    like: &FinishedMatch,
    id: u8,
    change: fn(&mut v1::Record, &mut MatchInfo),
) -> MatchId {
    let match_id = MatchId::from_bytes([id; 16]);
    let mut info = decode_summary(like.result.summary.as_bytes()).unwrap();
    let mut record = v1::Record::decode(like.record.as_bytes().as_ref()).unwrap();
    (info.match_id, record.match_id) = (match_id, match_id.to_string());
    change(&mut record, &mut info);
    let (epoch, now) = (journal.epoch(), UnixMillis::new(0));
    let created = NewMatch { match_id, records: Payload::new("created").unwrap().into() };
    let new = NewMatches::new(vec![created], epoch, now, None).unwrap();
    assert!(matches!(journal.create(new).await, Outcome::Done(_)));
    let records = Payload::new("over").unwrap().into();
    let finish = Finish {
        last: Append { match_id, expected: Version::new(1), epoch, records },
        listing: like.result.listing.clone(),
        finished_at: like.result.finished_at,
        summary: Summary::new(encode_summary(&info)).unwrap(),
        record: RecordBytes::new(record.encode_to_vec()).unwrap(),
    };
    assert!(matches!(journal.finish(finish).await, Outcome::Done(_)));
    match_id
}

/// Ways to doctor a record, the kind that it is found as, and what is said.
type Case = (fn(&mut v1::Record, &mut MatchInfo), &'static str, &'static str);

const CASES: [Case; 10] = [
    (|record, _| record.dealing.as_mut().unwrap().commitment[0] ^= 1, "deal", "commitment"),
    (|record, _| record.deals[0].deck.rotate_left(1), "deal", "deal 0"),
    (
        |record, _| {
            record.steps.pop();
            record.ledger.pop();
        },
        "play",
        "",
    ),
    (|record, _| record.deals[0].scores[0] += 1, "play", "deal 0"),
    (|record, _| record.ledger[0].credit_ms += 1, "clocks", "ledger"),
    (|record, _| record.ledger.clear(), "clocks", ""),
    (
        |_, info| {
            if let Some(Ending::Result(result)) = &mut info.outcome {
                result.totals[0] += 1;
            }
        },
        "result",
        "the outcome",
    ),
    (|record, _| "ann".clone_into(&mut record.seats[0].bot_name), "result", "the bots and their sides"),
    (|record, _| "quick-2".clone_into(&mut record.ladder), "result", "the match says otherwise: the ladder"),
    (
        |_, info| {
            info.visibility = match info.visibility {
                Visibility::Public => Visibility::Private,
                Visibility::Private => Visibility::Public,
            };
        },
        "result",
        "who may see it",
    ),
];

#[test]
fn each_record_that_is_not_what_it_should_be_is_named_with_what_is_wrong() {
    let server = Served::start();
    let created = server.json(&["match", "create", "--preset", "quick", "--players", "2"]);
    let played = server.play(&tokens(&created));
    assert!(played.status.success(), "{}", text(&played.stderr));
    let id: MatchId = created["match"]["match_id"].as_str().unwrap().parse().unwrap();
    let data = server.stop();

    let runtime = tokio::runtime::Runtime::new().unwrap();
    let doctored = runtime.block_on(async {
        let (journal, _) = SqliteJournal::open(data.path(), Options::default()).await.unwrap();
        let Some(StoredMatch::Finished(like)) = journal.read(id).await.unwrap() else { panic!("it is over") };
        let mut ids = Vec::new();
        for (at, (change, ..)) in CASES.iter().enumerate() {
            ids.push(file(&journal, &like, u8::try_from(at).unwrap() + 1, *change).await.to_string());
        }
        journal.close().await;
        ids
    });
    let check = |output: &Output| {
        assert!(!output.status.success());
        let audited = audited(output);
        assert_eq!(
            (&audited["records"], &audited["sound"]),
            (&json!(CASES.len() + 1), &json!(1)),
            "{audited}"
        );
        let findings = audited["findings"].as_array().unwrap();
        for (at, (id, (_, kind, says))) in doctored.iter().zip(CASES).enumerate() {
            let found = findings.iter().find(|found| found["match_id"] == *id && found["kind"] == kind);
            let found = found.unwrap_or_else(|| panic!("{at}, {kind}: {audited}"));
            assert_eq!(found["result_number"], at + 2);
            assert!(found["problem"].as_str().unwrap().contains(says), "{says}: {found}");
        }
        assert!(findings.iter().all(|found| doctored.iter().any(|id| found["match_id"] == *id)), "{audited}");
    };
    check(&audit_folder(data.path()));
    // A server that has been given such a journal does not hide it.
    let (server, _) = Served::on(data);
    check(&server.output(&["ladder", "audit", "--format", "json"]));
    let told = server.output(&["ladder", "audit"]);
    assert_eq!(told.status.code(), Some(1));
    let said = text(&told.stdout);
    for (id, (_, kind, _)) in doctored.iter().zip(CASES) {
        assert!(said.lines().any(|line| line.contains(id) && line.contains(kind)), "{id} {kind}: {said}");
    }
}
