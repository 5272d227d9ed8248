//! Webhooks and their dead letters.

use super::*;
use crate::journal::{
    BodyHash, Caller, DeadLetter, DeadLetterFilter, DeadLetterState, OpenError, Owner, PageSize, RequestId,
    RequestKey, RequestReused, RequestState, Resend, Response, ResultNumber, StoredWebhook, WebhookChange,
    WebhookId, WebhookNumber, WebhookStore, WebhookUrl,
};

fn result(number: u64) -> ResultNumber {
    ResultNumber::new(number)
}

fn webhook(number: u8, owner: Option<&str>) -> StoredWebhook {
    StoredWebhook {
        number: WebhookNumber::new(number.into()),
        id: WebhookId::from_bytes([number; 16]),
        owner: owner.map(|owner| Owner::new(owner).unwrap()),
        url: WebhookUrl::new(format!("https://hooks.example.com/{number}")).unwrap(),
        created_at: UnixMillis::new(1_000),
        settled: result(3),
    }
}

fn dead(number: u64, attempts: u32, state: DeadLetterState) -> DeadLetter {
    DeadLetter {
        result: result(number),
        attempts,
        error: format!("HTTP {number}"),
        died_at: UnixMillis::new(number * 10),
        state,
    }
}

async fn changed(f: &Fixture, change: WebhookChange) -> u64 {
    match f.journal.change_webhooks(change).await {
        Outcome::Done(changed) => changed,
        other => panic!("{other:?}"),
    }
}

async fn dead_letters(f: &Fixture, webhook: &StoredWebhook) -> Vec<DeadLetter> {
    let filter = DeadLetterFilter { webhook: webhook.id, state: None, after: ResultNumber::ZERO };
    f.journal.dead_letters(filter, PageSize::new(1_000).unwrap()).await.unwrap()
}

async fn due(f: &Fixture, webhook: &StoredWebhook, after: u64, most: u16) -> Vec<u64> {
    let state = Some(DeadLetterState::Due);
    let filter = DeadLetterFilter { webhook: webhook.id, state, after: result(after) };
    let page = f.journal.dead_letters(filter, PageSize::new(most).unwrap()).await.unwrap();
    page.iter().map(|dead| dead.result.get()).collect()
}

#[tokio::test]
async fn webhooks_and_dead_letters_are_kept_as_they_are() {
    use DeadLetterState::{Due, Kept};
    let mut f = Fixture::new().await;
    let (mut shop, all) = (webhook(1, Some("shop")), webhook(2, None));
    for webhook in [&shop, &all] {
        assert_eq!(changed(&f, WebhookChange::Made { webhook: webhook.clone(), request: None }).await, 1);
    }
    let settled =
        |of: &StoredWebhook, to, dead| WebhookChange::Settled { webhook: of.id, to: result(to), dead };
    assert_eq!(changed(&f, settled(&shop, 5, None)).await, 1);
    for number in [6, 7, 9] {
        assert_eq!(changed(&f, settled(&shop, number, Some(dead(number, 3, Kept)))).await, 1);
    }
    // It never goes back.
    assert_eq!(changed(&f, settled(&shop, 2, None)).await, 1);
    shop.settled = result(9);
    f = f.reopen().await;
    assert_eq!(f.journal.webhooks().await.unwrap(), [(shop.clone(), 3), (all.clone(), 0)]);
    assert_eq!(dead_letters(&f, &shop).await, [6, 7, 9].map(|number| dead(number, 3, Kept)));
    assert_eq!(dead_letters(&f, &all).await, []);

    let ask = |which| WebhookChange::Due { webhook: shop.id, which };
    let these = Resend::These(vec![result(7), result(8)]);
    assert_eq!(changed(&f, ask(these.clone())).await, 1);
    assert_eq!(due(&f, &shop, 0, 10).await, [7]);
    assert_eq!(changed(&f, ask(these)).await, 1, "the same again gives the same answer");
    let twice = Resend::These([7, 7, 8, 9, 7].map(result).to_vec());
    assert_eq!(changed(&f, ask(twice)).await, 2, "what is named twice is one");
    assert_eq!(changed(&f, ask(Resend::All)).await, 3);
    assert_eq!((due(&f, &shop, 0, 2).await, due(&f, &shop, 6, 10).await), (vec![6, 7], vec![7, 9]));
    let webhook = shop.id;
    assert_eq!(changed(&f, WebhookChange::Revived { webhook, result: result(6) }).await, 1);
    assert_eq!(changed(&f, WebhookChange::Revived { webhook, result: result(6) }).await, 0);
    assert_eq!(changed(&f, WebhookChange::DiedAgain { webhook, dead: dead(7, 6, Kept) }).await, 1);
    assert_eq!(changed(&f, WebhookChange::DiedAgain { webhook, dead: dead(6, 6, Kept) }).await, 0);
    f = f.reopen().await;
    assert_eq!(dead_letters(&f, &shop).await, [dead(7, 6, Kept), dead(9, 3, Due)]);

    // What is gone takes its dead letters along, and is not changed any more.
    assert_eq!(changed(&f, WebhookChange::Deleted(shop.id)).await, 1);
    assert_eq!(changed(&f, WebhookChange::Deleted(shop.id)).await, 0);
    assert_eq!(changed(&f, settled(&shop, 10, Some(dead(10, 1, Kept)))).await, 0);
    f = f.reopen().await;
    assert_eq!(f.journal.webhooks().await.unwrap(), [(all, 0)]);
    assert_eq!(dead_letters(&f, &shop).await, []);
}

/// Whoever asks in a loop has the server write nothing.
#[tokio::test]
async fn what_is_due_is_not_written_again() {
    let f = Fixture::new().await;
    let webhook = webhook(1, None);
    changed(&f, WebhookChange::Made { webhook: webhook.clone(), request: None }).await;
    for number in 1..=100 {
        let dead = Some(dead(number, 1, DeadLetterState::Kept));
        changed(&f, WebhookChange::Settled { webhook: webhook.id, to: result(number), dead }).await;
    }
    let these = Resend::These((1..=50).map(result).collect());
    for (which, count) in [(these, 50), (Resend::All, 100)] {
        let ask = || WebhookChange::Due { webhook: webhook.id, which: which.clone() };
        assert_eq!(changed(&f, ask()).await, count);
        let wal = || std::fs::read(f.folder.path().join("journal.sqlite3-wal")).unwrap();
        let before = wal();
        assert_eq!(changed(&f, ask()).await, count);
        assert!(wal() == before, "{which:?}");
    }
    let f = f.reopen().await;
    assert_eq!(due(&f, &webhook, 0, 200).await.len(), 100);
}

#[tokio::test]
async fn a_webhook_is_made_with_the_request_that_asks_for_it() {
    let f = Fixture::new().await;
    let request = |body| {
        let key = RequestKey {
            caller: Caller::new("admin").unwrap(),
            request_id: RequestId::new("one").unwrap(),
            body_hash: BodyHash([body; 32]),
        };
        Some(Request { key, response: Response::new("its id").unwrap() })
    };
    let made = |number, body| WebhookChange::Made { webhook: webhook(number, None), request: request(body) };
    assert_eq!(changed(&f, made(1, 1)).await, 1);
    assert_eq!(f.journal.change_webhooks(made(2, 2)).await, Outcome::Refused(RequestReused));
    assert_eq!(f.journal.webhooks().await.unwrap().len(), 1);
    let known = f.journal.request(request(1).unwrap().key, UnixMillis::new(2_000)).await.unwrap();
    assert_eq!(known, RequestState::Answered(Response::new("its id").unwrap()));
}

#[tokio::test]
async fn a_webhook_that_is_not_as_it_was_written_stops_the_start_and_is_left_out_by_a_repair() {
    let f = Fixture::new().await;
    f.created([1]).await;
    for number in [1, 2] {
        let made = WebhookChange::Made { webhook: webhook(number, None), request: None };
        assert_eq!(changed(&f, made).await, 1);
        let (webhook, dead) = (WebhookId::from_bytes([number; 16]), dead(4, 1, DeadLetterState::Kept));
        changed(&f, WebhookChange::Settled { webhook, to: result(4), dead: Some(dead) }).await;
    }
    f.journal.close().await;
    let elsewhere = "UPDATE webhooks SET url = 'https://evil.example.com/' WHERE webhook_number = 1";
    assert_eq!(f.database().execute(elsewhere, []).unwrap(), 1);
    let found = SqliteJournal::check(f.folder.path()).unwrap();
    assert!(matches!(found.damage, Some(OpenError::Damaged { what }) if what.contains("webhooks")));
    let repaired = repair(f.folder.path()).unwrap().unwrap();
    assert!(repaired.lost.iter().any(|lost| lost.contains("the table webhooks")), "{:?}", repaired.lost);
    let (journal, recovery) = SqliteJournal::open(f.folder.path(), Options::default()).await.unwrap();
    assert_eq!(recovery.unfinished, 1);
    let left = journal.webhooks().await.unwrap();
    assert_eq!(left, [(StoredWebhook { settled: result(4), ..webhook(2, None) }, 1)]);
    journal.close().await;
}

/// Numbers that a webhook has passed are not given again, though nothing else tells of their results.
#[tokio::test]
async fn after_a_repair_no_webhook_is_ahead_of_the_results() {
    for loss in [
        "DELETE FROM records WHERE result_number >= 2",
        "UPDATE records SET record = x'00' WHERE result_number = 3",
    ] {
        let f = Fixture::new().await;
        f.created(1..=4).await;
        for number in 1..=3 {
            assert!(matches!(f.finish(number, 1).await, Outcome::Done(_)));
        }
        let (ahead, damaged) = (webhook(1, None), webhook(2, None));
        for webhook in [&ahead, &damaged] {
            changed(&f, WebhookChange::Made { webhook: webhook.clone(), request: None }).await;
        }
        f.journal.close().await;
        let database = f.database();
        database.execute(loss, []).unwrap();
        database.execute("UPDATE webhooks SET url = 'https://x/' WHERE webhook_number = 2", []).unwrap();
        drop(database);
        let repaired = repair(f.folder.path()).unwrap().unwrap();
        assert!(repaired.lost.iter().any(|lost| lost.contains("result 3")), "{:?}", repaired.lost);
        let (journal, recovery) = SqliteJournal::open(f.folder.path(), Options::default()).await.unwrap();
        assert_eq!((recovery.results, ahead.settled), (3, result(3)), "{loss}");
        let f = Fixture { journal, recovery, ..f };
        assert_eq!(f.journal.webhooks().await.unwrap(), [(ahead, 0)]);
        assert_eq!(f.finish(4, 1).await, Outcome::Done(result(4)));
        f.journal.close().await;
    }
}
