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
use zetema_proto::v1::ErrorReason;
use zetema_rules::Action;
use zetema_tests::fault_runs::{
    Bug, Case, Chosen, Dealing, Ledger, Problem, Scene, Transport, Truth, every_case,
};
use zetema_tests::proxy::{Direction, Fault, Plan};

/// Matches that are played at once.
const AT_ONCE: usize = 32;

/// Runs three of every seven cases of a transport, which leave out no kind of frame, since those come in twos and
/// threes: none may have a problem, and few may be over before their frame came.
async fn check_many(transport: Transport) {
    let scene = Scene::start().await;
    for &dealing in Dealing::value_variants() {
        let counts = scene.run_whole(transport, dealing).await.counts;
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

/// A ledger that was tampered with has this problem, and the whole one has none.
fn check_tampered((truth, ledger): &(Truth, Ledger), tamper: impl Fn(&mut Ledger), problem: &str) {
    assert_eq!(truth.problems(ledger), []);
    let mut ledger = ledger.clone();
    tamper(&mut ledger);
    let problems: Vec<String> = truth.problems(&ledger).iter().map(ToString::to_string).collect();
    assert!(problems.iter().any(|one| one == problem), "{problem}: {problems:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ledger_that_says_something_else_is_found_out() {
    let scene = Scene::start().await;
    for &transport in Transport::value_variants() {
        let account = scene.run_whole(transport, Dealing::Fixed).await.account.unwrap();
        scene_has_it_all(&account);
        let check = |tamper: fn(&mut Ledger), problem: &str| check_tampered(&account, tamper, problem);
        // The seat plays the second decision of the match first.
        check(
            |ledger| {
                ledger.chosen.remove(0);
            },
            "the record holds an action for decision 2 that the player did not choose",
        );
        check(
            |ledger| {
                ledger.sent.remove(0);
            },
            "the record holds an action for decision 2 that the player did not choose",
        );
        check(
            |ledger| ledger.chosen.push(Chosen { decision: 1_000, ..ledger.chosen[0] }),
            "the player chose an action for decision 1000 that the record does not hold",
        );
        check(
            |ledger| ledger.chosen.insert(1, ledger.chosen[0]),
            "decision 2 was put to the player after decision 2",
        );
        check(
            |ledger| ledger.sent.push(Chosen { action: ledger.sent[0].action, ..ledger.sent[1] }),
            "an answer to decision 4 was sent that the player did not choose",
        );
        check(
            |ledger| ledger.receipts.retain(|receipt| receipt.decision_number != 4),
            "the action for decision 4 is in the record, and no receipt of it came",
        );
        check(
            |ledger| ledger.receipts[0].seq = 1_000,
            "a receipt for decision 2 names observation 1000, which shows no such action",
        );
        let seq = account.1.receipts[0].seq;
        check(
            |ledger| ledger.receipts[0].match_id = String::from("another"),
            &format!("a receipt for decision 2 names observation {seq}, which shows no such action"),
        );
        check(
            |ledger| ledger.refused.push((2, ErrorReason::DecisionOver)),
            "an answer to decision 2 was refused with DECISION_OVER",
        );
        check(|ledger| ledger.subscriptions.clear(), "no stream of observations began with a snapshot");
        check(
            |ledger| ledger.ends.push(ledger.ends[0].clone()),
            "the player was told 2 ends of the match, the last of which is that of the record",
        );
        let told = account.1.seen.len();
        check(
            |ledger| {
                ledger.seen.remove(3);
            },
            &format!(
                "the player was told {} events where the match had {told} for it, the same up to event 3",
                told - 1
            ),
        );
    }
    scene.stop().await;
}

/// The match has what the runs are to try: both kinds of action.
fn scene_has_it_all((_, ledger): &(Truth, Ledger)) {
    let declared = ledger.chosen.iter().filter(|chosen| matches!(chosen.action, Action::Declare(_)));
    let declared = declared.count();
    assert!(declared > 0 && declared < ledger.chosen.len(), "{declared} of {}", ledger.chosen.len());
}

/// What cuts at two of each seven of the server's frames bring to light on a server with this bug. An answer takes two, three or four frames:
/// with every third of them cut it may always be the same part of it.
async fn found(bug: Bug, transport: Transport) -> Vec<Problem> {
    let scene = Scene::start_with(bug).await;
    let counts = scene.run_whole(transport, Dealing::Fixed).await.counts;
    let cuts = |case: &Case| {
        let Plan { fault, direction, frame } = case.plan;
        (fault, direction) == (Fault::Cut, Direction::ToClient) && [0, 3].contains(&(frame % 7))
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
