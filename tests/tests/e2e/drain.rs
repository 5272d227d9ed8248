//! A server that is told to stop: bots play on until it ends their streams, and go on at the next start.

use std::ffi::OsStr;
use std::process::Command;

use futures::future::join_all;
use tokio::sync::watch;
use zetema_bots::House;
use zetema_proto::v1::Preset;
use zetema_rules::{Record, TimeControl};
use zetema_sdk::{DealCheck, End, Fault, Outcome, Session, Settings};
use zetema_tests::fault_runs::{Backend, Ledger, Truth};
use zetema_tests::harness::{Clients, Created, Process, preset, soon};

/// Matches that are live at once.
const MATCHES: usize = 100;
/// Matches beside them, of which all that is acknowledged is written down.
const NOTED: usize = 4;

async fn start(drain_timeout_ms: &str) -> (Process, Clients) {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--drain-timeout-ms", drain_timeout_ms].map(OsStr::new);
    let process = Process::start_with(folder, &flags).await;
    let clients = process.connect().await;
    (process, clients)
}

/// Plays one seat of every match, and counts the bots that have begun.
fn play(clients: &Clients, created: &[Created], seat: usize, begun: &watch::Sender<usize>) -> Session {
    let begun = begun.clone();
    let choose = move |info: &zetema_sdk::MatchInfo| {
        begun.send_modify(|begun| *begun += 1);
        House::Random.make(info, 1)
    };
    let mut session = Session::open(&clients.url(), Settings::default(), choose).unwrap();
    for created in created {
        session.play(created.tokens[seat].as_str().into()).unwrap();
    }
    session
}

async fn outcomes(mut session: Session) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    while let Some(outcome) = soon("an outcome", session.next()).await {
        outcomes.push(outcome);
    }
    outcomes
}

/// The seat noticed nothing of the stop but that it had to connect again.
fn check_seat(outcome: &Outcome) {
    assert!(matches!(outcome.end, End::Result(_)), "{outcome}");
    assert_eq!(outcome.deal, DealCheck::Verified, "{outcome}");
    // Who was just sending may meet the closed connection before the word of the stop.
    let reconnected = matches!(outcome.faults[..], [] | [Fault::Disconnected(_)]);
    assert!(reconnected, "{outcome}: {:?}", outcome.faults);
}

/// Nobody was charged more than what its decision had for free. The answer is how many decisions were interrupted.
fn check_clocks(record: &Record) -> usize {
    let clocks = record.clocks.as_ref().expect("a server's record has clocks");
    assert_eq!(clocks.control, TimeControl::default());
    let bank_ms = clocks.ledger[0].charge.bank_ms;
    for entry in &clocks.ledger {
        assert!(entry.received_ms.is_some() && entry.charge.bank_ms == bank_ms, "{entry:?}");
    }
    clocks.ledger.iter().filter(|entry| entry.interrupted).count()
}

/// How a server that was told to stop comes to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// The drain takes as long as it may.
    Deadline,
    /// It is told again to stop.
    ToldAgain,
    /// It is killed (SIGKILL) while it drains.
    Killed,
}

impl Stop {
    const fn drain_timeout_ms(self) -> &'static str {
        match self {
            Self::Deadline => "500",
            // Longer than any test waits.
            Self::ToldAgain | Self::Killed => "600000",
        }
    }

    /// Stops a server with this many live matches at least, and starts another at its address.
    async fn restart(self, process: Process, live: usize) -> Process {
        process.terminate();
        process.logs("draining: no match is created", 1).await;
        let stopped = match self {
            Self::Killed => return process.restart().await,
            Self::ToldAgain => {
                process.terminate();
                process.stopped().await
            }
            Self::Deadline => process.stopped().await,
        };
        let log = stopped.log();
        let told = log.split("live=").nth(1).and_then(|told| told.split_whitespace().next());
        assert!(told.is_some_and(|told| told.parse::<usize>().unwrap() >= live), "{log}");
        assert_eq!(log.contains("told again to stop"), self == Self::ToldAgain, "{log}");
        stopped.start().await
    }
}

/// Players by unary calls, who write down what was acknowledged to them.
async fn ledgers(url: String, created: Created) -> Vec<Ledger> {
    let seats = created.tokens.iter().map(async |token| {
        let mut backend = Backend::new(&url, token, None);
        backend.join().await;
        backend.play().await
    });
    join_all(seats).await
}

async fn check(stop: Stop) {
    let (process, clients) = start(stop.drain_timeout_ms()).await;
    let specs = [vec![preset(Preset::Sackson, 2); MATCHES], vec![preset(Preset::Sackson, 4); NOTED]].concat();
    let created = clients.create_batch(specs).await;
    let (created, noted) = created.split_at(MATCHES);
    let (begun, mut has_begun) = watch::channel(0);
    let sessions = [0, 1].map(|seat| tokio::spawn(outcomes(play(&clients, created, seat, &begun))));
    let ledgers_of: Vec<_> =
        noted.iter().map(|created| tokio::spawn(ledgers(clients.url(), created.clone()))).collect();
    soon("all to be dealt", has_begun.wait_for(|begun| *begun == 2 * MATCHES)).await.unwrap();
    let process = stop.restart(process, MATCHES).await;

    for played in join_all(sessions).await {
        let outcomes = played.unwrap();
        assert_eq!(outcomes.len(), MATCHES);
        outcomes.iter().for_each(check_seat);
    }
    let clients = process.connect().await;
    for (created, ledgers) in noted.iter().zip(join_all(ledgers_of).await) {
        let truths = Truth::of_match(&clients, created).await.unwrap();
        for (truth, ledger) in truths.iter().zip(ledgers.unwrap()) {
            assert!(!ledger.receipts.is_empty());
            assert_eq!(truth.problems(&ledger), [], "all that was acknowledged is there, once");
        }
    }
    for (what, created) in [("of bots", created), ("noted", noted)] {
        let mut interrupted = 0;
        for created in created {
            interrupted += check_clocks(&clients.verified_record(created.id()).await);
        }
        assert!(interrupted > 0, "matches {what} went on after the restart");
    }
    process.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn matches_outlive_a_drain_and_a_restart_and_nobody_is_charged() {
    check(Stop::Deadline).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_signal_ends_the_drain_at_once_and_matches_go_on_at_the_next_start() {
    check(Stop::ToldAgain).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_killed_in_its_drain_loses_nothing_and_charges_nobody() {
    check(Stop::Killed).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_told_to_stop_before_it_serves_stops() {
    let folder = tempfile::tempdir().unwrap();
    let slow = folder.path().join("slow.pem");
    assert!(Command::new("mkfifo").arg(&slow).status().unwrap().success());
    let flags = ["--tls-cert".as_ref(), slow.as_os_str(), "--tls-key".as_ref(), slow.as_os_str()];
    let process = Process::spawn("127.0.0.1:0", "info", folder, &flags);
    // It is open when the server has begun to read it. It never comes to its end.
    let open = tokio::task::spawn_blocking(move || std::fs::OpenOptions::new().write(true).open(slow));
    let _open = soon("the server to start", open).await.unwrap().unwrap();
    process.terminate();
    let stopped = process.stopped().await;
    assert!(stopped.log().contains("told to stop before it served"), "{}", stopped.log());
}
