//! What is compared with the record, the seed and the end, of deals of every kind.

use zetema_rules::fair::Nonce;
use zetema_rules::{
    AbortReason, Card, Dealing, DealingKind, Entrant, Outcome, OwnCards, Preset, Record, Seat, SeatEvent,
    Step, Viewer,
};

use super::{check, check_told, dealing, honest, of, played, record, record_of};
use crate::deal_check::transcript::Lost;
use crate::deal_check::{DealCheck, DealError, From, Replayed, Seen, Transcript, Unchecked};
use crate::simulate::Simulated;

/// The events, of which one that follows from the cards alone, and one that follows from the actions, came otherwise.
fn forgeries(events: &[SeatEvent]) -> [Vec<SeatEvent>; 2] {
    let (mut drew, mut scored) = (events.to_vec(), events.to_vec());
    let card = drew.iter_mut().rev().find_map(|event| match event {
        SeatEvent::Drew { cards: Some(OwnCards(cards)), .. } => Some(cards),
        _ => None,
    });
    let card = card.unwrap();
    let another = if *card == "2C".parse::<Card>().unwrap().into() { "3C" } else { "2C" };
    *card = another.parse::<Card>().unwrap().into();
    let points = scored.iter_mut().rev().find_map(|event| match event {
        SeatEvent::Declared { points, .. } | SeatEvent::Zetema { points, .. } => Some(points),
        _ => None,
    });
    *points.unwrap() += 1;
    [drew, scored]
}

fn is_of_an_event(check: &DealCheck) -> bool {
    matches!(check, DealCheck::Failed(DealError::Event { .. }))
}

#[test]
fn fixed_deals_are_never_verified_but_what_differs_is_found() {
    let (played, joint) = honest();
    let fixed =
        Transcript { kind: DealingKind::Fixed, hashes: Vec::new(), nonces: Vec::new(), ..joint.clone() };
    let (record, joint_record) = (record_of(&played, DealingKind::Fixed), record(&played));
    let events: Vec<_> = fixed.events.iter().collect();
    for record in [None, Some(&record)] {
        assert_eq!(check(&fixed, record), DealCheck::Unchecked(Unchecked::Fixed));
        for forged in forgeries(&events) {
            assert!(is_of_an_event(&check(&of(&fixed, &forged), record)));
        }
    }
    let late =
        Transcript { from: From::Middle, events: events.into_iter().skip(20).collect(), ..fixed.clone() };
    assert_eq!(check(&late, Some(&record)), DealCheck::Unchecked(Unchecked::Fixed));
    assert_eq!(check(&late, None), DealCheck::Unchecked(Unchecked::NoRecord));
    let kind = DealCheck::Failed(DealError::OtherRecord { what: "kind of deals" });
    assert_eq!(check(&fixed, Some(&joint_record)), kind);
}

#[test]
fn draws_and_scores_of_shared_deals_are_compared_with_the_record() {
    let (played, joint) = honest();
    let shared = Transcript { kind: DealingKind::Shared, ..joint };
    let record = record_of(&played, DealingKind::Shared);
    let fits = DealCheck::Unchecked(Unchecked::Shared);
    assert_eq!(check(&shared, Some(&record)), fits);
    assert_eq!(check(&shared, None), DealCheck::Unchecked(Unchecked::NoRecord));
    // The server reveals their seed in the record alone, when the last match of the set is over.
    let unrevealed = Transcript { seed: None, ..shared.clone() };
    assert_eq!(check(&unrevealed, Some(&record)), fits);
    assert_eq!(check(&unrevealed, None), DealCheck::Unchecked(Unchecked::NotRevealed));
    let other_seed =
        Transcript { commitment: zetema_rules::fair::ServerSeed::new([9; 32]).commitment(), ..unrevealed };
    assert_eq!(check(&other_seed, Some(&record)), DealCheck::Failed(DealError::Commitment));
    let events: Vec<_> = shared.events.iter().collect();
    for forged in forgeries(&events) {
        assert!(is_of_an_event(&check(&of(&shared, &forged), Some(&record))));
    }
}

/// The match is aborted after so many steps.
fn aborted(played: &Simulated, honest: &Transcript, kind: DealingKind) -> (Record, Transcript) {
    let end = Outcome::Aborted { reason: AbortReason::Idle, seats: Vec::new() };
    let steps: Vec<Step> = played.steps[..12].to_vec();
    let record = Record::complete(played.rules, dealing(played, kind), steps, Some(end.clone())).unwrap();
    let replayed = Replayed::new(record.clone());
    let viewer = Viewer::Seat(Seat::new(0).unwrap());
    let events = replayed.events.unwrap().iter().map(|event| event.seen_by(viewer)).collect();
    (record, Transcript { kind, events, end: Some(end), ..honest.clone() })
}

#[test]
fn draws_and_scores_of_a_match_that_was_aborted_follow_from_the_seed() {
    let (played, honest) = honest();
    let shared = DealCheck::Unchecked(Unchecked::Shared);
    for (kind, fits) in [(DealingKind::Joint, DealCheck::Verified), (DealingKind::Shared, shared)] {
        let (record, transcript) = aborted(&played, &honest, kind);
        assert_eq!(check(&transcript, Some(&record)), fits);
        let events: Vec<_> = transcript.events.iter().collect();
        for forged in forgeries(&events) {
            assert!(is_of_an_event(&check(&of(&transcript, &forged), Some(&record))));
        }
    }
}

#[test]
fn draws_and_scores_from_the_middle_on_are_compared_with_the_record() {
    let (played, honest) = honest();
    let record = record(&played);
    let late: Vec<_> = honest.events.iter().skip(20).collect();
    let late_check =
        |seen: &[SeatEvent]| check(&Transcript { from: From::Middle, ..of(&honest, seen) }, Some(&record));
    assert_eq!(late_check(&late), DealCheck::Verified);
    for forged in forgeries(&late) {
        assert!(is_of_an_event(&late_check(&forged)));
    }
}

#[test]
fn what_was_seen_before_a_loss_must_follow_from_the_seed_on_whatever_course() {
    let otherwise = played(Preset::Sackson, 1, false).1;
    let (played, honest) = honest();
    let record = record(&played);
    let late = honest.events.iter().skip(40).collect();
    let after = Transcript { from: From::Middle, events: late, ..honest.clone() };
    let check_with = |seen: &[SeatEvent], from, record| {
        let lost = vec![Lost { events: seen.iter().copied().collect(), from }];
        check(&Transcript { lost, ..after.clone() }, record)
    };
    let seen: Vec<_> = honest.events.iter().take(60).collect();
    let otherwise: Vec<_> = otherwise.events.iter().collect();
    assert_ne!(otherwise[..60], seen[..]);
    for course in [&seen, &otherwise] {
        // Up to where a step ends.
        let whole = course.iter().rposition(|event| matches!(event, SeatEvent::Discarded { .. })).unwrap();
        let course = &course[..whole];
        assert_eq!(check_with(course, From::Start, Some(&record)), DealCheck::Verified);
        assert_eq!(check_with(course, From::Start, None), DealCheck::Unchecked(Unchecked::NoRecord));
        for forged in forgeries(course) {
            assert!(is_of_an_event(&check_with(&forged, From::Start, Some(&record))));
            assert!(is_of_an_event(&check_with(&forged, From::Start, None)));
        }
        let lost = DealCheck::Unchecked(Unchecked::Lost);
        assert_eq!(check_with(&course[20..], From::Middle, Some(&record)), lost);
    }
}

#[test]
fn what_was_seen_before_a_loss_is_kept_over_any_number_of_them() {
    let (_, honest) = honest();
    let later = || Transcript { from: From::Middle, events: Seen::default(), ..honest.clone() };
    let mut second = later();
    second.go_on_from(honest.clone()).unwrap();
    let mut third = later();
    third.go_on_from(second).unwrap();
    let [Lost { events, from: From::Start }] = &third.lost[..] else { panic!("{:?}", third.lost) };
    assert_eq!(events.len(), honest.events.len());
}

#[test]
fn the_end_that_is_told_is_the_one_that_was_seen_and_recorded() {
    let (played, honest) = honest();
    let seen = honest.end.clone();
    let told = Outcome::Aborted { reason: AbortReason::Cancelled, seats: Vec::new() };
    let other = |seen, told: &Outcome| DealCheck::Failed(DealError::OtherEnd { seen, told: told.clone() });
    assert_eq!(check_told(&honest, &told, None), other(seen.clone(), &told));
    let unseen = Transcript { end: None, ..honest.clone() };
    assert_eq!(check_told(&unseen, seen.as_ref().unwrap(), None), other(None, seen.as_ref().unwrap()));

    let (record, transcript) = aborted(&played, &honest, DealingKind::Joint);
    for seen in [None, Some(told.clone())] {
        let transcript = Transcript { end: seen, ..transcript.clone() };
        assert_eq!(check_told(&transcript, &told, None), DealCheck::Verified);
        let recorded = DealCheck::Failed(DealError::OtherRecord { what: "outcome" });
        assert_eq!(check_told(&transcript, &told, Some(&record)), recorded);
    }
}

#[test]
fn a_record_of_a_match_that_was_never_dealt_is_not_of_one_that_was() {
    let (played, honest) = honest();
    let end = Outcome::Aborted { reason: AbortReason::NonceMissing, seats: vec![Seat::new(1).unwrap()] };
    let mut dealing = dealing(&played, DealingKind::Joint);
    dealing.entrants[1].nonce = None;
    let undealt = Record::complete(played.rules, dealing, Vec::new(), Some(end.clone())).unwrap();
    let first: Vec<_> = honest.events.iter().take(3).collect();
    let dealt = Transcript { end: Some(end), ..of(&honest, &first) };
    let other = DealCheck::Failed(DealError::OtherRecord { what: "dealer" });
    assert_eq!(check(&dealt, Some(&undealt)), other);
    // Its nonces had been published before they were lost.
    let lost = vec![Lost { events: dealt.events.clone(), from: From::Start }];
    let anew = Transcript { events: Seen::default(), lost, ..dealt };
    assert_eq!(check(&anew, Some(&undealt)), DealCheck::Verified);
}

#[test]
fn shared_deals_that_were_lost_to_a_server_restored_to_before_them_are_no_fraud() {
    let (played, honest) = honest();
    let end = Outcome::Aborted { reason: AbortReason::Restored, seats: Vec::new() };
    let first = honest.events.iter().take(3).collect();
    let seen = Transcript {
        kind: DealingKind::Shared,
        nonces: vec![Nonce::EMPTY; 2],
        end: Some(end.clone()),
        events: Seen::default(),
        lost: vec![Lost { events: first, from: From::Start }],
        ..honest.clone()
    };
    let entrant = |nonce| Entrant { hash: None, nonce };
    let [given, missing] = [Some(Nonce::EMPTY), None].map(entrant);
    // As the set had not joined, a nonce had not come, or the nonces of the other matches had not.
    for entrants in [vec![], vec![given.clone(), missing], vec![given; 2]] {
        let dealing = Dealing { entrants, ..dealing(&played, DealingKind::Shared) };
        let complete = Record::complete(played.rules, dealing, Vec::new(), Some(end.clone())).unwrap();
        let undealt = Record { dealer: None, deals: Vec::new(), ..complete };
        assert_eq!(check(&seen, Some(&undealt)), DealCheck::Unchecked(Unchecked::NoRecord));
    }
}
