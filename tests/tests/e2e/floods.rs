//! Clients that misbehave on purpose are cut, while others play on as if nothing were (invariant I5). How long it takes and what it
//! costs with the usual settings is measured by `cargo run --release -p zetema-tests --bin floods`.

use std::time::Duration;

use zetema_tests::floods::{Enough, Flood, Run, Setup, Transport};

/// Longer than any attacker is borne.
const PATIENCE: Duration = Duration::from_mins(2);
/// How long others play before and after.
const CALM: Duration = Duration::from_millis(500);
/// What no server needs for any of this.
const MOST_MEMORY: u64 = 300 * 1024 * 1024;
/// The times of the settings, shorter than they are by default.
const FLAGS: [&str; 5] = [
    "--preface-timeout-ms=1000",
    "--tls-handshake-timeout-ms=2000",
    "--idle-timeout-ms=2000",
    "--write-stall-timeout-ms=1000",
    // Nothing is measured here, and the machine may be busy with other tests.
    "--max-late-ms=60000",
];

/// All connections of the first attack are cut, and nobody else feels it but by its time.
async fn check(flood: Flood, transport: Transport) {
    let flags = FLAGS.map(Into::into).to_vec();
    let setup = Setup { flags, ..Setup::usual(transport) };
    let run = Run { flood, setup, lasts: PATIENCE, enough: Enough::WhenCut, calm: CALM };
    let row = run.run().await.unwrap();
    let line = row.line();
    assert!(row.survived, "{line}");
    assert!(row.toll.first_open.is_none_or(|number| number > flood.connections()), "not cut: {line}");
    assert_eq!((row.calm.broken, row.flooded.broken), (0, 0), "{line}");
    assert!(row.after.most < MOST_MEMORY, "{line}");
}

async fn check_both(floods: &[Flood]) {
    for &flood in floods {
        if !flood.needs_tls() {
            check(flood, Transport::Plaintext).await;
        }
        check(flood, Transport::Tls).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_says_nothing_or_never_finishes_is_cut() {
    check_both(&[Flood::HalfPreface, Flood::SaysNothing, Flood::OpenHandshakes]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_for_nothing_is_cut() {
    check_both(&[Flood::IdleHttp2]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_that_carry_nothing_are_cut() {
    check_both(&[Flood::Pings, Flood::Settings, Flood::WindowUpdates, Flood::Priorities]).await;
    check_both(&[Flood::Continuations, Flood::EmptyData, Flood::Trailers]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_that_are_reset_or_have_no_end_are_cut() {
    check_both(&[Flood::RapidReset, Flood::MadeToOverflow, Flood::MadeByZero, Flood::MadeHalfClosed]).await;
    check_both(&[Flood::Streams, Flood::LieOf4Gb, Flood::LieOf1Mb]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_never_reads_is_cut() {
    check_both(&[Flood::NeverReads, Flood::NoWindow, Flood::NoWindowAnonymous, Flood::Pages]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_takes_next_to_nothing_is_cut() {
    check_both(&[Flood::Trickle]).await;
}
