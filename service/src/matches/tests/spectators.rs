//! However many look on at a match: each gets all of it, it is made once for all, and the players come first.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use zetema_proto::Views;
use zetema_rules::Preset;

use super::fake::FakeJournal;
use super::harness::*;
use crate::journal::MatchId;
use crate::limits;
use crate::matches::{Audience, End, Limits, Matches, Next, Subscription};
use crate::table::{Choice, DealSpec, Observation};

async fn watch(matches: &Matches, id: MatchId, views: Views) -> Subscription {
    matches.subscribe(id, Audience::Spectator, None, views).await.unwrap()
}

fn made_of(observation: &Observation) -> Bytes {
    format!("{observation:?}").into()
}

#[tokio::test]
async fn an_observation_is_encoded_once_however_many_watch() {
    for spectators in [1, 300] {
        let matches = open(&FakeJournal::new()).await;
        let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
        let encodings = Arc::new(Mutex::new(HashMap::new()));
        let mut readers = Vec::new();
        for number in 0..spectators {
            // One that wants other views shares what has none.
            let views = [Views::EveryDecision, Views::SnapshotsOnly][number % 2];
            let mut subscription = watch(&matches, info.match_id, views).await;
            let encodings = Arc::clone(&encodings);
            readers.push(tokio::spawn(async move {
                let (mut all, mut encoded) = (Vec::new(), Vec::new());
                while let Next::Observation(observed) = subscription.next().await {
                    encoded.push(observed.encoded(|observation| {
                        let with_view = observation.view.is_some();
                        *encodings.lock().unwrap().entry((observation.seq, with_view)).or_insert(0) += 1;
                        made_of(observation)
                    }));
                    all.push((*observed).clone());
                }
                (views, all, encoded)
            }));
        }
        play_all(&matches, &info).await;
        let mut whole: Option<Vec<Observation>> = None;
        for reader in readers {
            let (views, all, encoded) = reader.await.unwrap();
            assert_eq!(encoded, all.iter().map(made_of).collect::<Vec<_>>(), "each gets what it is shown");
            let whole = whole.get_or_insert_with(|| all.clone()).iter().cloned();
            let expected = whole.map(|observation| match views {
                Views::EveryDecision => observation,
                Views::SnapshotsOnly => Observation { view: None, ..observation },
            });
            assert_eq!(all, expected.collect::<Vec<_>>());
        }
        let encodings = encodings.lock().unwrap();
        assert!(encodings.values().all(|&times| times == 1), "{encodings:?}");
        let whole = whole.unwrap();
        assert!(whole.len() > 20 && whole.iter().any(|observation| observation.view.is_some()));
        assert!((1..).zip(&whole).all(|(seq, observation)| observation.seq == seq));
    }
}

#[tokio::test]
async fn of_a_crowd_each_may_leave_and_resume_and_misses_nothing() {
    let matches = open(&FakeJournal::new()).await;
    let info = create_one(&matches, spec(Preset::Parlett, 3, DealSpec::Joint)).await;
    let id = info.match_id;
    let mut readers = Vec::new();
    for number in 0..3 * limits::READERS_WOKEN_AT_ONCE as u64 {
        let (matches, mut subscription) = (matches.clone(), watch(&matches, id, Views::EveryDecision).await);
        readers.push(tokio::spawn(async move {
            let mut all = Vec::new();
            loop {
                match subscription.next().await {
                    Next::Observation(observation) => all.push((*observation).clone()),
                    Next::End(end) => return (all, end),
                }
                let seen = all.len() as u64;
                if number % 3 > 0 && seen.is_multiple_of(5 + number) {
                    let again = matches.subscribe(id, Audience::Spectator, Some(seen), Views::EveryDecision);
                    subscription = again.await.unwrap();
                }
            }
        }));
    }
    play_all(&matches, &info).await;
    let mut late = matches.subscribe(id, Audience::Spectator, Some(0), Views::EveryDecision).await.unwrap();
    let whole = drain(&mut late).await;
    assert!(matches!(whole.1, End::Over(_)));
    for reader in readers {
        assert!(reader.await.unwrap() == whole, "another match was seen");
    }
}

#[tokio::test]
async fn of_a_crowd_those_who_do_not_read_are_cut_alone_and_free_their_places() {
    const SLOW: usize = 100;
    let limits = Limits { queued_observations: 4, subscribers: 2 * SLOW, ..Limits::default() };
    let matches = open_with(FakeJournal::new(), limits).await;
    let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    let mut slow = Vec::new();
    let mut fast = Vec::new();
    for _ in 0..SLOW {
        slow.push(watch(&matches, info.match_id, Views::EveryDecision).await);
        let mut subscription = watch(&matches, info.match_id, Views::EveryDecision).await;
        fast.push(tokio::spawn(async move { drain(&mut subscription).await }));
    }
    join_all(&matches, &info).await;
    for decision in 1..=10 {
        for index in 0..2 {
            let acted = matches.act(info.match_id, access(index), decision, Choice::LegalIndex(0)).await;
            if acted.is_ok() {
                break;
            }
        }
        // Those who read have the time to.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    }
    // They are still there and keep nobody out.
    let mut late = Vec::new();
    for _ in 0..SLOW {
        late.push(watch(&matches, info.match_id, Views::EveryDecision).await);
    }
    matches.cancel(info.match_id).await.unwrap();
    for mut subscription in slow {
        assert_eq!(drain(&mut subscription).await, (Vec::new(), End::Lagging));
    }
    for reader in fast {
        let (all, end) = reader.await.unwrap();
        assert!(matches!(end, End::Over(_)), "{end:?}");
        assert!(all.len() > 10 && (1..).zip(&all).all(|(seq, observation)| observation.seq == seq));
    }
}

#[tokio::test]
async fn a_player_is_shown_what_happened_before_a_crowd_is() {
    const CROWD: usize = 20 * limits::READERS_WOKEN_AT_ONCE;
    let matches = open_with(FakeJournal::new(), Limits { subscribers: CROWD, ..Limits::default() }).await;
    let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    let id = info.match_id;
    let hold = matches.join(id, access(0), None).await.unwrap().hold;
    let player = Audience::Player(access(0), hold);
    let mut player = matches.subscribe(id, player, None, Views::EveryDecision).await.unwrap();
    let shown = Arc::new(AtomicUsize::new(0));
    let mut crowd = Vec::new();
    for _ in 0..CROWD {
        let mut subscription = watch(&matches, id, Views::EveryDecision).await;
        let shown = Arc::clone(&shown);
        crowd.push(tokio::spawn(async move {
            let next = subscription.next().await;
            shown.fetch_add(1, Ordering::Relaxed);
            next
        }));
    }
    tokio::task::yield_now().await;
    // The player is a task among the crowd's.
    let player = {
        let shown = Arc::clone(&shown);
        tokio::spawn(async move { (player.next().await, shown.load(Ordering::Relaxed)) })
    };
    tokio::task::yield_now().await;
    matches.join(id, access(1), None).await.unwrap();
    let (next, before) = player.await.unwrap();
    assert!(matches!(next, Next::Observation(_)));
    assert!(before <= 2 * limits::READERS_WOKEN_AT_ONCE, "{before} of {CROWD} came before the player");
    for reader in crowd {
        assert!(matches!(reader.await.unwrap(), Next::Observation(_)));
    }
    assert_eq!(shown.load(Ordering::Relaxed), CROWD);
}
