//! What the ladders do when something is broken: the journal, or their own task.

use super::conduct::bench_until_author;
use super::*;
use crate::journal::{Journal, MetaKey, MetaValue, ResultNumber};

/// The ladders stand still: nobody new is let in, who waits is not paired, and what was counted is shown.
async fn stands_still(scene: &Scene, rated: u64) {
    let mut presence = scene.ladders.enter(bot("ann"));
    let refused = loop {
        match presence.wait_on(queue(LADDER, 1).into()).await {
            Err((0, QueueRefused::NotNow(NotNow::CatchingUp))) | Ok(_) => {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            Err(refused) => break refused,
        }
    };
    assert!(matches!(refused, (0, QueueRefused::NotNow(NotNow::StandStill(_)))), "{refused:?}");
    assert_eq!(presence.wait_on(Vec::new().into()).await, Ok(Vec::new()), "it waits nowhere as it is");
    assert_eq!(scene.shows(|_| true).await.rated_matches, rated);
    let reinstated = scene.ladders.reinstate(LADDER, bot("ann")).await;
    assert!(matches!(reinstated, Err(LadderFault::NotNow(NotNow::StandStill(_)))), "{reinstated:?}");
    let live = scene.matches.live();
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert!(scene.matches.live() <= live, "no match is made");
}

#[tokio::test(start_paused = true)]
async fn a_result_that_is_damaged_is_not_passed_over_and_nobody_is_paired_until_it_is_mended() {
    let scene = Scene::new().await;
    let waiting = (scene.comes("ann").await, scene.comes("bob").await);
    for _ in 0..3 {
        scene.play("ann", "bob").await;
    }
    scene.shows(|picture| picture.rated_matches == 3).await;
    drop(waiting);
    scene.journal.damage(ResultNumber::new(2));
    let scene = scene.restart().await;
    stands_still(&scene, 1).await;
    // It is gone after a repair, and so is its place in the ratings.
    scene.journal.lose(ResultNumber::new(2));
    let scene = scene.restart().await;
    scene.shows(|picture| picture.rated_matches == 2).await;
    let _waiting = (scene.waits("ann", 1).await, scene.waits("bob", 1).await);
    scene.seated("ann", 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_result_that_is_damaged_while_the_server_runs_ends_the_pairing() {
    let scene = Scene::new().await;
    let _waiting = (scene.comes("ann").await, scene.comes("bob").await);
    scene.play("ann", "bob").await;
    scene.shows(|picture| picture.rated_matches == 1).await;
    let seats = [("ann", scene.seated("ann", 1).await[0]), ("bob", scene.seated("bob", 1).await[0])];
    // Before the ladders have read what comes next.
    scene.journal.blind(1_000);
    for (name, seat) in seats {
        scene.join(name, seat).await;
    }
    scene.resign("bob", seats[1].1).await;
    scene.journal.damage(ResultNumber::new(2));
    scene.journal.blind(0);
    stands_still(&scene, 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_list_of_reinstatements_that_is_damaged_is_not_passed_over() {
    let scene = Scene::new().await;
    let (ann, bob) = (scene.comes("ann").await, scene.comes("bob").await);
    bench_until_author(&scene, "ann", "bob").await;
    scene.ladders.reinstate(LADDER, bot("bob")).await.unwrap();
    drop((ann, bob));
    let key = scene.journal.meta_keys().into_iter().find(|key| key.as_str().starts_with("reinstated-"));
    let key: MetaKey = key.expect("it is stored");
    assert!(matches!(
        scene.journal.replace_meta(key, MetaValue::new("what is none").unwrap()).await,
        crate::journal::Outcome::Done(())
    ));
    let scene = scene.restart().await;
    stands_still(&scene, 12).await;
}

#[tokio::test(start_paused = true)]
async fn after_a_panic_the_ladders_count_anew_and_who_waits_waits_on() {
    let scene = Scene::new().await;
    let _waiting = (scene.comes("ann").await, scene.comes("bob").await);
    scene.play("ann", "bob").await;
    let before = scene.shows(|picture| picture.rated_matches == 1).await;
    let seats = [scene.seated("ann", 1).await[0], scene.seated("bob", 1).await[0]];
    scene.accounts.panic_once();
    // It panics as it looks at who waits, and loses neither the match that goes on nor who waits.
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(!scene.accounts.panics(), "it has panicked");
    scene.ladders.caught_up().await.unwrap();
    let after = scene.shows(|picture| picture.live == 1 && picture.queued == 2).await;
    assert_eq!((&after.rows, after.rated_matches), (&before.rows, 1));
    assert_eq!(scene.seats("ann"), [seats[0]], "its place is taken");
    let history = scene.ladders.history(LADDER, &bot("ann"), &first(10)).await.unwrap();
    assert_eq!(history.items.len(), 1);
    scene.join("ann", seats[0]).await;
    scene.join("bob", seats[1]).await;
    scene.resign("bob", seats[1]).await;
    scene.shows(|picture| picture.rated_matches == 2).await;
    scene.seated("ann", 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_season_and_a_list_that_are_read_while_the_ladders_count_anew_are_of_all_results() {
    let scene = Scene::new().await;
    let _waiting = (scene.comes("ann").await, scene.comes("bob").await);
    for (winner, loser) in [("ann", "bob"), ("bob", "ann")] {
        scene.play(winner, loser).await;
    }
    scene.shows(|picture| picture.rated_matches == 2).await;
    // It takes a while to count after it has panicked.
    let mut phase = scene.ladders.0.wishes.phase();
    scene.journal.blind_to_ladders(5);
    scene.accounts.panic_once();
    phase.wait_for(|phase| *phase == Phase::Not(NotNow::CatchingUp)).await.unwrap();
    let archive = &scene.ladders.readable(LADDER).unwrap().archive;
    assert!(archive.results(&ResultsFilter::default(), &first(10)).await.unwrap().items.is_empty());
    let looked = scene.ladders.season(LADDER, SeasonSpan::default()).await.unwrap();
    assert_eq!((looked.first, looked.last), (ResultNumber::new(1), ResultNumber::new(2)));
    scene.journal.blind_to_ladders(5);
    scene.accounts.panic_once();
    phase.wait_for(|phase| *phase == Phase::Not(NotNow::CatchingUp)).await.unwrap();
    let listed = scene.ladders.results(LADDER, &ResultsFilter::default(), &first(10)).await.unwrap();
    assert_eq!((listed.items.len(), listed.next), (2, None));
}

#[tokio::test(start_paused = true)]
async fn what_is_read_in_steps_between_which_the_ladders_count_anew_is_not_told_as_the_whole() {
    let scene = Scene::new().await;
    let _waiting = (scene.comes("ann").await, scene.comes("bob").await);
    scene.play("ann", "bob").await;
    scene.shows(|picture| picture.rated_matches == 1).await;
    let archive = Arc::clone(&scene.ladders.readable(LADDER).unwrap().archive);
    let span = SeasonSpan::default();
    let counting = scene.ladders.counting();
    let cut = counting.read(&archive, async {
        let latest = archive.rated_of(span, 1).await?;
        archive.clear();
        let before = SeasonSpan { before: latest.results.last().map(|result| result.number), ..span };
        archive.rated_of(before, 1).await
    });
    assert_eq!(cut.await.map(|read| read.results), Err(NotNow::CatchingUp.into()));
    assert!(counting.read(&archive, archive.rated_of(span, 1)).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn until_the_results_are_counted_nobody_waits_and_nobody_is_told_what_is_not_so() {
    let scene = Scene::new().await;
    let waiting = (scene.comes("ann").await, scene.comes("bob").await);
    scene.play("ann", "bob").await;
    scene.shows(|picture| picture.rated_matches == 1).await;
    drop(waiting);
    // The journal can't be read for a while.
    let scene = scene.restart_as(specs(), 20).await;
    let mut ann = scene.ladders.enter(bot("ann"));
    assert_eq!(ann.wait_on(queue(LADDER, 1).into()).await, Err((0, NotNow::CatchingUp.into())));
    assert_eq!(ann.wait_on(Vec::new().into()).await, Ok(Vec::new()));
    let reinstated = scene.ladders.reinstate(LADDER, bot("ann")).await;
    assert_eq!(reinstated, Err(NotNow::CatchingUp.into()), "a call waits for a while");
    scene.shows(|picture| picture.rated_matches == 1).await;
    assert_eq!(scene.ladders.caught_up().await, Ok(()));
    assert!(ann.wait_on(queue(LADDER, 1).into()).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn ladders_that_have_ended_let_nobody_wait_and_let_everybody_leave() {
    let scene = Scene::new().await;
    let mut ann = scene.comes("ann").await;
    scene.stop.cancel();
    scene.tasks.close();
    scene.tasks.wait().await;
    assert_eq!(ann.wait_on(queue(LADDER, 1).into()).await, Err((0, NotNow::Stopping.into())));
    assert_eq!(ann.wait_on(Vec::new().into()).await, Ok(Vec::new()));
    let mut nowhere = Ladders::none().enter(bot("ann"));
    assert_eq!(nowhere.wait_on(Vec::new().into()).await, Ok(Vec::new()));
    let refused = nowhere.wait_on(queue(LADDER, 1).into()).await.unwrap_err();
    assert!(matches!(refused, (0, QueueRefused::NoLadder(_))), "{refused:?}");
}

#[tokio::test(start_paused = true)]
async fn what_a_bot_says_last_counts_and_who_went_away_is_kept_by_nobody() {
    let wishes = Wishes::new(Phase::Running);
    let (tell, _words) = mpsc::channel(1);
    let say = |places| wishes.say(1, &bot("ann"), queue(LADDER, places), &tell).unwrap();
    let (first, second) = (say(1), say(2));
    drop(first);
    let third = say(3);
    let taken = wishes.take();
    let [(1, Some(wanted))] = &taken[..] else { panic!("{taken:?}") };
    assert_eq!(wanted.queues, queue(LADDER, 3));
    assert_eq!(
        wanted.asked.iter().map(|asked| asked.queues.clone()).collect::<Vec<_>>(),
        [queue(LADDER, 2), queue(LADDER, 3)]
    );
    drop((second, third));
    assert!(wishes.take().is_empty());
    // Whom the task knows, it hears of; whom it never knew, nobody.
    wishes.leave(1);
    wishes.say(2, &bot("bob"), queue(LADDER, 1), &tell).unwrap();
    wishes.leave(2);
    let taken = wishes.take();
    assert!(matches!(&taken[..], [(1, None)]), "{taken:?}");
    assert!(wishes.take().is_empty());
}

#[tokio::test(start_paused = true)]
async fn results_that_are_lost_are_told_and_those_that_come_are_not() {
    let scene = Scene::new().await;
    let waiting = (scene.comes("ann").await, scene.comes("bob").await);
    for _ in 0..3 {
        scene.play("ann", "bob").await;
    }
    let shown = scene.shows(|picture| picture.rated_matches == 3).await;
    assert_eq!((shown.result_number, shown.lost_results), (ResultNumber::new(3), 0));
    drop(waiting);
    // The first one, and the last one, whose number is not given again.
    for number in [1, 3] {
        scene.journal.lose(ResultNumber::new(number));
    }
    let scene = scene.restart().await;
    let shown = scene.shows(|picture| picture.rated_matches == 1).await;
    assert_eq!((shown.result_number, shown.lost_results), (ResultNumber::new(3), 2));
    let _waiting = (scene.comes("ann").await, scene.comes("bob").await);
    scene.play("ann", "bob").await;
    let shown = scene.shows(|picture| picture.rated_matches == 2).await;
    assert_eq!((shown.result_number, shown.lost_results), (ResultNumber::new(4), 2));
}
