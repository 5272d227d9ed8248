//! A receiver that is down, slow, refuses and comes back, with the server killed meanwhile.

use std::collections::{BTreeMap, BTreeSet};

use zetema_proto::v1;
use zetema_tests::harness::{Clients, soon};

use super::receiver::{Heard, Manner, Receiver};
use super::{create, create_at, dead_letters, first, list, make_results, resend, restart, results, start};

/// Results that are made in each manner of the receiver.
const RESULTS: usize = 7;

/// Each message is that of its result, as `WatchResults` tells it, and is signed.
async fn check_messages(clients: &Clients, taken: &BTreeMap<u64, Heard>, secret: &str) {
    let told = results(clients).await;
    let numbers: Vec<u64> = told.iter().map(|(ended, _)| ended.result_number).collect();
    assert_eq!(taken.keys().copied().collect::<Vec<_>>(), numbers, "every result, and no other");
    for (ended, cursor) in told {
        let heard = &taken[&ended.result_number];
        heard.verify(secret);
        let json = heard.json();
        let told = ended.r#match.unwrap();
        assert_eq!(json["type"], "match.ended");
        assert_eq!(json["data"]["cursor"], cursor);
        assert_eq!(json["data"]["match"]["match_id"], told.match_id);
        assert_eq!(json["timestamp"], told.end_time.unwrap().to_string());
    }
}

/// Waits until this many dead letters are there.
async fn dead(clients: &Clients, webhook: &v1::Webhook, count: usize) -> Vec<v1::DeadLetter> {
    soon("dead letters", async {
        loop {
            let dead = dead_letters(clients, webhook).await;
            if dead.len() >= count {
                break dead;
            }
            tokio::task::yield_now().await;
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_result_arrives_once_whatever_becomes_of_its_receiver_and_of_the_server() {
    let mut receiver = Receiver::start(Manner::Takes).await;
    let (mut process, mut clients) = start().await;
    make_results(&clients, RESULTS).await;
    let request =
        v1::CreateWebhookRequest { url: receiver.url("/a?b=c"), from: Some(first()), ..Default::default() };
    let (webhook, secret) = create(&clients, request).await;
    let mut made = RESULTS;
    receiver.hears("the first results", |heard| heard.len() >= RESULTS).await;

    // What may pass: each result is tried until it is taken. The server is killed in the middle of it.
    for manner in [
        Manner::Says(500),
        Manner::Says(429),
        Manner::Says(408),
        Manner::IsSilent,
        Manner::IsSlow,
        Manner::CutsTheHead,
        Manner::CutsTheBody,
        Manner::HangsUp,
        Manner::Takes,
    ] {
        receiver.behave(manner);
        let before = receiver.heard().len();
        make_results(&clients, RESULTS).await;
        made += RESULTS;
        receiver.hears("an attempt", |heard| heard.len() >= before + 2).await;
        (process, clients) = restart(process).await;
        let again = receiver.heard().len();
        if manner != Manner::Takes {
            make_results(&clients, 1).await;
            made += 1;
            receiver.hears("an attempt after the kill", |heard| heard.len() > again).await;
        }
    }
    // It goes, and the server with it.
    receiver.go().await;
    make_results(&clients, RESULTS).await;
    made += RESULTS;
    (process, clients) = restart(process).await;
    assert_eq!(list(&clients).await[0].webhook_id, webhook.webhook_id);
    receiver = receiver.come_back(Manner::Takes);
    receiver.hears("all results", |heard| distinct(heard).len() == made).await;
    assert!(dead_letters(&clients, &webhook).await.is_empty());
    assert!(receiver.heard().iter().all(|heard| heard.path == "/a?b=c"));

    // What was taken and is not stored yet would be sent again, and refused.
    soon("what was taken to be stored", async {
        while list(&clients).await[0].settled_result_number < made as u64 {
            tokio::task::yield_now().await;
        }
    })
    .await;

    // What it refuses for good becomes a dead letter, and what comes then arrives.
    for (manner, after) in [(Manner::Says(400), RESULTS), (Manner::Redirects, 2 * RESULTS)] {
        receiver.behave(manner);
        make_results(&clients, RESULTS).await;
        made += RESULTS;
        receiver.hears("a refusal", |heard| heard.last().is_some_and(|heard| heard.manner == manner)).await;
        (process, clients) = restart(process).await;
        dead(&clients, &webhook, after).await;
    }
    receiver.behave(Manner::Takes);
    make_results(&clients, 1).await;
    made += 1;
    let refused: BTreeSet<u64> =
        dead(&clients, &webhook, 0).await.iter().map(|dead| dead.result_number).collect();
    assert_eq!(refused.len(), 2 * RESULTS);
    receiver
        .hears("the results that are not refused", |heard| distinct(heard).len() == made - 2 * RESULTS)
        .await;
    let wrong = receiver.taken().keys().find(|number| refused.contains(number)).copied();
    assert_eq!(wrong, None, "taken, and a dead letter");

    // They are sent again: some in vain, some while the server is killed.
    receiver.behave(Manner::Says(404));
    let one = *refused.first().unwrap();
    assert_eq!(resend(&clients, &webhook, &[one, made as u64]).await, 1, "the last is no dead letter");
    soon("a dead letter that was sent in vain", async {
        while dead(&clients, &webhook, 1).await[0].attempts < 6 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(dead_letters(&clients, &webhook).await[0].error, "HTTP 404");
    receiver.behave(Manner::IsSilent);
    let before = receiver.heard().len();
    assert_eq!(resend(&clients, &webhook, &[]).await, u32::try_from(2 * RESULTS).unwrap());
    receiver.hears("a dead letter", |heard| heard.len() > before).await;
    receiver.behave(Manner::Takes);
    (process, clients) = restart(process).await;
    receiver.hears("all results", |heard| distinct(heard).len() == made).await;
    check_messages(&clients, &receiver.taken(), &secret).await;
    soon("no dead letters", async {
        while !dead_letters(&clients, &webhook).await.is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let now = &list(&clients).await[0];
    assert_eq!((now.dead_letters, now.results_behind, &now.trouble), (0, 0, &None));
    process.kill();
}

/// The results that were taken.
fn distinct(heard: &[Heard]) -> BTreeSet<u64> {
    heard.iter().filter(|heard| heard.was_taken()).map(Heard::result_number).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_that_never_answers_hinders_nobody_and_not_the_stop() {
    let (silent, good) = (Receiver::start(Manner::IsSilent).await, Receiver::start(Manner::Takes).await);
    let flags = ["--webhook-allow", "http://127.0.0.1:*", "--webhook-timeout-ms", "60000"];
    let (process, clients) = super::start_in(tempfile::tempdir().unwrap(), &flags).await;
    let (held_up, _) = create_at(&clients, silent.url("/")).await;
    create_at(&clients, good.url("/")).await;
    make_results(&clients, 50).await;
    silent.hears("one result", |heard| heard.len() == 1).await;
    good.hears("all results", |heard| heard.len() == 50).await;
    let behind = list(&clients).await.into_iter().find(|one| one.webhook_id == held_up.webhook_id).unwrap();
    assert_eq!((behind.results_behind, behind.settled_result_number), (50, 0));
    process.terminate();
    let stopped = process.stopped().await;
    assert!(!stopped.log().contains("and were cut"), "{}", stopped.log());
    assert_eq!(silent.heard().len(), 1);
}
