//! I2 and I4 over connections that are cut, delayed, half closed, or that say things twice or in part.
//!
//! The program `fault_runs` runs every case, and prints a table.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is the test's failure"
)]

use clap::ValueEnum;
use futures::StreamExt;
use zetema_tests::fault_runs::{Bug, Case, Dealing, Problem, Scene, Transport, every_case};
use zetema_tests::proxy::{Direction, Fault, Plan};

/// Matches that are played at once.
const AT_ONCE: usize = 32;

/// Runs three of every seven cases of a transport, which leave out no kind of frame, since those come in twos and
/// threes: none may have a problem, and few may be over before their frame came.
async fn check_many(transport: Transport) {
    let scene = Scene::start().await;
    for &dealing in Dealing::value_variants() {
        let counts = scene.count(transport, dealing).await;
        let chosen = (0..7).cycle().zip(every_case(transport, dealing, counts)).filter(|(i, _)| *i < 3);
        let cases: Vec<Case> = chosen.map(|(_, case)| case).collect();
        let (all, mut struck, mut failed) = (cases.len(), 0, Vec::new());
        let mut runs = std::pin::pin!(scene.run_all(cases, AT_ONCE));
        while let Some((case, run)) = runs.next().await {
            struck += usize::from(run.struck.is_some());
            if !run.problems.is_empty() {
                let problems: Vec<String> = run.problems.iter().map(ToString::to_string).collect();
                failed.push(format!("fault_runs {case}: {}", problems.join("; ")));
            }
        }
        assert!(failed.is_empty(), "{} of {all} cases failed:\n{}", failed.len(), failed.join("\n"));
        // How messages share frames differs a little from run to run.
        assert!(struck * 10 >= all * 9, "{transport:?} {dealing:?}: {struck} of {all} frames came");
    }
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_fault_of_the_network_is_felt_in_a_match_by_play() {
    check_many(Transport::Play).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_fault_of_the_network_is_felt_in_a_match_by_observe_and_act() {
    check_many(Transport::Observe).await;
}

/// What cuts at each third of the server's frames bring to light on a server with this bug.
async fn found(bug: Bug, transport: Transport) -> Vec<Problem> {
    let scene = Scene::start_with(bug).await;
    let counts = scene.count(transport, Dealing::Fixed).await;
    let cuts = |case: &Case| {
        let Plan { fault, direction, frame } = case.plan;
        (fault, direction) == (Fault::Cut, Direction::ToClient) && frame.is_multiple_of(3)
    };
    let cases: Vec<Case> = every_case(transport, Dealing::Fixed, counts).filter(cuts).collect();
    let runs: Vec<_> = scene.run_all(cases, AT_ONCE).collect().await;
    scene.stop().await;
    runs.into_iter().flat_map(|(_, run)| run.problems).collect()
}

async fn check_planted(bug: Bug, transports: &[Transport], names: impl Fn(&Problem) -> bool) {
    for &transport in transports {
        let found = found(bug, transport).await;
        assert!(found.iter().any(&names), "{bug:?} by {transport:?}: {found:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_relay_without_a_bug_has_no_problem() {
    for &transport in Transport::value_variants() {
        assert_eq!(found(Bug::None, transport).await, []);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receipt_that_is_not_repeated_is_caught() {
    check_planted(Bug::ReceiptNotRepeated, Transport::value_variants(), |problem| {
        matches!(problem, Problem::NoReceipt { .. })
            && problem.to_string().ends_with("is in the record, and no receipt of it came")
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_observation_that_comes_twice_after_a_resume_is_caught() {
    check_planted(Bug::ObservationTwice, Transport::value_variants(), |problem| {
        matches!(problem, Problem::Repeat { after, came, .. } if after == came)
            && problem.to_string().ends_with("so that it came twice")
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_observation_that_is_skipped_after_a_resume_is_caught() {
    check_planted(Bug::ObservationSkipped, Transport::value_variants(), |problem| {
        matches!(problem, Problem::Gap { after, came, .. } if *came == after + 2)
            && problem.to_string().ends_with("so that something is missing")
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_action_that_is_sent_again_and_played_anew_is_caught() {
    check_planted(Bug::ActionPlayedAnew, &[Transport::Observe], |problem| {
        matches!(problem, Problem::NotChosen { .. })
            && problem.to_string().ends_with("that the player did not choose")
    })
    .await;
}
