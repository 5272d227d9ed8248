//! Sessions with a bot's token that wait on ladders.

use std::time::{Duration, UNIX_EPOCH};

use zetema_proto::v1::{self, ErrorReason};
use zetema_rules::Seat;

use super::server::Leaving;
use super::world::World;
use super::{check_whole, rules};
use crate::challenges::Challenges;
use crate::end::End;
use crate::error::{Error, Refusal};
use crate::ladder::{Conduct, LadderNotice, LadderQueue, QueueState, SessionEvent};
use crate::session::{Change, Records, Wish};

/// A bot without seats, on a server with these ladders.
fn on_ladders(ladders: &[&'static str]) -> World {
    let mut world = World::of_bot(rules(2), Records::Checked);
    world.server.tables.clear();
    world.server.ladders = ladders.to_vec();
    world.run();
    world
}

fn queues(texts: &[&str]) -> Vec<LadderQueue> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

/// Asks for these queues, and hears the answer.
fn queue(world: &mut World, texts: &[&str]) -> Result<Vec<QueueState>, Error> {
    let change = world.core.wish(world.now, Wish::Ladders(queues(texts)));
    world.run();
    let (answered, answer) = world.queued.pop().unwrap();
    assert_eq!((answered, world.queued.len()), (change, 0), "one answer for each change");
    answer
}

fn states(texts: &[&str]) -> Vec<QueueState> {
    let state = |queue: LadderQueue| QueueState {
        ladder: queue.ladder,
        matches_at_once: queue.matches_at_once.get().into(),
        conduct: Conduct::Free,
    };
    queues(texts).into_iter().map(state).collect()
}

fn no_such_ladder() -> Refusal {
    Refusal { reason: ErrorReason::NotFound, message: "no such ladder".to_owned(), decision: None }
}

/// A match in which the bot has both seats.
fn assign(world: &mut World) {
    world.server.create(|table| table);
    world.server.announce(world.server.tables.len() - 1);
}

#[test]
fn a_bot_waits_on_the_ladders_that_it_names_and_plays_what_they_give_it() {
    let mut world = on_ladders(&["a", "b"]);
    assert_eq!(queue(&mut world, &["a:3", "b"]), Ok(states(&["a:3", "b:1"])));
    assert_eq!(world.server.waiting, ["a:3", "b:1"]);
    assign(&mut world);
    world.run();
    assert_eq!(world.outcomes.len(), 2);
    check_whole(&world);
    assert_eq!(queue(&mut world, &["b:2"]), Ok(states(&["b:2"])));
    assert_eq!(world.server.waiting, ["b:2"]);
    assert_eq!(queue(&mut world, &[]), Ok(Vec::new()));
    assert!(world.server.waiting.is_empty());
    assert_eq!((world.connections, &world.closed[..], &world.events[..]), (1, &[][..], &[][..]));
}

/// Says whose challenges to accept, and hears the answer.
fn accept(world: &mut World, text: &str) -> Result<(), Error> {
    let change = world.core.wish(world.now, Wish::Challenges(text.parse().unwrap()));
    world.run();
    let (answered, answer) = world.queued.pop().unwrap();
    assert_eq!((answered, world.queued.len()), (change, 0), "one answer for each change");
    answer.map(|_| ())
}

#[test]
fn challenges_are_accepted_beside_the_ladders_and_on_each_further_stream() {
    let mut world = on_ladders(&["a"]);
    assert_eq!(accept(&mut world, "everyone:3"), Ok(()));
    assert_eq!(queue(&mut world, &["a:2"]), Ok(states(&["a:2"])));
    for _ in 0..2 {
        assert_eq!((&world.server.waiting[..], world.server.challenges), (&["a:2".to_owned()][..], 3));
        world.cut();
        assert_eq!(world.server.challenges, 0);
        world.run();
    }
    // A refused change leaves both, and each is taken back by itself.
    queue(&mut world, &["unknown"]).unwrap_err();
    assert_eq!((&world.server.waiting[..], world.server.challenges), (&["a:2".to_owned()][..], 3));
    assert_eq!(queue(&mut world, &[]), Ok(Vec::new()));
    assert_eq!((world.server.waiting.len(), world.server.challenges), (0, 3));
    assert_eq!(accept(&mut world, "nobody"), Ok(()));
    assert_eq!(world.server.challenges, 0);
    assert_eq!(
        world.events,
        [SessionEvent::Queued(states(&["a:2"])), SessionEvent::Queued(states(&["a:2"]))]
    );
}

#[test]
fn what_is_left_while_the_stream_is_cut_is_not_in_the_next_hello_and_the_rest_is() {
    for (wish, expected) in [
        (Wish::Ladders(Vec::new()), (Vec::new(), 3)),
        (Wish::Challenges(Challenges::FromNobody), (vec!["a:2".to_owned()], 0)),
        // One that only changes what it waits for goes on with what it had until it is answered.
        (Wish::Ladders(queues(&["b"])), (vec!["a:2".to_owned()], 3)),
    ] {
        let mut world = on_ladders(&["a", "b"]);
        accept(&mut world, "everyone:3").unwrap();
        queue(&mut world, &["a:2"]).unwrap();
        world.core.wish(world.now, wish.clone());
        world.cut();
        world.run();
        let hello = (world.server.hellos[1].clone(), world.server.challenges_of_hellos[1]);
        assert_eq!(hello, expected, "{wish:?}");
        let (_, answer) = world.queued.pop().unwrap();
        answer.unwrap();
        let after = match wish {
            Wish::Ladders(ladders) if ladders.is_empty() => (Vec::new(), 3),
            Wish::Ladders(_) => (vec!["b:1".to_owned()], 3),
            Wish::Challenges(_) => (vec!["a:2".to_owned()], 0),
        };
        assert_eq!((world.server.waiting.clone(), world.server.challenges), after, "as it was asked for");
    }
}

#[test]
fn what_a_hello_left_out_is_asked_for_again_when_the_change_is_refused() {
    let mut world = on_ladders(&["a"]);
    accept(&mut world, "everyone:3").unwrap();
    queue(&mut world, &["a"]).unwrap();
    world.core.wish(world.now, Wish::Challenges(Challenges::FromNobody));
    world.core.wish(world.now, Wish::Ladders(queues(&["unknown"])));
    world.cut();
    world.run();
    assert_eq!(
        (&world.server.hellos[1][..], world.server.challenges_of_hellos[1]),
        (&["a:1".to_owned()][..], 0)
    );
    assert_eq!((&world.server.waiting[..], world.server.challenges), (&["a:1".to_owned()][..], 3));
}

#[test]
fn a_bot_that_finishes_accepts_no_challenge_any_more_and_plays_those_that_came() {
    let mut world = on_ladders(&[]);
    accept(&mut world, "everyone").unwrap();
    assign(&mut world);
    while world.server.first().steps.len() < 4 && world.step() {}
    world.core.finish();
    world.run();
    assert_eq!(world.server.challenges, 0);
    assert_eq!((world.outcomes.len(), &world.closed[..]), (2, &[None][..]));
}

#[test]
fn a_text_says_whose_challenges_to_accept() {
    for (text, shown) in
        [("nobody", "nobody"), ("everyone", "everyone:1"), ("everyone:1000", "everyone:1000")]
    {
        assert_eq!(text.parse::<Challenges>().unwrap().to_string(), shown);
    }
    for text in
        ["", "all", "nobody:1", "everyone:", "everyone:0", "everyone:-1", "everyone:65536", "everyone:1:2"]
    {
        assert_eq!(text.parse::<Challenges>(), Err(Error::Challenges { text: text.to_owned() }));
    }
}

#[test]
fn queues_that_are_asked_for_before_there_is_a_stream_are_asked_for_on_it() {
    let mut world = World::of_bot(rules(2), Records::Ignored);
    world.server.ladders = vec!["a"];
    assert_eq!(queue(&mut world, &["a:2"]), Ok(states(&["a:2"])));
    assert_eq!((&world.server.waiting[..], world.connections), (&["a:2".to_owned()][..], 1));
}

#[test]
fn the_hello_of_each_further_stream_has_the_queues() {
    let mut world = on_ladders(&["a"]);
    queue(&mut world, &["a:2"]).unwrap();
    for _ in 0..3 {
        world.cut();
        assert!(world.server.waiting.is_empty());
        world.run();
        assert_eq!(world.server.waiting, ["a:2"]);
    }
    assert_eq!(
        world.server.hellos,
        [vec![], vec!["a:2".to_owned()], vec!["a:2".to_owned()], vec!["a:2".to_owned()]]
    );
    assert_eq!(queue(&mut world, &[]), Ok(Vec::new()));
    world.cut();
    world.run();
    assert_eq!(world.server.hellos.last(), Some(&vec![]), "it has left");
}

#[test]
fn queues_follow_the_stream_that_is_opened_for_seats_that_had_no_room() {
    let mut world = on_ladders(&["a"]);
    queue(&mut world, &["a:2"]).unwrap();
    world.server.max_seats = 8;
    for _ in 0..30 {
        world.server.create(|table| table.with_house(Seat::new(1).unwrap()));
    }
    world.cut();
    world.run();
    assert_eq!(world.outcomes.len(), 30);
    assert!(world.connections > 3, "{}", world.connections);
    assert_eq!(world.server.waiting, ["a:2"]);
    assert!(world.server.hellos[1..].iter().all(|hello| *hello == ["a:2"]), "{:?}", world.server.hellos);
}

#[test]
fn a_change_whose_answer_was_lost_is_asked_for_again() {
    for lost in [0, 1, 2] {
        let mut world = on_ladders(&["a"]);
        world.core.wish(world.now, Wish::Ladders(queues(&["a:2"])));
        world.run_some(lost);
        world.cut();
        world.run();
        assert_eq!(world.queued, [(Change(1), Ok(states(&["a:2"])))], "cut after {lost} messages");
        assert_eq!(world.server.waiting, ["a:2"]);
    }
}

#[test]
fn of_two_changes_at_once_the_last_counts() {
    let mut world = on_ladders(&["a", "b"]);
    world.core.wish(world.now, Wish::Ladders(queues(&["a"])));
    world.core.wish(world.now, Wish::Ladders(queues(&["b"])));
    world.run();
    assert_eq!(world.queued, [(Change(2), Ok(states(&["b"])))]);
    assert_eq!(world.server.waiting, ["b:1"]);
    world.cut();
    world.run();
    assert_eq!(world.server.waiting, ["b:1"]);
}

#[test]
fn what_stands_when_the_last_of_two_changes_is_refused_is_the_first() {
    let mut world = on_ladders(&["a", "b"]);
    queue(&mut world, &["a"]).unwrap();
    world.core.wish(world.now, Wish::Ladders(queues(&["b"])));
    world.core.wish(world.now, Wish::Ladders(queues(&["unknown"])));
    world.run();
    for _ in 0..2 {
        assert_eq!(world.server.waiting, ["b:1"]);
        world.cut();
        world.run();
    }
}

#[test]
fn a_refusal_is_an_error_and_leaves_what_was_before() {
    let mut world = on_ladders(&["a"]);
    queue(&mut world, &["a:2"]).unwrap();
    let refused = queue(&mut world, &["a", "unknown"]);
    assert_eq!(refused, Err(Error::Refused { asked: "wait on the ladders", refusal: no_such_ladder() }));
    assert_eq!(world.server.waiting, ["a:2"]);
    world.cut();
    world.run();
    assert_eq!((&world.server.waiting[..], &world.closed[..]), (&["a:2".to_owned()][..], &[][..]));
}

#[test]
fn what_is_refused_for_now_is_asked_for_again_when_the_server_says() {
    let mut world = on_ladders(&["a"]);
    let overloaded = v1::Error::new(ErrorReason::Overloaded, "later");
    let later = v1::Error { retry_after_ms: Some(2_000), ..overloaded.clone() };
    world.server.refuse_queues = vec![later, overloaded];
    let begun = world.now;
    assert_eq!(queue(&mut world, &["a"]), Ok(states(&["a"])));
    let waited = world.now - begun;
    assert!((Duration::from_secs(3)..Duration::from_secs(5)).contains(&waited), "{waited:?}");
}

#[test]
fn a_ladder_that_is_gone_when_the_stream_is_made_again_is_told_and_the_matches_go_on() {
    let mut world = on_ladders(&["a"]);
    queue(&mut world, &["a"]).unwrap();
    assign(&mut world);
    while world.server.first().steps.len() < 4 && world.step() {}
    world.server.ladders.clear();
    world.cut();
    world.run();
    assert_eq!(world.events, [SessionEvent::QueuesRefused(no_such_ladder())]);
    assert_eq!((world.connections, &world.closed[..]), (2, &[][..]), "the stream goes on");
    world.cut();
    world.run();
    assert_eq!(world.server.hellos[1..], [vec!["a:1".to_owned()], vec![]]);
    assert_eq!(world.outcomes.len(), 2);
    check_whole(&world);
}

#[test]
fn queues_that_a_hello_could_not_have_for_now_are_asked_for_after_it() {
    let mut world = on_ladders(&["a"]);
    queue(&mut world, &["a"]).unwrap();
    let overloaded =
        v1::Error { retry_after_ms: Some(10), ..v1::Error::new(ErrorReason::Overloaded, "later") };
    world.server.refuse_queues = vec![overloaded.clone(), overloaded];
    world.cut();
    world.run();
    assert_eq!(world.events, [SessionEvent::Queued(states(&["a"]))]);
    assert_eq!((&world.server.waiting[..], world.connections), (&["a:1".to_owned()][..], 2));
}

#[test]
fn what_stands_when_a_change_is_refused_is_what_the_hello_could_not_have_for_now() {
    for then_cut in [false, true] {
        let mut world = on_ladders(&["a"]);
        queue(&mut world, &["a"]).unwrap();
        let overloaded =
            v1::Error { retry_after_ms: Some(10), ..v1::Error::new(ErrorReason::Overloaded, "later") };
        world.server.refuse_queues = vec![overloaded];
        world.cut();
        world.core.wish(world.now, Wish::Ladders(queues(&["unknown"])));
        world.run();
        let refused = Error::Refused { asked: "wait on the ladders", refusal: no_such_ladder() };
        assert_eq!(world.queued.pop(), Some((Change(2), Err(refused))));
        assert_eq!(world.server.hellos[1..], [vec!["a:1".to_owned()]]);
        assert_eq!(world.events, [SessionEvent::Queued(states(&["a"]))]);
        if then_cut {
            world.cut();
            world.run();
        }
        assert_eq!(world.server.waiting, ["a:1"]);
    }
}

#[test]
fn a_bot_that_finishes_leaves_its_ladders_and_plays_what_they_gave_it_before() {
    let mut world = on_ladders(&["a"]);
    queue(&mut world, &["a"]).unwrap();
    assign(&mut world);
    while world.server.first().steps.len() < 4 && world.step() {}
    world.core.finish();
    // On its way before the server hears that the bot leaves.
    assign(&mut world);
    world.run();
    assert!(world.server.waiting.is_empty());
    assert_eq!((world.outcomes.len(), &world.closed[..]), (4, &[None][..]));
    for outcome in world.outcomes.values() {
        assert!(matches!(outcome.end, End::Result(_)), "{outcome}");
    }
    assert!(world.core.deadline().is_none(), "nothing is left to wait for");
}

#[test]
fn a_bot_that_finishes_while_it_is_cut_off_waits_no_more_and_finds_what_it_was_given() {
    let mut world = on_ladders(&["a"]);
    queue(&mut world, &["a"]).unwrap();
    assign(&mut world);
    world.cut();
    world.core.finish();
    world.run();
    assert_eq!(world.server.hellos, [vec![], Vec::<String>::new()]);
    assert!(world.server.waiting.is_empty());
    assert_eq!((world.outcomes.len(), &world.closed[..]), (2, &[None][..]));
}

#[test]
fn a_bot_that_finishes_before_its_queues_were_answered_is_told() {
    let mut world = on_ladders(&["a"]);
    world.core.wish(world.now, Wish::Ladders(queues(&["a"])));
    world.core.finish();
    world.core.finish();
    world.core.wish(world.now, Wish::Ladders(queues(&["a"])));
    world.run();
    assert_eq!(world.queued, [(Change(1), Err(Error::Finished)), (Change(3), Err(Error::Finished))]);
    assert_eq!((&world.closed[..], world.server.waiting.len()), (&[None][..], 0));
}

#[test]
fn a_bot_that_can_not_leave_ends_its_stream() {
    let mut world = on_ladders(&["a"]);
    queue(&mut world, &["a"]).unwrap();
    assign(&mut world);
    while world.server.first().steps.len() < 4 && world.step() {}
    world.server.leaving = Leaving::Refused;
    world.core.finish();
    world.run();
    assert_eq!((world.connections, world.server.waiting.len()), (2, 0));
    assert_eq!((world.outcomes.len(), &world.closed[..]), (2, &[None][..]));
}

#[test]
fn a_bot_that_is_stopped_does_not_wait_for_the_server() {
    let mut world = on_ladders(&["a"]);
    queue(&mut world, &["a"]).unwrap();
    world.core.wish(world.now, Wish::Ladders(queues(&["a:2"])));
    world.core.stop();
    world.perform();
    assert_eq!(
        (&world.closed[..], &world.queued[..]),
        (&[None][..], &[(Change(2), Err(Error::Finished))][..])
    );
    assert!(world.server.waiting.is_empty(), "its stream is gone");
}

#[test]
fn a_session_without_a_bots_token_waits_on_no_ladder() {
    let mut world = World::new(rules(2), Records::Ignored);
    assert_eq!(queue(&mut world, &["a"]), Err(Error::NoBot));
}

#[test]
fn a_session_that_can_not_go_on_says_so_to_who_waits_for_its_queues() {
    let mut world = World::of_bot(rules(2), Records::Ignored);
    world.core.wish(world.now, Wish::Ladders(queues(&["a"])));
    let refusal =
        Refusal { reason: ErrorReason::Unauthenticated, message: "revoked".to_owned(), decision: None };
    world.perform();
    world.cut_because(crate::error::Disconnect::Refused(refusal.clone()));
    world.perform();
    let error = Error::Refused { asked: "open a stream", refusal };
    assert_eq!(world.queued, [(Change(1), Err(error.clone()))]);
    assert_eq!(world.closed, [Some(error)]);
}

#[test]
fn a_bot_whose_token_was_rotated_plays_what_it_has_to_the_end_and_says_why_it_ends() {
    let mut world = on_ladders(&["a"]);
    queue(&mut world, &["a"]).unwrap();
    assign(&mut world);
    world.run_some(8);
    world.core.wish(world.now, Wish::Ladders(queues(&["a:2"])));
    let message = "this token was rotated".to_owned();
    let rotated = v1::TokenRotated { message: message.clone(), ..v1::TokenRotated::default() };
    let kind = Some(v1::play_response::Kind::TokenRotated(rotated));
    world.server.outbox.push_back(v1::PlayResponse { tag: 0, handle: 0, kind });
    while world.events.is_empty() && world.step() {}
    world.cut();
    // It is the new token's.
    assign(&mut world);
    world.run();
    let refusal = Refusal { reason: ErrorReason::TokenRotated, message, decision: None };
    let error = Error::Refused { asked: "take new seats", refusal: refusal.clone() };
    assert_eq!(world.closed, [Some(error)]);
    assert!(world.events.contains(&SessionEvent::TokenRotated(refusal)));
    assert_eq!(world.outcomes.len(), 2, "the seats of the first match");
    assert!(world.outcomes.values().all(|outcome| matches!(outcome.end, End::Result(_))));
    assert!(world.server.waiting.is_empty(), "it waits on no ladder");
}

#[test]
fn a_notice_reaches_the_user() {
    let conducts = [
        (v1::bot_conduct::Kind::Free(v1::FreeToPlay {}), Conduct::Free),
        (
            v1::bot_conduct::Kind::CoolingDown(v1::CoolingDown { until: Some(UNIX_EPOCH.into()) }),
            Conduct::CoolingDown { until: UNIX_EPOCH },
        ),
        (
            v1::bot_conduct::Kind::Benched(v1::Benched { until: Some(UNIX_EPOCH.into()) }),
            Conduct::Benched { until: Some(UNIX_EPOCH) },
        ),
        (v1::bot_conduct::Kind::Benched(v1::Benched { until: None }), Conduct::Benched { until: None }),
        (
            v1::bot_conduct::Kind::OutOfQuota(v1::OutOfQuota { until: Some(UNIX_EPOCH.into()) }),
            Conduct::OutOfQuota { until: UNIX_EPOCH },
        ),
    ];
    for (sent, conduct) in conducts {
        let mut world = on_ladders(&["a"]);
        let text = |text: &str| text.to_owned();
        let notice = v1::LadderNotice {
            ladder: text("a"),
            match_id: text("m7"),
            message: text("It did not come."),
            conduct: Some(v1::BotConduct { kind: Some(sent) }),
        };
        let kind = Some(v1::play_response::Kind::LadderNotice(notice));
        world.server.outbox.push_back(v1::PlayResponse { tag: 0, handle: 0, kind });
        world.run();
        let notice = LadderNotice {
            ladder: text("a"),
            match_id: text("m7"),
            message: text("It did not come."),
            conduct,
        };
        assert_eq!(world.events, [SessionEvent::LadderNotice(notice)]);
    }
}

#[test]
fn a_text_names_a_ladder_and_how_many_matches_at_once() {
    for (text, shown) in [("a", "a:1"), ("sackson-2:3", "sackson-2:3"), ("a.b_c:1000", "a.b_c:1000")] {
        assert_eq!(text.parse::<LadderQueue>().unwrap().to_string(), shown);
    }
    for text in ["", ":3", "a:", "a:0", "a:-1", "a:x", "a:3:4", "a:65536"] {
        assert_eq!(text.parse::<LadderQueue>(), Err(Error::Queue { text: text.to_owned() }));
    }
}
