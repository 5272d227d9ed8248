//! What comes of not coming and of forfeits.

use zetema_ladder::conduct::{Status, Until};
use zetema_rules::fair::Nonce;

use super::*;

#[tokio::test(start_paused = true)]
async fn who_does_not_come_is_told_and_not_paired_for_a_while_and_the_other_waits_on() {
    let scene = Scene::new().await;
    let (ann, mut bob) = (scene.comes("ann").await, scene.comes("bob").await);
    let seat = scene.seated("ann", 1).await[0];
    scene.join("ann", seat).await;
    // Bob does not come: the join timeout aborts the match.
    let word = timeout(Duration::from_mins(1), bob.word()).await.expect("it is told");
    assert_eq!(word.match_id, Some(seat.0));
    assert!(word.notice.to_string().contains("strike 1"), "{}", word.notice);
    assert!(matches!(word.conduct, Status::CoolingDown { .. }), "{word:?}");
    let _cyd = scene.comes("cyd").await;
    let next = scene.seated("cyd", 1).await[0];
    assert_eq!(scene.seated("ann", 1).await[0].0, next.0);
    assert_eq!(scene.seats("bob"), []);
    let results = scene.ladders.results(LADDER, &ResultsFilter::default(), &first(10)).await.unwrap();
    let ends: Vec<_> = results.items[0].seats.iter().map(|seat| (seat.bot.as_str(), seat.end)).collect();
    assert!(ends.contains(&("bob", SeatEnd::NoShow)) && ends.contains(&("ann", SeatEnd::Played)), "{ends:?}");
    assert_eq!(results.items[0].seats[0].rating, None);
    // Half a minute later bob is free again.
    let _dan = scene.comes("dan").await;
    assert_eq!(scene.seated("bob", 1).await[0].0, scene.seated("dan", 1).await[0].0);
    drop(ann);
}

async fn told(presence: &mut Presence) -> Option<Word> {
    timeout(Duration::from_mins(1), presence.word()).await.ok()
}

#[tokio::test(start_paused = true)]
async fn who_was_not_there_is_told_when_it_is_back_once_and_after_a_restart_again() {
    let scene = Scene::new().await;
    let (ann, bob) = (scene.comes("ann").await, scene.comes("bob").await);
    let seat = scene.seated("ann", 1).await[0];
    scene.join("ann", seat).await;
    // It crashes, and the match is aborted.
    drop(bob);
    scene.seated("ann", 0).await;
    drop(ann);
    let mut bob = scene.waits("bob", 1).await;
    let word = told(&mut bob).await.expect("it hears what it missed");
    assert_eq!(word.match_id, Some(seat.0));
    assert!(word.notice.to_string().contains("strike 1"), "{}", word.notice);
    let mut other = scene.waits("bob", 1).await;
    assert_eq!(other.words(), [], "it was told");
    // A stream that ends soon after may not have brought it.
    drop((bob, other));
    let mut bob = scene.waits("bob", 1).await;
    assert_eq!(bob.words().iter().map(|word| word.match_id).collect::<Vec<_>>(), [Some(seat.0)]);
    tokio::time::sleep(limits::LADDER_WORDS_UNREAD).await;
    drop(bob);
    assert_eq!(scene.waits("bob", 1).await.words(), []);
    let scene = scene.restart().await;
    let words = scene.waits("bob", 1).await.words();
    assert_eq!(
        words.iter().map(|word| (word.match_id, word.conduct)).collect::<Vec<_>>(),
        [(Some(seat.0), Status::Free)]
    );
    tokio::time::sleep(limits::LADDER_WORDS_KEPT_FOR).await;
    let scene = scene.restart().await;
    assert_eq!(scene.waits("bob", 1).await.words(), [], "a day later nobody wants to know");
}

#[tokio::test(start_paused = true)]
async fn who_comes_and_sends_no_nonce_is_told_that() {
    let scene = Scene::new().await;
    let (_ann, mut bob) = (scene.comes("ann").await, scene.comes("bob").await);
    for name in ["ann", "bob"] {
        let (match_id, seat) = scene.seated(name, 1).await[0];
        let access = scene.matches.bot_access(match_id, seat, &bot(name), BotToken::FIRST).await.unwrap();
        let hash = Nonce::new(b"secret").unwrap().hash();
        scene.matches.join(match_id, access, Some(hash)).await.unwrap();
    }
    let word = told(&mut bob).await.unwrap();
    let text = word.notice.to_string();
    assert!(text.contains("did not send the nonce") && text.contains("strike 1"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_wall_clock_that_is_put_back_keeps_nobody_waiting_and_lets_nobody_off() {
    let scene = Scene::new().await;
    let (_ann, mut bob) = (scene.comes("ann").await, scene.comes("bob").await);
    for strike in 1..=3 {
        let seat = scene.seated("ann", 1).await[0];
        scene.join("ann", seat).await;
        let word = told(&mut bob).await.unwrap_or_else(|| panic!("strike {strike} is told"));
        assert!(word.notice.to_string().contains(&format!("strike {strike}")), "{}", word.notice);
        // The cool-downs of half a minute, a minute and two are over in time all the same.
        scene.clock.2.fetch_add(3_600_000, Ordering::Relaxed);
    }
    scene.seated("ann", 1).await;
}

fn status_of(picture: &Picture, name: &str) -> Option<Status> {
    picture.rows.iter().find(|row| row.bot == bot(name)).map(|row| row.conduct)
}

const BY_AUTHOR: Status = Status::Benched(Until::Author);

/// How a bot behaves on [`LADDER`].
async fn behaviour(scene: &Scene, name: &str) -> BotOnLadder {
    let all = scene.ladders.behaviour(bot(name)).await.expect("they say");
    assert_eq!(all.len(), scene.specs.iter().count(), "each ladder says");
    all.into_iter().find(|on| on.ladder.as_str() == LADDER).expect("it is a ladder")
}

#[tokio::test(start_paused = true)]
async fn whoever_looks_at_a_bot_that_is_not_there_sees_its_strikes_and_for_how_long_it_cools_down() {
    let scene = Scene::new().await;
    let (ann, bob) = (scene.comes("ann").await, scene.comes("bob").await);
    let seat = scene.seated("ann", 1).await[0];
    scene.join("ann", seat).await;
    // Bob is gone, and the match is aborted.
    drop(bob);
    scene.seated("ann", 0).await;
    drop(ann);
    scene.shows(|picture| picture.queued == 0 && picture.live == 0).await;
    let on = behaviour(&scene, "bob").await;
    let Status::CoolingDown { until_ms } = on.conduct else { panic!("{on:?}") };
    let ConductCounts { strikes, cool_down_until, matches_to_clear, forfeits, benches, .. } = on.counts;
    assert_eq!((strikes, matches_to_clear, forfeits, benches), (1, 5, 0, 0));
    assert_eq!(cool_down_until, Some(UnixMillis::new(until_ms)));
    assert!(!on.in_standings, "no match was rated");
    assert_eq!(behaviour(&scene, "ann").await.counts.strikes, 0);
    assert_eq!(behaviour(&scene, "never-seen").await.conduct, Status::Free);
    // The cool-down ends by itself, the strike still counts; so it is after a restart.
    tokio::time::sleep(Duration::from_mins(1)).await;
    let later = behaviour(&scene, "bob").await;
    assert_eq!((later.conduct, later.counts.strikes, later.counts.cool_down_until), (Status::Free, 1, None));
    let scene = scene.restart().await;
    assert_eq!(behaviour(&scene, "bob").await, later);
}

#[tokio::test(start_paused = true)]
async fn whoever_looks_at_a_bot_sees_how_near_the_bench_it_is_and_that_its_author_has_to_put_it_back() {
    let scene = Scene::new().await;
    let waiting = (scene.comes("ann").await, scene.comes("bob").await);
    for _ in 0..2 {
        scene.play("ann", "bob").await;
    }
    scene.shows(|picture| picture.rated_matches == 2).await;
    let on = behaviour(&scene, "bob").await;
    assert_eq!((on.conduct, on.in_standings), (Status::Free, true));
    let ConductCounts { forfeits, of_last_matches, forfeits_to_bench, .. } = on.counts;
    assert_eq!((forfeits, of_last_matches, forfeits_to_bench), (2, 10, 3));
    drop(waiting);
    let scene = Scene::new().await;
    let waiting = (scene.comes("ann").await, scene.comes("bob").await);
    bench_until_author(&scene, "ann", "bob").await;
    drop(waiting);
    let on = behaviour(&scene, "bob").await;
    assert_eq!((on.conduct, on.counts.benches, on.counts.forfeits), (BY_AUTHOR, 4, 0));
}

#[tokio::test(start_paused = true)]
async fn ladders_that_do_not_answer_say_nothing_of_a_bot_and_hold_nobody_up() {
    let scene = Scene::new().await;
    scene.stop.cancel();
    scene.tasks.close();
    scene.tasks.wait().await;
    assert_eq!(scene.ladders.behaviour(bot("ann")).await, None);
    assert_eq!(Ladders::none().behaviour(bot("ann")).await, Some(Vec::new()), "there is no ladder");
}

/// Three forfeits each: ten minutes, an hour, six hours, and then until its author acts.
pub(super) async fn bench_until_author(scene: &Scene, winner: &str, loser: &str) {
    for bench in 1..=4 {
        for _ in 0..3 {
            scene.play(winner, loser).await;
        }
        scene.shows(|picture| matches!(status_of(picture, loser), Some(Status::Benched(_)))).await;
        if bench < 4 {
            scene.shows(|picture| status_of(picture, loser) == Some(Status::Free)).await;
        }
    }
    scene.shows(|picture| status_of(picture, loser) == Some(BY_AUTHOR)).await;
}

#[tokio::test(start_paused = true)]
async fn who_forfeits_again_and_again_is_benched_until_its_author_puts_it_back_and_a_restart_knows() {
    let scene = Scene::new().await;
    let waiting = (scene.comes("ann").await, scene.comes("bob").await);
    bench_until_author(&scene, "ann", "bob").await;
    assert_eq!(scene.seats("bob"), []);
    let none = scene.ladders.reinstate(LADDER, bot("ann")).await.unwrap_err();
    assert!(matches!(none, LadderFault::Reinstate(_)), "{none}");
    for _ in 0..2 {
        assert_eq!(scene.ladders.reinstate(LADDER, bot("bob")).await, Ok(Status::Free));
        // Three more within the week.
        for _ in 0..3 {
            scene.play("ann", "bob").await;
        }
        scene.shows(|picture| status_of(picture, "bob") == Some(BY_AUTHOR)).await;
    }
    assert_eq!(scene.ladders.reinstate(LADDER, bot("bob")).await, Ok(Status::Free));
    scene.seated("bob", 1).await;
    let before = scene.shows(|picture| status_of(picture, "bob") == Some(Status::Free)).await;
    drop(waiting);
    let scene = scene.restart().await;
    let after = scene.shows(|picture| picture.rated_matches == 18).await;
    assert_eq!(after.rows, before.rows);
}

#[tokio::test(start_paused = true)]
async fn who_was_put_back_while_the_clock_was_ahead_is_so_after_a_restart_too() {
    let scene = Scene::new().await;
    let waiting = (scene.comes("ann").await, scene.comes("bob").await);
    bench_until_author(&scene, "ann", "bob").await;
    drop(waiting);
    assert_eq!(scene.ladders.reinstate(LADDER, bot("bob")).await, Ok(Status::Free));
    scene.clock.2.fetch_add(3_600_000, Ordering::Relaxed);
    let scene = scene.restart().await;
    let after = scene.shows(|picture| picture.rated_matches == 12).await;
    assert_eq!(status_of(&after, "bob"), Some(Status::Free));
}
