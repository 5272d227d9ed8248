//! I1 under fire: servers that crash under bots that play on them. The program `crash` does the same at any length.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is the test's failure"
)]

use zetema_tests::crash::{Crash, Failure, LadderRun, Report, Round};

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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_under_a_ladder_counts_every_result_once_and_stores_and_shows_ratings_that_are_theirs()
 {
    let run = LadderRun { seed: 1, kills: 5, bots: 4 };
    let report = run.run().await.unwrap_or_else(|Failure { folder, problems }| {
        panic!("{run:?}, whose folder is left ({}): {problems:#?}", folder.display())
    });
    assert!(report.audit.rated >= 4 && report.audit.bots == 4, "{report:?}");
    assert!(report.freshly_stored >= 1 && report.freshly_shown >= 1, "{report:?}");
}

/// A disk can be mounted on Linux. Where it can't, the test says what is missing.
#[cfg(target_os = "linux")]
mod disk {
    use zetema_tests::crash::{Came, DiskRun, Loss, Then};
    use zetema_tests::disk::{Syncs, Trouble};

    use super::{Crash, Failure, Round, check};

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_server_whose_machine_loses_its_power_loses_nothing_and_doubles_nothing() {
        for seed in [1, 2] {
            let report = check(Round { seed, crash: Crash::PowerLoss, crashes: 6, tables: 4 }).await;
            assert!(report.audit.matches >= 4 && report.audit.actions > 100, "{report:?}");
        }
    }

    /// Without this, what the test above does not find would prove nothing.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_disk_that_does_not_sync_loses_what_was_acknowledged_and_one_that_does_loses_nothing() {
        let control =
            |seed, syncs| Round { seed, crash: Crash::PowerLoss, crashes: 1, tables: 4 }.control(syncs);
        let mut ignored = Vec::new();
        for seed in 1..=3 {
            assert_eq!(control(seed, Syncs::Kept).await, Ok(Loss::None));
            ignored.push(control(seed, Syncs::Ignored).await.unwrap());
        }
        // A start that finds out is a loss too.
        assert!(ignored.iter().any(|loss| *loss != Loss::None), "{ignored:?}");
    }

    /// One match with the trouble at some of its changes or syncs, from the server's first start on: it must come at the
    /// start and in play.
    async fn check_disk(trouble: impl Fn(u64) -> Trouble, then: Then, at: impl IntoIterator<Item = u64>) {
        let mut reports = Vec::new();
        for at in at {
            let run = DiskRun { seed: at, trouble: trouble(at), then };
            let ran = run.run().await;
            let report = ran.unwrap_or_else(|Failure { folder, problems }| {
                panic!("{run:?}, whose folder is left ({}): {problems:#?}", folder.display())
            });
            reports.push(report);
        }
        let has = |came| reports.iter().any(|report| report.came == came);
        assert!(has(Came::AtTheStart) && has(Came::InPlay), "{reports:?}");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_full_disk_is_told_of_and_loses_nothing_and_the_server_goes_on_when_there_is_room() {
        check_disk(Trouble::Full, Then::Mended, [1, 60, 180, 230, 280, 330]).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_disk_that_becomes_read_only_is_told_of_and_loses_nothing() {
        check_disk(Trouble::ReadOnly, Then::Mended, [1, 190, 240, 290, 340]).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_sync_that_fails_loses_nothing_that_was_acknowledged() {
        check_disk(Trouble::SyncFails, Then::Mended, [2, 11, 12, 25, 36]).await;
        check_disk(Trouble::SyncsFail, Then::Mended, [3, 24]).await;
        // The next server finds in the system's memory what is not on the disk.
        check_disk(Trouble::SyncFails, Then::Killed, [12, 22, 34]).await;
    }
}
