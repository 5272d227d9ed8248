mod compared;

use std::sync::{Arc, Mutex};

use zetema_rules::fair::Nonce;
use zetema_rules::{Action, Card, Dealing, DealingKind, Entrant, Preset, Rank, Record, SeatEvent, Step};

use super::*;
use crate::bot::{Bot, Decision, MatchInfo};
use crate::simulate::{Simulated, numbered_seed, simulate};

/// Plays the first legal action, or the last, and writes down what seat 0 sees.
struct Recorder {
    last: bool,
    seen: Option<Arc<Mutex<Vec<SeatEvent>>>>,
}

impl Bot for Recorder {
    fn choose(&mut self, decision: &Decision) -> Action {
        let index = if self.last { decision.legal.len() - 1 } else { 0 };
        decision.legal.get(index).unwrap()
    }

    fn observe(&mut self, event: &SeatEvent) {
        if let Some(seen) = &self.seen {
            seen.lock().unwrap().push(*event);
        }
    }
}

fn played(preset: Preset, seed: u64, last: bool) -> (Simulated, Transcript) {
    let watched = Arc::default();
    let played = simulate(preset.rules(2, None).unwrap(), &numbered_seed(seed), |info: &MatchInfo| {
        Recorder { last, seen: (info.seat.index() == 0).then(|| Arc::clone(&watched)) }
    })
    .unwrap();
    let transcript = Transcript {
        kind: DealingKind::Joint,
        commitment: played.seed.commitment(),
        own_hash: None,
        hashes: vec![None; 2],
        nonces: vec![Nonce::EMPTY; 2],
        seed: Some(played.seed.clone()),
        events: watched.lock().unwrap().iter().copied().collect(),
        from: From::Start,
        end: Some(Outcome::Result(played.result)),
        lost: Vec::new(),
    };
    (played, transcript)
}

fn honest() -> (Simulated, Transcript) {
    played(Preset::Sackson, 1, true)
}

/// The dealing of a match whose seats gave no nonces.
fn dealing(played: &Simulated, kind: DealingKind) -> Dealing {
    let entrant = Entrant { hash: None, nonce: Some(Nonce::EMPTY) };
    Dealing {
        kind,
        commitment: played.seed.commitment(),
        server_seed: played.seed.clone(),
        entrants: if kind == DealingKind::Fixed { Vec::new() } else { vec![entrant; 2] },
    }
}

fn record_of(played: &Simulated, kind: DealingKind) -> Record {
    Record::complete(played.rules, dealing(played, kind), played.steps.clone(), None).unwrap()
}

fn record(played: &Simulated) -> Record {
    record_of(played, DealingKind::Joint)
}

/// Checks with the end that was seen.
fn check(transcript: &Transcript, record: Option<&Record>) -> DealCheck {
    check_told(transcript, transcript.end.as_ref().unwrap(), record)
}

fn check_told(transcript: &Transcript, told: &Outcome, record: Option<&Record>) -> DealCheck {
    let (rules, seat) = (Preset::Sackson.rules(2, None).unwrap(), Seat::new(0).unwrap());
    transcript.check(&rules, seat, told, record.cloned().map(Replayed::new).as_ref())
}

#[test]
fn an_honest_match_is_verified_with_its_record_and_without() {
    let (played, transcript) = honest();
    assert_eq!(check(&transcript, None), DealCheck::Verified);
    assert_eq!(check(&transcript, Some(&record(&played))), DealCheck::Verified);
}

/// The same, of which these events were seen.
fn of(honest: &Transcript, seen: &[SeatEvent]) -> Transcript {
    Transcript { events: seen.iter().copied().collect(), ..honest.clone() }
}

#[test]
fn what_came_otherwise_is_found_at_its_place_with_the_record_and_without() {
    let (played, honest) = honest();
    let record = record(&played);
    let events: Vec<_> = honest.events.iter().collect();
    let check_found = |forged: &[SeatEvent], place| {
        let expected = DealCheck::Failed(DealError::Event { place: EventPlace(place) });
        for record in [None, Some(&record)] {
            assert_eq!(check(&of(&honest, forged), record), expected, "{:?}", forged[place]);
        }
    };
    for place in 0..events.len() {
        let mut forged = events.clone();
        match &mut forged[place] {
            SeatEvent::Declared { points, .. } | SeatEvent::Zetema { points, .. } => *points += 1,
            SeatEvent::Drew { count, .. } => *count += 1,
            SeatEvent::DealStarted { deal, .. } => *deal += 1,
            SeatEvent::DealOver { deal_scores, .. } => deal_scores[0] += 1,
            _ => continue,
        }
        check_found(&forged, place);
    }
    let more = SeatEvent::ExtraTurn { seat: Seat::new(0).unwrap() };
    check_found(&[&events[..], &[more]].concat(), events.len());
}

#[test]
fn an_event_that_is_left_out_or_changed_is_found_out() {
    let (_, honest) = honest();
    let events: Vec<_> = honest.events.iter().collect();
    for place in 0..events.len() {
        let mut less = events.clone();
        less.remove(place);
        let mut twice = events.clone();
        twice.insert(place, events[place]);
        let mut points = events.clone();
        if let SeatEvent::Declared { points, .. } | SeatEvent::Zetema { points, .. } = &mut points[place] {
            *points += 1;
        }
        for (what, forged) in [("left out", less), ("twice", twice), ("points", points)] {
            let changed = forged != events;
            // Without its last events a transcript is whole up to there: the record has the rest.
            let cut_short = events.starts_with(&forged);
            let found = matches!(check(&of(&honest, &forged), None), DealCheck::Failed(_));
            assert!(found || !changed || cut_short, "event {place} {what}: {:?}", events[place]);
        }
    }
}

#[test]
fn another_card_on_the_wire_is_found_out() {
    let (_, honest) = honest();
    let mut events: Vec<_> = honest.events.iter().collect();
    let discarded = events.iter_mut().find_map(|event| match event {
        SeatEvent::Discarded { card, .. } => Some(card),
        _ => None,
    });
    let card = discarded.unwrap();
    let rank = if card.rank() == Rank::Two { Rank::Three } else { Rank::Two };
    *card = Card::new(rank, card.suit());
    assert!(matches!(
        check(&of(&honest, &events), None),
        DealCheck::Failed(DealError::Play { .. } | DealError::Event { .. })
    ));
}

#[test]
fn a_nonce_that_is_not_that_of_its_hash_is_found_out() {
    let (_, honest) = honest();
    let (ours, other) = (Nonce::new(b"ours").unwrap(), Nonce::new(b"other").unwrap());
    let seat = Seat::new(1).unwrap();
    for (hash, nonce) in
        [(Some(ours.hash()), other.clone()), (None, other), (Some(ours.hash()), Nonce::EMPTY)]
    {
        let forged = Transcript {
            kind: DealingKind::Joint,
            hashes: vec![None, hash],
            nonces: vec![Nonce::EMPTY, nonce],
            ..honest.clone()
        };
        assert_eq!(check(&forged, None), DealCheck::Failed(DealError::Nonce { seat }));
    }
    // A nonce that fits gives other cards.
    let forged = Transcript {
        kind: DealingKind::Joint,
        hashes: vec![None, Some(ours.hash())],
        nonces: vec![Nonce::EMPTY, ours],
        ..honest.clone()
    };
    assert!(matches!(check(&forged, None), DealCheck::Failed(DealError::Event { .. })));
    let forged = Transcript { hashes: vec![None], nonces: Vec::new(), ..honest };
    let seats = DealError::Seats { hashes: 1, nonces: 0, players: 2 };
    assert_eq!(check(&forged, None), DealCheck::Failed(seats));
}

#[test]
fn the_hashes_of_a_record_are_compared_with_what_the_seat_sent_and_saw() {
    let (played, honest) = honest();
    let empty = Nonce::EMPTY.hash();
    let check = |kind, sent, seen: &[Option<NonceHash>], recorded: &[Option<NonceHash>], expected| {
        let mut record = record_of(&played, kind);
        let entrant = |hash: &Option<NonceHash>| Entrant { hash: *hash, nonce: Some(Nonce::EMPTY) };
        record.dealing.entrants = recorded.iter().map(entrant).collect();
        let nonces = vec![Nonce::EMPTY; seen.len()];
        let transcript = Transcript { kind, own_hash: sent, hashes: seen.to_vec(), nonces, ..honest.clone() };
        assert_eq!(check(&transcript, Some(&record)), expected, "{kind:?} {sent:?} {seen:?} {recorded:?}");
    };
    let own = |shown| DealCheck::Failed(DealError::OwnHash { sent: empty, shown });
    let others = DealCheck::Failed(DealError::OtherRecord { what: "set of nonce hashes" });
    let (joint, shared, sent) = (DealingKind::Joint, DealingKind::Shared, Some(empty));
    check(joint, sent, &[sent, None], &[sent, None], DealCheck::Verified);
    check(joint, None, &[None, sent], &[None, sent], DealCheck::Verified);
    check(joint, sent, &[sent, None], &[None, None], own(None));
    // The other seat's hash is not this seat's.
    check(joint, sent, &[sent, sent], &[None, sent], own(None));
    check(joint, sent, &[sent, None], &[sent, sent], others.clone());
    check(joint, None, &[None, sent], &[None, None], others);
    // Of a deal set one match has it.
    let fits = DealCheck::Unchecked(Unchecked::Shared);
    check(shared, sent, &[sent, None], &[sent, None], fits.clone());
    check(shared, sent, &[sent, None], &[None, sent], own(None));
    check(shared, None, &[None, None], &[None, None], fits);
}

#[test]
fn one_match_of_a_deal_set_has_what_the_seat_sent_and_saw() {
    let (_, honest) = honest();
    let (rules, seat) = (Preset::Sackson.rules(2, None).unwrap(), Seat::new(1).unwrap());
    let nonce = |text: &str| Nonce::new(text.as_bytes()).unwrap();
    let check = |sent: Option<&str>, seen: &[&str], recorded: &[&str], expected| {
        let entrant = |text: &&str| Entrant { hash: Some(nonce(text).hash()), nonce: Some(nonce(text)) };
        let entrants: Vec<Entrant> = recorded.iter().map(entrant).collect();
        let transcript = Transcript {
            kind: DealingKind::Shared,
            own_hash: sent.map(|text| nonce(text).hash()),
            hashes: seen.iter().map(|text| Some(nonce(text).hash())).collect(),
            nonces: seen.iter().map(|text| nonce(text)).collect(),
            ..honest.clone()
        };
        let is = transcript.check_hashes_in_set(&rules, seat, &entrants);
        assert_eq!(is, expected, "{sent:?} {seen:?} {recorded:?}");
    };
    let own = Err(DealError::OwnHash { sent: nonce("b").hash(), shown: None });
    let other = Err(DealError::OtherRecord { what: "set of nonce hashes or nonces" });
    check(Some("b"), &["a", "b"], &["c", "d", "a", "b"], Ok(()));
    check(Some("b"), &[], &["c", "d", "a", "b"], Ok(()));
    check(None, &["a", "b"], &["a", "b", "c", "d"], Ok(()));
    // At another place, and beside another seat.
    check(Some("b"), &["a", "b"], &["a", "c", "b", "d"], own.clone());
    check(Some("b"), &["a", "b"], &["b", "a"], own);
    check(Some("b"), &["a", "b"], &["c", "b", "a", "d"], other.clone());
    check(None, &["a", "b"], &["a", "c", "d", "b"], other);
}

#[test]
fn what_is_shown_again_must_be_what_was_shown_before() {
    let (_, transcript) = honest();
    let (seat, ours, other) = (Seat::new(0).unwrap(), NonceHash([1; 32]), NonceHash([2; 32]));
    let joint = Transcript { own_hash: Some(ours), hashes: Vec::new(), nonces: Vec::new(), ..transcript };
    let show = |hashes: &[Option<NonceHash>]| joint.clone().show_hashes(seat, hashes.to_vec());
    assert_eq!(show(&[Some(ours), None]), Ok(()));
    for shown in [None, Some(other)] {
        assert_eq!(show(&[shown, Some(ours)]), Err(DealError::OwnHash { sent: ours, shown }));
    }
    assert_eq!(show(&[]), Err(DealError::OwnHash { sent: ours, shown: None }));

    let earlier = Transcript { hashes: vec![Some(ours), None], ..joint.clone() };
    let go_on = |mut later: Transcript, hashes: &[Option<NonceHash>]| {
        later.own_hash = None;
        later.go_on_from(earlier.clone())?;
        later.show_hashes(seat, hashes.to_vec())
    };
    assert_eq!(go_on(joint.clone(), &earlier.hashes), Ok(()));
    let changed = DealError::OtherSetup { what: "set of nonce hashes" };
    assert_eq!(go_on(joint.clone(), &[Some(ours), Some(other)]), Err(changed));
    let own = DealError::OwnHash { sent: ours, shown: None };
    assert_eq!(go_on(joint.clone(), &[None, None]), Err(own), "what was sent before counts");
    let nonces = Transcript { nonces: vec![Nonce::EMPTY; 2], ..earlier.clone() };
    let go_on_with = |published: &[Nonce]| {
        let mut later = Transcript { nonces: published.to_vec(), ..joint.clone() };
        later.go_on_from(nonces.clone()).map(|()| later.nonces)
    };
    for published in [&[][..], &nonces.nonces] {
        assert_eq!(go_on_with(published), Ok(nonces.nonces.clone()), "what was published before stays");
    }
    let changed = DealError::OtherSetup { what: "set of nonces" };
    assert_eq!(go_on_with(&[Nonce::EMPTY, Nonce::new(b"another").unwrap()]), Err(changed));
    let fixed = Transcript { kind: DealingKind::Fixed, ..joint.clone() };
    let kind = DealError::OtherSetup { what: "kind of deals" };
    assert_eq!(go_on(fixed, &earlier.hashes), Err(kind));
    let later = Commitment([8; 32]);
    let commitment = DealError::OtherCommitment { first: joint.commitment, later };
    assert_eq!(go_on(Transcript { commitment: later, ..joint.clone() }, &earlier.hashes), Err(commitment));
}

#[test]
fn a_record_of_another_match_is_found_out() {
    let (_, transcript) = honest();
    for (preset, seed, last, what) in [
        (Preset::Sackson, 2, true, "seed"),
        (Preset::Sackson, 1, false, "course"),
        (Preset::Fosdick, 1, true, "set of rules"),
    ] {
        let record = record(&played(preset, seed, last).0);
        let found = check(&transcript, Some(&record));
        assert_eq!(found, DealCheck::Failed(DealError::OtherRecord { what }));
        let late = Transcript {
            from: From::Middle,
            events: transcript.events.iter().skip(20).collect(),
            ..transcript.clone()
        };
        assert_eq!(check(&late, Some(&record)), found);
    }
}

#[test]
fn a_record_with_other_points_is_found_out() {
    let (played, transcript) = honest();
    let mut record = record(&played);
    let points = record.steps.iter_mut().find_map(|step| match step {
        Step::Play { points, .. } if *points > 0 => Some(points),
        _ => None,
    });
    *points.unwrap() += 5;
    assert!(matches!(check(&transcript, Some(&record)), DealCheck::Failed(DealError::Record(_))));
}

#[test]
fn what_cannot_be_checked_says_so() {
    let (_, transcript) = honest();
    let hidden = Transcript { seed: None, ..transcript.clone() };
    assert_eq!(check(&hidden, None), DealCheck::Unchecked(Unchecked::NotRevealed));
    let undealt = Transcript { events: Seen::default(), ..transcript.clone() };
    assert_eq!(check(&undealt, None), DealCheck::Unchecked(Unchecked::NotDealt));
    let late = Transcript { from: From::Middle, ..transcript };
    assert_eq!(check(&late, None), DealCheck::Unchecked(Unchecked::NoRecord));
}
