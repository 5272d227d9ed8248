//! A run that tells everything that it can tell, at the level `trace`, tells no secret: not in its log, its metrics, its
//! errors, nor in what a bot's program says.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use base64::{Engine, prelude::BASE64_STANDARD};
use prost::Message;
use rusqlite::Connection;
use tempfile::TempDir;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, pem::PemObject};
use tonic::Status;
use zetema_proto::v1::act::Choice;
use zetema_proto::v1::{Preset, play_request::Kind as Ask};
use zetema_proto::{PROTOCOL_REVISION, Wire, record_from_wire, v1};
use zetema_rules::fair::Nonce;
use zetema_rules::{Card, Replay, Viewer};
use zetema_tests::harness::{
    Authority, Clients, Created, PlayStream, Process, Secrets, StreamTable, Table, built, call_as, faces,
    fixed, join_all, preset, shared, soon,
};

use crate::secrecy::metrics;
use crate::webhooks::{
    FLAGS,
    receiver::{Manner, Receiver},
};

/// Where the receiver of the webhook is asked, of which both parts are its secrets.
const PATH: [&str; 2] = ["/zetema/the-path-of-a-receiver", "?token=what-a-receiver-asks-for"];

/// A server that tells everything.
async fn start(folder: TempDir) -> (Process, Clients) {
    let flags = FLAGS.map(OsStr::new);
    let mut process = Process::spawn("127.0.0.1:0", "trace", folder, &flags);
    assert!(process.serves().await, "the server starts");
    let clients = process.connect().await;
    (process, clients)
}

fn nonce(seat: usize) -> Nonce {
    Nonce::new(format!("the nonce of seat {seat}").as_bytes()).unwrap()
}

/// What was told beside the log, to be looked through.
#[derive(Default)]
struct Told(Vec<u8>);

impl Told {
    /// Notes an error, whole.
    fn refused<T: std::fmt::Debug>(&mut self, answer: Result<T, Status>) {
        let status = answer.unwrap_err();
        self.0.extend(format!("{status} {status:?}").bytes());
        self.0.extend_from_slice(status.details());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_run_at_trace_level_tells_no_secret_of_it() {
    let mut secrets = Secrets::default();
    let mut told = Told::default();
    let (process, clients) = start(tempfile::tempdir().unwrap()).await;
    secrets.add("the admin's token", clients.admin_token().as_bytes());
    bearers(&clients, &mut secrets, &mut told).await;
    let receiver = Receiver::start(Manner::Takes).await;
    webhook(&clients, &receiver, &mut secrets).await;

    let given = [0xa7; 32];
    secrets.add("the seed that was given", &given);
    let matches = [
        clients.create(fixed(preset(Preset::Sackson, 2), given)).await,
        clients.create(preset(Preset::Victorian, 3)).await,
        clients.create(preset(Preset::Fosdick, 2)).await,
    ];
    let sets = clients.create_batch(vec![shared(preset(Preset::Quick, 2), 1); 2]).await;
    let cancelled = clients.create(preset(Preset::Parlett, 4)).await;
    for created in matches.iter().chain(&sets).chain([&cancelled]) {
        for token in &created.tokens {
            secrets.add("a seat's token", token.as_bytes());
        }
    }
    rotate(&clients, &cancelled, &mut secrets, &mut told).await;
    let [fixed, joint, streamed] = &matches;
    for seat in 0..4 {
        secrets.add("a nonce", nonce(seat).reveal());
    }
    join_all(&clients, &[fixed], |_| None).await;
    join_all(&clients, &[joint, &sets[0], &sets[1]], |seat| Some(nonce(seat))).await;
    let cancel = v1::CancelMatchRequest { match_id: cancelled.id().to_owned() };
    soon("CancelMatch", clients.matches().cancel_match(cancel)).await.unwrap();

    let mut tables = Vec::new();
    for created in [fixed, joint, &sets[0], &sets[1]] {
        let mut table = Table::open(&clients, &created.tokens).await;
        table.play_to(9).await;
        mischief(&clients, created, &mut table, &mut told).await;
        tables.push(table);
    }
    let (mut stream, _) = PlayStream::open(&clients).await;
    let mut on_stream = StreamTable::join(&mut stream, &streamed.tokens).await;
    on_stream.play_to(&mut stream, 9).await;
    receiver.hears("the result of the match that was cancelled", |heard| !heard.is_empty()).await;
    receiver.behave(Manner::Says(404));
    let shown = metrics(&clients).await;
    drop((stream, tables));
    let (folder, first_log) = process.kill();

    // What is taken up again is told of too.
    let (process, clients) = start(folder).await;
    for created in matches.iter().chain(&sets) {
        let mut table = Table::open(&clients, &created.tokens).await;
        table.play_out().await;
    }
    let bot_said = bot(&process, &clients, &mut secrets).await;
    for created in matches.iter().chain(&sets).chain([&cancelled]) {
        hidden(&clients, created, &mut secrets).await;
    }
    receiver.hears("results that it refuses", |heard| heard.len() > 3).await;
    let shown_last = metrics(&clients).await;
    assert!(shown_last.contains("zetema_"), "{shown_last}");
    let (folder, last_log) = process.kill();
    let data = folder.path().join("data");
    secrets.add("the service key", &service_key(&data));

    for (what, told) in [
        ("an error", told.0.as_slice()),
        ("the metrics", shown.as_bytes()),
        ("the metrics at the end", shown_last.as_bytes()),
        ("the log", first_log.as_bytes()),
        ("the log after the restart", last_log.as_bytes()),
        ("a bot's program", bot_said.as_bytes()),
    ] {
        assert!(!told.is_empty(), "{what} is there to be looked through");
        secrets.check(what, told);
    }
    for log in [first_log, last_log] {
        assert!(log.contains("TRACE") && log.contains("acted"), "it tells of everything");
        assert!(faces(&log).is_empty(), "the log shows {:?}", faces(&log));
    }
    let hand = format!("hand={}", "a7".repeat(32));
    assert!(secrets.found_in(hand.as_bytes()).is_some(), "what is there is found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_with_tls_tells_nothing_of_its_key_at_trace_level() {
    let mut secrets = Secrets::default();
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().to_owned();
    let (before, after) = (Authority::new(), Authority::new());
    let [first, renewed] = [&before, &after].map(|ca| ca.server(&["127.0.0.1"]));
    for certificate in [&first, &renewed] {
        private_key(&certificate.key, &mut secrets);
    }
    let (cert, key) = first.write(&files);
    let flags = [OsStr::new("--tls-cert"), cert.as_os_str(), OsStr::new("--tls-key"), key.as_os_str()];
    let mut process = Process::spawn("127.0.0.1:0", "trace", folder, &flags);
    assert!(process.serves().await, "the server starts");
    let connect = async |ca: &Authority| {
        Clients::connect_securely(process.url(), ca.pem(), &process.admin_token()).await
    };
    connect(&before).await.unwrap().create(preset(Preset::Sackson, 2)).await;
    assert!(connect(&after).await.is_err(), "this CA made another certificate");
    renewed.write(&files);
    process.hang_up();
    process.logs("TLS is served by this certificate", 2).await;
    connect(&after).await.unwrap();
    // A key that does not fit its certificate is an error that is told.
    std::fs::write(&key, &first.key).unwrap();
    process.hang_up();
    process.logs("the certificate is the same as before", 1).await;
    let (_folder, log) = process.kill();
    assert!(log.contains("TRACE"), "it tells of everything");
    secrets.check("the log", log.as_bytes());
}

/// Adds a private key: its file's lines, its bytes, and the number in them that is the secret.
fn private_key(pem: &str, secrets: &mut Secrets) {
    // As RFC 5915 has it: version 1, then so many bytes.
    const NUMBER: &[u8] = &[2, 1, 1, 4, 32];
    for line in pem.lines().filter(|line| !line.starts_with("-----")) {
        secrets.add("a line of a private key", line.as_bytes());
    }
    let key = PrivateKeyDer::from_pem_slice(pem.as_bytes()).unwrap();
    let bytes = key.secret_der();
    secrets.add("a private key", bytes);
    let number = bytes.windows(NUMBER.len()).position(|window| window == NUMBER).unwrap() + NUMBER.len();
    secrets.add("the number of a private key", &bytes[number..number + 32]);
}

/// Makes bearer tokens of all kinds, and uses them rightly and wrongly.
async fn bearers(clients: &Clients, secrets: &mut Secrets, told: &mut Told) {
    let (owner, owner_secret) = clients.owner_token("shop").await;
    let (_, bot_secret) = clients.bot_token("greedy").await;
    let (_, admin_secret) = clients.token(v1::token_scope::Kind::Admin(v1::AdminScope {})).await;
    for secret in [&owner_secret, &bot_secret, &admin_secret] {
        secrets.add("a bearer token", secret.as_bytes());
        let (kept, end) = (secret.len() - 1, if secret.ends_with('x') { 'y' } else { 'x' });
        let other_end = format!("{}{end}", &secret[..kept]);
        let list = v1::ListTokensRequest::default();
        told.refused(soon("ListTokens", clients.by(&other_end).tokens().list_tokens(list)).await);
        let schemes = [format!("Basic {secret}"), format!("Bearer {secret} {secret}"), secret.clone()];
        for authorization in schemes {
            let method = "/zetema.v1.MatchService/ListMatches";
            told.refused(call_as(clients.channel(), method, &[authorization], vec![vec![]]).await.1);
        }
    }
    let replace =
        v1::CreateTokenRequest { replaces_token_id: owner.token_id, ..v1::CreateTokenRequest::default() };
    let (owner, new_secret) = clients.create_token(replace).await;
    secrets.add("a bearer token in the place of another", new_secret.as_bytes());
    clients.revoke(&owner).await;
    for void in [&owner_secret, &new_secret] {
        let list = v1::ListMatchesRequest::default();
        told.refused(soon("ListMatches", clients.by(void).matches().list_matches(list)).await);
    }
    let hello = v1::Hello { protocol_revision: PROTOCOL_REVISION, ..v1::Hello::default() };
    let hello = v1::PlayRequest { tag: 1, handle: 0, kind: Some(Ask::Hello(hello)) }.encode_to_vec();
    let method = "/zetema.v1.PlayService/Play";
    let (answers, end) =
        call_as(clients.channel(), method, &[format!("Bearer {bot_secret}")], vec![hello, vec![0xff]]).await;
    assert!(!answers.is_empty(), "the bot's stream is open");
    told.refused(end);
}

/// Makes a webhook that sends to a receiver all that ends.
async fn webhook(clients: &Clients, receiver: &Receiver, secrets: &mut Secrets) {
    for part in PATH {
        secrets.add("the path of a webhook's receiver", part.as_bytes());
    }
    let request = v1::CreateWebhookRequest { url: receiver.url(&PATH.concat()), ..Default::default() };
    let made = soon("CreateWebhook", clients.webhooks().create_webhook(request)).await.unwrap().into_inner();
    secrets.add("a webhook's secret", made.secret.as_bytes());
    let key = BASE64_STANDARD.decode(made.secret.strip_prefix("whsec_").unwrap()).unwrap();
    secrets.add("the key of a webhook's signatures", &key);
}

/// Says everything wrong that can be said, with what is secret in it.
async fn mischief(clients: &Clients, created: &Created, table: &mut Table, told: &mut Told) {
    let open = table.decision().await.unwrap();
    for seat in 0..created.tokens.len() {
        let seat_token = created.tokens[seat].clone();
        let act = |choice| v1::ActRequest {
            seat_token: seat_token.clone(),
            act: Some(v1::Act { decision_number: open.number, choice: Some(choice) }),
            assigned: None,
        };
        told.refused(soon("Act", clients.play().act(act(Choice::LegalIndex(u32::MAX)))).await);
        // Not in a row: a hand may have these by chance, and they are said again.
        let flush = v1::declaration::Kind::Flush(v1::CardList { cards: vec![1, 4, 17, 30, 43, 48] });
        let declaration = v1::Declaration { kind: Some(flush) };
        let action = v1::Action { kind: Some(v1::action::Kind::Declare(declaration)) };
        told.refused(soon("Act", clients.play().act(act(Choice::Action(action)))).await);
        for nonce in [nonce(seat), nonce((seat + 1) % 3)] {
            let request = v1::SendNonceRequest {
                seat_token: seat_token.clone(),
                nonce: nonce.to_wire(),
                assigned: None,
            };
            // Sent again it is accepted, where there was one.
            if let Err(status) = soon("SendNonce", clients.play().send_nonce(request)).await {
                told.refused(Err::<(), _>(status));
            }
        }
        let twice = vec![v1::ObserveSeat { seat_token: seat_token.clone(), ..v1::ObserveSeat::default() }; 2];
        let request = v1::ObserveRequest { seats: twice };
        told.refused(soon("Observe", clients.play().observe(request)).await.map(|_| ()));
        let as_an_id = v1::GetMatchRequest { match_id: seat_token.clone() };
        told.refused(soon("GetMatch", clients.matches().get_match(as_an_id)).await);
        let list = v1::ListTokensRequest::default();
        told.refused(soon("ListTokens", clients.by(&seat_token).tokens().list_tokens(list)).await);
        let method = "/zetema.v1.PlayService/SendNonce";
        let undecodable = [&[0xff], seat_token.as_bytes()].concat();
        told.refused(call_as(clients.channel(), method, &[], vec![undecodable]).await.1);
    }
    let record = clients.get_record(created.id()).await;
    told.refused(record);
}

/// Replaces a seat's token, and joins every seat: the first by a token that holds no longer, then by the new one.
async fn rotate(clients: &Clients, created: &Created, secrets: &mut Secrets, told: &mut Told) {
    let rotate = v1::RotateSeatTokenRequest {
        match_id: created.id().to_owned(),
        seat: 0,
        request_id: "rotation".to_owned(),
    };
    let rotated = soon("RotateSeatToken", clients.matches().rotate_seat_token(rotate)).await.unwrap();
    let token = rotated.into_inner().seat_token.unwrap().token;
    secrets.add("a seat's new token", token.as_bytes());
    let join = |token: &str| v1::JoinSeatRequest {
        seat_token: token.to_owned(),
        nonce_hash: Vec::new(),
        assigned: None,
    };
    told.refused(soon("JoinSeat", clients.play().join_seat(join(&created.tokens[0]))).await);
    for token in std::iter::once(&token).chain(&created.tokens[1..]) {
        soon("JoinSeat", clients.play().join_seat(join(token))).await.unwrap();
    }
}

/// Adds all that was hidden in a match that is over: its seeds, its decks, and each hand after each step. Nonces are
/// added by whoever made them.
pub(crate) async fn hidden(clients: &Clients, created: &Created, secrets: &mut Secrets) {
    let message = clients.get_record(created.id()).await.unwrap();
    let (record, _) = record_from_wire(&message).unwrap();
    secrets.add("a server seed", record.dealing.server_seed.reveal());
    secrets.add("a match's seed", record.dealing.match_seed(&record.rules).unwrap().reveal());
    for deal in &record.deals {
        secrets.add_cards("a deck", deal.deck.reveal());
    }
    let mut replay = Replay::new(&record).unwrap();
    loop {
        let game = replay.game().expect("every match was dealt");
        for seat in record.rules.seats() {
            let hand: Vec<Card> = game.view(Viewer::Seat(seat)).hand.iter().collect();
            secrets.add_cards("a hand", &hand);
        }
        if replay.step().unwrap().is_none() {
            return replay.finish().unwrap();
        }
    }
}

/// A bot's program that tells everything, too, and plays both seats of a match by their tokens.
async fn bot(process: &Process, clients: &Clients, secrets: &mut Secrets) -> String {
    let created = clients.create(preset(Preset::Akagiri, 2)).await;
    for token in &created.tokens {
        secrets.add("a seat's token", token.as_bytes());
    }
    let mut command = Command::new(built("zetema"));
    command
        .args(["bot", "greedy", "--server", process.url()])
        .env_remove("ZETEMA_CONFIG")
        .env("ZETEMA_LOG", "trace")
        .env("ZETEMA_TOKEN", created.tokens.join(","))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap());
    let output = soon("the bot to play its match", output).await.unwrap();
    let said = [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap()).concat();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("TRACE"), "it tells of everything");
    hidden(clients, &created, secrets).await;
    said
}

/// The key of which seats' tokens are made, from the journal's file.
pub(crate) fn service_key(data: &Path) -> Vec<u8> {
    let journal = Connection::open(data.join("journal.sqlite3")).unwrap();
    journal.query_row("SELECT value FROM meta WHERE key = 'service_key'", [], |row| row.get(0)).unwrap()
}
