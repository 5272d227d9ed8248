//! Matches that share their deals.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::yield_now;
use zetema_proto::Views;
use zetema_rules::fair::Nonce;
use zetema_rules::{AbortReason, DealingKind, Outcome, Preset};
use zetema_rules::{NamedTimeControl, TimeControl};

use super::fake::{FakeJournal, Fate};
use super::harness::*;
use crate::encoding::{decode_entry, decode_record, encode_entry};
use crate::journal::{Payload, Quarantine, ResultNumber, Version};
use crate::limits::MAX_DEAL_SET_SEATS;
use crate::matches::{Audience, CreateError, Limits, Matches, OpenError};
use crate::table::{Change, Created, DealSpec, DealsKind, Entry, MatchInfo, MatchStage, Rejection};

async fn create_set(matches: &Matches) -> Vec<MatchInfo> {
    matches.create(vec![spec(Preset::Sackson, 2, DealSpec::Shared(7)); 2], None).await.unwrap()
}

#[tokio::test]
async fn the_matches_of_a_set_are_dealt_the_same_cards_and_revealed_together() {
    let matches = open(&FakeJournal::new()).await;
    let infos = create_set(&matches).await;
    assert!(matches!(infos[0].deals, DealsKind::Shared(_)));
    assert_eq!((infos[0].deals, infos[0].commitment), (infos[1].deals, infos[1].commitment));
    let first = {
        let (matches, info) = (matches.clone(), infos[0].clone());
        tokio::spawn(async move { play_all(&matches, &info).await })
    };
    // The second match's seats join, and then wait: the first is played while the second is open.
    for index in 0..2 {
        matches.join(infos[1].match_id, access(index), None).await.unwrap();
    }
    let observed = first.await.unwrap();
    assert_eq!(matches.get(infos[1].match_id).await.unwrap().stage, MatchStage::Playing);
    assert_eq!(matches.record(infos[0].match_id).await, Err(Rejection::HeldUntilReveal));
    for info in &infos {
        let watch = matches.subscribe(info.match_id, Audience::Spectator, None, Views::EveryDecision).await;
        assert_eq!(watch.unwrap_err(), Rejection::HeldUntilReveal);
    }
    let (again, _) = drain(&mut observe(&matches, infos[0].match_id, 0, Some(0)).await).await;
    assert_eq!(again, observed[0], "a seat may still read what it saw, and no seed is in it");
    for index in 0..2 {
        let matches = matches.clone();
        tokio::spawn(play_joined(matches, infos[1].match_id, index));
    }
    drain(&mut observe(&matches, infos[1].match_id, 0, None).await).await;
    let mut decks = Vec::new();
    for info in &infos {
        let (record, header) = decode_record(&matches.record(info.match_id).await.unwrap().record).unwrap();
        record.verify().unwrap();
        assert_eq!(record.dealing.kind, DealingKind::Shared);
        assert_eq!(header.deal_set.unwrap().entrants.len(), 4);
        decks.push((record.dealer, record.deals[0].deck));
    }
    assert!(decks[0] == decks[1]);
}

/// A set of two that is dealt.
async fn two_dealt(matches: &Matches) -> Vec<MatchInfo> {
    let infos = create_set(matches).await;
    for info in &infos {
        join_all(matches, info).await;
    }
    for info in &infos {
        let mut subscription = observe(matches, info.match_id, 0, Some(0)).await;
        // The hashes, then the nonces and the deal.
        subscription.next().await;
        subscription.next().await;
    }
    infos
}

/// A set of two that is dealt, of which the first match is over.
async fn one_over(journal: &FakeJournal) -> (Matches, [MatchInfo; 2]) {
    let matches = open(journal).await;
    let infos = two_dealt(&matches).await;
    matches.resign(infos[0].match_id, access(0)).await.unwrap();
    (matches, infos.try_into().unwrap())
}

async fn check_held(matches: &Matches, over: &MatchInfo) {
    assert_eq!(matches.record(over.match_id).await, Err(Rejection::HeldUntilReveal));
    let watch = matches.subscribe(over.match_id, Audience::Spectator, None, Views::EveryDecision).await;
    assert_eq!(watch.unwrap_err(), Rejection::HeldUntilReveal);
}

#[tokio::test]
async fn the_cards_of_a_set_are_held_until_a_match_of_it_that_can_not_go_on_is_cancelled() {
    let journal = FakeJournal::new();
    let (matches, [over, halts]) = one_over(&journal).await;
    check_held(&matches, &over).await;
    journal.doom(&[Fate::Fenced]);
    assert_eq!(matches.resign(halts.match_id, access(0)).await, Err(Rejection::Damaged));
    let gone = again(|| matches.get(halts.match_id)).await;
    assert!(matches!(gone, Err(Rejection::MatchDamaged(_))), "{gone:?}");
    check_held(&matches, &over).await;
    matches.cancel(halts.match_id).await.unwrap();
    for info in [over, halts] {
        let (record, _) = decode_record(&matches.record(info.match_id).await.unwrap().record).unwrap();
        record.verify().unwrap();
    }
}

#[tokio::test]
async fn the_cards_of_a_set_are_held_after_a_start_at_which_a_match_of_it_does_not_replay() {
    let journal = FakeJournal::new();
    let (matches, [over, broken]) = one_over(&journal).await;
    matches.stop().await;
    journal.sneak(broken.match_id, Payload::new(vec![0xff; 3]).unwrap());
    let (matches, recovered) = open_damaged(&journal, Limits::default()).await;
    assert_eq!(recovered.damaged, [broken.match_id]);
    check_held(&matches, &over).await;
}

#[tokio::test]
async fn the_cards_of_a_set_are_held_after_a_start_of_a_release_that_can_not_replay_a_match_of_it() {
    let journal = FakeJournal::new();
    let (matches, [over, other]) = one_over(&journal).await;
    matches.stop().await;
    let first = journal.records(other.match_id)[0].clone();
    let Entry { at, change: Change::Created(created) } =
        decode_entry(first.as_bytes(), other.rules.imperial_suit).unwrap()
    else {
        panic!()
    };
    let rules_revision = zetema_rules::RULES_REVISION + 1;
    let created = Arc::new(Created { rules_revision, ..Arc::unwrap_or_clone(created) });
    let entry = Entry { at, change: Change::Created(created) };
    journal.replace_first(other.match_id, Payload::new(encode_entry(&entry)).unwrap());
    let (matches, recovered) = open_damaged(&journal, Limits::default()).await;
    assert_eq!(recovered.damaged, [other.match_id]);
    check_held(&matches, &over).await;
    let info = matches.as_created(other.match_id).await.unwrap();
    assert_eq!((info.rules_revision, info.deals), (rules_revision, other.deals));
}

#[tokio::test]
async fn the_cards_of_a_set_are_held_after_a_start_at_which_a_match_of_it_is_quarantined() {
    let journal = FakeJournal::new();
    let (matches, [over, quarantined]) = one_over(&journal).await;
    matches.stop().await;
    journal.quarantine(quarantined.match_id);
    let matches = open(&journal).await;
    let quarantine =
        Quarantine { match_id: quarantined.match_id, intact: Version::new(5), damage: "as told".into() };
    // It may not be known for now which set that is: then nothing begins.
    journal.blind_to_first(1);
    assert!(matches!(
        matches.found_damaged(std::slice::from_ref(&quarantine)).await,
        Err(OpenError::Read(_))
    ));
    matches.found_damaged(&[quarantine]).await.unwrap();
    assert_eq!((matches.live(), matches.lost()), (0, 0));
    check_held(&matches, &over).await;
}

#[tokio::test(start_paused = true)]
async fn a_no_show_in_one_match_aborts_the_set() {
    let matches = open(&FakeJournal::new()).await;
    let mut wanted = spec(Preset::Sackson, 2, DealSpec::Shared(1));
    wanted.time_control = TimeControl::new(1_000, NamedTimeControl::None.decisions()).unwrap();
    let infos = matches.create(vec![wanted; 3], None).await.unwrap();
    for info in &infos[..2] {
        join_all(&matches, info).await;
    }
    for info in &infos {
        drain(&mut observe(&matches, info.match_id, 0, None).await).await;
        let Some(Outcome::Aborted { reason: AbortReason::NoShow, seats }) =
            matches.get(info.match_id).await.unwrap().outcome
        else {
            panic!()
        };
        assert_eq!(seats.is_empty(), info.match_id != infos[2].match_id);
        decode_record(&matches.record(info.match_id).await.unwrap().record).unwrap().0.verify().unwrap();
    }
}

#[tokio::test]
async fn killed_between_its_matches_a_set_is_dealt_after_the_restart() {
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    let infos = two_dealt(&matches).await;
    matches.stop().await;
    // Created, two joins, the set has joined, started.
    assert_eq!(journal.records(infos[1].match_id).len(), 5);
    // No match of a set is dealt before all joins of all its matches are durable.
    for kept in 3..=5 {
        let matches = open(&journal.cut(infos[1].match_id, kept)).await;
        for index in 0..2 {
            again(|| matches.join(infos[1].match_id, access(index), None)).await.unwrap();
        }
        let mut subscription = observe(&matches, infos[1].match_id, 0, Some(0)).await;
        subscription.next().await;
        subscription.next().await;
        let info = matches.get(infos[1].match_id).await.unwrap();
        assert_eq!(info.stage, MatchStage::Playing, "{kept} entries kept");
        matches.stop().await;
    }
}

#[tokio::test]
async fn a_set_of_one_or_of_different_matches_is_refused() {
    let matches = open(&FakeJournal::new()).await;
    let shared = |players, set| spec(Preset::Sackson, players, DealSpec::Shared(set));
    assert_eq!(
        matches.create(vec![shared(2, 1), shared(2, 1), shared(2, 2)], None).await,
        Err(CreateError::LonelyDealSet { deal_set: 2, index: 2 })
    );
    assert_eq!(
        matches.create(vec![shared(2, 1), shared(2, 1), shared(3, 1)], None).await,
        Err(CreateError::MixedDealSet { deal_set: 1, index: 2 })
    );
    assert_eq!(matches.live(), 0);
}

#[tokio::test]
async fn a_set_of_too_many_seats_is_refused() {
    let matches = open(&FakeJournal::new()).await;
    for (players, least) in [(2, 129), (3, 86), (6, 43)] {
        let shared = |set, count| vec![spec(Preset::Sackson, players, DealSpec::Shared(set)); count];
        // Beside a set that is not too large.
        let specs = [shared(7, 2), shared(1, least + 10)].concat();
        let seats = (least + 10) * players;
        let refused =
            CreateError::LargeDealSet { deal_set: 1, seats, most: MAX_DEAL_SET_SEATS, index: 2 + least - 1 };
        assert_eq!(matches.create(specs, None).await, Err(refused), "{players}");
        assert_eq!(matches.live(), 0);
        let created = matches.create(shared(1, least - 1), None).await.unwrap();
        for info in &created {
            matches.cancel(info.match_id).await.unwrap();
        }
    }
}

/// A set of matches of two in which every seat has joined with the longest nonce and sent it, so that all are dealt.
async fn dealt_set(matches: &Matches, count: usize) -> Vec<MatchInfo> {
    let specs = vec![spec(Preset::Sackson, 2, DealSpec::Shared(1)); count];
    let infos = matches.create(specs, None).await.unwrap();
    let nonce = |at: usize, index: usize| Nonce::from([u8::try_from(2 * at + index).unwrap(); 32]);
    let mut watched = Vec::new();
    for (at, info) in infos.iter().enumerate() {
        for index in 0..2 {
            matches.join(info.match_id, access(index), Some(nonce(at, index).hash())).await.unwrap();
        }
        watched.push(observe(matches, info.match_id, 0, Some(0)).await);
    }
    for (at, (info, watch)) in infos.iter().zip(&mut watched).enumerate() {
        // The hashes.
        watch.next().await;
        for index in 0..2 {
            matches.send_nonce(info.match_id, access(index), nonce(at, index)).await.unwrap();
        }
    }
    for watch in &mut watched {
        // The nonces and the deal.
        watch.next().await;
    }
    infos
}

#[tokio::test]
async fn what_the_journal_and_a_record_have_of_the_largest_set_fits_with_wide_room() {
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    let infos = dealt_set(&matches, MAX_DEAL_SET_SEATS / 2).await;
    for info in &infos {
        assert_eq!(matches.get(info.match_id).await.unwrap().stage, MatchStage::Playing);
        let largest = journal.records(info.match_id).iter().map(|record| record.as_bytes().len()).max();
        assert!((16 * 1024..=Payload::MAX_BYTES / 4).contains(&largest.unwrap()), "{largest:?}");
    }
    for info in &infos {
        matches.cancel(info.match_id).await.unwrap();
    }
    let record = matches.record(infos[0].match_id).await.unwrap().record;
    assert!(record.len() < Payload::MAX_BYTES / 4, "{}", record.len());
    let (record, header) = decode_record(&record).unwrap();
    record.verify().unwrap();
    assert_eq!(header.deal_set.unwrap().entrants.len(), MAX_DEAL_SET_SEATS);
}

#[tokio::test]
async fn what_the_matches_of_a_set_share_is_in_memory_once_after_a_restart_too() {
    let journal = FakeJournal::new();
    let first = open(&journal).await;
    let infos = dealt_set(&first, 40).await;
    // Eighty entrants of more than a hundred bytes, and as much again if one more had them for itself.
    let (live, each) = (first.live_bytes(), 80 * 100);
    assert!((each..40 * 2 * each / 3).contains(&live), "{live}");
    first.stop().await;
    let again = open(&journal).await;
    assert_eq!(again.live_bytes(), live, "as much as before the restart");
    let mut entrants = Vec::new();
    for info in &infos {
        // What the table replays for a reader is what it holds.
        let subscription = observe(&again, info.match_id, 0, Some(0)).await;
        entrants.push(subscription.entrants_replayed().unwrap());
    }
    assert!(entrants.windows(2).all(|two| Arc::ptr_eq(&two[0], &two[1])), "one for all");
    for (left, info) in (0..40).rev().zip(&infos) {
        again.cancel(info.match_id).await.unwrap();
        drain(&mut observe(&again, info.match_id, 0, None).await).await;
        // As long as one runs, all of what they share is there.
        assert!(left == 0 || again.live_bytes() > each, "{left}");
    }
    again.drain().await;
    assert_eq!(again.live_bytes(), 0);
}

/// A set of two of which no seat of the first match, and each of the second has joined.
async fn one_joined(matches: &Matches) -> [MatchInfo; 2] {
    let infos = create_set(matches).await;
    join_all(matches, &infos[1]).await;
    infos.try_into().unwrap()
}

async fn check_ended_with_its_set(matches: &Matches, waits: &MatchInfo) {
    drain(&mut observe(matches, waits.match_id, 0, None).await).await;
    let waited = matches.get(waits.match_id).await.unwrap();
    let reason = AbortReason::Cancelled;
    assert_eq!(waited.stage, MatchStage::Aborted);
    assert_eq!(waited.outcome, Some(Outcome::Aborted { reason, seats: Vec::new() }));
}

#[tokio::test]
async fn before_the_deal_a_match_that_can_not_go_on_ends_its_set() {
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    let [halts, waits] = one_joined(&matches).await;
    journal.doom(&[Fate::Fenced]);
    assert_eq!(matches.join(halts.match_id, access(0), None).await.unwrap_err(), Rejection::Damaged);
    check_ended_with_its_set(&matches, &waits).await;
    matches.cancel(halts.match_id).await.unwrap();
    for info in [halts, waits] {
        decode_record(&matches.record(info.match_id).await.unwrap().record).unwrap().0.verify().unwrap();
    }
}

#[tokio::test]
async fn before_the_deal_a_match_that_does_not_replay_ends_its_set_at_the_start() {
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    let [broken, waits] = one_joined(&matches).await;
    matches.stop().await;
    journal.sneak(broken.match_id, Payload::new(vec![0xff; 3]).unwrap());
    let (matches, recovered) = open_damaged(&journal, Limits::default()).await;
    assert_eq!(recovered.damaged, [broken.match_id]);
    check_ended_with_its_set(&matches, &waits).await;
}

#[tokio::test]
async fn before_the_deal_a_match_that_is_quarantined_ends_its_set_at_the_start() {
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    let [quarantined, waits] = one_joined(&matches).await;
    matches.stop().await;
    journal.quarantine(quarantined.match_id);
    let matches = open(&journal).await;
    check_ended_with_its_set(&matches, &waits).await;
}

#[tokio::test(start_paused = true)]
async fn a_set_waits_for_what_can_not_be_read_at_the_start_of_a_match_of_it_that_is_over() {
    let journal = FakeJournal::new();
    let matches = open(&journal).await;
    let [over, waits] = one_joined(&matches).await;
    // The first is over, and the second has not heard so when the server stops.
    journal.doom(&[Fate::WrittenUnknown, Fate::Fenced]);
    again(|| matches.cancel(over.match_id)).await.unwrap();
    while matches.lost() == 0 {
        yield_now().await;
    }
    matches.stop().await;
    journal.hide_record(ResultNumber::new(1));
    let matches = open(&journal).await;
    let reads = journal.reads();
    while journal.reads() < reads + 3 {
        tokio::time::advance(Duration::from_millis(50)).await;
    }
    assert_eq!(matches.get(waits.match_id).await.unwrap().stage, MatchStage::WaitingForSeats);
    journal.show_records();
    check_ended_with_its_set(&matches, &waits).await;
}
