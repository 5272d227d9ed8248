//! How webhooks are made: what is looked at first, how many there may be, and what is made of a change whose outcome is unknown.

use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::future::join_all;
use tokio::time::sleep;

use super::connecting::Mute;
use super::fake::Answer;
use super::{Fixture, URL};
use crate::journal::{
    BodyHash, Caller, Owner, RequestId, RequestKey, Resend, WebhookChange, WebhookId, WebhookUrl,
};
use crate::limits;
use crate::matches::ResultsFrom;
use crate::matches::tests::fake::Fate;
use crate::webhooks::{WebhookError, WebhookSpec};

fn asked(url: &str, owner: Option<&str>) -> WebhookSpec {
    let owner = owner.map(|name| Owner::new(name).unwrap());
    WebhookSpec { url: WebhookUrl::new(url).unwrap(), owner, from: ResultsFrom::Now }
}

fn request(id: &str) -> RequestKey {
    RequestKey {
        caller: Caller::new("admin").unwrap(),
        request_id: RequestId::new(id).unwrap(),
        body_hash: BodyHash([7; 32]),
    }
}

async fn make(f: &Fixture, owner: Option<&str>, key: Option<RequestKey>) -> Result<WebhookId, WebhookError> {
    f.webhooks.create(None, asked(URL, owner), key).await.map(|(info, _)| info.webhook.id)
}

#[tokio::test(start_paused = true)]
async fn a_request_that_comes_again_is_answered_when_the_name_can_not_be_looked_up_any_more() {
    let f = Fixture::new(|_| Answer::Says(200)).await;
    let made = make(&f, None, Some(request("one"))).await.unwrap();
    let mute = Mute::default();
    let f = f.restart_over(mute.clone()).await;
    assert_eq!(make(&f, None, Some(request("one"))).await.unwrap(), made);
    assert_eq!(mute.0.load(Ordering::Relaxed), 0);
    let refused = make(&f, None, Some(request("two"))).await.unwrap_err();
    assert!(matches!(refused, WebhookError::NoAddress), "{refused:?}");
}

#[tokio::test(start_paused = true)]
async fn names_that_hang_take_few_threads() {
    let mute = Mute::default();
    let f = Fixture::new(|_| Answer::Says(200)).await.restart_over(mute.clone()).await;
    let owners: Vec<Owner> = (0..20).map(|owner| Owner::new(format!("owner{owner}")).unwrap()).collect();
    let ask = async |owner: &Owner| f.webhooks.create(Some(owner), asked(URL, None), None).await;
    let all = join_all((0..100).map(|_| ask(&owners[0]))).await;
    assert!(all.iter().all(|made| matches!(made, Err(WebhookError::NoAddress))));
    assert_eq!(mute.0.load(Ordering::Relaxed), limits::WEBHOOK_LOOKUPS_PER_OWNER, "the others have theirs");
    let all = join_all(owners.iter().map(ask)).await;
    assert!(all.iter().all(|made| matches!(made, Err(WebhookError::NoAddress))));
    assert_eq!(mute.0.load(Ordering::Relaxed), limits::WEBHOOK_LOOKUPS);
}

#[tokio::test(start_paused = true)]
async fn there_is_room_for_so_many_and_owners_leave_some_to_the_admin() {
    let f = Fixture::new(|_| Answer::Says(200)).await;
    let full = |made: Result<WebhookId, WebhookError>| matches!(made, Err(WebhookError::TooMany { .. }));
    for owner in 0..19 {
        let name = format!("owner{owner}");
        for _ in 0..limits::MAX_WEBHOOKS_PER_OWNER {
            make(&f, Some(&name), None).await.unwrap();
        }
        assert!(full(make(&f, Some(&name), None).await), "{name}");
    }
    assert!(full(make(&f, Some("owner19"), None).await));
    for _ in 0..limits::MAX_WEBHOOKS_PER_OWNER {
        make(&f, None, None).await.unwrap();
    }
    assert!(full(make(&f, None, None).await));
    // Whoever has no room has no name looked up.
    let mute = Mute::default();
    let f = f.restart_over(mute.clone()).await;
    assert!(full(make(&f, Some("owner0"), None).await));
    assert_eq!(mute.0.load(Ordering::Relaxed), 0);
}

/// The change may be there, and reading it back may fail: whoever asks next has it read, and if nobody does it is read soon.
#[tokio::test(start_paused = true)]
async fn what_was_made_without_an_answer_is_found() {
    let is_made = |change: &WebhookChange| matches!(change, WebhookChange::Made { .. });
    for asks in [true, false] {
        let f = Fixture::new(|_| Answer::Says(200)).await;
        f.store.doom(is_made, Fate::WrittenUnknown);
        f.store.blind(1);
        assert!(make(&f, None, None).await.is_err());
        assert_eq!(f.webhooks.list(None, None, 10).len(), 0);
        if asks {
            let none = f.webhooks.resend(None, WebhookId::from_bytes([9; 16]), Resend::All).await;
            assert!(matches!(none, Err(WebhookError::NotFound)), "{none:?}");
        } else {
            sleep(limits::METRICS_UPKEEP_INTERVAL + Duration::from_secs(1)).await;
        }
        assert_eq!(f.webhooks.list(None, None, 10).len(), 1, "{asks}");
        f.end(1).await;
        f.receiver.hears("a result", |heard| heard.len() == 1).await;
    }
}
