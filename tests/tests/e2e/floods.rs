//! Clients that misbehave on purpose are cut, while others play on as if nothing were (invariant I5). How long it takes and what it
//! costs with the usual settings is measured by `cargo run --release -p zetema-tests --bin floods`.

use std::time::Duration;

use zetema_tests::floods::{Enough, Flood, Host, Run, Setup, Transport};

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

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_what_browsers_ask_without_end_is_refused() {
    let flags =
        ["--max-late-ms=60000", "--requests-per-second-per-address=50", "--request-burst-per-address=50"];
    for transport in [Transport::Plaintext, Transport::Tls] {
        let setup = Setup { flags: flags.map(Into::into).to_vec(), ..Setup::usual(transport) };
        let lasts = Duration::from_secs(3);
        let run = Run { flood: Flood::Preflights, setup, lasts, enough: Enough::Never, calm: CALM };
        let row = run.run().await.unwrap();
        let line = row.line();
        assert!(row.survived, "{line}");
        assert!(row.toll.answers.keys().any(|answer| answer.starts_with("429")), "{line}");
    }
}

/// Some bytes more than the others take of their share: what the system and TLS buffer, and what is being made.
const BESIDE: u64 = 60 * 1024 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn who_opens_its_windows_wide_and_reads_slowly_has_no_more_waiting_than_others() {
    let flags = ["--max-late-ms=60000", "--max-queued-bytes-per-address=1048576"];
    for transport in [Transport::Plaintext, Transport::Tls] {
        let setup = Setup { flags: flags.map(Into::into).to_vec(), ..Setup::usual(transport) };
        let lasts = Duration::from_secs(8);
        let run = Run { flood: Flood::WideWindows, setup, lasts, enough: Enough::Never, calm: CALM };
        let row = run.run().await.unwrap();
        let line = row.line();
        assert!(row.survived && row.toll.bytes > 0, "{line}");
        assert!(row.peak < row.before + BESIDE, "{line}");
    }
}

#[tokio::test]
async fn a_server_takes_as_many_file_descriptors_as_it_may_have_and_warns_if_these_are_few() {
    for (shell, expected, warns) in
        [("ulimit -Sn 200 && ulimit -Hn 5000", 5_000, false), ("ulimit -Sn 200 && ulimit -Hn 400", 400, true)]
    {
        let setup = Setup { shell: Some(shell), ..Setup::usual(Transport::Plaintext) };
        let host = Host::start(&setup, tempfile::tempdir().unwrap()).await.unwrap();
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", host.pid())).unwrap();
        let row = limits.lines().find(|row| row.starts_with("Max open files")).unwrap();
        let soft: u64 = row.split_whitespace().nth(3).unwrap().parse().unwrap();
        assert_eq!(soft, expected, "{row}");
        assert_eq!(host.log().contains("fewer file descriptors than connections"), warns, "{}", host.log());
    }
}
