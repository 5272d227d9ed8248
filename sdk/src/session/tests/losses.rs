//! Servers that have lost what they had shown.

use zetema_proto::v1;
use zetema_rules::Step;

use v1::event::Kind as EventKind;
use v1::play_response::Kind as Response;

use super::broken::about_to_say;
use super::rules;
use super::table::Then;
use super::world::World;
use crate::deal_check::{DealCheck, DealError};
use crate::end::End;
use crate::fault::Fault;
use crate::session::{Key, Records};

#[test]
fn a_server_that_lost_observations_gets_a_new_bot_and_the_match_goes_on() {
    let rules = rules(2);
    let mut world = World::new(rules, Records::Checked);
    world.play_all(rules);
    while world.step() {
        if world.server.first().steps.len() == 10 {
            break;
        }
    }
    world.run_some(40);
    // Seat 1's log is shorter than what it saw; its state is the same.
    let lost = world.server.first().observations(1).len().min(3);
    world.server.first_mut().lose_observations(1, lost);
    world.cut();
    world.run();
    let outcome = &world.outcomes[&Key(2)];
    assert!(matches!(outcome.end, End::Result(_)));
    assert!(outcome.faults.iter().any(|fault| matches!(fault, Fault::LostObservations { .. })));
    assert_eq!(world.told[&Key(2)].starts, 2);
    assert_eq!(outcome.deal, DealCheck::Verified, "by the record");
}

/// The match goes on from an earlier point, and takes another course than the one that was seen.
#[test]
fn a_server_that_was_restored_and_plays_on_otherwise_is_verified() {
    let mut world = World::new(rules(2), Records::Checked);
    world.play_all(rules(2));
    while world.server.first().steps.len() < 6 && world.step() {}
    let backup = world.server.first().clone();
    while world.server.first().steps.len() < 12 && world.step() {}
    world.hear();
    let seen = world.server.first().steps.clone();
    *world.server.first_mut() = backup;
    world.server.first_mut().time_out(1, Then::Autoplay);
    world.cut();
    world.run();
    let went_on: &[Step] = &world.server.first().steps;
    assert_ne!(went_on[..seen.len()], seen, "another course");
    assert_eq!(world.outcomes.len(), 2);
    for (key, outcome) in &world.outcomes {
        assert!(matches!(outcome.end, End::Result(_)), "{outcome}");
        assert!(outcome.faults.iter().any(|fault| matches!(fault, Fault::LostObservations { .. })));
        assert_eq!(outcome.deal, DealCheck::Verified, "{outcome}");
        assert_eq!(world.told[key].starts, 2);
    }
}

#[test]
fn a_card_that_was_shown_before_a_loss_and_is_not_the_seeds_is_found_out() {
    let mut world = World::new(rules(2), Records::Checked);
    world.play_all(rules(2));
    while world.server.first().steps.len() < 6 && world.step() {}
    about_to_say(&mut world, |response| {
        let Some(Response::Observation(observation)) = &mut response.kind else { return None };
        let drew = observation.events.iter_mut().find_map(|event| match &mut event.kind {
            Some(EventKind::Drew(drew)) if response.handle == 2 => drew.cards.first_mut(),
            _ => None,
        });
        let card = drew?;
        *card = if *card == 1 { 2 } else { 1 };
        Some(())
    });
    world.hear();
    let shown = world.server.first().observations(1).len();
    world.server.first_mut().lose_observations(1, shown.min(3));
    world.cut();
    world.run();
    let deal = |key| &world.outcomes[&key].deal;
    assert!(matches!(deal(Key(2)), DealCheck::Failed(DealError::Event { .. })), "{}", deal(Key(2)));
    assert_eq!(*deal(Key(1)), DealCheck::Verified, "it was shown the truth");
}

#[test]
fn a_server_that_was_restored_to_before_the_deal_gets_the_nonces_again() {
    let mut world = World::new(rules(2), Records::Checked);
    world.play_all(rules(2));
    while world.server.first().observations(0).is_empty() && world.step() {}
    let backup = world.server.first().clone();
    while world.server.first().steps.len() < 6 && world.step() {}
    world.hear();
    *world.server.first_mut() = backup;
    world.cut();
    world.run();
    assert_eq!(world.outcomes.len(), 2, "the match was dealt again");
    for outcome in world.outcomes.values() {
        assert!(outcome.faults.iter().any(|fault| matches!(fault, Fault::LostObservations { .. })));
        assert_eq!(outcome.deal, DealCheck::Verified, "{outcome}");
    }
}
