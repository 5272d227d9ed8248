//! What becomes of a load when another begins.

use super::*;

fn counts(scene: Scene) -> [u64; 4] {
    let outcome = scene.outcome();
    assert_eq!((outcome.faults().all(), outcome.totals().failures().all()), (0, 0));
    let totals = outcome.totals();
    [Count::Offered, Count::Unanswered, Count::ActionSent, Count::MatchBrokenOff]
        .map(|count| totals.counts().of(count))
}

#[tokio::test(start_paused = true)]
async fn what_another_load_leaves_has_its_time_and_the_moments_of_its_schedule_have_no_answer() {
    let (mut scene, _) = silent().await;
    scene.lane.end_load(Instant::now());
    let totals = scene.outcome().totals();
    let [offered, unanswered] = [Count::Offered, Count::Unanswered].map(|count| totals.counts().of(count));
    assert_eq!(
        unanswered, offered,
        "the answer that was sent has no receipt either when its schedule is over"
    );
    assert_eq!(totals.latencies(Measure::ActionToReceipt).unwrap().len(), unanswered);
}

#[tokio::test(start_paused = true)]
async fn the_matches_of_a_load_are_left_when_another_begins_and_nothing_of_them_is_done_later() {
    let mut scene = Scene::new();
    scene.start(0, 0, 1, Some(3));
    scene.start(1, 0, 1, None);
    scene.after(4 * MS).await;
    scene.lane.end_load(Instant::now());
    assert!(matches!(scene.lane.output(), Some(Output::Leave(0))));
    assert!(scene.finished.try_recv().is_err(), "who ends the load knows");
    let now = Instant::now();
    let first = || Schedule::new(now, Rate::new(1.0).unwrap(), Duration::ZERO, 3);
    scene.lane.follow(first());
    // Its player would have thought of an answer now.
    scene.after(8 * MS).await;
    scene.lane.begin(Created {
        match_id: "n".to_owned(),
        tokens: vec!["c".to_owned(), "d".to_owned()],
        asked: now,
        think: Think::default(),
        seed: 2,
    });
    let decided =
        v1::Snapshot { decision_number: Some(1), decision: Some(decision(2)), ..v1::Snapshot::default() };
    let start = v1::SubscriptionStart {
        kind: Some(v1::subscription_start::Kind::Snapshot(decided)),
        ..v1::SubscriptionStart::default()
    };
    scene.lane.joined(Instant::now(), SeatKey { table: 1, seat: 0 }, start);
    let due = first().next().unwrap();
    scene.after((due - Instant::now()).mul_f64(0.9)).await;
    assert_eq!(scene.acts(), [], "what the load before would have done is no moment of this schedule");
    scene.after(due - Instant::now()).await;
    assert_eq!(scene.acts(), [(0, 1)]);
    assert_eq!(counts(scene), [1, 0, 1, 0]);
}

#[tokio::test(start_paused = true)]
async fn what_comes_of_a_match_that_was_left_is_neither_counted_nor_a_fault() {
    let mut scene = Scene::acted().await;
    scene.lane.end_load(Instant::now());
    scene.observe(0, 1, Some(1), 2, None);
    scene.refuse(1, R::MatchOver);
    scene.lane.ended(seat(1), v1::SubscriptionEnd::default());
    assert_eq!(counts(scene), [0, 0, 1, 0]);
}
