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
