//! Ladders with other settings than the usual ones, and ladders that come and go.

use zetema_ladder::RatingOptions;
use zetema_ladder::pairing::{PairingOptions, SameOwner};
use zetema_ladder::{RatingSettings, pairing::PairingSettings};
use zetema_rules::{Rules, Teams};

use super::log::Log;
use super::*;

/// The usual ladders, with this one changed.
pub(super) fn with(change: impl Fn(&mut LadderSpec)) -> LadderSpecs {
    let change = |spec: &Arc<LadderSpec>| {
        let mut spec = (**spec).clone();
        if spec.name.as_str() == LADDER {
            change(&mut spec);
        }
        spec
    };
    LadderSpecs::new(specs().iter().map(change).collect()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_ladder_that_is_left_out_is_forgotten_until_it_is_there_again() {
    let scene = Scene::new().await;
    let waiting = (scene.comes("ann").await, scene.comes("bob").await);
    scene.play("ann", "bob").await;
    let before = scene.shows(|picture| picture.rated_matches == 1).await;
    let seats = [("ann", scene.seated("ann", 1).await[0]), ("bob", scene.seated("bob", 1).await[0])];
    drop(waiting);
    let others =
        specs().iter().filter(|spec| spec.name.as_str() != LADDER).map(|spec| (**spec).clone()).collect();
    let scene = scene.restart_as(LadderSpecs::new(others).unwrap(), 0).await;
    assert!(scene.ladders.picture(LADDER).is_err());
    let mut ann = scene.ladders.enter(bot("ann"));
    let refused = ann.wait_on(queue(LADDER, 1).into()).await.unwrap_err();
    assert!(matches!(refused, (0, QueueRefused::NoLadder(_))), "{refused:?}");
    // Its match is played all the same.
    for (name, seat) in seats {
        scene.join(name, seat).await;
    }
    scene.resign("ann", seats[0].1).await;
    scene.seated("ann", 0).await;
    drop(ann);
    let scene = scene.restart_as(specs(), 0).await;
    let after = scene.shows(|picture| picture.rated_matches == 2).await;
    assert_eq!(after.rows.iter().map(|row| row.entry.tally.forfeits).collect::<Vec<_>>(), [1, 1]);
    assert_ne!(after.rows, before.rows);
}

#[tokio::test(start_paused = true)]
async fn other_settings_rate_the_same_results_anew() {
    let scene = Scene::new().await;
    let waiting = (scene.comes("ann").await, scene.comes("bob").await);
    scene.play("ann", "bob").await;
    let before = scene.shows(|picture| picture.rated_matches == 1).await;
    drop(waiting);
    let rating = RatingSettings::new(RatingOptions { beta: 1.0, ..RatingOptions::default() }).unwrap();
    let scene = scene.restart_as(with(|spec| spec.rating = rating), 0).await;
    let after = scene.shows(|picture| picture.rated_matches == 1).await;
    assert_eq!(names(&after), names(&before));
    assert!(after.rows[0].entry.rating.mu > before.rows[0].entry.rating.mu, "less luck");
    let scene = scene.restart_as(specs(), 0).await;
    assert_eq!(scene.shows(|picture| picture.rated_matches == 1).await.rows, before.rows);
}

/// What a start says of results that were played by other rules.
fn of_other_rules(log: &Log) -> Vec<String> {
    log.lines().into_iter().filter(|line| line.contains("were played by other rules")).collect()
}

/// What each bot is rated.
fn rated(picture: &Picture) -> Vec<(&BotName, zetema_ladder::Entry)> {
    picture.rows.iter().map(|row| (&row.bot, row.entry)).collect()
}

/// The usual ladders, with other rules of this one, and what is usual by these.
fn by(rules: Rules) -> LadderSpecs {
    with(|spec| {
        let (players, teams) = (rules.player_count(), rules.teams);
        spec.rules = rules;
        spec.rating = RatingSettings::new(RatingOptions::usual(players, teams)).unwrap();
        spec.pairing = PairingSettings::new(PairingOptions::usual(players, teams)).unwrap();
    })
}

#[tokio::test(start_paused = true)]
async fn results_of_other_rules_and_numbers_of_players_count_on_under_the_name_and_each_start_warns_of_them()
{
    for (preset, teams, players) in [
        (Preset::Sackson, None, vec!["ann", "bob"]),
        (Preset::Quick, None, vec!["ann", "bob", "cat"]),
        (Preset::Sackson, Some(Teams::Pairs), vec!["ann", "bob", "cat", "dan"]),
    ] {
        let rules = preset.rules(players.len(), teams).unwrap();
        let scene = Scene::new().await;
        let waiting = (scene.comes("ann").await, scene.comes("bob").await);
        scene.play("ann", "bob").await;
        scene.play("ann", "bob").await;
        let before = scene.shows(|picture| picture.rated_matches == 2).await;
        // One more goes on over the restart.
        let goes_on = [("ann", scene.seated("ann", 1).await[0]), ("bob", scene.seated("bob", 1).await[0])];
        drop(waiting);

        let log = Log::default();
        let listening = log.listen();
        let scene = scene.restart_as(by(rules), 0).await;
        let after = scene.shows(|picture| picture.rated_matches == 2).await;
        // The usual β goes with the opponents of a bot.
        let as_before = players.len() == 2;
        assert_eq!(rated(&after) == rated(&before), as_before, "{players:?}");
        let told = of_other_rules(&log);
        let [line] = &told[..] else { panic!("{told:?}") };
        assert!(line.contains("WARN") && line.contains("ladder=quick-2 results=2 of=2"), "{line}");

        for (name, seat) in goes_on {
            scene.join(name, seat).await;
        }
        scene.resign("ann", goes_on[0].1).await;
        scene.shows(|picture| picture.rated_matches == 3).await;

        let mut waiting = Vec::new();
        for name in &players {
            waiting.push(scene.comes(name).await);
        }
        let mut seats = Vec::new();
        for name in &players {
            seats.push((*name, scene.seated(name, 1).await[0]));
        }
        for (name, seat) in &seats {
            scene.join(name, *seat).await;
        }
        assert_eq!(scene.matches.get(seats[0].1.0).await.unwrap().rules, rules);
        // One is enough for two teams.
        let last = if teams.is_some() { 1 } else { players.len() - 1 };
        for (name, seat) in &seats[1..=last] {
            scene.resign(name, *seat).await;
        }
        let mixed = scene.shows(|picture| picture.rated_matches == 4).await;
        assert_eq!(mixed.rows.len(), players.len());
        let ann = mixed.rows.iter().find(|row| row.bot.as_str() == "ann").unwrap();
        assert_eq!(ann.entry.tally.matches, 4, "one rating of both games");
        drop(waiting);

        let scene = scene.restart_as(specs(), 0).await;
        let again = scene.shows(|picture| picture.rated_matches == 4).await;
        assert_eq!(rated(&again) == rated(&mixed), as_before, "{players:?}");
        let told = of_other_rules(&log);
        let [line] = &told[..] else { panic!("{told:?}") };
        assert!(line.contains("ladder=quick-2 results=1 of=4"), "{line}");
        drop(listening);
    }
}

#[tokio::test(start_paused = true)]
async fn a_start_says_nothing_of_rules_that_are_as_they_were() {
    let scene = Scene::new().await;
    let waiting = (scene.comes("ann").await, scene.comes("bob").await);
    scene.play("ann", "bob").await;
    scene.shows(|picture| picture.rated_matches == 1).await;
    drop(waiting);
    let log = Log::default();
    let _listening = log.listen();
    let scene = scene.restart().await;
    scene.shows(|picture| picture.rated_matches == 1).await;
    assert_eq!(of_other_rules(&log), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn bots_of_one_owner_meet_where_they_may_and_are_rated_where_they_do_not_play_for_one_another() {
    for (same_owner, rated) in [(SameOwner::Opponents, 1), (SameOwner::Anywhere, 0)] {
        let specs = with(|spec| {
            let usual = PairingOptions::usual(spec.rules.player_count(), spec.rules.teams);
            spec.pairing = PairingSettings::new(PairingOptions { same_owner, ..usual }).unwrap();
        });
        let scene = Scene::with(specs).await;
        for name in ["ann-1", "ann-2"] {
            scene.register(name, "ann", Quota::new(10, 1_000).unwrap());
        }
        let _waiting = [scene.waits("ann-1", 1).await, scene.waits("ann-2", 1).await];
        scene.play("ann-1", "ann-2").await;
        let picture = scene.shows(|picture| picture.result_number.get() == 1).await;
        assert_eq!(picture.rated_matches, rated, "{same_owner:?}");
        let results = scene.ladders.results(LADDER, &ResultsFilter::default(), &first(10)).await.unwrap();
        assert_eq!(results.items.len(), 1);
        assert_eq!(results.items[0].seats[0].rating.is_some(), rated == 1);
        // Played or not rated, it frees their places.
        scene.seated("ann-1", 1).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_played_while_a_ladder_was_not_rated_is_never_rated() {
    let anywhere = with(|spec| {
        let usual = PairingOptions::usual(spec.rules.player_count(), spec.rules.teams);
        let options = PairingOptions { same_owner: SameOwner::Anywhere, ..usual };
        spec.pairing = PairingSettings::new(options).unwrap();
    });
    let scene = Scene::with(anywhere).await;
    for name in ["ann-1", "ann-2"] {
        scene.register(name, "ann", Quota::new(10, 1_000).unwrap());
    }
    let waiting = [scene.waits("ann-1", 1).await, scene.waits("ann-2", 1).await];
    scene.play("ann-1", "ann-2").await;
    // One more goes on over the restart.
    scene.shows(|picture| picture.result_number.get() == 1).await;
    let goes_on = [scene.seated("ann-1", 1).await[0], scene.seated("ann-2", 1).await[0]];
    drop(waiting);
    let scene = scene.restart_as(specs(), 0).await;
    for (name, seat) in ["ann-1", "ann-2"].into_iter().zip(goes_on) {
        scene.join(name, seat).await;
    }
    scene.resign("ann-2", goes_on[1]).await;
    let picture = scene.shows(|picture| picture.result_number.get() == 2).await;
    assert_eq!((picture.rated_matches, picture.rows.len()), (0, 0));
    let _waiting = [scene.waits("ann-1", 1).await, scene.comes("bob").await];
    scene.play("ann-1", "bob").await;
    assert_eq!(scene.shows(|picture| picture.result_number.get() == 3).await.rated_matches, 1);
}

#[tokio::test(start_paused = true)]
async fn every_stream_of_a_bot_is_told_what_came_of_its_match_and_no_other_bots() {
    let scene = Scene::new().await;
    let (mut ann, mut bob) = (scene.comes("ann").await, scene.comes("bob").await);
    let mut other = scene.waits("bob", 1).await;
    let seat = scene.seated("ann", 1).await[0];
    scene.join("ann", seat).await;
    let mut told = Vec::new();
    for presence in [&mut bob, &mut other] {
        told.push(timeout(Duration::from_mins(1), presence.word()).await.expect("it is told"));
    }
    assert_eq!(told[0], told[1]);
    assert_eq!(told[0].match_id, Some(seat.0));
    timeout(Duration::from_secs(1), ann.word()).await.expect_err("nothing is said of ann");
}
