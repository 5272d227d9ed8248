//! Bots whose streams are full, or nearly.

use super::*;

/// Long enough for whoever can be paired, and too short for a match to end by itself.
async fn a_while() {
    tokio::time::sleep(Duration::from_secs(3)).await;
}

fn other() -> Vec<(LadderName, NonZeroU16)> {
    queue("sackson-2", 2)
}

/// A bot that waits by a stream of so many seats.
async fn by_stream(scene: &Scene, name: &str, seats: u32, waits: Vec<(LadderName, NonZeroU16)>) -> Presence {
    scene.register(name, name, Quota::new(10, 1_000).unwrap());
    let mut presence = scene.ladders.enter_with(bot(name), Capacity::Seats(seats));
    presence.wait_on(waits.into()).await.unwrap();
    presence
}

/// Bots of one owner, which wait on a ladder with one place each.
async fn partners(scene: &Scene, ladder: &str, names: [&str; 2]) -> [Presence; 2] {
    for name in names {
        scene.register(name, "partners", Quota::new(10, 1_000).unwrap());
    }
    let mut all = names.map(|name| scene.ladders.enter(bot(name)));
    for presence in &mut all {
        presence.wait_on(queue(ladder, 1).into()).await.unwrap();
    }
    all
}

#[tokio::test(start_paused = true)]
async fn a_bot_that_goes_to_another_ladder_is_paired_there_as_its_matches_end() {
    let scene = Scene::new().await;
    let mut ann = by_stream(&scene, "ann", 2, queue(LADDER, 2)).await;
    let first = partners(&scene, LADDER, ["bob", "cyd"]).await;
    let seats = scene.seated("ann", 2).await;
    for seat in &seats {
        scene.join("ann", *seat).await;
    }
    for name in ["bob", "cyd"] {
        scene.join(name, scene.seated(name, 1).await[0]).await;
    }
    drop(first);
    ann.wait_on(other().into()).await.unwrap();
    let _partners = partners(&scene, "sackson-2", ["dan", "eve"]).await;
    a_while().await;
    assert_eq!(scene.seats("ann"), seats, "its stream has room for no more");
    scene.resign("ann", seats[0]).await;
    a_while().await;
    let now = scene.seats("ann");
    assert_eq!((now.len(), now.contains(&seats[1])), (2, true), "the first is over");
    assert_eq!(scene.seats("dan").len() + scene.seats("eve").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_bot_that_plays_beside_its_ladders_is_paired_as_far_as_there_is_room() {
    let scene = Scene::new().await;
    let ann = by_stream(&scene, "ann", 2, other()).await;
    let beside = ann.occupy(SeatOf::NoLadder).unwrap();
    let _partners = partners(&scene, "sackson-2", ["dan", "eve"]).await;
    a_while().await;
    assert_eq!(scene.seats("ann").len(), 1);
    drop(beside);
    a_while().await;
    assert_eq!(scene.seats("ann").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_bot_without_room_is_paired_when_it_has_some_and_keeps_nobody_waiting() {
    let scene = Scene::new().await;
    let ann = by_stream(&scene, "ann", 1, queue("sackson-2", 1)).await;
    let beside = ann.occupy(SeatOf::NoLadder).unwrap();
    let _partners = partners(&scene, "sackson-2", ["dan", "eve"]).await;
    a_while().await;
    assert_eq!(scene.seats("ann"), []);
    let _cyd = by_stream(&scene, "cyd", 1, queue("sackson-2", 1)).await;
    a_while().await;
    assert_eq!((scene.seats("cyd").len(), scene.seats("ann").len()), (1, 0));
    drop(beside);
    a_while().await;
    assert_eq!(scene.seats("ann").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn another_stream_or_calls_that_wait_on_ladders_make_room() {
    for capacity in [Capacity::Seats(1), Capacity::Unbounded] {
        let scene = Scene::new().await;
        let _ann = by_stream(&scene, "ann", 1, other()).await;
        let _partners = partners(&scene, "sackson-2", ["dan", "eve"]).await;
        a_while().await;
        assert_eq!(scene.seats("ann").len(), 1, "{capacity:?}");
        let mut another = scene.ladders.enter_with(bot("ann"), capacity);
        a_while().await;
        assert_eq!(scene.seats("ann").len(), 1, "what does not wait there takes nothing: {capacity:?}");
        another.wait_on(other().into()).await.unwrap();
        a_while().await;
        assert_eq!(scene.seats("ann").len(), 2, "{capacity:?}");
    }
}
