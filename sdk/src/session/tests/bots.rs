//! Sessions with a bot's token: the seats come from the server, and may be taken up by another process.

use std::time::{Duration, UNIX_EPOCH};

use zetema_proto::v1::{self, ErrorReason};
use zetema_rules::{EndReason, Preset, Rules, Seat};

use super::table::Then;
use super::world::World;
use super::{check_whole, rules};
use crate::claim::Claim;
use crate::deal_check::DealCheck;
use crate::end::End;
use crate::error::{Disconnect, Error, Refusal};
use crate::fault::Fault;
use crate::ladder::SessionEvent;
use crate::session::{Key, Records};

fn seat(index: usize) -> Seat {
    Seat::new(index).unwrap()
}

fn claim(table: usize, index: usize) -> Claim {
    Claim::Assigned { match_id: format!("m{table}"), seat: seat(index) }
}

/// A bot with a seat of each of so many matches, whose other seat the server plays.
fn one_seat_of_each(matches: usize, rules: Rules) -> World {
    let mut world = World::of_bot(rules, Records::Ignored);
    world.server.tables.clear();
    for _ in 0..matches {
        world.server.create(|table| table.with_house(seat(1)));
    }
    world.server.max_seats = 1_000;
    world.server.max_queued_messages = 50;
    world
}

/// Every seat has a result, and its deals could be checked.
fn check_results(world: &World, seats: usize) {
    assert_eq!(world.outcomes.len(), seats);
    for outcome in world.outcomes.values() {
        assert!(matches!(outcome.end, End::Result(_)), "{outcome}");
        assert_eq!(outcome.deal, DealCheck::Verified, "{outcome}");
    }
}

#[test]
fn a_bot_plays_the_seats_of_its_welcome_and_those_that_come_later_until_it_is_told_to_finish() {
    let mut world = World::of_bot(rules(2), Records::Checked);
    world.run();
    check_whole(&world);
    assert_eq!(
        world.outcomes.values().map(|outcome| &outcome.claim).collect::<Vec<_>>(),
        [&claim(0, 0), &claim(0, 1)]
    );
    assert_eq!(world.closed, [], "it waits for more");
    for table in 1..4 {
        world.server.create(|table| table);
        world.server.announce(table);
        // A server may tell of a seat twice.
        world.server.announce(table);
    }
    world.core.finish();
    world.run_some(1);
    assert_eq!(world.closed, [None], "it had no seat any more when it was told");
    assert_eq!(world.outcomes.len(), 2);
}

#[test]
fn seats_that_are_assigned_are_played_to_their_end_though_no_more_are_taken() {
    let mut world = World::of_bot(rules(2), Records::Checked);
    while world.server.first().steps.len() < 4 && world.step() {}
    world.core.finish();
    world.server.create(|table| table);
    world.server.announce(1);
    world.run();
    assert_eq!((world.outcomes.len(), &world.closed[..]), (2, &[None][..]));
    check_whole(&world);
    assert!(world.core.deadline().is_none(), "nothing is left to wait for");
}

#[test]
fn a_process_that_died_anywhere_finds_its_seats_and_goes_on() {
    let mut whole = World::of_bot(rules(2), Records::Ignored);
    whole.run();
    for at in 0..whole.messages {
        let mut world = World::of_bot(rules(2), Records::Checked);
        while world.messages < at && world.step() {}
        let is_over = world.server.first().is_over();
        world.die();
        world.run();
        assert_eq!(world.server.first().steps, whole.server.first().steps, "died after {at} messages");
        // A match that was over before is not live any more.
        check_results(&world, if is_over { 0 } else { 2 });
        let foreign = |fault: &Fault| matches!(fault, Fault::NonceOfAnother);
        assert!(!world.outcomes.values().any(|outcome| outcome.faults.iter().any(foreign)), "{at}");
    }
}

#[test]
fn a_seat_that_another_program_took_is_not_taken_back_by_the_next_welcome() {
    let mut world = World::of_bot(rules(2), Records::Ignored);
    while world.server.first().steps.len() < 4 && world.step() {}
    let superseded = v1::Superseded { reason: v1::SupersededReason::JoinedElsewhere.into() };
    world.server.outbox.push_front(v1::PlayResponse {
        tag: 0,
        handle: 2,
        kind: Some(v1::play_response::Kind::Superseded(superseded)),
    });
    world.run();
    for _ in 0..3 {
        world.cut();
        world.run();
    }
    assert_eq!(world.outcomes.len(), 1, "the other seat waits for its opponent");
    assert_eq!(world.outcomes[&Key(2)].end, End::Superseded);
    assert_eq!((world.connections, world.told[&Key(2)].starts), (4, 1));
}

#[test]
fn a_thousand_live_matches_resume_wherever_the_stream_is_cut_and_the_process_dies() {
    let mut options = *Preset::Sackson.rules(2, None).unwrap();
    options.target = None;
    let mut world = one_seat_of_each(1_000, Rules::new(options).unwrap());
    let mut next = 1_500;
    while world.step() {
        if world.messages >= next {
            next += 4_999;
            if next % 2 == 0 {
                world.cut();
            } else {
                let over = world.server.tables.iter().filter(|table| table.is_over()).count();
                world.die();
                assert!(over < 1_000);
            }
        }
    }
    assert!(world.connections > 8, "{}", world.connections);
    assert!(world.server.tables.iter().all(super::table::Table::is_over));
    for outcome in world.outcomes.values() {
        assert!(matches!(outcome.end, End::Result(_)), "{outcome}");
    }
}

#[test]
fn live_seats_beyond_what_a_stream_carries_are_played_as_others_are_over() {
    let mut world = one_seat_of_each(50, rules(2));
    world.server.max_seats = 8;
    world.run();
    check_results(&world, 50);
    // Each new stream has room for a quarter, or more.
    assert!((2..=1 + 50 / 2).contains(&world.connections), "{}", world.connections);
}

#[test]
fn live_seats_beyond_what_a_stream_carries_are_played_by_a_rotated_token_too_and_then_it_ends() {
    let mut world = one_seat_of_each(50, rules(2));
    world.server.max_seats = 8;
    world.server.rotated = Some(v1::TokenRotated::default());
    world.run();
    check_results(&world, 50);
    let [Some(Error::Refused { refusal, .. })] = &world.closed[..] else { panic!("{:?}", world.closed) };
    assert_eq!(refusal.reason, ErrorReason::TokenRotated);
    assert_eq!(world.events, [SessionEvent::TokenRotated(refusal.clone())]);
}

#[test]
fn a_bot_whose_token_is_refused_is_told_why() {
    let mut world = World::of_bot(rules(2), Records::Ignored);
    while world.server.first().steps.len() < 4 && world.step() {}
    let refusal =
        Refusal { reason: ErrorReason::Unauthenticated, message: "revoked".to_owned(), decision: None };
    world.cut_because(Disconnect::Refused(refusal.clone()));
    world.run();
    let error = Error::Refused { asked: "open a stream", refusal };
    assert_eq!(world.closed, [Some(error.clone())]);
    assert_eq!(world.outcomes.len(), 2);
    assert!(world.outcomes.values().all(|outcome| outcome.end == End::Failed(error.clone())));
    assert!(world.core.deadline().is_none(), "it does not try again");
}

#[test]
fn why_the_server_cut_an_earlier_stream_is_a_fault_of_the_seats_that_it_carried() {
    let cut = v1::StreamCut {
        time: Some(UNIX_EPOCH.into()),
        reason: ErrorReason::SlowReader.into(),
        message: "read faster".to_owned(),
        cursors: Vec::new(),
    };
    let told = |fault: &&Fault| matches!(fault, Fault::CutBefore { reason: ErrorReason::SlowReader, .. });
    let mut world = World::of_bot(rules(2), Records::Ignored);
    while world.server.first().steps.len() < 4 && world.step() {}
    world.server.previous_cut = Some(cut);
    world.settings.records = Records::Checked;
    world.die();
    world.run_some(4);
    // The seats of a new match were not on it.
    world.server.create(|table| table);
    world.server.announce(1);
    // The server tells of the same cut again.
    world.cut();
    world.run();
    check_results(&world, 4);
    for (key, outcome) in &world.outcomes {
        let faults = outcome.faults.iter().filter(told).count();
        assert_eq!(faults, usize::from(key.0 <= 2), "{outcome}");
    }
}

fn clock() -> v1::Clock {
    v1::Clock { budget_ms: 2_000, bank_ms: 60_000, elapsed_ms: 0, strikes_left: 3 }
}

#[test]
fn a_decision_has_its_clock() {
    let mut world = World::of_bot(rules(2), Records::Ignored);
    world.server.first_mut().clock = Some(clock());
    while world.clocks.is_empty() && world.step() {}
    let clock = world.clocks.values().next().unwrap();
    assert_eq!((clock.budget(), clock.bank()), (Duration::from_secs(2), Duration::from_mins(1)));
    assert_eq!(clock.strikes_left(), 3);
    assert_eq!(clock.left_at(world.now), Duration::from_secs(62));
    let later = world.now + Duration::from_secs(3);
    assert_eq!(
        (clock.left_at(later), clock.budget_left_at(later)),
        (Duration::from_secs(59), Duration::ZERO)
    );
}

#[test]
fn a_decision_of_a_snapshot_has_what_is_left() {
    let mut world = World::of_bot(rules(2), Records::Ignored);
    world.server.first_mut().clock = Some(clock());
    while world.clocks.is_empty() && world.step() {}
    world.server.first_mut().clock = Some(v1::Clock { elapsed_ms: 1_500, ..clock() });
    world.die();
    world.clocks.clear();
    while world.clocks.is_empty() && world.step() {}
    let clock = world.clocks.values().next().unwrap();
    assert_eq!(clock.budget_left_at(world.now), Duration::from_millis(500));
}

#[test]
fn a_decision_that_began_while_the_stream_was_down_has_what_is_left() {
    let mut world = World::of_bot(rules(2), Records::Ignored);
    world.server.first_mut().clock = Some(clock());
    while !world.has_act_under_way() && world.step() {}
    // The answer to the first decision arrives, and the stream is cut before anyone hears of it.
    let answered = world.messages;
    while world.messages == answered && world.step() {}
    assert_eq!(world.server.first().steps.len(), 1);
    world.server.first_mut().clock = Some(v1::Clock { elapsed_ms: 700, ..clock() });
    world.cut();
    let before = world.clocks.len();
    while world.clocks.len() == before && world.step() {}
    let left: Vec<Duration> = world.clocks.values().map(|clock| clock.budget_left_at(world.now)).collect();
    assert!(left.contains(&Duration::from_millis(1_300)), "{left:?}");
    // The next one begins when it comes.
    world.clocks.clear();
    while world.clocks.is_empty() && world.step() {}
    let clock = world.clocks.values().next().unwrap();
    assert_eq!(clock.budget_left_at(world.now), clock.budget());
}

/// The time of the first seat to act is out while its bot thinks.
fn timed_out(then: Then) -> (World, Vec<Fault>) {
    let mut world = World::of_bot(rules(2), Records::Ignored);
    while !world.is_choosing() && world.step() {}
    world.server.first_mut().time_out(1, then);
    world.run();
    assert_eq!(world.outcomes.len(), 2);
    let faults = world.outcomes.values().flat_map(|outcome| outcome.faults.clone()).collect();
    (world, faults)
}

#[test]
fn a_seat_for_which_the_server_played_plays_on_and_its_late_answer_is_no_illegal_action() {
    let (world, faults) = timed_out(Then::Autoplay);
    check_whole(&world);
    assert_eq!(faults, [Fault::TimedOut { decision: 1, strikes: 1 }, Fault::TooLate { decision: 1 }]);
}

#[test]
fn a_seat_that_forfeits_by_its_time_knows_it() {
    let (world, faults) = timed_out(Then::Forfeit);
    assert_eq!(
        faults[..2],
        [Fault::TimedOut { decision: 1, strikes: 1 }, Fault::ForfeitedOnTime { decision: 1 }]
    );
    for outcome in world.outcomes.values() {
        let End::Result(result) = &outcome.end else { panic!("{outcome}") };
        assert_eq!(result.reason, EndReason::Forfeit);
    }
}

#[test]
fn an_answer_that_was_under_way_when_the_time_was_out_is_too_late() {
    let mut world = World::of_bot(rules(2), Records::Ignored);
    while !world.has_act_under_way() && world.step() {}
    world.server.first_mut().time_out(1, Then::Autoplay);
    world.run();
    check_whole(&world);
    let faults: Vec<Fault> = world.outcomes.values().flat_map(|outcome| outcome.faults.clone()).collect();
    assert_eq!(faults, [Fault::TimedOut { decision: 1, strikes: 1 }, Fault::TooLate { decision: 1 }]);
}

/// The next answer is under way when the last one's rejection comes, and is lost with the stream.
#[test]
fn a_rejection_that_comes_late_is_not_taken_for_that_of_the_next_answer() {
    let mut world = World::of_bot(rules(2), Records::Ignored);
    while !world.has_act_under_way() && world.step() {}
    world.refuse_the_answer_before();
    world.cut();
    world.run();
    assert_eq!(world.outcomes.len(), world.told.len());
    check_whole(&world);
    let faults: Vec<Fault> = world.outcomes.values().flat_map(|outcome| outcome.faults.clone()).collect();
    assert!(faults.iter().all(|fault| matches!(fault, Fault::Disconnected(_))), "{faults:?}");
}

#[test]
fn an_answer_to_a_decision_that_another_program_answered_is_told_apart() {
    let mut world = World::of_bot(rules(2), Records::Ignored);
    while !world.has_act_under_way() && world.step() {}
    world.server.first_mut().answer_by_another_program();
    world.run();
    check_whole(&world);
    let faults: Vec<Fault> = world.outcomes.values().flat_map(|outcome| outcome.faults.clone()).collect();
    assert_eq!(faults, [Fault::AnsweredOtherwise { decision: 1 }]);
}

/// What each seat's time was out for.
fn timed_out_at(faults: &[Fault]) -> Vec<u32> {
    let decision = |fault: &Fault| match fault {
        Fault::TimedOut { decision, .. } => Some(*decision),
        _ => None,
    };
    faults.iter().filter_map(decision).collect()
}

#[test]
fn a_bot_that_thinks_for_long_is_not_asked_what_is_decided_meanwhile() {
    let mut world = one_seat_of_each(1, rules(2));
    while !world.is_choosing() && world.step() {}
    for strikes in 1..=3 {
        world.server.first_mut().time_out(strikes, Then::Autoplay);
        world.hear();
    }
    world.run();
    check_whole(&world);
    let faults = &world.outcomes[&Key(1)].faults;
    let [first, second, third] = timed_out_at(faults)[..] else { panic!("{faults:?}") };
    let asked = &world.told[&Key(1)].decisions;
    assert!(asked.starts_with(&[first]) && !asked.contains(&second) && !asked.contains(&third), "{asked:?}");
    let late = |fault: &&Fault| matches!(fault, Fault::TooLate { .. });
    assert_eq!(faults.iter().filter(late).collect::<Vec<_>>(), [&Fault::TooLate { decision: first }]);
}

#[test]
fn a_bot_that_was_cut_off_is_not_asked_what_was_decided_meanwhile() {
    let mut world = one_seat_of_each(1, rules(2));
    world.server.first_mut().clock = Some(clock());
    while !world.has_act_under_way() && world.step() {}
    world.cut();
    for strikes in 1..=3 {
        world.server.first_mut().time_out(strikes, Then::Autoplay);
    }
    world.run();
    check_whole(&world);
    let faults = &world.outcomes[&Key(1)].faults;
    let [first, second, third] = timed_out_at(faults)[..] else { panic!("{faults:?}") };
    let asked = &world.told[&Key(1)].decisions;
    assert!(asked.starts_with(&[first]) && !asked.contains(&second) && !asked.contains(&third), "{asked:?}");
}

#[test]
fn a_bot_that_thinks_while_its_opponent_resigns_is_not_too_late() {
    let mut world = one_seat_of_each(1, rules(2));
    while !world.is_choosing() && world.step() {}
    world.server.first_mut().resign(0, seat(1));
    world.server.collect();
    let observation = |message: &v1::PlayResponse| {
        message.handle == 1 && matches!(message.kind, Some(v1::play_response::Kind::Observation(_)))
    };
    let first = world.server.outbox.iter().position(observation).unwrap();
    let later = world.server.outbox.split_off(first + 1);
    // It has chosen before it hears of the end.
    world.run();
    world.server.outbox.extend(later);
    world.run();
    check_results(&world, 1);
    assert_eq!(world.outcomes[&Key(1)].faults, []);
}
