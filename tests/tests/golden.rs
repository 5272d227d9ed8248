//! I6: a journal and records that a release wrote, which every later one has to read: the same matches go on, the same
//! records come to the same bytes.
//!
//! A release that changes what is written gets a set of its own, beside those of the releases before:
//!
//! ```sh
//! ZETEMA_GOLDEN=journal-11 cargo test --workspace --test golden -- --ignored make_a_golden_set
//! ```
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is the test's failure"
)]

use std::fs;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};

use prost::Message;
use serde_json::{Value, json};
use tempfile::TempDir;
use zetema_bots::House;
use zetema_proto::record_from_wire;
use zetema_proto::v1::ladder_service_client::LadderServiceClient;
use zetema_proto::v1::{self, ErrorReason, MatchState, Preset, Visibility};
use zetema_rules::fair::Nonce;
use zetema_rules::{Record, Step};
use zetema_sdk::{End, LadderQueue, Session, Settings};
use zetema_service::access::reset_admin_token;
use zetema_service::config::Config;
use zetema_service::ladders::{self, Comparison, Deviation, Recompute};
use zetema_tests::harness::{
    Clients, Created, SeatLog, Table, TestServer, fixed, join_all, preset, shared, soon, unhurried,
};

/// The decision at which a match is left open.
const LEFT_AT: u32 = 12;
/// A ladder on which bots have played.
const LADDER: &str = "quick-2";
/// How many matches they have played there at least.
const LADDER_MATCHES: u64 = 4;

fn sets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden")
}

fn nonce(seat: usize) -> Option<Nonce> {
    (seat != 1).then(|| Nonce::new(format!("nonce {seat}").as_bytes()).unwrap())
}

/// What was played, as the record has it: seat and action.
fn played(record: &Record) -> Vec<String> {
    let text = |step: &Step| match step {
        Step::Play { seat, action, .. } => format!("{} {action}", seat.index()),
        other => panic!("{other:?} was not asked for"),
    };
    record.steps.iter().map(text).collect()
}

fn acted(table: &Table) -> Vec<String> {
    table.acted.iter().map(|acted| format!("{} {}", acted.seat, acted.action)).collect()
}

/// What every seat sees now.
async fn open(clients: &Clients, tokens: &[String]) -> Table {
    let mut table = Table::open(clients, tokens).await;
    while table.seats.iter().any(|seat| seat.start.is_none()) {
        assert!(table.read().await.unwrap());
    }
    table
}

async fn play_out(clients: &Clients, created: &Created) {
    join_all(clients, &[created], nonce).await;
    Table::open(clients, &created.tokens).await.play_out().await;
}

/// Plays a match up to a decision and leaves it: what is known of it.
async fn leave_open(clients: &Clients, created: &Created) -> Value {
    join_all(clients, &[created], nonce).await;
    let mut table = Table::open(clients, &created.tokens).await;
    table.play_to(LEFT_AT).await;
    let now = open(clients, &created.tokens).await;
    let seqs: Vec<u64> = now.seats.iter().map(SeatLog::last_seq).collect();
    json!({ "match_id": created.id(), "tokens": created.tokens, "seqs": seqs, "played": acted(&table) })
}

async fn save_record(clients: &Clients, folder: &Path, match_id: &str) {
    let message = clients.get_record(match_id).await.unwrap();
    let (record, _) = record_from_wire(&message).unwrap();
    fs::write(folder.join(format!("{match_id}.pb")), message.encode_to_vec()).unwrap();
    fs::write(folder.join(format!("{match_id}.txt")), record.to_string()).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "makes a set of files, for a new release"]
async fn make_a_golden_set() {
    let name = std::env::var("ZETEMA_GOLDEN").expect("ZETEMA_GOLDEN is the name of the set");
    let folder = sets().join(name);
    fs::create_dir(&folder).expect("a set that is not there yet");
    let (server, clients) = TestServer::start_allowing("http://127.0.0.1:*").await;
    let quick = |players| unhurried(preset(Preset::Quick, players));

    let joint = clients.create(quick(2)).await;
    play_out(&clients, &joint).await;
    let fixed = clients.create(fixed(quick(3), [7; 32])).await;
    join_all(&clients, &[&fixed], |_| None).await;
    Table::open(&clients, &fixed.tokens).await.play_out().await;
    let aborted = clients.create(quick(2)).await;
    let cancel = v1::CancelMatchRequest { match_id: aborted.id().to_owned() };
    soon("CancelMatch", clients.matches().cancel_match(cancel)).await.unwrap();
    let of_bot = bots_match(&clients).await;
    let set = clients.create_batch(vec![shared(quick(2), 1), shared(quick(2), 1)]).await;
    join_all(&clients, &[&set[0], &set[1]], nonce).await;
    Table::open(&clients, &set[0].tokens).await.play_out().await;
    let held = clients.get_record(set[0].id()).await.unwrap_err();
    assert_eq!(v1::Error::from_status(&held).unwrap().reason(), ErrorReason::HeldUntilReveal);
    let live =
        [leave_open(&clients, &set[1]).await, leave_open(&clients, &clients.create(quick(3)).await).await];
    let waiting = clients.create(quick(2)).await;
    let (_, owner) = clients.owner_token("shop").await;
    let (void, void_secret) = clients.bot_token("greedy").await;
    clients.revoke(&void).await;
    let standings = ladder_played(&clients).await;
    // Of the receiver nothing is heard: what is settled is what was there when the webhook was made.
    for owner in ["", "shop"] {
        let (owner, url) = (owner.to_owned(), "http://127.0.0.1:9/".to_owned());
        let request = v1::CreateWebhookRequest { owner, url, ..v1::CreateWebhookRequest::default() };
        soon("CreateWebhook", clients.webhooks().create_webhook(request)).await.unwrap();
    }
    for finished in [&joint, &fixed, &aborted] {
        save_record(&clients, &folder, finished.id()).await;
    }
    let known = json!({
        "finished": [joint.id(), fixed.id(), aborted.id()],
        "held": set[0].id(),
        "live": live,
        "waiting": { "match_id": waiting.id(), "tokens": waiting.tokens },
        "owner_token": owner,
        "void_token": void_secret,
        "webhooks": webhooks(&clients).await,
        "of_bot": of_bot,
        "standings": standings,
    });
    fs::write(folder.join("known.json"), format!("{known:#}\n")).unwrap();
    // As a kill would leave them, so that what is in the logs alone is in the set.
    copy_journal(&server.data(), &folder);
    server.stop().await;
}

/// Copies the files of a journal, those of its redo log without the zeros at their end.
fn copy_journal(from: &Path, to: &Path) {
    for file in fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        let name = file.file_name().into_string().unwrap();
        if !name.starts_with("journal.") || name.ends_with("-shm") {
            continue;
        }
        let mut bytes = fs::read(file.path()).unwrap();
        if name.starts_with("journal.redo-") {
            let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            bytes.truncate(used.next_multiple_of(512));
        }
        fs::write(to.join(name), bytes).unwrap();
    }
}

/// A match with a seat for a bot, over before it began: what is known of it.
async fn bots_match(clients: &Clients) -> Value {
    let (_, token) = clients.bot_token("rex").await;
    let mut spec = unhurried(preset(Preset::Quick, 2));
    let seat = v1::BotSeat { name: "rex".to_owned() };
    spec.seats[1].kind = Some(v1::seat_spec::Kind::Bot(seat));
    let created = clients.create(spec).await;
    let cancel = v1::CancelMatchRequest { match_id: created.id().to_owned() };
    soon("CancelMatch", clients.matches().cancel_match(cancel)).await.unwrap();
    json!({ "match_id": created.id(), "token": token })
}

/// Two bots of two owners play on a ladder: its standings afterwards.
async fn ladder_played(clients: &Clients) -> Value {
    let bot = async |name, owner| {
        let (_, token) = clients.register_bot(name, owner).await;
        let make = |info: &_| House::Greedy.make(info, 1);
        let bot = Session::open_for_bot(&clients.url(), Settings::default(), token.into(), make);
        let mut bot = bot.unwrap();
        let queue = LadderQueue::new(LADDER, NonZeroU16::MIN);
        soon("a place in the queue", bot.queue([queue])).await.unwrap();
        bot
    };
    let mut bots = [bot("ann", "ada").await, bot("bob", "ben").await];
    let mut played = 0;
    while played < LADDER_MATCHES {
        let outcome = soon("an outcome", bots[0].next()).await.unwrap();
        played += u64::from(matches!(outcome.end, End::Result(_)));
    }
    for bot in &mut bots {
        bot.stopper().finish();
    }
    for bot in &mut bots {
        while soon("the bot to have done", bot.next()).await.is_some() {}
    }
    let over = async {
        loop {
            let found = standings(clients).await;
            let matches = found.iter().map(|(_, _, matches)| matches).min();
            if matches.is_some_and(|matches| *matches >= LADDER_MATCHES) {
                return found;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    // As texts the numbers are exact.
    let text = |(name, [mu, sigma], matches): (String, [f64; 2], u64)| json!({ "bot": name, "mu": mu.to_string(), "sigma": sigma.to_string(), "matches": matches });
    soon("the standings", over).await.into_iter().map(text).collect()
}

/// The standings of the ladder, the best first: bot, μ and σ, and how many matches it has played.
async fn standings(clients: &Clients) -> Vec<(String, [f64; 2], u64)> {
    let mut ladders = LadderServiceClient::new(clients.channel().clone());
    let request = v1::GetStandingsRequest { ladder: LADDER.to_owned(), ..v1::GetStandingsRequest::default() };
    let answer = soon("GetStandings", ladders.get_standings(request)).await.unwrap().into_inner();
    let standing = |standing: v1::Standing| {
        let v1::Rating { mu, sigma, .. } = standing.rating.unwrap();
        (standing.bot_name, [mu, sigma], standing.tally.unwrap().matches)
    };
    answer.standings.into_iter().map(standing).collect()
}

/// The standings are what they were, as far as another platform rounds.
async fn check_standings(clients: &Clients, known: &Value) {
    let then = known.as_array().unwrap().iter().map(|one| {
        let number = |of: &str| text(&one[of]).parse().unwrap();
        (text(&one["bot"]), [number("mu"), number("sigma")], one["matches"].as_u64().unwrap())
    });
    let now = standings(clients).await;
    assert_eq!(now.len(), then.len());
    for ((bot, then, matches), now) in then.zip(now) {
        let near = then.iter().zip(now.1).all(|(then, now): (&f64, f64)| (then - now).abs() <= 1e-9);
        assert!(near && (&bot, matches) == (&now.0, now.2), "{bot} {then:?} {matches}: {now:?}");
    }
}

/// The ratings that a release stored are those of its results, as far as another platform rounds. Those before the eighth layout stored none.
async fn check_stored_ratings(set: &Path, data: &Path) {
    let layout = set.file_name().unwrap().to_str().unwrap().strip_prefix("journal-").unwrap();
    let layout: u32 = layout.parse().unwrap();
    let specs = Config::default().ladders;
    let recomputed = ladders::recompute(data.to_owned(), specs, None, Recompute::Check).await.unwrap();
    let of = |name: &str| recomputed.ladders.iter().find(|ladder| ladder.name.as_str() == name).unwrap();
    if layout < 8 {
        let is_nothing = |comparison: &Comparison| *comparison == Comparison::NothingStored;
        assert!(recomputed.ladders.iter().all(|ladder| is_nothing(&ladder.comparison)), "{recomputed:?}");
        return;
    }
    assert!(recomputed.ladders.iter().all(|ladder| match &ladder.comparison {
        Comparison::NothingStored => ladder.name.as_str() != LADDER,
        Comparison::Compared { differences, .. } =>
            differences.iter().all(|difference| difference.deviation == Deviation::Rounding),
        _ => false,
    }));
    let ladder = of(LADDER);
    assert!(ladder.bots == 2 && ladder.rated >= LADDER_MATCHES, "{ladder:?}");
}

/// What is listed of the matches that are over and not for everyone, by the token.
async fn listed(clients: &Clients, token: &str) -> Vec<String> {
    let by = clients.by(token);
    let over = vec![MatchState::Finished.into(), MatchState::Aborted.into()];
    let filter = Some(v1::MatchFilter { states: over, ..v1::MatchFilter::default() });
    let list = v1::ListMatchesRequest { filter, ..v1::ListMatchesRequest::default() };
    let page = soon("ListMatches", by.matches().list_matches(list)).await.unwrap().into_inner();
    let private = page.matches.into_iter().filter(|one| one.visibility() == Visibility::Private);
    private.map(|one| one.match_id).collect()
}

/// Every webhook: its id, its owner, where it sends and what is settled.
async fn webhooks(clients: &Clients) -> Value {
    let mut client = clients.webhooks();
    let list = client.list_webhooks(v1::ListWebhooksRequest::default());
    let webhooks = soon("ListWebhooks", list).await.unwrap().into_inner().webhooks;
    webhooks
        .iter()
        .map(|one| json!([one.webhook_id, one.owner, one.url, one.settled_result_number]))
        .collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(text).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_journal_of_every_release_goes_on_and_its_records_are_the_same() {
    let mut read = 0;
    for set in fs::read_dir(sets()).unwrap().map(|entry| entry.unwrap().path()) {
        check(&set).await;
        read += 1;
    }
    assert!(read > 0);
}

async fn check(set: &Path) {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    copy_journal(set, &data);
    check_stored_ratings(set, &data).await;
    reset_admin_token(&data).await.unwrap();
    let known: Value = serde_json::from_slice(&fs::read(set.join("known.json")).unwrap()).unwrap();
    let (server, clients) = TestServer::start_in(folder).await;

    // Releases before the fifth layout had none.
    let expected = known.get("webhooks").cloned().unwrap_or_else(|| json!([]));
    assert_eq!(webhooks(&clients).await, expected);
    let finished = texts(&known["finished"]);
    for match_id in &finished {
        check_record(&clients, set, match_id).await;
    }
    let owner = clients.by(&text(&known["owner_token"]));
    assert_eq!(
        owner.create(unhurried(preset(Preset::Quick, 2))).await.info.state(),
        MatchState::WaitingForSeats
    );
    let void = clients.by(&text(&known["void_token"]));
    let list = v1::ListMatchesRequest::default();
    assert!(soon("ListMatches", void.matches().list_matches(list)).await.is_err());

    // Releases before the sixth layout made no set with a bot's match.
    if let Some(of_bot) = known.get("of_bot") {
        assert_eq!(listed(&clients, &text(&of_bot["token"])).await, [text(&of_bot["match_id"])]);
    }

    // Releases before the seventh layout had no ladders.
    let standings = known.get("standings");
    if let Some(standings) = standings {
        check_standings(&clients, standings).await;
    }

    let held = text(&known["held"]);
    assert!(clients.get_record(&held).await.is_err());
    for live in known["live"].as_array().unwrap() {
        go_on(&clients, live).await;
    }
    clients.verified_record(&held).await;

    let waiting = &known["waiting"];
    let info = clients.get(&text(&waiting["match_id"])).await;
    assert_eq!(info.state(), MatchState::WaitingForSeats);
    play_out(&clients, &Created { info, tokens: texts(&waiting["tokens"]) }).await;

    // And once more, from what this release made of it.
    let (server, clients) = server.restart().await;
    for match_id in &finished {
        check_record(&clients, set, match_id).await;
    }
    clients.verified_record(&text(&waiting["match_id"])).await;
    if let Some(standings) = standings {
        check_standings(&clients, standings).await;
    }
    server.stop().await;
}

/// The record that is read now is the one that was written then, in bytes and in text.
async fn check_record(clients: &Clients, set: &Path, match_id: &str) {
    let then = fs::read(set.join(format!("{match_id}.pb"))).unwrap();
    let now = clients.get_record(match_id).await.unwrap();
    assert!(now.encode_to_vec() == then, "the record of match {match_id}");
    let record = clients.verified_record(match_id).await;
    let then = fs::read_to_string(set.join(format!("{match_id}.txt"))).unwrap();
    assert_eq!(record.to_string(), then);
    let read: Record = then.parse().unwrap();
    read.verify().unwrap();
    assert_eq!(played(&read), played(&record));
}

/// A match that was left open is where it was, and can be played to its end.
async fn go_on(clients: &Clients, live: &Value) {
    let (match_id, tokens) = (text(&live["match_id"]), texts(&live["tokens"]));
    let mut table = open(clients, &tokens).await;
    let seqs: Vec<u64> = table.seats.iter().map(SeatLog::last_seq).collect();
    assert_eq!(json!(seqs), live["seqs"], "match {match_id}");
    assert_eq!(table.decision().await.unwrap().number, LEFT_AT);
    table.play_out().await;
    let record = clients.verified_record(&match_id).await;
    let mut all = texts(&live["played"]);
    all.extend(acted(&table));
    assert_eq!(played(&record), all);
}
