//! What is a fault at the end because it has not come.

use super::*;

/// What is said to be missing now, when these matches are over by their results.
fn check(scene: &Scene, ended: &HashSet<String>, expected: &[&str]) {
    scene.lane.tell_missing(Instant::now(), ended);
    let outcome = scene.recorder.clone().finish();
    let found: Vec<&str> = outcome.faults().first().iter().map(|fault| fault.text.as_str()).collect();
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.into_iter().zip(expected) {
        assert!(found.contains(expected), "{found}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_does_not_come_though_nothing_was_cut_is_a_fault() {
    let ended = HashSet::from([MATCH.to_owned()]);
    let no_end = "its result has come, and the seat was not told";
    let mut scene = Scene::acted().await;
    scene.after(Duration::from_secs(12)).await;
    check(&scene, &ended, &["nothing has come to the answer to decision 1 for 12 s", no_end, no_end]);
    // It was refused for now, or cut: then nothing is due.
    let mut scene = Scene::acted().await;
    scene.refuse(1, R::Overloaded);
    scene.after(AGAIN_AFTER).await;
    check(&scene, &ended, &[no_end, no_end]);
    let mut scene = Scene::acted().await;
    scene.lane.cut(Instant::now());
    scene.after(Duration::from_secs(8)).await;
    check(&scene, &ended, &[]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_waits_behind_others_is_none_that_is_missing() {
    let faults = |scene: &Scene| {
        scene.lane.tell_missing(Instant::now(), &HashSet::new());
        scene.recorder.clone().finish().faults().all()
    };
    // Of what was sent before it an answer comes now and then.
    let mut scene = Scene::acted().await;
    let sent = Instant::now();
    scene.after(Duration::from_mins(1)).await;
    (scene.lane.last_answered, scene.lane.last_heard) = (Some(sent - MS), Some(Instant::now()));
    assert_eq!(faults(&scene), 0, "a server reads as slowly as it will");
    // Of what was sent after it.
    let mut scene = Scene::acted().await;
    scene.after(Duration::from_mins(1)).await;
    (scene.lane.last_answered, scene.lane.last_heard) = (Some(Instant::now()), Some(Instant::now()));
    assert_eq!(faults(&scene), 1, "it was left out");
    // Of none.
    let mut scene = Scene::acted().await;
    scene.after(Duration::from_mins(1)).await;
    (scene.lane.last_answered, scene.lane.last_heard) = (Some(sent - MS), Some(sent));
    assert_eq!(faults(&scene), 1, "nothing is answered");
}

#[tokio::test(start_paused = true)]
async fn what_was_sent_on_a_connection_that_never_comes_back_is_a_fault() {
    let none = HashSet::new();
    let mut scene = Scene::acted().await;
    scene.after(2 * SECOND).await;
    scene.lane.cut(Instant::now());
    scene.after(12 * SECOND).await;
    check(
        &scene,
        &none,
        &["nothing has come to the answer to decision 1 for 14 s", "seat 1: its stream was cut 12 s ago"],
    );
    // It was cut, and came back: then its receipt is due as any other.
    let mut scene = Scene::acted().await;
    scene.lane.cut(Instant::now());
    scene.after(2 * SECOND).await;
    scene.start(0, 0, 1, Some(3));
    scene.start(1, 0, 1, None);
    scene.after(5 * SECOND).await;
    check(&scene, &none, &[]);
    scene.after(7 * SECOND).await;
    check(&scene, &none, &["nothing has come to the answer to decision 1 for 12 s"]);
    // It may not come back, as the server says: that is its answer.
    let mut scene = Scene::acted().await;
    scene.lane.cut(Instant::now());
    scene.after(12 * SECOND).await;
    scene.lane.join_refused(Instant::now(), seat(0), &v1::Error::new(R::LimitExceeded, "refused"));
    check(&scene, &none, &[]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_never_came_there_is_a_fault_and_one_that_was_refused_is_none() {
    let none = HashSet::new();
    let mut scene = Scene::acted().await;
    scene.after(12 * SECOND).await;
    scene.lane.act_refused(
        Instant::now(),
        (seat(0), 1),
        Failure::Transport(tonic::Code::Unavailable),
        None,
        "connection reset",
    );
    check(&scene, &none, &["nothing has come to the answer to decision 1 for 12 s"]);
    let mut scene = Scene::acted().await;
    scene.after(12 * SECOND).await;
    scene.refuse(1, R::Overloaded);
    check(&scene, &none, &[]);
}

/// The load rests. What is waited for then.
fn rests(scene: &mut Scene) -> tokio::sync::mpsc::Receiver<()> {
    let (answered, all_answered) = tokio::sync::mpsc::channel(1);
    scene.lane.rest(Instant::now(), answered);
    all_answered
}

fn is_waited_for(all_answered: &mut tokio::sync::mpsc::Receiver<()>) -> bool {
    all_answered.try_recv() == Err(tokio::sync::mpsc::error::TryRecvError::Empty)
}

#[tokio::test(start_paused = true)]
async fn a_match_in_which_nobody_is_given_the_next_decision_stands_still() {
    let none = HashSet::new();
    let mut scene = Scene::acted().await;
    // Its receipt has come, and nothing to the other seat, whose decision is next.
    scene.observe(0, 1, Some(1), 2, None);
    let mut all_answered = rests(&mut scene);
    scene.after(9 * SECOND).await;
    assert!(is_waited_for(&mut all_answered));
    check(&scene, &none, &[]);
    scene.after(3 * SECOND).await;
    // What others of the connection hear shows that it may wait behind them.
    scene.lane.last_heard = Some(Instant::now());
    check(&scene, &none, &[]);
    scene.lane.last_heard = None;
    scene.lane.last_taken = None;
    check(&scene, &HashSet::from([MATCH.to_owned()]), &["has come", "has come"]);
    let mut scene = Scene::acted().await;
    scene.observe(0, 1, Some(1), 2, None);
    scene.after(12 * SECOND).await;
    check(
        &scene,
        &none,
        &["it stands still: all answers have their receipts, and no decision has come for 12 s"],
    );
}

#[tokio::test(start_paused = true)]
async fn a_match_that_waits_for_its_player_does_not_stand_still() {
    let none = HashSet::new();
    // It thinks, and then its answer is not sent any more.
    let mut scene = Scene::new();
    scene.start(0, 0, 1, Some(3));
    scene.start(1, 0, 1, None);
    let mut all_answered = rests(&mut scene);
    assert!(!is_waited_for(&mut all_answered), "a player has the word");
    scene.after(20 * SECOND).await;
    check(&scene, &none, &[]);
    // Its decision waits for its place in a schedule.
    let mut scene = Scene::new();
    let schedule = Schedule::new(Instant::now(), Rate::new(0.001).unwrap(), Duration::ZERO, 1);
    scene.lane.follow(schedule);
    scene.start(0, 0, 1, Some(3));
    scene.start(1, 0, 1, None);
    scene.after(20 * SECOND).await;
    check(&scene, &none, &[]);
}

#[tokio::test(start_paused = true)]
async fn a_seat_that_is_asked_for_and_never_taken_is_a_fault() {
    let none = HashSet::new();
    let mut scene = Scene::new();
    scene.start(0, 0, 1, None);
    let mut all_answered = rests(&mut scene);
    scene.after(12 * SECOND).await;
    assert!(is_waited_for(&mut all_answered));
    check(
        &scene,
        &none,
        &["seat 1: the seat was asked for, and has neither a snapshot nor a refusal for 12 s"],
    );
    let mut scene = Scene::new();
    scene.lane.join_refused(Instant::now(), seat(1), &v1::Error::new(R::Overloaded, "refused"));
    let mut all_answered = rests(&mut scene);
    assert!(!is_waited_for(&mut all_answered), "that it is refused for now is an answer");
}
