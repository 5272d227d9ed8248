//! The session against a server of a few lines: cut anywhere, refused, superseded.

#![allow(
    clippy::cast_possible_truncation,
    clippy::large_types_passed_by_value,
    reason = "tests of small numbers"
)]

mod bots;
mod broken;
mod connecting;
mod fraud;
mod log;
mod losses;
mod queues;
mod records;
mod server;
mod table;
mod world;

use std::time::Duration;

use zetema_proto::seat_event_from_wire;
use zetema_proto::v1::{self, ErrorReason};
use zetema_rules::{EndReason, Preset, Rules, Seat, Step};

use super::Records;
use super::tag::{Asked, Key};
use crate::deal_check::{DealCheck, DealError};
use crate::end::End;
use crate::error::{Disconnect, Error, Refusal};
use crate::fault::Fault;
use world::World;

/// Short matches: one deal, or two.
fn rules(players: usize) -> Rules {
    let mut options = *Preset::Sackson.rules(players, None).unwrap();
    options.target = Some(60);
    Rules::new(options).unwrap()
}

fn played(players: usize, change: impl FnOnce(&mut World)) -> World {
    let rules = rules(players);
    let mut world = World::new(rules, Records::Checked);
    change(&mut world);
    world.play_all(rules);
    world.run();
    world
}

/// Every seat heard of everything once, was asked each decision once, and has a verified result.
fn check_whole(world: &World) {
    for (index, (key, outcome)) in world.outcomes.iter().enumerate() {
        assert!(matches!(outcome.end, End::Result(_)), "{:?}", outcome.end);
        assert_eq!(outcome.deal, DealCheck::Verified);
        let told = &world.told[key];
        assert_eq!((told.starts, told.ends), (1, 1));
        let events =
            world.server.first().observations(index).iter().flat_map(|observation| &observation.events);
        let events: Vec<_> = events.filter_map(|event| seat_event_from_wire(event).unwrap()).collect();
        assert_eq!(told.events, events);
        assert!(told.decisions.is_sorted_by(|a, b| a < b), "{:?}", told.decisions);
    }
}

#[test]
fn a_match_is_played_and_verified_without_a_word_from_the_bots() {
    let world = played(2, |_| {});
    assert_eq!(world.outcomes.len(), 2);
    assert_eq!(world.connections, 1);
    check_whole(&world);
    for outcome in world.outcomes.values() {
        assert_eq!(outcome.faults, []);
    }
    let asked: usize = world.told.values().map(|told| told.decisions.len()).sum();
    assert_eq!(asked, world.server.first().steps.len());
}

/// Cuts the stream each time that so many messages have gone, and compares with a match without cuts.
fn check_cuts(players: usize, cuts: impl Fn(usize) -> bool, whole: &World) {
    let rules = rules(players);
    let mut world = World::new(rules, Records::Checked);
    world.play_all(rules);
    let mut cut_at = None;
    while world.step() {
        if cuts(world.messages) && cut_at != Some(world.messages) {
            cut_at = Some(world.messages);
            world.cut();
        }
    }
    assert_eq!(world.outcomes.len(), players);
    assert_eq!(world.server.first().steps, whole.server.first().steps, "the same match, cut at {cut_at:?}");
    check_whole(&world);
}

#[test]
fn a_stream_cut_at_any_one_message_changes_nothing() {
    let whole = played(2, |_| {});
    for at in 0..=whole.messages {
        check_cuts(2, |messages| messages == at, &whole);
    }
}

#[test]
fn a_stream_cut_again_and_again_changes_nothing() {
    let whole = played(3, |_| {});
    for every in [23, 29, 31, 37, 53] {
        check_cuts(3, |messages| messages % every == every - 1, &whole);
    }
}

#[test]
fn cuts_between_which_the_match_goes_on_do_not_make_the_waits_longer() {
    let rules = rules(2);
    let mut world = World::new(rules, Records::Checked);
    let begun = world.now;
    world.play_all(rules);
    let mut cut_at = 40;
    while world.step() {
        if world.messages >= cut_at {
            world.cut();
            cut_at += 40;
        }
    }
    check_whole(&world);
    assert!(world.connections > 4, "{}", world.connections);
    let waited = world.now - begun;
    assert!(waited < Duration::from_millis(100) * world.connections as u32, "{waited:?}");
}

#[test]
fn a_bot_that_falls_has_its_seat_resigned_even_over_a_cut() {
    for cut_after in 0..8 {
        let rules = rules(2);
        let mut world = World::new(rules, Records::Checked);
        world.play_all(rules);
        world.falls = Some((Key(2), 3));
        let mut cut_at = usize::MAX;
        while world.step() {
            if cut_at == usize::MAX && world.told.get(&Key(2)).is_some_and(|told| told.decisions.len() == 4) {
                cut_at = world.messages + cut_after;
            }
            if world.messages == cut_at {
                cut_at = 0;
                world.cut();
            }
        }
        let forfeits = world.server.first().steps.iter().filter(|step| matches!(step, Step::Forfeit { .. }));
        assert_eq!(forfeits.count(), 1);
        let panics = &world.server.panics;
        assert!(!panics.is_empty() && panics.iter().all(|said| said == "fell"), "{panics:?}");
        for (key, outcome) in &world.outcomes {
            let End::Result(result) = &outcome.end else { panic!("{:?}", outcome.end) };
            assert_eq!((result.reason, result.ranks[..2].to_vec()), (EndReason::Forfeit, vec![1, 2]));
            assert_eq!(outcome.deal, DealCheck::Verified);
            let fell = outcome.faults.iter().any(|fault| matches!(fault, Fault::Panicked { .. }));
            assert_eq!(fell, *key == Key(2), "the other seat is not told apart");
        }
    }
}

/// Refuses the first message of a kind for a reason, and gives the faults of the seat that sent it.
fn refused(asked: Asked, reason: ErrorReason) -> (World, Vec<Fault>) {
    let world = played(2, |world| world.server.refuse.push((asked, reason)));
    let faults = world.outcomes.values().flat_map(|outcome| outcome.faults.clone()).collect();
    (world, faults)
}

#[test]
fn what_is_refused_in_passing_is_sent_again() {
    for (asked, reason) in [
        (Asked::Join, ErrorReason::LimitExceeded),
        (Asked::Join, ErrorReason::Overloaded),
        (Asked::Join, ErrorReason::OutcomeUnknown),
        (Asked::Nonce, ErrorReason::OutcomeUnknown),
        (Asked::Act, ErrorReason::OutcomeUnknown),
        (Asked::Act, ErrorReason::Internal),
        (Asked::Act, ErrorReason::NotYourTurn),
    ] {
        let (world, faults) = refused(asked, reason);
        check_whole(&world);
        let [Fault::Refused { refusal, .. }] = &faults[..] else { panic!("{faults:?}") };
        assert_eq!(refusal.reason, reason);
    }
}

#[test]
fn a_join_that_is_refused_ends_the_seat_alone() {
    let world = refused(Asked::Join, ErrorReason::NotFound).0;
    let refused = |end: &End| matches!(end, End::Failed(Error::Refused { asked: "join", .. }));
    // The match waits for the seat that was refused: the other is not over.
    assert_eq!(world.outcomes.values().filter(|outcome| refused(&outcome.end)).count(), 1);
    assert_eq!(world.outcomes.len(), 1);
}

#[test]
fn a_join_that_another_overtakes_is_no_failure() {
    let world = refused(Asked::Join, ErrorReason::Superseded).0;
    let ends: Vec<_> = world.outcomes.values().map(|outcome| &outcome.end).collect();
    assert!(matches!(ends[..], [End::Superseded]), "{ends:?}");
}

#[test]
fn of_a_seat_that_is_given_twice_one_play_ends_and_the_other_goes_on() {
    let rules = rules(2);
    let mut world = World::new(rules, Records::Checked);
    world.play_all(rules);
    let again = world.play(Seat::new(0).unwrap());
    world.run();
    let superseded = |outcome: &crate::Outcome| matches!(outcome.end, End::Superseded);
    assert_eq!(world.outcomes.values().filter(|outcome| superseded(outcome)).count(), 1);
    assert!(superseded(&world.outcomes[&Key(1)]) && matches!(world.outcomes[&again].end, End::Result(_)));
}

#[test]
fn an_action_that_is_refused_again_and_again_ends_the_seat() {
    let world = played(2, |world| {
        world.server.refuse.extend([(Asked::Act, ErrorReason::IllegalAction); 9]);
    });
    let ends: Vec<_> = world.outcomes.values().map(|outcome| &outcome.end).collect();
    assert!(matches!(ends[..], [End::Failed(Error::Refused { asked: "act", .. })]), "{ends:?}");
}

#[test]
fn a_server_that_does_not_know_for_long_what_it_has_stored_loses_no_seat() {
    for asked in [Asked::Join, Asked::Act] {
        let world = played(2, |world| {
            world.server.refuse.extend([(asked, ErrorReason::OutcomeUnknown); 50]);
        });
        check_whole(&world);
    }
}

#[test]
fn a_seat_whose_nonce_another_owes_is_joined_again_until_the_deal() {
    let world = played(2, |world| {
        world.server.refuse.extend([(Asked::Join, ErrorReason::NonceFixed); 50]);
    });
    check_whole(&world);
    let faults: Vec<_> = world.outcomes.values().map(|outcome| &outcome.faults[..]).collect();
    assert!(faults.iter().all(|faults| matches!(faults, [Fault::NonceOfAnother])), "{faults:?}");
}

#[test]
fn a_seat_that_joined_with_another_nonce_goes_on_without_and_says_so() {
    let rules = rules(2);
    let mut world = World::new(rules, Records::Checked);
    // Another program takes seat 0 first.
    world.server.receive(v1::PlayRequest {
        tag: 4,
        handle: 0,
        kind: Some(v1::play_request::Kind::Join(v1::Join {
            by: Some(v1::join::By::SeatToken("token-of-0".to_owned())),
            nonce_hash: vec![1; 32],
            after_seq: None,
            views: None,
        })),
    });
    world.server.cut();
    world.play_all(rules);
    world.run();
    assert!(world.outcomes.is_empty(), "the match waits for a nonce that nobody here has");
    world.core.stop();
    world.run();
    let faults = &world.outcomes[&Key(1)].faults;
    assert!(faults.iter().all(|fault| *fault == Fault::NonceOfAnother) && !faults.is_empty(), "{faults:?}");
}

#[test]
fn a_superseded_seat_ends_and_does_not_join_again() {
    let rules = rules(2);
    let mut world = World::new(rules, Records::Checked);
    world.play_all(rules);
    while world.server.first().steps.len() < 4 && world.step() {}
    let connections = world.connections;
    let superseded = v1::Superseded { reason: v1::SupersededReason::JoinedElsewhere.into() };
    world.server.outbox.clear();
    world.server.outbox.push_back(v1::PlayResponse {
        tag: 0,
        handle: 2,
        kind: Some(v1::play_response::Kind::Superseded(superseded)),
    });
    world.run();
    assert_eq!(world.outcomes[&Key(2)].end, End::Superseded);
    assert_eq!(world.outcomes.len(), 1, "the other seat waits");
    assert_eq!(world.connections, connections);
    assert_eq!(world.told[&Key(2)].ends, 1);
}

#[test]
fn stopping_ends_every_seat_and_the_stream() {
    let rules = rules(2);
    let mut world = World::new(rules, Records::Checked);
    world.play_all(rules);
    while world.server.first().steps.len() < 4 && world.step() {}
    world.core.stop();
    world.run();
    assert_eq!(world.outcomes.len(), 2);
    assert!(world.outcomes.values().all(|outcome| outcome.end == End::Stopped));
    assert!(world.core.deadline().is_none(), "nothing is left to wait for");
}

#[test]
fn a_server_that_shows_another_seed_is_found_out() {
    let rules = rules(2);
    let mut world = World::new(rules, Records::Ignored);
    world.play_all(rules);
    while world.server.first().steps.len() < 4 && world.step() {}
    world.server.first_mut().seed = zetema_rules::fair::ServerSeed::new([8; 32]);
    world.run();
    for outcome in world.outcomes.values() {
        assert_eq!(outcome.deal, DealCheck::Failed(DealError::Commitment));
    }
}

#[test]
fn seats_beyond_what_a_stream_may_carry_wait_for_their_turn() {
    let rules = rules(2);
    let mut world = World::new(rules, Records::Ignored);
    world.server.max_seats = 1;
    world.play_all(rules);
    world.run();
    assert!(world.outcomes.is_empty(), "the match waits for seat 1");
    assert!(world.server.first().observations(0).is_empty());
    world.server.max_seats = 2;
    world.cut();
    world.run();
    check_whole(&world);
}

#[test]
fn a_server_that_is_never_reached_is_given_up() {
    let mut world = World::new(rules(2), Records::Ignored);
    world.play_all(rules(2));
    let from = world.now;
    while world.outcomes.is_empty() {
        let refused = Disconnect::NotReached("connection refused".to_owned());
        world.core.lost(world.now, refused.clone());
        world.perform();
        if let Some(deadline) = world.core.deadline() {
            world.now = deadline;
            world.core.tick(deadline);
        }
    }
    assert!(world.now - from < Duration::from_secs(40));
    for outcome in world.outcomes.values() {
        assert!(matches!(outcome.end, End::Failed(Error::NoConnection { .. })), "{:?}", outcome.end);
    }
}

#[test]
fn silence_for_three_pings_is_a_lost_connection() {
    let rules = rules(2);
    let mut world = World::new(rules, Records::Ignored);
    world.play(rules.seats().next().unwrap());
    world.run();
    assert_eq!(world.connections, 1);
    let deadline = world.core.deadline().unwrap();
    assert_eq!(deadline - world.now, Duration::from_secs(3));
    world.now = deadline;
    world.core.tick(deadline);
    world.run();
    assert_eq!(world.connections, 2);
}

#[test]
fn a_draining_server_is_played_on_until_it_ends_the_stream_and_joined_again_after_the_wait_that_it_names() {
    let rules = rules(2);
    let mut world = World::new(rules, Records::Ignored);
    world.play_all(rules);
    while world.server.first().steps.len() < 4 && world.step() {}
    let draining = v1::Draining { reconnect_after_ms: 2_000, stops_in_ms: 20_000 };
    world.server.outbox.push_front(v1::PlayResponse {
        tag: 0,
        handle: 0,
        kind: Some(v1::play_response::Kind::Draining(draining)),
    });
    while world.server.first().steps.len() < 8 && world.step() {}
    assert_eq!((world.connections, world.server.first().steps.len()), (1, 8), "the match goes on");
    let refusal = Refusal { reason: ErrorReason::Draining, message: String::new(), decision: None };
    world.cut_because(Disconnect::Refused(refusal));
    let from = world.now;
    world.run();
    let waited = world.now - from;
    assert!(waited >= Duration::from_secs(2) && waited < Duration::from_secs(4), "{waited:?}");
    check_whole(&world);
}
