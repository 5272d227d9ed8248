//! A server that is told to stop: bots play on until it ends their streams, and go on at the next start.

use std::ffi::OsStr;

use futures::future::join_all;
use tokio::sync::watch;
use zetema_bots::House;
use zetema_proto::v1::Preset;
use zetema_rules::{Record, TimeControl};
use zetema_sdk::{DealCheck, End, Fault, Outcome, Session, Settings};
use zetema_tests::harness::{Clients, Created, Process, preset, soon};

/// Matches that are live at once.
const MATCHES: usize = 100;

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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn matches_outlive_a_drain_and_a_restart_and_nobody_is_charged() {
    let (process, clients) = start("500").await;
    let created = clients.create_batch(vec![preset(Preset::Sackson, 2); MATCHES]).await;
    let (begun, mut has_begun) = watch::channel(0);
    let sessions = [0, 1].map(|seat| tokio::spawn(outcomes(play(&clients, &created, seat, &begun))));
    soon("all to be dealt", has_begun.wait_for(|begun| *begun == 2 * MATCHES)).await.unwrap();
    process.terminate();
    let stopped = process.stopped().await;
    let log = stopped.log();
    assert!(
        log.contains("draining: no match is created") && log.contains(&format!("live={MATCHES}")),
        "{log}"
    );
    let process = stopped.start().await;
    for played in join_all(sessions).await {
        let outcomes = played.unwrap();
        assert_eq!(outcomes.len(), MATCHES);
        outcomes.iter().for_each(check_seat);
    }
    let clients = process.connect().await;
    let mut interrupted = 0;
    for created in &created {
        interrupted += check_clocks(&clients.verified_record(created.id()).await);
    }
    assert!(interrupted > 0, "matches went on after the restart");
    println!("{interrupted} decisions were interrupted");
    process.kill();
}
