//! Servers that break the protocol, by mistake or to do harm.

use zetema_proto::v1;
use zetema_rules::Seat;

use v1::play_response::Kind as Response;

use super::world::World;
use super::{check_whole, rules};
use crate::end::End;
use crate::error::Error;
use crate::fault::Fault;
use crate::session::{Key, Records};

/// Goes on until the server is about to say what is looked for.
pub(super) fn about_to_say<T>(world: &mut World, find: impl Fn(&mut v1::PlayResponse) -> Option<T>) -> T {
    loop {
        if let Some(found) = world.server.outbox.iter_mut().find_map(&find) {
            return found;
        }
        assert!(world.step(), "it is never said");
    }
}

/// The answer to the first join that is under way.
fn joined(response: &mut v1::PlayResponse) -> Option<v1::PlayResponse> {
    matches!(response.kind, Some(Response::Joined(_))).then(|| response.clone())
}

/// Leaves out an observation of seat 0 that asks it nothing, so that it joins again when the next one comes.
fn leave_out_an_observation(world: &mut World) {
    let is_left_out = |response: &v1::PlayResponse| {
        let Some(Response::Observation(observation)) = &response.kind else { return false };
        response.handle == 1 && observation.decision_number.is_some() && observation.decision.is_none()
    };
    about_to_say(world, |response| is_left_out(response).then_some(()));
    let at = world.server.outbox.iter().position(is_left_out).unwrap();
    world.server.outbox.remove(at);
}

fn check_that_seat_0_failed(world: &World) {
    let end = &world.outcomes[&Key(1)].end;
    assert!(matches!(end, End::Failed(Error::Protocol { .. })), "{end:?}");
    assert_eq!(world.outcomes.len(), 1, "the other seat is none the worse");
}

#[test]
fn behind_the_last_number_that_there_is_no_observation_comes() {
    let mut world = World::new(rules(2), Records::Ignored);
    world.play(Seat::new(0).unwrap());
    about_to_say(&mut world, |response| {
        let Some(Response::Joined(start)) = &mut response.kind else { return None };
        let Some(v1::subscription_start::Kind::Snapshot(snapshot)) = &mut start.kind else { return None };
        snapshot.seq = u64::MAX;
        Some(())
    });
    world.play(Seat::new(1).unwrap());
    about_to_say(&mut world, |response| {
        let Some(Response::Observation(observation)) = &mut response.kind else { return None };
        // What comes behind the last number if that is added up without a look.
        observation.seq = 0;
        Some(())
    });
    world.run();
    assert!(world.outcomes.is_empty() && world.told[&Key(1)].events.is_empty());
}

#[test]
fn a_seat_that_misses_an_observation_joins_again_and_goes_on() {
    let mut world = World::new(rules(2), Records::Checked);
    world.play_all(rules(2));
    leave_out_an_observation(&mut world);
    world.run();
    check_whole(&world);
    let faults = &world.outcomes[&Key(1)].faults;
    assert!(matches!(faults[..], [Fault::Gap { .. }]), "{faults:?}");
}

#[test]
fn the_answer_to_a_join_may_come_twice() {
    let mut world = World::new(rules(2), Records::Checked);
    world.play_all(rules(2));
    let answer = about_to_say(&mut world, joined);
    let at = world.server.outbox.iter().position(|response| *response == answer).unwrap();
    world.server.outbox.insert(at, answer);
    world.run();
    check_whole(&world);
}

#[test]
fn joins_that_are_answered_again_and_again_fail_their_seat_and_fill_no_memory() {
    let mut world = World::new(rules(2), Records::Ignored);
    world.play_all(rules(2));
    let answer = about_to_say(&mut world, joined);
    let again = |handle| v1::PlayResponse { handle, ..answer.clone() };
    world.server.outbox.extend((100..1_100).map(again));
    world.run();
    check_that_seat_0_failed(&world);
    assert!(world.core.handles.len() <= 3, "{:?}", world.core.handles);
}

#[test]
fn a_seat_that_is_called_otherwise_when_it_joins_again_fails() {
    let mut world = World::new(rules(2), Records::Ignored);
    world.play_all(rules(2));
    leave_out_an_observation(&mut world);
    about_to_say(&mut world, |response| {
        joined(response)?;
        response.handle = 100;
        Some(())
    });
    world.run();
    check_that_seat_0_failed(&world);
}
