//! Backups that are taken while bots play, and servers that are made from them.

use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use zetema_bots::House;
use zetema_proto::record_from_wire;
use zetema_proto::v1::{self, ErrorReason, MatchState, Preset};
use zetema_rules::{AbortReason, Outcome, Record};
use zetema_sdk::{End, Session, Settings};
use zetema_service::access::ADMIN_TOKEN_FILE;
use zetema_tests::harness::{Clients, Created, Process, preset, soon, unhurried};

use super::{
    Read, after, backup, check_quiet, check_refused, check_sound, count, json, restore, results, serve,
};

const SHORT: usize = 15;
const LONG: usize = 15;
const MATCHES: usize = SHORT + LONG;
/// Each is taken when so many seats are through.
const BACKUPS_AT: [usize; 3] = [1, SHORT, 2 * SHORT + 6];

/// What the server of the backups knows when all is over.
struct Original {
    created: Vec<Created>,
    results: Vec<Read>,
    records: HashMap<String, v1::Record>,
    admin_token: String,
    /// Revoked after the backups.
    owner_token: String,
    /// Made after the backups, as was its match.
    late_token: String,
    late: Created,
}

/// A backup, and what the program said of it.
struct Taken {
    file: PathBuf,
    results: usize,
    unfinished: usize,
}

/// Creates all matches by a request that may be sent again.
async fn create(clients: &Clients) -> Vec<Created> {
    let short = unhurried(preset(Preset::Sackson, 2));
    let long = unhurried(preset(Preset::Sackson, 4));
    let matches = [vec![short; SHORT], vec![long; LONG]].concat();
    let request = v1::BatchCreateMatchesRequest { request_id: "load".to_owned(), matches };
    let answer = soon("BatchCreateMatches", clients.matches().batch_create_matches(request)).await;
    answer.unwrap().into_inner().matches.into_iter().map(created).collect()
}

fn created(one: v1::CreatedMatch) -> Created {
    v1::CreateMatchResponse { r#match: one.r#match, seat_tokens: one.seat_tokens }.into()
}

/// Plays matches, and takes backups meanwhile.
async fn play_and_back_up(files: &Path) -> (Original, Vec<Taken>) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (process, clients) = Process::start_in(folder).await;
    let (owner, owner_token) = clients.owner_token("shop").await;
    let created = create(&clients.by(&owner_token)).await;
    let mut session =
        Session::open(&clients.url(), Settings::default(), |info| House::Random.make(info, 1)).unwrap();
    for token in created.iter().flat_map(|created| &created.tokens) {
        session.play(token.as_str().into()).unwrap();
    }

    let mut taken = Vec::new();
    let mut through = 0;
    while let Some(outcome) = soon("an outcome", session.next()).await {
        assert!(matches!(outcome.end, End::Result(_)) && outcome.faults.is_empty(), "{outcome}");
        through += 1;
        if BACKUPS_AT.contains(&through) {
            let file = files.join(format!("{through}.backup"));
            let said = json(&backup(&data, &file).await);
            assert_eq!(said["damage"], serde_json::json!([]));
            let (results, unfinished) =
                (count(&said, "latest_result_number"), count(&said, "unfinished_matches"));
            assert_eq!(results + unfinished, MATCHES, "it is of one moment");
            taken.push(Taken { file, results, unfinished });
        }
    }
    check_refused(&backup(&data, &taken[0].file).await, "replaces nothing");

    clients.revoke(&owner).await;
    let (_, late_token) = clients.owner_token("late").await;
    let late = clients.create(unhurried(preset(Preset::Sackson, 2))).await;
    let results = results(&clients, None).await.unwrap();
    let mut records = HashMap::new();
    for created in &created {
        records.insert(created.id().to_owned(), clients.get_record(created.id()).await.unwrap());
    }
    let admin_token = process.admin_token();
    let (folder, log) = process.kill();
    check_quiet(&log);
    check_sound(&folder.path().join("data")).await;
    (Original { created, results, records, admin_token, owner_token, late_token, late }, taken)
}

/// The match is not over in the backup: it is as far as it was, and shows what was hidden.
fn check_revealed(aborted: &Record, whole: &v1::Record) {
    let (whole, _) = record_from_wire(whole).unwrap();
    assert_eq!(aborted.outcome, Outcome::Aborted { reason: AbortReason::Restored, seats: Vec::new() });
    assert_eq!(aborted.dealing.server_seed, whole.dealing.server_seed);
    assert!(whole.steps.starts_with(&aborted.steps));
    if aborted.dealer.is_some() {
        assert_eq!((&aborted.dealing, aborted.dealer), (&whole.dealing, whole.dealer));
        let decks = |record: &Record| record.deals.iter().map(|deal| deal.deck).collect::<Vec<_>>();
        assert!(decks(&whole).starts_with(&decks(aborted)));
    }
}

/// What was over is as it was, and what was not is aborted. The answer is the results.
async fn check_results(clients: &Clients, original: &Original, kept: usize) -> Vec<Read> {
    let restored = results(clients, None).await.unwrap();
    let numbers = restored.iter().map(|(ended, _)| ended.result_number);
    assert!(numbers.eq(1..=u64::try_from(MATCHES).unwrap()), "without a gap");
    for ((ended, _), (before, _)) in restored.iter().zip(&original.results).take(kept) {
        assert_eq!(ended, before);
        let match_id = &ended.r#match.as_ref().unwrap().match_id;
        assert_eq!(clients.get_record(match_id).await.unwrap(), original.records[match_id]);
    }
    let tokens: HashMap<&str, &str> =
        original.created.iter().map(|created| (created.id(), created.tokens[0].as_str())).collect();
    for (ended, _) in &restored[kept..] {
        let aborted = ended.r#match.as_ref().unwrap();
        assert_eq!(aborted.state(), MatchState::Aborted);
        let match_id = &aborted.match_id;
        check_revealed(&clients.verified_record(match_id).await, &original.records[match_id]);
        let resign = v1::ResignRequest {
            seat_token: tokens[match_id.as_str()].to_owned(),
            panic: None,
            assigned: None,
        };
        let refused = soon("Resign", clients.play().resign(resign)).await.unwrap_err();
        assert_eq!(v1::Error::from_status(&refused).unwrap().reason(), ErrorReason::MatchOver);
    }
    restored
}

/// Readers of results who saw no more than is in the backup go on, the others are told.
async fn check_cursors(clients: &Clients, original: &Original, kept: usize, restored: &[Read]) {
    for (at, (_, cursor)) in original.results.iter().enumerate() {
        match results(clients, Some(after(cursor))).await {
            Ok(rest) => assert!(at < kept && rest == restored[at + 1..], "{at}"),
            Err(error) => {
                assert!(at >= kept && error.reason() == ErrorReason::CursorAhead, "{at}: {error:?}");
            }
        }
    }
    for (at, (_, cursor)) in restored.iter().enumerate() {
        assert_eq!(results(clients, Some(after(cursor))).await.unwrap(), restored[at + 1..]);
    }
}

/// The tokens are those of the backup, and it serves.
async fn check_tokens(clients: &Clients, original: &Original, last: &str) {
    // A token that was revoked since holds again, and a request that was answered gets the same answer.
    let shop = clients.by(&original.owner_token);
    let again = create(&shop).await;
    let ids = |created: &[Created]| -> Vec<(String, Vec<String>)> {
        created.iter().map(|one| (one.id().to_owned(), one.tokens.clone())).collect()
    };
    assert_eq!(ids(&again), ids(&original.created));

    let get = v1::GetMatchRequest { match_id: original.late.id().to_owned() };
    let refused = soon("GetMatch", clients.matches().get_match(get.clone())).await.unwrap_err();
    assert_eq!(refused.code(), tonic::Code::NotFound);
    let refused = soon("GetMatch", clients.by(&original.late_token).matches().get_match(get)).await;
    assert_eq!(refused.unwrap_err().code(), tonic::Code::Unauthenticated);

    let new = shop.create(unhurried(preset(Preset::Sackson, 2))).await;
    assert!(original.created.iter().chain([&original.late]).all(|before| before.id() != new.id()));
    let cancel = v1::CancelMatchRequest { match_id: new.id().to_owned() };
    soon("CancelMatch", shop.matches().cancel_match(cancel)).await.unwrap();
    let news = results(clients, Some(after(last))).await.unwrap();
    let numbers: Vec<_> = news.iter().map(|(ended, _)| ended.result_number).collect();
    assert_eq!(numbers, [u64::try_from(MATCHES).unwrap() + 1]);
}

/// A server of this backup knows what the original knew then, and nothing that came after.
async fn check(original: &Original, Taken { file, results: kept, unfinished }: &Taken) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let said = json(&restore(file, &data).await);
    assert_eq!(said["damage"], serde_json::json!([]));
    assert_eq!(count(&said, "aborted_matches"), *unfinished);
    assert_eq!(count(&said, "backup_result_number"), *kept);
    assert_eq!(count(&said, "latest_result_number"), MATCHES);
    check_sound(&data).await;
    check_refused(&restore(file, &data).await, "has a journal");

    std::fs::write(data.join(ADMIN_TOKEN_FILE), &original.admin_token).unwrap();
    let (process, clients) = Process::start_in(folder).await;
    check_refused(&serve(&data).await, "is in use by another server");
    check_refused(&restore(file, &data).await, "is in use by another server");
    let restored = check_results(&clients, original, *kept).await;
    check_cursors(&clients, original, *kept, &restored).await;
    let (_, last) = restored.last().unwrap();
    check_tokens(&clients, original, last).await;

    // A server that was killed has left a WAL, and its mark says so: that is copied too, and stays for the next start.
    let (folder, _) = process.kill();
    assert_eq!(std::fs::read_to_string(data.join("journal.lock")).unwrap(), "open\n");
    let second = folder.path().join("second.backup");
    let said = json(&backup(&data, &second).await);
    assert_eq!((count(&said, "latest_result_number"), count(&said, "unfinished_matches")), (MATCHES + 1, 0));
    assert!(data.join("journal.sqlite3-wal").exists());
    let (process, clients) = Process::start_in(folder).await;
    assert_eq!(results(&clients, Some(after(last))).await.unwrap().len(), 1);
    process.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn backups_that_are_taken_while_bots_play_make_servers_that_know_what_was_over() {
    let files = tempfile::tempdir().unwrap();
    let (original, taken) = play_and_back_up(files.path()).await;
    let counts: Vec<_> = taken.iter().map(|taken| (taken.results, taken.unfinished)).collect();
    println!("results and unfinished matches: {counts:?}");
    assert!(taken.iter().any(|taken| taken.results > 0 && taken.unfinished > 0), "{counts:?}");
    for taken in &taken {
        assert_eq!(std::fs::metadata(&taken.file).unwrap().permissions().mode() & 0o777, 0o600);
        check(&original, taken).await;
    }
    let left: Vec<_> = std::fs::read_dir(files.path()).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(left.len(), BACKUPS_AT.len(), "nothing else is left: {left:?}");
}
