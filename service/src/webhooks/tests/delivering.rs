//! Results as they come, whatever the receiver and the journal do.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::fake::{Answer, Heard};
use super::{Fixture, dead, end_of, result, stored};
use crate::journal::{DeadLetterState, WebhookChange};
use crate::limits;
use crate::matches::tests::fake::{FakeJournal, Fate};
use crate::matches::tests::harness::open;

fn times(heard: &[Heard], result: u64) -> usize {
    heard.iter().filter(|heard| heard.result == result).count()
}

#[tokio::test(start_paused = true)]
async fn a_result_that_cannot_be_read_is_the_webhooks_trouble_once_those_before_it_are_delivered() {
    let f = Fixture::new(|_| Answer::Says(200)).await;
    f.end(3).await;
    f.journal.damage(result(2));
    let id = f.webhook().await;
    f.until("trouble", id, |info| info.trouble.is_some()).await;
    let trouble = f.info(id).trouble.unwrap();
    // On a busy machine it may have been tried again by now.
    assert!(trouble.result == result(2) && trouble.attempts >= 1, "{trouble:?}");
    assert!(trouble.error.contains("damaged"), "{trouble:?}");
    let heard = f.receiver.heard();
    assert_eq!([1, 2, 3].map(|number| times(&heard, number)), [1, 0, 0]);
}

#[tokio::test(start_paused = true)]
async fn a_dead_letter_that_was_stored_without_an_answer_is_not_sent_again() {
    let is_dead = |change: &WebhookChange| matches!(change, WebhookChange::Settled { dead: Some(_), .. });
    for (fate, times_sent) in [(Fate::WrittenUnknown, 3), (Fate::LostUnknown, 6), (Fate::Fails, 6)] {
        let f = Fixture::new(|number| Answer::Says(if number == 1 { 400 } else { 200 })).await;
        f.store.doom(is_dead, fate);
        f.end(2).await;
        let id = f.webhook().await;
        f.receiver.hears("the result after it", |heard| times(heard, 2) > 0).await;
        assert_eq!(times(&f.receiver.heard(), 1), times_sent, "{fate:?}");
        f.until("all", id, |info| info.behind == 0 && info.webhook.settled == result(2)).await;
        assert_eq!((f.info(id).dead_letters, f.info(id).trouble), (1, None), "{fate:?}");
        assert_eq!(f.dead_letters(id).await.len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn after_progress_what_fails_is_tried_soon_again() {
    let f = Fixture::new(|_| Answer::Says(200)).await;
    f.end(1).await;
    f.journal.blind(12);
    f.webhook().await;
    f.receiver.hears("the first", |heard| heard.len() == 1).await;
    f.journal.blind(1);
    f.end(1).await;
    let begun = Instant::now();
    f.receiver.hears("the second", |heard| heard.len() == 2).await;
    assert!(begun.elapsed() <= Duration::from_millis(1_100), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn what_a_webhook_does_not_want_keeps_it_behind_for_no_time_and_is_stored_seldom() {
    let f = Fixture::new(|_| Answer::Says(200)).await;
    let id = f.webhook_of(Some("shop")).await;
    f.until("the first look", id, |info| info.behind == 0).await;
    let begun = Instant::now();
    for number in 1..=200 {
        f.end(1).await;
        f.until("nothing behind", id, |info| info.behind == 0).await;
        assert_eq!(f.matches.latest_result(), result(number));
        sleep(Duration::from_millis(100)).await;
    }
    let settled = f.store.changes().into_iter();
    let settled = settled.filter(|change| matches!(change, WebhookChange::Settled { .. })).count();
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(30) && settled <= 4, "{settled} times in {took:?}");
    // What it wants comes as ever.
    end_of(&f.matches, 1, Some("shop")).await;
    f.receiver.hears("its own", |heard| heard.iter().any(|heard| heard.result == 201)).await;
}

#[tokio::test(start_paused = true)]
async fn what_trickles_is_stored_once_a_second() {
    let f = Fixture::new(|_| Answer::Says(200)).await;
    let id = f.webhook().await;
    for _ in 0..100 {
        f.end(1).await;
        sleep(Duration::from_millis(50)).await;
    }
    f.until("stored", id, |info| info.webhook.settled == result(100)).await;
    let settled = f.store.changes().into_iter();
    let settled = settled.filter(|change| matches!(change, WebhookChange::Settled { .. })).count();
    assert!((2..=7).contains(&settled), "{settled} times in five seconds");
}

#[tokio::test(start_paused = true)]
async fn what_was_taken_is_stored_before_what_is_not_is_waited_for() {
    let f = Fixture::new(|number| Answer::Says(if number > 5 { 503 } else { 200 })).await;
    f.end(6).await;
    let id = f.webhook().await;
    f.until("trouble", id, |info| info.trouble.is_some()).await;
    assert_eq!(f.info(id).webhook.settled, result(5));
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_is_gone_for_a_day_costs_a_dead_letter() {
    let f = Fixture::new(|number| Answer::Says(if number == 1 { 503 } else { 200 })).await;
    f.end(2).await;
    let begun = Instant::now();
    let id = f.webhook().await;
    f.receiver.hears("the result after it", |heard| times(heard, 2) > 0).await;
    let day = Duration::from_hours(24);
    assert!(
        begun.elapsed() >= day && begun.elapsed() < day + Duration::from_mins(6),
        "{:?}",
        begun.elapsed()
    );
    let dead = f.dead_letters(id).await;
    assert_eq!((dead.len(), dead[0].result, dead[0].error.as_str()), (1, result(1), "HTTP 503"));
    assert_eq!(dead[0].attempts as usize, times(&f.receiver.heard(), 1));
}

#[tokio::test(start_paused = true)]
async fn a_receiver_is_left_alone_as_long_as_it_asks() {
    let mut answers = [Answer::Asks(429, 120), Answer::Asks(503, 100_000), Answer::Says(200)].into_iter();
    let f = Fixture::new(move |_| answers.next().unwrap()).await;
    f.end(1).await;
    f.webhook().await;
    f.receiver.hears("three attempts", |heard| heard.len() == 3).await;
    let at: Vec<Instant> = f.receiver.heard().iter().map(|heard| heard.at).collect();
    assert_eq!([at[1] - at[0], at[2] - at[1]].map(|wait| wait.as_secs()), [120, 300]);
}

#[tokio::test(start_paused = true)]
async fn a_webhook_that_is_deleted_while_it_delivers_sends_no_more() {
    let f = Fixture::new(|_| Answer::Never).await;
    f.end(3).await;
    let id = f.webhook().await;
    f.receiver.hears("an attempt", |heard| heard.len() == 1).await;
    f.webhooks.delete(None, id).await.unwrap();
    sleep(Duration::from_hours(1)).await;
    assert_eq!(f.receiver.results(), [1]);
    let last = f.store.changes().pop();
    assert_eq!(last, Some(WebhookChange::Deleted(id)));
    assert_eq!(f.webhooks.list(None, None, 10), []);
}

#[tokio::test(start_paused = true)]
async fn a_webhook_of_an_owner_without_matches_is_not_behind() {
    let f = Fixture::new(|_| Answer::Says(200)).await;
    let id = f.webhook_of(Some("ann")).await;
    f.end(20).await;
    f.until("passed over", id, |info| info.behind == 0 && info.webhook.settled == result(20)).await;
    assert_eq!(f.receiver.results(), [0; 0]);
    end_of(&f.matches, 1, Some("ann")).await;
    f.receiver.hears("its own", |heard| heard.len() == 1).await;
    assert_eq!(f.receiver.results(), [21]);
}

#[tokio::test(start_paused = true)]
async fn with_a_full_list_of_dead_letters_it_waits_and_loses_nothing() {
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    let full = u64::from(limits::MAX_DEAD_LETTERS);
    end_of(&matches, usize::try_from(full).unwrap() + 2, None).await;
    let store = super::FakeStore::new(&journal);
    let letters = (1..=full).map(|number| dead(number, DeadLetterState::Kept));
    store.put(stored(full), letters);
    let receiver =
        super::Receiver::new(move |number| Answer::Says(if number == full + 1 { 400 } else { 200 }));
    let f = Fixture::over(journal, store, matches, receiver).await;
    let id = stored(full).id;
    f.receiver.hears("many attempts", |heard| heard.len() == 20).await;
    let info = f.info(id);
    assert_eq!((u64::from(info.dead_letters), info.behind), (full, 2));
    assert_eq!(info.trouble.map(|trouble| trouble.result), Some(result(full + 1)));
    assert_eq!(f.store.changes(), []);
    // With room for one more it goes on.
    assert_eq!(f.resend(id).await, full);
    f.until("an end", id, |info| info.behind == 0 && info.dead_letters == 1).await;
    assert_eq!(f.dead_letters(id).await[0].result, result(full + 1));
}
