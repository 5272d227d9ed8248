//! Subscriptions can be cut anywhere (I4), and a slow reader harms nobody (I5).

use std::sync::Arc;
use std::time::Duration;

use futures::{FutureExt, poll};
use tokio::task::yield_now;
use tokio::time::timeout;
use zetema_proto::Views;
use zetema_rules::fair::Nonce;
use zetema_rules::{NamedTimeControl, Outcome, Preset, TimeControl};

use super::fake::FakeJournal;
use super::harness::*;
use crate::limits::{MAX_SEAT_TOKENS, REPLAY_GROWTH_ENTRIES, TABLE_INBOX_ONLOOKERS};
use crate::matches::{Audience, End, Kept, Limits, Next, Outgrown, Running, Start, Subscription};
use crate::table::{Choice, DealSpec, MatchSpec, Rejection, SeatAccess};

#[tokio::test]
async fn resumed_after_any_number_a_stream_gives_the_rest_of_the_whole() {
    let matches = open(&FakeJournal::new()).await;
    let info = create_one(&matches, spec(Preset::Quick, 2, DealSpec::Joint)).await;
    let id = info.match_id;
    let whole = play_all(&matches, &info).await;
    let last = whole[1].last().unwrap().seq;
    for after in 0..=last {
        let mut subscription = observe(&matches, id, 1, Some(after)).await;
        assert_eq!(*subscription.start(), Start::Resumed { after_seq: after, running: None });
        let (rest, end) = drain(&mut subscription).await;
        assert_eq!(rest[..], whole[1][usize::try_from(after).unwrap()..], "after {after}");
        assert!(matches!(end, End::Over(Outcome::Result(_))));
    }
    let ahead =
        matches.subscribe(id, Audience::Observer(access(1)), Some(last + 1), Views::EveryDecision).await;
    assert_eq!(ahead.unwrap_err(), Rejection::CursorAhead { last });
}

#[tokio::test(start_paused = true)]
async fn a_resumed_stream_says_which_decision_is_open_and_for_how_long() {
    let matches = open(&FakeJournal::new()).await;
    let blitz = TimeControl::named(NamedTimeControl::Blitz);
    let spec = MatchSpec { time_control: blitz, ..spec(Preset::Quick, 2, DealSpec::Joint) };
    let info = create_one(&matches, spec).await;
    join_all(&matches, &info).await;
    tokio::time::advance(Duration::from_millis(700)).await;
    // Whether something was missed or nothing, and whoever is to act.
    for seat in 0..2 {
        let Start::Snapshot(snapshot) = observe(&matches, info.match_id, seat, None).await.start().clone()
        else {
            panic!("no snapshot")
        };
        for after in 0..=snapshot.seq {
            let subscription = observe(&matches, info.match_id, seat, Some(after)).await;
            let running = Some(Running { decision: 1, elapsed_ms: 700 });
            assert_eq!(*subscription.start(), Start::Resumed { after_seq: after, running });
        }
    }
}

#[tokio::test]
async fn while_a_match_is_played_a_stream_resumed_anywhere_has_no_gap() {
    let matches = open(&FakeJournal::new()).await;
    let info = create_one(&matches, spec(Preset::Parlett, 4, DealSpec::Joint)).await;
    let id = info.match_id;
    let reader = {
        let matches = matches.clone();
        // Reads a few observations, drops the subscription, and resumes.
        tokio::spawn(async move {
            let mut all = Vec::new();
            loop {
                let after = all.len() as u64;
                let mut subscription = matches
                    .subscribe(id, Audience::Spectator, Some(after), Views::EveryDecision)
                    .await
                    .unwrap();
                for _ in 0..=after % 7 {
                    match subscription.next().await {
                        Next::Observation(observation) => all.push((*observation).clone()),
                        Next::End(end) => return (all, end),
                    }
                }
            }
        })
    };
    play_all(&matches, &info).await;
    let (all, end) = reader.await.unwrap();
    let mut spectator =
        matches.subscribe(id, Audience::Spectator, Some(0), Views::EveryDecision).await.unwrap();
    assert_eq!((all, end), drain(&mut spectator).await);
}

#[tokio::test]
async fn a_reader_whose_match_outgrows_what_is_kept_for_its_replay_is_cut_where_it_is() {
    let matches = open(&FakeJournal::new()).await;
    let info = create_one(&matches, spec(Preset::Quick, 2, DealSpec::Joint)).await;
    let id = info.match_id;
    join_all(&matches, &info).await;
    let begin = async |entries| {
        let mut behind = observe(&matches, id, 0, Some(0)).await;
        let held = Arc::new(());
        behind.keep_while_behind(Kept { entries, _held: Box::new(Arc::clone(&held)) }).unwrap();
        (behind, held)
    };
    let (mut while_it_runs, mut when_it_is_over, mut with_room) =
        (begin(10).await, begin(10).await, begin(100_000).await);
    for decision in 1..=60 {
        for index in [0, 1] {
            if matches.act(id, access(index), decision, Choice::LegalIndex(0)).await.is_ok() {
                break;
            }
        }
    }
    let check_cut = async |(behind, held): &mut (Subscription, Arc<()>)| {
        let (seen, end) = drain(behind).await;
        assert_eq!(end, End::Lagging);
        assert_eq!(Arc::strong_count(held), 1, "what was kept is given back");
        assert!(!seen.is_empty());
        seen
    };
    check_cut(&mut while_it_runs).await;
    let players = [0, 1].map(|index| tokio::spawn(play_joined(matches.clone(), id, index)));
    for player in players {
        player.await.unwrap();
    }
    let mut seen = check_cut(&mut when_it_is_over).await;
    let (rest, end) = drain(&mut observe(&matches, id, 0, Some(when_it_is_over.0.last_seq())).await).await;
    seen.extend(rest);
    assert_eq!((seen, end), drain(&mut with_room.0).await, "nothing is lost");
}

#[tokio::test]
async fn a_replay_of_a_match_that_grew_far_beyond_what_is_kept_for_it_does_not_begin() {
    let matches = open(&FakeJournal::new()).await;
    let info = create_one(&matches, spec(Preset::Quick, 2, DealSpec::Joint)).await;
    let id = info.match_id;
    join_all(&matches, &info).await;
    let reckoned = matches.length(id).await.unwrap();
    let begin = async |entries| {
        let after = Some(0);
        let mut behind =
            matches.subscribe(id, Audience::Spectator, after, Views::EveryDecision).await.unwrap();
        let held = Arc::new(());
        let kept = behind.keep_while_behind(Kept { entries, _held: Box::new(Arc::clone(&held)) });
        assert_eq!(
            Arc::strong_count(&held),
            if kept.is_ok() { 2 } else { 1 },
            "who is refused keeps nothing"
        );
        kept
    };
    for _ in 0..REPLAY_GROWTH_ENTRIES {
        matches.rotate_token(id, seat(0)).await.unwrap();
    }
    assert_eq!(begin(reckoned).await, Ok(()));
    matches.rotate_token(id, seat(0)).await.unwrap();
    assert_eq!(begin(reckoned).await, Err(Outgrown));
    let now = matches.length(id).await.unwrap();
    assert_eq!((now, begin(now).await), (reckoned + REPLAY_GROWTH_ENTRIES + 1, Ok(())));
    // One that is over is reckoned as it is.
    matches.resign(id, access(1)).await.unwrap();
    assert_eq!(begin(reckoned).await, Err(Outgrown));
    assert_eq!(begin(matches.length(id).await.unwrap()).await, Ok(()));
}

#[tokio::test]
async fn a_snapshot_and_its_tail_end_where_the_whole_ends() {
    let matches = open(&FakeJournal::new()).await;
    let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    let mut early = observe(&matches, info.match_id, 0, None).await;
    let Start::Snapshot(snapshot) = early.start().clone() else { panic!() };
    assert_eq!((snapshot.seq, snapshot.decision, snapshot.view), (0, None, None));
    let whole = play_all(&matches, &info).await;
    assert_eq!(drain(&mut early).await.0, whole[0]);
    let late = observe(&matches, info.match_id, 0, None).await;
    let Start::Snapshot(snapshot) = late.start() else { panic!() };
    assert_eq!(snapshot.seq, whole[0].last().unwrap().seq);
    let last_view = whole[0].iter().rev().find_map(|observation| observation.view.clone());
    assert_eq!(snapshot.view, last_view);
    assert!(snapshot.revealed.is_some() && snapshot.outcome.is_some() && snapshot.to_decide.is_none());
}

#[tokio::test]
async fn views_in_snapshots_only_are_in_no_observation() {
    let matches = open(&FakeJournal::new()).await;
    let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    let mut bare = matches
        .subscribe(info.match_id, Audience::Observer(access(0)), None, Views::SnapshotsOnly)
        .await
        .unwrap();
    let mut whole = play_all(&matches, &info).await.remove(0);
    for observation in &mut whole {
        observation.view = None;
    }
    assert_eq!(drain(&mut bare).await.0, whole);
}

#[tokio::test]
async fn a_join_takes_the_seat_from_the_player_and_from_no_observer() {
    let matches = open(&FakeJournal::new()).await;
    let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    let id = info.match_id;
    let subscribe = |audience| matches.subscribe(id, audience, None, Views::EveryDecision);
    let first = matches.join(id, access(0), None).await.unwrap();
    let mut player = subscribe(Audience::Player(access(0), first.hold)).await.unwrap();
    let mut observer = subscribe(Audience::Observer(access(0))).await.unwrap();
    let second = matches.join(id, access(0), None).await.unwrap();
    assert_eq!(player.next().await, Next::End(End::Superseded));
    assert_eq!(player.next().await, Next::End(End::Superseded), "an end stays the end");
    let again = subscribe(Audience::Player(access(0), first.hold)).await;
    assert_eq!(again.unwrap_err(), Rejection::Superseded);
    let mut player = subscribe(Audience::Player(access(0), second.hold)).await.unwrap();
    matches.join(id, access(1), None).await.unwrap();
    assert!(matches!(player.next().await, Next::Observation(_)));
    assert!(matches!(observer.next().await, Next::Observation(_)));
}

#[tokio::test]
async fn a_player_who_owes_its_nonce_keeps_the_seat_until_the_deal() {
    let matches = open(&FakeJournal::new()).await;
    let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    let id = info.match_id;
    let nonce = Nonce::new(b"alice").unwrap();
    let hash = Some(nonce.hash());
    let first = matches.join(id, access(0), hash).await.unwrap();
    let audience = Audience::Player(access(0), first.hold);
    let mut player = matches.subscribe(id, audience, None, Views::EveryDecision).await.unwrap();
    assert_eq!(matches.join(id, access(0), None).await, Err(Rejection::NoncePromised));
    matches.join(id, access(1), None).await.unwrap();
    assert!(matches!(player.next().await, Next::Observation(_)), "the nonces are wanted");
    assert_eq!(matches.join(id, access(0), None).await, Err(Rejection::NoncePromised));
    matches.send_nonce(id, access(0), nonce).await.unwrap();
    assert!(matches!(player.next().await, Next::Observation(_)), "it is dealt");
    matches.join(id, access(0), None).await.unwrap();
    assert_eq!(player.next().await, Next::End(End::Superseded));
}

#[tokio::test]
async fn a_player_who_owes_its_nonce_and_is_gone_keeps_no_seat() {
    let matches = open(&FakeJournal::new()).await;
    let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    let id = info.match_id;
    let hash = Some(Nonce::new(b"alice").unwrap().hash());
    let subscribe =
        |hold| matches.subscribe(id, Audience::Player(access(0), hold), None, Views::EveryDecision);
    let first = matches.join(id, access(0), hash).await.unwrap();
    let mut player = subscribe(first.hold).await.unwrap();
    let second = matches.join(id, access(0), hash).await.unwrap();
    assert_eq!(player.next().await, Next::End(End::Superseded), "with the hash it is taken over");
    drop(subscribe(second.hold).await.unwrap());
    assert_eq!(matches.join(id, access(0), None).await, Err(Rejection::NoncePromised), "it is still to come");
    drop(second);
    matches.join(id, access(0), None).await.unwrap();
}

#[tokio::test]
async fn a_new_token_voids_the_old_one_and_ends_what_it_reads() {
    let matches = open(&FakeJournal::new()).await;
    let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    let id = info.match_id;
    let mut old = observe(&matches, id, 0, None).await;
    let mut other = observe(&matches, id, 1, None).await;
    assert_eq!(matches.rotate_token(id, seat(0)).await, Ok(2));
    assert_eq!(old.next().await, Next::End(End::TokenReplaced));
    assert_eq!(matches.join(id, access(0), None).await, Err(Rejection::TokenReplaced));
    assert_eq!(matches.rotate_token(id, seat(2)).await, Err(Rejection::NoSuchSeat { seat: seat(2) }));
    matches.join(id, SeatAccess { seat: seat(0), generation: 2 }, None).await.unwrap();
    matches.join(id, access(1), None).await.unwrap();
    assert!(matches!(other.next().await, Next::Observation(_)));
    matches.cancel(id).await.unwrap();
    assert_eq!(matches.join(id, access(0), None).await, Err(Rejection::TokenReplaced), "after the end too");
}

/// What came before the token was replaced is read to its end, and nothing after it, though the match is over by then.
#[tokio::test]
async fn a_new_token_ends_what_is_replayed_for_the_old_one_too() {
    let matches = open(&FakeJournal::new()).await;
    let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    join_all(&matches, &info).await;
    let mut old = observe(&matches, info.match_id, 0, Some(0)).await;
    let mut other = observe(&matches, info.match_id, 1, Some(0)).await;
    let before = matches.subscribe(info.match_id, Audience::Observer(access(0)), None, Views::EveryDecision);
    let before = before.await.unwrap().last_seq();
    assert_eq!(matches.rotate_token(info.match_id, seat(0)).await, Ok(2));
    matches.cancel(info.match_id).await.unwrap();
    while matches.runs(info.match_id) {
        yield_now().await;
    }
    let (observations, end) = drain(&mut old).await;
    assert_eq!(end, End::TokenReplaced);
    assert!(observations.last().unwrap().seq <= before, "{observations:?}");
    let (observations, end) = drain(&mut other).await;
    assert!(matches!(end, End::Over(Outcome::Aborted { .. })), "{end:?}");
    assert!(observations.last().unwrap().seq > before, "{observations:?}");
}

#[tokio::test]
async fn a_seat_has_no_more_tokens_than_it_may_have_and_the_others_have_theirs() {
    let matches = open(&FakeJournal::new()).await;
    let id = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await.match_id;
    for generation in 2..=MAX_SEAT_TOKENS {
        assert_eq!(matches.rotate_token(id, seat(0)).await, Ok(generation));
    }
    let enough = Err(Rejection::TooManyTokens { limit: MAX_SEAT_TOKENS });
    assert_eq!(matches.rotate_token(id, seat(0)).await, enough);
    assert_eq!(matches.rotate_token(id, seat(1)).await, Ok(2));
    let last = SeatAccess { seat: seat(0), generation: MAX_SEAT_TOKENS };
    matches.join(id, last, None).await.unwrap();
    matches.cancel(id).await.unwrap();
    assert_eq!(matches.rotate_token(id, seat(0)).await, Err(Rejection::MatchOver));
}

#[tokio::test]
async fn a_reader_that_falls_behind_is_cut_and_resumes_without_a_gap() {
    let few = Limits { queued_observations: 4, ..Limits::default() };
    // One alone is let through, whatever it takes.
    let small = Limits { queued_bytes: 1, ..Limits::default() };
    // A player still reads what is in its queue. For those who look on nothing is kept.
    // When much waits in all, little may wait for one.
    let full = Limits { queued_bytes_in_all: 1, ..Limits::default() };
    for (limits, queued) in [(few, 4), (small, 1), (full, 2)] {
        check_cut(limits, Reader::Player, queued).await;
        check_cut(limits, Reader::Observer, 0).await;
    }
}

enum Reader {
    Player,
    Observer,
}

/// A reader that does not read is cut, and gets so many observations more.
async fn check_cut(limits: Limits, reader: Reader, queued: usize) {
    let matches = open_with(FakeJournal::new(), limits).await;
    let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    let hold = matches.join(info.match_id, access(0), None).await.unwrap().hold;
    let audience = match reader {
        Reader::Player => Audience::Player(access(0), hold),
        Reader::Observer => Audience::Observer(access(0)),
    };
    let mut slow = matches.subscribe(info.match_id, audience, None, Views::EveryDecision).await.unwrap();
    matches.join(info.match_id, access(1), None).await.unwrap();
    for decision in 1..=10 {
        for index in 0..2 {
            if matches.act(info.match_id, access(index), decision, Choice::LegalIndex(0)).await.is_ok() {
                break;
            }
        }
    }
    let (first, end) = drain(&mut slow).await;
    assert_eq!(end, End::Lagging);
    assert_eq!(first.len(), queued);
    assert_eq!(matches.queued_bytes(), 0, "what is read waits no more");
    let next_seq = slow.last_seq() + 1;
    let mut rest = observe(&matches, info.match_id, 0, Some(slow.last_seq())).await;
    assert!(matches!(rest.next().await, Next::Observation(next) if next.seq == next_seq));
}

#[tokio::test]
async fn what_waits_for_readers_is_counted_until_it_is_read_or_they_are_gone() {
    let matches = open(&FakeJournal::new()).await;
    let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    let id = info.match_id;
    let hold = matches.join(id, access(0), None).await.unwrap().hold;
    let player = matches.subscribe(id, Audience::Player(access(0), hold), None, Views::EveryDecision).await;
    let spectator = matches.subscribe(id, Audience::Spectator, None, Views::EveryDecision).await;
    let (mut player, spectator) = (player.unwrap(), spectator.unwrap());
    matches.join(id, access(1), None).await.unwrap();
    let of_both = matches.queued_bytes();
    drop(spectator);
    let of_one = matches.queued_bytes();
    assert!(0 < of_one && of_one < of_both, "{of_one} of {of_both}");
    assert!(matches!(player.next().await, Next::Observation(_)));
    assert!(matches.queued_bytes() < of_one);
    drop(player);
    assert_eq!(matches.queued_bytes(), 0);
}

#[tokio::test]
async fn subscribers_have_a_limit_and_those_that_are_gone_do_not_count() {
    let limits = Limits { subscribers: 2, ..Limits::default() };
    let matches = open_with(FakeJournal::new(), limits).await;
    let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    let subscribe = || matches.subscribe(info.match_id, Audience::Spectator, None, Views::EveryDecision);
    let kept = (subscribe().await.unwrap(), subscribe().await.unwrap());
    assert_eq!(subscribe().await.unwrap_err(), Rejection::TooManySubscribers { limit: 2 });
    drop(kept.0);
    subscribe().await.unwrap();
}

#[tokio::test]
async fn a_crowd_of_spectators_keeps_nobody_from_a_seat() {
    let limits = Limits { subscribers: 2, ..Limits::default() };
    let matches = open_with(FakeJournal::new(), limits).await;
    let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    let id = info.match_id;
    let subscribe = |audience| matches.subscribe(id, audience, None, Views::EveryDecision);
    let mut crowd = Vec::new();
    for audience in [Audience::Spectator, Audience::Observer(access(0))] {
        crowd.extend([subscribe(audience).await.unwrap(), subscribe(audience).await.unwrap()]);
        assert_eq!(subscribe(audience).await.unwrap_err(), Rejection::TooManySubscribers { limit: 2 });
    }
    subscribe(Audience::Observer(access(1))).await.unwrap();
    for index in 0..2 {
        let hold = matches.join(id, access(index), None).await.unwrap().hold;
        crowd.push(subscribe(Audience::Player(access(index), hold)).await.unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn subscriptions_that_are_left_where_they_catch_up_keep_nobody_from_the_match() {
    let matches = open(&FakeJournal::new()).await;
    let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    join_all(&matches, &info).await;
    let mut left = Vec::new();
    for _ in 0..TABLE_INBOX_ONLOOKERS {
        let mut subscription = observe(&matches, info.match_id, 0, Some(0)).await;
        let mut to_the_end = Box::pin(async move { drain(&mut subscription).await });
        assert!(poll!(&mut to_the_end).is_pending());
        left.push(to_the_end);
    }
    let another =
        matches.subscribe(info.match_id, Audience::Spectator, None, Views::EveryDecision).map(Result::unwrap);
    let another = timeout(Duration::from_secs(10), another).await.unwrap();
    assert!(matches!(another.start(), Start::Snapshot(_)));
    matches.cancel(info.match_id).await.unwrap();
    for to_the_end in left {
        let (observations, end) = to_the_end.await;
        assert!(matches!(end, End::Over(Outcome::Aborted { .. })), "{end:?}");
        assert!((1..).zip(&observations).all(|(seq, observation)| observation.seq == seq));
    }
}

#[tokio::test]
async fn a_dropped_call_for_what_comes_next_loses_nothing() {
    let matches = open(&FakeJournal::new()).await;
    let info = create_one(&matches, spec(Preset::Sackson, 2, DealSpec::Joint)).await;
    let mut subscription = observe(&matches, info.match_id, 0, Some(0)).await;
    let dropped = timeout(Duration::from_millis(1), subscription.next()).await;
    assert!(dropped.is_err(), "nothing has happened yet");
    let whole = play_all(&matches, &info).await.remove(0);
    assert_eq!(drain(&mut subscription).await.0, whole);
}
