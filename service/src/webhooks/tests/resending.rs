//! Dead letters that are sent again, beside the results that come.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::Fixture;
use super::fake::Answer;
use super::result;
use crate::journal::{DeadLetterState, WebhookChange, WebhookId};
use crate::matches::tests::fake::Fate;

/// One whose first results are dead letters.
async fn with_dead_letters(count: usize) -> (Fixture, WebhookId) {
    let f = Fixture::new(|_| Answer::Says(400)).await;
    f.end(count).await;
    let id = f.webhook().await;
    f.until("dead letters", id, |info| info.dead_letters as usize == count).await;
    (f, id)
}

#[tokio::test(start_paused = true)]
async fn dead_letters_that_are_not_taken_hold_no_result_up() {
    for answer in [Answer::Never, Answer::Says(503), Answer::Says(404), Answer::Asks(503, 200)] {
        let (f, id) = with_dead_letters(20).await;
        let told = answer.clone();
        f.receiver.behave(move |number| if number > 20 { Answer::Says(200) } else { told.clone() });
        assert_eq!(f.resend(id).await, 20);
        f.until("a dead letter that waits", id, |info| info.trouble.is_some()).await;
        assert!(f.info(id).trouble.unwrap().result <= result(20));
        let begun = Instant::now();
        f.end(5).await;
        f.receiver.hears("the results", |heard| heard.iter().any(|heard| heard.result == 25)).await;
        assert!(begun.elapsed() <= Duration::from_mins(1), "{answer:?}: {:?}", begun.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn who_has_dead_letters_sent_again_keeps_nobody_from_making_and_ending_webhooks() {
    let (f, id) = with_dead_letters(3).await;
    let is_due = |change: &WebhookChange| matches!(change, WebhookChange::Due { .. });
    let go_on = f.store.hold(is_due);
    let mut resending = std::pin::pin!(f.resend(id));
    assert!(futures::poll!(&mut resending).is_pending());
    let others = async {
        let other = f.webhook_of(Some("shop")).await;
        f.webhooks.delete(None, other).await.unwrap();
    };
    timeout(Duration::from_secs(1), others).await.expect("they wait for nobody");
    go_on.notify_one();
    assert_eq!(resending.await, 3);
}

#[tokio::test(start_paused = true)]
async fn results_and_dead_letters_take_turns() {
    let (f, id) = with_dead_letters(10).await;
    f.receiver.behave(|_| Answer::Late(200, Duration::from_secs(1)));
    let before = f.receiver.heard().len();
    f.resend(id).await;
    f.end(10).await;
    f.until("none left", id, |info| info.dead_letters == 0 && info.behind == 0).await;
    let heard = f.receiver.results().split_off(before);
    let (letters, results): (Vec<u64>, Vec<u64>) = heard.iter().partition(|number| **number <= 10);
    assert_eq!((letters, results), ((1..=10).collect(), (11..=20).collect()));
    let half = heard.iter().take(10).filter(|number| **number <= 10).count();
    assert!((4..=6).contains(&half), "{heard:?}");
}

#[tokio::test(start_paused = true)]
async fn each_is_tried_three_times_and_kept() {
    for status in [404, 503] {
        let (f, id) = with_dead_letters(3).await;
        f.receiver.behave(move |_| Answer::Says(status));
        let before = f.receiver.heard().len();
        f.resend(id).await;
        f.receiver.hears("all attempts", |heard| heard.len() == before + 9).await;
        sleep(Duration::from_hours(2)).await;
        assert_eq!(f.receiver.results().split_off(before), [1, 1, 1, 2, 2, 2, 3, 3, 3]);
        let dead = f.dead_letters(id).await;
        assert!(
            dead.iter().all(|dead| (dead.attempts, dead.state) == (6, DeadLetterState::Kept)),
            "{dead:?}"
        );
        assert!(dead.iter().all(|dead| dead.error == format!("HTTP {status}")));
        assert_eq!((f.info(id).dead_letters, f.info(id).trouble), (3, None));
    }
}

#[tokio::test(start_paused = true)]
async fn a_dead_letter_whose_result_is_damaged_or_lost_stays_one_and_the_others_go_on() {
    let (f, id) = with_dead_letters(3).await;
    f.journal.damage(result(1));
    f.journal.lose(result(2));
    f.receiver.behave(|_| Answer::Says(200));
    f.resend(id).await;
    f.until("the third", id, |info| info.dead_letters == 2).await;
    let dead = f.dead_letters(id).await;
    let told: Vec<_> = dead.iter().map(|dead| (dead.result.get(), dead.state, dead.error.as_str())).collect();
    assert_eq!(
        told,
        [
            (1, DeadLetterState::Kept, "the result is damaged in the journal"),
            (2, DeadLetterState::Kept, "the result is lost"),
        ]
    );
    f.end(1).await;
    f.receiver.hears("what comes", |heard| heard.iter().any(|heard| heard.result == 4)).await;
}

#[tokio::test(start_paused = true)]
async fn a_resend_during_the_last_attempt_is_not_lost() {
    let (f, id) = with_dead_letters(1).await;
    let mut attempts = 0;
    f.receiver.behave(move |_| {
        attempts += 1;
        match attempts {
            1 | 2 => Answer::Says(400),
            3 => Answer::Late(400, Duration::from_secs(5)),
            _ => Answer::Says(200),
        }
    });
    f.resend(id).await;
    f.receiver.hears("the last attempt", |heard| heard.len() == 6).await;
    assert_eq!(f.resend(id).await, 1);
    f.until("taken", id, |info| info.dead_letters == 0).await;
}

#[tokio::test(start_paused = true)]
async fn a_result_that_waits_is_given_up_no_sooner_for_being_asked_for() {
    let f = Fixture::new(|_| Answer::Says(404)).await;
    f.end(1).await;
    let id = f.webhook().await;
    for heard_before in 1..=10 {
        f.receiver.hears("an attempt", |heard| heard.len() == heard_before).await;
        f.until("it waits", id, |info| info.trouble.is_some()).await;
        assert_eq!((f.resend(id).await, f.info(id).dead_letters), (0, 0));
    }
    f.until("given up", id, |info| info.dead_letters == 1).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_due_is_sent_after_a_restart() {
    let (f, id) = with_dead_letters(2).await;
    f.receiver.behave(|_| Answer::Never);
    f.resend(id).await;
    f.receiver.hears("an attempt", |heard| heard.len() == 7).await;
    f.receiver.behave(|_| Answer::Says(200));
    let f = f.restart().await;
    f.until("none left", id, |info| info.dead_letters == 0).await;
}

#[tokio::test(start_paused = true)]
async fn a_resend_has_a_result_that_waits_sent_at_once() {
    let f = Fixture::new(|_| Answer::Asks(503, 300)).await;
    f.end(1).await;
    let id = f.webhook().await;
    f.until("trouble", id, |info| info.trouble.is_some()).await;
    f.receiver.behave(|_| Answer::Says(200));
    let begun = Instant::now();
    assert_eq!(f.resend(id).await, 0);
    f.until("taken", id, |info| info.behind == 0).await;
    assert!(begun.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_taken_dead_letter_whose_outcome_is_not_known_is_counted_right() {
    let is_revived = |change: &WebhookChange| matches!(change, WebhookChange::Revived { .. });
    for fate in [Fate::WrittenUnknown, Fate::LostUnknown] {
        let (f, id) = with_dead_letters(2).await;
        f.store.doom(is_revived, fate);
        f.receiver.behave(|_| Answer::Says(200));
        f.resend(id).await;
        f.until("none left", id, |info| info.dead_letters == 0).await;
        assert_eq!(f.dead_letters(id).await, []);
    }
}
