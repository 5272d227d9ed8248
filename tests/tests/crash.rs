//! I1 under fire: servers that crash under bots that play on them. The program `crash` does the same at any length.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is the test's failure"
)]

use zetema_tests::crash::{Crash, Failure, Report, Round};

/// Plays a round, in which nothing may be lost or doubled.
async fn check(round: Round) -> Report {
    let ran = round.run().await;
    ran.unwrap_or_else(|Failure { folder, problems }| {
        panic!("{round:?}, whose folder is left ({}): {problems:#?}", folder.display())
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_at_any_moment_loses_nothing_and_doubles_nothing() {
    for seed in [1, 2] {
        let report = check(Round { seed, crash: Crash::Kill, crashes: 6, tables: 4 }).await;
        assert!(report.audit.matches >= 4 && report.audit.actions > 100, "{report:?}");
    }
}
