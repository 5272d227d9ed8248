//! The memory of what has happened in the matches that are not over.

use std::ops::RangeInclusive;
use std::time::Duration;

use zetema_rules::Preset;

use super::fake::FakeJournal;
use super::harness::*;
use crate::journal::{BodyHash, Caller, RequestId, RequestKey};
use crate::matches::{CreateError, Limits, Matches};
use crate::table::{Choice, DealSpec, MatchSpec, Rejection, SeatAccess};

fn one() -> Vec<MatchSpec> {
    vec![spec(Preset::Sackson, 2, DealSpec::Joint)]
}

/// As docs/server.md, docs/runbook.md, docs/threat-model.md and limits/ say, of an action and of each other small thing.
const OF_AN_ACTION: usize = 160;

/// Matches whose memory is used up as soon as there is one.
async fn open_full_with_one(journal: &FakeJournal) -> Matches {
    let unbounded = open(&FakeJournal::new()).await;
    create_one(&unbounded, one().remove(0)).await;
    let limits = Limits { live_bytes: unbounded.live_bytes(), ..Limits::default() };
    open_with(journal.clone(), limits).await
}

#[tokio::test]
async fn when_what_runs_takes_as_much_as_it_may_it_is_played_on_and_nothing_is_begun() {
    let journal = FakeJournal::new();
    let matches = open_full_with_one(&journal).await;
    let key = RequestKey {
        caller: Caller::new("admin").unwrap(),
        request_id: RequestId::new("one").unwrap(),
        body_hash: BodyHash([1; 32]),
    };
    let created = matches.create(one(), Some(key.clone())).await.unwrap();
    let limit = matches.live_bytes();
    assert_eq!(matches.create(one(), None).await, Err(CreateError::TooManyBytes { limit }));
    let rotated = matches.rotate_token(created[0].match_id, seat(0)).await;
    assert_eq!(rotated, Err(Rejection::TooManyBytes { limit }));
    // What was answered before is still answered.
    assert_eq!(matches.create(one(), Some(key)).await.as_ref(), Ok(&created));

    play_all(&matches, &created[0]).await;
    // Its task is over a moment after its end was seen.
    let again = async {
        while matches.live_bytes() > 0 {
            tokio::task::yield_now().await;
        }
        matches.create(one(), None).await
    };
    let next = tokio::time::timeout(Duration::from_secs(20), again).await.unwrap().unwrap();
    assert_eq!(matches.live_bytes(), limit);

    // A restart finds them as they were.
    matches.stop().await;
    assert_eq!(matches.live_bytes(), 0);
    let matches = open_full_with_one(&journal).await;
    assert_eq!(matches.live_bytes(), limit);
    assert_eq!(matches.create(one(), None).await, Err(CreateError::TooManyBytes { limit }));
    matches.cancel(next[0].match_id).await.unwrap();
}

#[tokio::test]
async fn everything_that_happens_counts_and_as_much_after_a_restart() {
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    let info = create_one(&matches, one().remove(0)).await;
    let mut before = matches.live_bytes();
    let mut grows = |what: &str, bytes: RangeInclusive<usize>| {
        let now = matches.live_bytes();
        assert!(bytes.contains(&(now - before)), "{what} takes {} bytes", now - before);
        before = now;
    };
    matches.join(info.match_id, access(0), None).await.unwrap();
    grows("a join", OF_AN_ACTION..=OF_AN_ACTION);
    matches.rotate_token(info.match_id, seat(1)).await.unwrap();
    grows("a rotation", OF_AN_ACTION..=OF_AN_ACTION);
    let second = SeatAccess { generation: 2, ..access(1) };
    matches.join(info.match_id, second, None).await.unwrap();
    let mut dealt = observe(&matches, info.match_id, 0, Some(0)).await;
    dealt.next().await;
    dealt.next().await;
    grows("a join and a deal", 2 * OF_AN_ACTION + 100..=1_024);
    assert!(matches.live_bytes() < 6 * 1_024, "a creation and a deal take {} bytes", matches.live_bytes());
    for decision in 1..=10 {
        for access in [access(0), second] {
            if matches.act(info.match_id, access, decision, Choice::LegalIndex(0)).await.is_ok() {
                grows("an action", OF_AN_ACTION..=OF_AN_ACTION);
                break;
            }
        }
    }
    let live = matches.live_bytes();
    matches.stop().await;
    assert_eq!(open(&journal).await.live_bytes(), live);
}
