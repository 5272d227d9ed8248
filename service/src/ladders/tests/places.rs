//! The places and quotas that matches take, and that they are free again whatever becomes of a match.

use zetema_rules::fair::Nonce;

use super::*;
use crate::table::Rejection;

/// The disk is full, or has room again.
fn disk(scene: &Scene, free: u64) {
    scene.disk_room.measured(free, 100);
}

/// Two bots that play one match at once each, and so many a day, and wait for as many as they may.
async fn two_of(scene: &Scene, a_day: u32) -> [Presence; 2] {
    for name in ["ann", "bob"] {
        scene.register(name, name, Quota::new(1, a_day).unwrap());
    }
    [scene.waits("ann", 5).await, scene.waits("bob", 5).await]
}

async fn a_while() {
    tokio::time::sleep(Duration::from_secs(10)).await;
}

#[tokio::test(start_paused = true)]
async fn a_match_that_is_over_before_it_is_known_to_be_made_is_counted_once_and_frees_its_places() {
    for blind in [0, 5] {
        let scene = Scene::new().await;
        scene.journal.doom(&[Fate::WrittenUnknown]);
        let _waiting = two_of(&scene, 4).await;
        scene.seated("ann", 1).await;
        // Meanwhile no match is made, and the journal can't tell what it has.
        disk(&scene, 0);
        scene.journal.blind(blind);
        scene.play("ann", "bob").await;
        let picture = scene.shows(|picture| picture.rated_matches == 1).await;
        assert_eq!(picture.live, 0);
        a_while().await;
        disk(&scene, 100);
        scene.play("ann", "bob").await;
        // Those were the two of four that they may play at any pace.
        scene.shows(|picture| picture.rated_matches == 2 && picture.live == 0).await;
        a_while().await;
        assert_eq!(scene.seats("ann"), []);
    }
}

#[tokio::test(start_paused = true)]
async fn a_match_that_was_asked_for_and_not_stored_is_not_made_later_of_who_has_left() {
    for fate in [Fate::LostUnknown, Fate::Fails] {
        let scene = Scene::new().await;
        scene.journal.doom(&[fate]);
        let [ann, _bob] = two_of(&scene, 100).await;
        scene.shows(|picture| picture.live == 1).await;
        drop(ann);
        a_while().await;
        assert_eq!((scene.matches.live(), scene.seats("bob")), (0, vec![]), "{fate:?}");
        let _cyd = scene.comes("cyd").await;
        assert_eq!(scene.seated("bob", 1).await[0].0, scene.seated("cyd", 1).await[0].0);
        let picture = scene.shows(|picture| picture.live == 1).await;
        assert_eq!(picture.result_number.get(), 0, "nobody has a strike");
    }
}

#[tokio::test(start_paused = true)]
async fn one_request_in_doubt_keeps_nobody_else_from_playing() {
    let scene = Scene::new().await;
    scene.journal.doom(&[Fate::LostUnknown]);
    let _first = two_of(&scene, 100).await;
    scene.shows(|picture| picture.live == 1).await;
    scene.journal.blind(1_000);
    let _others = [scene.comes("cyd").await, scene.comes("dan").await];
    scene.seated("cyd", 1).await;
    assert_eq!(scene.seats("ann"), []);
    scene.journal.blind(0);
    scene.seated("ann", 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_match_that_cannot_go_on_takes_no_places() {
    let scene = Scene::new().await;
    let _waiting = two_of(&scene, 1).await;
    let seat = scene.seated("ann", 1).await[0];
    scene.journal.doom(&[Fate::Fenced]);
    let access = scene.matches.bot_access(seat.0, seat.1, &bot("ann"), BotToken::FIRST).await.unwrap();
    let refused = scene.matches.join(seat.0, access, None).await.unwrap_err();
    assert!(matches!(refused, Rejection::MatchDamaged(_) | Rejection::Damaged), "{refused}");
    let next = scene.seated("ann", 1).await[0];
    assert!(next.0 != seat.0);
    assert_eq!(scene.shows(|picture| picture.live == 1).await.rated_matches, 0);
    // That it is cancelled later changes nothing.
    scene.matches.command(seat.0, Ask::Cancel, scene.matches.arrival(None)).await.unwrap();
    scene.play("ann", "bob").await;
    scene.shows(|picture| picture.rated_matches == 1 && picture.live == 0).await;
}

#[tokio::test(start_paused = true)]
async fn a_match_that_is_cancelled_counts_for_the_day_if_it_was_dealt() {
    for (joined, nonces, is_dealt) in
        [(0, false, false), (1, false, false), (2, true, false), (2, false, true)]
    {
        let scene = Scene::new().await;
        let _waiting = two_of(&scene, 1).await;
        let seats = [("ann", scene.seated("ann", 1).await[0]), ("bob", scene.seated("bob", 1).await[0])];
        for (name, (match_id, seat)) in &seats[..joined] {
            let access =
                scene.matches.bot_access(*match_id, *seat, &bot(name), BotToken::FIRST).await.unwrap();
            let hash = nonces.then(|| Nonce::new(b"secret").unwrap().hash());
            scene.matches.join(*match_id, access, hash).await.unwrap();
        }
        let match_id = seats[0].1.0;
        scene.matches.command(match_id, Ask::Cancel, scene.matches.arrival(None)).await.unwrap();
        let picture = scene.shows(|picture| picture.result_number.get() == 1).await;
        assert_eq!(picture.rated_matches, 0);
        a_while().await;
        assert_eq!(scene.seats("ann").is_empty(), is_dealt, "{joined} joined, nonces {nonces}");
        // A restart counts as much.
        let scene = scene.restart().await;
        let _waiting = [scene.waits("ann", 5).await, scene.waits("bob", 5).await];
        a_while().await;
        assert_eq!(scene.seats("ann").is_empty(), is_dealt, "{joined} joined, nonces {nonces}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_bot_that_has_played_half_of_its_day_is_told_until_when_it_waits_and_plays_then() {
    let scene = Scene::new().await;
    let [mut ann, _bob] = two_of(&scene, 2).await;
    let states = ann.wait_on(queue(LADDER, 5).into()).await.unwrap();
    assert_eq!(states[0].quota_until, None);
    scene.play("ann", "bob").await;
    let word = timeout(Duration::from_mins(1), ann.word()).await.expect("it is told");
    assert_eq!(word.match_id, None);
    assert!(word.notice.to_string().contains("1 of the 2 matches"), "{}", word.notice);
    scene.seated("ann", 0).await;
    let states = ann.wait_on(queue(LADDER, 5).into()).await.unwrap();
    assert_eq!(states[0].quota_until, word.quota_until);
    let left_ms = word.quota_until.unwrap().get() - scene.clock.wall().get();
    assert!((23..25).contains(&(left_ms / 3_600_000)), "{left_ms}");
    tokio::time::sleep(Duration::from_millis(left_ms - 2_000)).await;
    assert_eq!(scene.seats("ann"), []);
    assert_eq!(ann.words(), [], "it was told once");
    scene.seated("ann", 1).await;
}

#[tokio::test(start_paused = true)]
async fn bots_that_wait_on_two_ladders_and_may_play_one_match_play_on_both_in_turn() {
    let scene = Scene::new().await;
    let mut waiting = two_of(&scene, 100).await;
    let both = [queue("quick-2", 4), queue("sackson-2", 4)].concat();
    for presence in &mut waiting {
        presence.wait_on(both.clone().into()).await.unwrap();
    }
    let mut played = HashMap::<LadderName, usize>::new();
    for _ in 0..6 {
        let (match_id, _) = scene.seated("ann", 1).await[0];
        *played.entry(scene.matches.get(match_id).await.unwrap().ladder.unwrap()).or_default() += 1;
        scene.play("ann", "bob").await;
        scene.seated("ann", 0).await;
    }
    assert_eq!(played.values().collect::<Vec<_>>(), [&3, &3], "{played:?}");
}

#[tokio::test(start_paused = true)]
async fn a_bot_that_is_registered_anew_plays_as_its_new_owners() {
    let scene = Scene::new().await;
    let waiting = two_of(&scene, 100).await;
    scene.play("ann", "bob").await;
    scene.shows(|picture| picture.rated_matches == 1).await;
    drop(waiting);
    scene.accounts.0.lock().unwrap().clear();
    let scene = scene.restart().await;
    scene.shows(|picture| picture.rated_matches == 1).await;
    let _waiting = two_of(&scene, 100).await;
    scene.play("bob", "ann").await;
    // Then one changes hands while it waits.
    scene.register("ann", "bob", Quota::new(1, 100).unwrap());
    scene.shows(|picture| picture.rated_matches == 2 && picture.live == 0).await;
    a_while().await;
    assert_eq!(scene.seats("ann"), [], "bots of one owner don't meet");
    scene.register("ann", "cyd", Quota::new(1, 100).unwrap());
    scene.seated("ann", 1).await;
}
