//! What is suspected of bots by real matches, and who has to wait for it.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::join_all;
use zetema_ladder::conduct::{ConductOptions, ConductSettings};
use zetema_ladder::{Finding, Uncompared};

use super::settings::with;
use super::*;
use crate::journal::ResultNumber;
use crate::ladders::archive::RatedResults;

/// Who resigns now and then is not benched here.
async fn patient() -> Scene {
    patient_with(usual_room()).await
}

pub(super) async fn patient_with(room: Room) -> Scene {
    let conduct = ConductOptions { forfeits_to_bench: 64, of_last_matches: 64, ..ConductOptions::default() };
    let conduct = ConductSettings::new(conduct).unwrap();
    Scene::with_room(with(|spec| spec.conduct = conduct), room).await
}

/// Plays so many rounds, in which each bot has a match; `loser` says who of two resigns, told how often they have met. All of a round are
/// free at once, so that they meet one another in turn.
async fn play(scene: &Scene, bots: &[&str], rounds: usize, loser: impl Fn([&str; 2], usize) -> usize) {
    let mut met: BTreeMap<[String; 2], usize> = BTreeMap::new();
    let mut rated = scene.shows(|_| true).await.rated_matches;
    let mut played: BTreeSet<MatchId> = BTreeSet::new();
    for _ in 0..rounds {
        let mut seats: BTreeMap<MatchId, Vec<(&str, zetema_rules::Seat)>> = BTreeMap::new();
        let mut left: BTreeSet<&str> = bots.iter().copied().collect();
        let seated = async {
            // Whoever is paired first joins first: some may have to wait longer than others have to join.
            while !left.is_empty() {
                for bot in bots {
                    let seats_now = scene.seats(bot);
                    // A match that is counted may keep its seats for a moment.
                    if let [(match_id, seat)] = seats_now[..]
                        && left.contains(bot)
                        && !played.contains(&match_id)
                    {
                        scene.join(bot, (match_id, seat)).await;
                        seats.entry(match_id).or_default().push((bot, seat));
                        left.remove(bot);
                    }
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        timeout(Duration::from_mins(5), seated).await.expect("all bots are paired");
        let mut losers = Vec::new();
        for (match_id, pair) in seats {
            played.insert(match_id);
            let names = [pair[0].0, pair[1].0];
            let times = met.entry(names.map(str::to_owned)).or_default();
            let (bot, seat) = pair[loser(names, *times)];
            *times += 1;
            losers.push((bot, (match_id, seat)));
            rated += 1;
        }
        // At once: who is free before the others would meet its opponent again.
        join_all(losers.into_iter().map(|(bot, seat)| scene.resign(bot, seat))).await;
        scene.shows(|picture| picture.rated_matches == rated).await;
    }
}

/// All results of a ladder.
const ALL: SeasonSpan = SeasonSpan { since: None, before: None };

fn since(ended: u64) -> SeasonSpan {
    SeasonSpan { since: Some(UnixMillis::new(ended)), ..ALL }
}

async fn season(scene: &Scene) -> Arc<Season> {
    loop {
        match scene.ladders.season(LADDER, ALL).await {
            Ok(season) => return season,
            Err(LadderFault::NoSeason(NoSeason::Looking)) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// Eve resigns against dan, who loses seven of eight matches to all others, while she wins as many; who loses of the others goes by turns.
fn eve_feeds_dan(names: [&str; 2], times: usize) -> usize {
    let at = |name| names.iter().position(|other| *other == name);
    match (at("eve"), at("dan")) {
        (Some(eve), Some(_)) => eve,
        (Some(eve), None) if times % 8 == 7 => eve,
        (Some(eve), None) => 1 - eve,
        (None, Some(dan)) if times % 8 == 7 => 1 - dan,
        (None, Some(dan)) => dan,
        (None, None) => times % 2,
    }
}

#[tokio::test(start_paused = true)]
async fn a_bot_that_always_loses_to_one_other_is_listed_with_its_evidence_and_nobody_else_is() {
    let scene = patient().await;
    let bots = ["ann", "bob", "dan", "eve"];
    let mut waiting = Vec::new();
    for bot in bots {
        waiting.push(scene.comes(bot).await);
    }
    play(&scene, &bots, 160, eve_feeds_dan).await;
    let season = season(&scene).await;
    assert_eq!((season.matches, season.unread, season.found), (320, 0, season.suspicions.len()));
    assert_eq!((season.first, season.last), (ResultNumber::new(1), ResultNumber::new(320)));
    // All matches were resigned before a card was chosen.
    let untold = Uncompared { pairs: 6, of_pairs: 6, lacking_matches: None };
    assert_eq!(season.uncompared, untold);
    let [suspected] = &season.suspicions[..] else { panic!("{:#?}", season.suspicions) };
    let Finding::LosesTo { loser, winner, meetings, lost, .. } = &suspected.finding else {
        panic!("{suspected:?}")
    };
    assert_eq!((loser.as_str(), winner.as_str(), meetings), ("eve", "dan", lost));
    assert!(suspected.line.starts_with("eve loses to dan: behind in"), "{}", suspected.line);
    assert!(suspected.significance.p_value <= suspected.significance.bar);
    assert_eq!(suspected.seen_in, *lost);
    assert_eq!(suspected.results.len(), suspected.seen_in.min(limits::MAX_CITED_RESULTS));
    for (number, match_id) in &suspected.results {
        let result = scene.matches.result(*number).await.unwrap().expect("it is a result");
        assert_eq!(result.info.match_id, *match_id);
        let played = result.info.seats.iter().map(|seat| seat.bot.clone().unwrap());
        assert_eq!(played.collect::<BTreeSet<_>>(), [bot("dan"), bot("eve")].into_iter().collect());
    }
}

#[tokio::test(start_paused = true)]
async fn who_resigns_all_of_its_matches_is_listed_as_one_who_abandons_them() {
    let scene = patient().await;
    let bots = ["ann", "bob"];
    let _waiting = (scene.comes("ann").await, scene.comes("bob").await);
    play(&scene, &bots, 30, |names, _| usize::from(names[1] == "bob")).await;
    let season = season(&scene).await;
    let [suspected] = &season.suspicions[..] else { panic!("{:#?}", season.suspicions) };
    let Finding::Abandons { bot, matches, resigned, disconnected, .. } = &suspected.finding else {
        panic!("{suspected:?}")
    };
    assert_eq!((bot.as_str(), *matches, *resigned, *disconnected), ("bob", 30, 30, 0));
}

#[tokio::test(start_paused = true)]
async fn a_season_is_shown_for_a_while_then_looked_at_anew_and_of_another_time_at_once() {
    let scene = patient().await;
    let bots = ["ann", "bob"];
    let waiting = (scene.comes("ann").await, scene.comes("bob").await);
    play(&scene, &bots, 2, |_, times| times % 2).await;
    let first = season(&scene).await;
    assert_eq!((first.matches, first.suspicions.len()), (2, 0));
    let clock = scene.clock.wall();
    play(&scene, &bots, 1, |_, _| 0).await;
    assert!(Arc::ptr_eq(&first, &season(&scene).await), "it was looked at a moment ago");
    let last = |number| scene.ladders.last_season(LADDER, ALL, ResultNumber::new(number)).unwrap();
    assert!(last(2).is_some_and(|season| Arc::ptr_eq(&first, &season)) && last(3).is_none());
    let since = scene.ladders.season(LADDER, since(clock.get())).await.unwrap();
    assert_eq!((since.first, since.last, since.matches), (ResultNumber::new(3), ResultNumber::new(3), 1));
    assert!(Arc::ptr_eq(&first, &season(&scene).await), "the look at another time is another one");
    // Who waits and does not come would be in no hurry to be paired again.
    drop(waiting);
    tokio::time::sleep(limits::SEASON_KEPT).await;
    let _waiting = (scene.waits("ann", 1).await, scene.waits("bob", 1).await);
    play(&scene, &bots, 1, |_, _| 1).await;
    assert_eq!(season(&scene).await.matches, 4);
}

#[tokio::test(start_paused = true)]
async fn no_season_is_looked_at_while_the_server_is_late_and_a_record_that_is_damaged_is_left_out() {
    let scene = patient().await;
    let bots = ["ann", "bob"];
    let _waiting = (scene.comes("ann").await, scene.comes("bob").await);
    play(&scene, &bots, 3, |_, times| times % 2).await;
    scene.journal.damage_record(ResultNumber::new(2));
    scene.pressure.pretend(Duration::from_secs(1));
    for _ in 0..3 {
        let looking = scene.ladders.season(LADDER, ALL).await.unwrap_err();
        assert_eq!(looking, LadderFault::NoSeason(NoSeason::Looking));
    }
    scene.pressure.pretend(Duration::ZERO);
    let season = season(&scene).await;
    assert_eq!((season.matches, season.unread), (2, 1));
    assert_eq!((season.first, season.last), (ResultNumber::new(1), ResultNumber::new(3)));
}

#[tokio::test(start_paused = true)]
async fn records_that_stay_out_of_reach_are_left_out_of_a_season_before_long() {
    let scene = patient().await;
    let bots = ["ann", "bob"];
    let _waiting = (scene.comes("ann").await, scene.comes("bob").await);
    play(&scene, &bots, 4, |_, times| times % 2).await;
    [1, 3].map(ResultNumber::new).iter().for_each(|number| scene.journal.hide_record(*number));
    let began = tokio::time::Instant::now();
    let season = season(&scene).await;
    assert_eq!((season.matches, season.unread), (2, 2));
    assert!(began.elapsed() < Duration::from_secs(32), "all together: {:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_ladder_without_results_has_nothing_that_is_suspected() {
    let scene = Scene::new().await;
    let season = season(&scene).await;
    assert_eq!((season.matches, season.first, season.suspicions.len()), (0, ResultNumber::ZERO, 0));
    assert!(matches!(scene.ladders.season("nowhere", ALL).await, Err(LadderFault::NoLadder(_))));
}

const LATE: Duration = Duration::from_secs(1);

fn is_looked_at(season: Result<Arc<Season>, LadderFault>) -> bool {
    match season {
        Ok(_) => false,
        Err(LadderFault::NoSeason(NoSeason::Looking)) => true,
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_season_that_nobody_came_back_for_is_looked_at_anew_when_it_is_old() {
    let scene = patient().await;
    let bots = ["ann", "bob"];
    let _waiting = (scene.comes("ann").await, scene.comes("bob").await);
    play(&scene, &bots, 1, |_, _| 0).await;
    scene.pressure.pretend(LATE);
    assert!(is_looked_at(scene.ladders.season(LADDER, ALL).await));
    scene.pressure.pretend(Duration::ZERO);
    // It is looked at, and nobody asks.
    tokio::time::sleep(limits::SEASON_KEPT + Duration::from_mins(1)).await;
    scene.pressure.pretend(LATE);
    assert!(is_looked_at(scene.ladders.season(LADDER, ALL).await));
}

#[tokio::test(start_paused = true)]
async fn nobody_puts_an_end_to_the_season_that_another_waits_for() {
    let scene = patient().await;
    let bots = ["ann", "bob"];
    let _waiting = (scene.comes("ann").await, scene.comes("bob").await);
    play(&scene, &bots, 1, |_, _| 0).await;
    let of = |ended: u64| scene.ladders.season(LADDER, since(ended));
    scene.pressure.pretend(LATE);
    let most = limits::MAX_SEASONS_UNDER_WAY as u64;
    for ended in 0..=most {
        assert!(is_looked_at(of(ended).await));
    }
    scene.pressure.pretend(Duration::ZERO);
    tokio::time::sleep(Duration::from_mins(1)).await;
    // None is looked at any more, so what is known was looked at.
    scene.pressure.pretend(LATE);
    for ended in 0..most {
        assert_eq!(of(ended).await.unwrap().matches, 1);
    }
    assert!(is_looked_at(of(most).await), "there were enough before it");
}

#[tokio::test(start_paused = true)]
async fn a_record_that_cannot_be_read_just_now_is_waited_for() {
    let scene = patient().await;
    let bots = ["ann", "bob"];
    let _waiting = (scene.comes("ann").await, scene.comes("bob").await);
    play(&scene, &bots, 3, |_, times| times % 2).await;
    // Else the luck of them might be what can't be read.
    let luck = scene.ladders.luck(LADDER).unwrap();
    while luck.result_number() < ResultNumber::new(3) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    scene.journal.blind(5);
    let season = season(&scene).await;
    assert_eq!((season.matches, season.unread), (3, 0));
}

#[tokio::test(start_paused = true)]
async fn a_season_of_a_server_that_stops_is_not_now_and_no_fault() {
    let scene = patient().await;
    scene.pressure.pretend(LATE);
    assert!(is_looked_at(scene.ladders.season(LADDER, ALL).await));
    scene.stop.cancel();
    let stopped = scene.ladders.season(LADDER, ALL).await.unwrap_err();
    assert_eq!(stopped, LadderFault::NotNow(NotNow::Stopping));
}

/// One that looks at seasons of a scene within other bounds.
fn honesty(scene: &Scene, bounds: Bounds) -> Honesty {
    Honesty::new(Sources {
        matches: scene.matches.clone(),
        accounts: Arc::<Registered>::clone(&scene.accounts),
        house_bots: HouseBots::default(),
        pressure: Arc::clone(&scene.pressure),
        stop: scene.stop.clone(),
        bounds,
        counting: scene.ladders.counting(),
    })
}

#[tokio::test(start_paused = true)]
async fn suspicions_before_a_result_look_at_the_season_that_ends_there() {
    // Of these seasons nearly all is in files.
    let scene = patient_with(Room { memory: 50, block: 64, unwritten: 1_000 }).await;
    let bots = ["ann", "bob", "dan", "eve"];
    let mut waiting = Vec::new();
    for bot in bots {
        waiting.push(scene.comes(bot).await);
    }
    play(&scene, &bots, 160, eve_feeds_dan).await;
    // Then nobody cheats any more, for a season and a half.
    play(&scene, &bots, 240, |_, times| times % 2).await;
    let readable = scene.ladders.readable(LADDER).unwrap();
    let honesty = honesty(&scene, Bounds { results: 320, bytes: usize::MAX });
    let look = async |before: Option<u64>| {
        let span = SeasonSpan { before: before.map(ResultNumber::new), ..ALL };
        let season = honesty.season(&readable.spec, &readable.archive, span).await.unwrap();
        let named = season.suspicions.iter().map(|suspected| match &suspected.finding {
            Finding::LosesTo { loser, winner, .. } => format!("{loser} to {winner}"),
            finding => panic!("{finding:?}"),
        });
        let left_out_to = season.left_out_to.map(ResultNumber::get);
        (season.first.get(), season.last.get(), left_out_to, named.collect::<Vec<_>>())
    };
    let nobody = Vec::<String>::new();
    assert_eq!(look(None).await, (481, 800, Some(480), nobody.clone()));
    // From season to season, as long as any is left out.
    assert_eq!(look(Some(321)).await, (1, 320, None, vec!["eve to dan".to_owned()]));
    assert_eq!(look(Some(641)).await, (321, 640, Some(320), nobody.clone()));
    assert_eq!(look(Some(1)).await, (0, 0, None, nobody));
    // What is known of one season is not told of another.
    assert_eq!(look(None).await.0, 481);
    let unknown = SeasonSpan { before: Some(ResultNumber::new(321)), ..ALL };
    assert_eq!(honesty.last(&readable.spec.name, unknown, ResultNumber::new(800)), None);
    assert!(honesty.last(&readable.spec.name, unknown, ResultNumber::new(320)).is_some());
}

#[tokio::test(start_paused = true)]
async fn a_season_has_no_more_than_its_bounds_and_says_what_it_leaves_out() {
    let scene = patient().await;
    let bots = ["ann", "bob"];
    let _waiting = (scene.comes("ann").await, scene.comes("bob").await);
    play(&scene, &bots, 3, |_, times| times % 2).await;
    let readable = scene.ladders.readable(LADDER).unwrap();
    let look = async |results, bytes| {
        let honesty = honesty(&scene, Bounds { results, bytes });
        let season = honesty.season(&readable.spec, &readable.archive, ALL).await.unwrap();
        let Season { first, last, matches, left_out_to, .. } = *season;
        (first.get(), last.get(), matches, left_out_to.map(ResultNumber::get))
    };
    assert_eq!(look(3, usize::MAX).await, (1, 3, 3, None));
    assert_eq!(look(2, usize::MAX).await, (2, 3, 2, Some(1)));
    assert_eq!(look(0, usize::MAX).await, (0, 0, 0, Some(3)));
    assert_eq!(look(3, 0).await, (0, 0, 0, Some(3)));
}

/// What docs/honesty.md says of matches of two: how many are a stretch of 6,000 preferences, by `sackson` and by `parlett`, and in how many
/// stretches bots must all be nearer, which each have the chance of ½, for a fifth of a hundredth over all pairs.
#[test]
fn the_page_has_how_many_bots_a_season_is_long_enough_for() {
    for (matches_a_stretch, bytes_a_match, most) in [(22, 3_000, 92), (52, 1_500, 57)] {
        let results = limits::SEASON_RESULTS.min(limits::SEASON_BYTES / bytes_a_match);
        let is_enough = |bots: usize| {
            let stretches = 2 * results / bots / matches_a_stretch;
            let pairs = bots * (bots - 1) / 2;
            let needed = (0..usize::BITS).find(|&stretches| 1_usize << stretches >= 500 * pairs).unwrap();
            stretches >= usize::try_from(needed).unwrap()
        };
        assert_eq!((2..500).filter(|&bots| is_enough(bots)).max(), Some(most), "{matches_a_stretch} matches");
    }
    // Of 150 decisions, and of two seats with 150 preferences each, so that a season has room for all of them.
    const { assert!(limits::SEASON_RESULTS * (150 * 2 + 2 * 150 * 4) <= limits::SEASON_BYTES) };
}

#[tokio::test]
async fn the_rated_results_of_a_time_are_found_wherever_they_are_and_what_is_left_out_is_said() {
    const MOST: u64 = 6_250;
    const { assert!((limits::LADDER_RESULTS_LOOKED_AT as u64) < MOST) };
    let archive = in_memory(6_250);
    let rating = zetema_ladder::RatingSettings::default().first();
    let add = |number: u64| {
        let mut result = LoggedResult { ended_at: UnixMillis::new(1_000 + number), ..aborted(number, "ann") };
        // Every second one is rated.
        result.seats[0].rating = (number.is_multiple_of(2)).then_some((rating, rating));
        archive.keep(result);
    };
    let look = async |span: SeasonSpan, most| {
        let RatedResults { results, left_out_to } = archive.rated_of(span, most).await.unwrap();
        let number = |result: Option<&Arc<LoggedResult>>| result.map(|result| result.number.get());
        (
            results.len() as u64,
            number(results.first()),
            number(results.last()),
            left_out_to.map(ResultNumber::get),
        )
    };
    assert_eq!(look(ALL, 10).await, (0, None, None, None));
    (1..=MOST).for_each(add);
    assert_eq!(look(ALL, 10_000).await, (MOST / 2, Some(MOST), Some(2), None));
    assert_eq!(look(ALL, 2).await, (2, Some(MOST), Some(MOST - 2), Some(MOST - 4)));
    assert_eq!(look(since(1_000 + MOST - 3), 2).await, (2, Some(MOST), Some(MOST - 2), None));
    let before = |number| SeasonSpan { before: Some(ResultNumber::new(number)), ..ALL };
    assert_eq!(look(before(MOST - 4), 2).await, (2, Some(MOST - 6), Some(MOST - 8), Some(MOST - 10)));
    assert_eq!(look(before(5), 2).await, (2, Some(4), Some(2), None));
    assert_eq!(look(before(2), 2).await, (0, None, None, None));
    // The oldest is dropped.
    add(MOST + 1);
    assert_eq!(look(ALL, 10_000).await, (MOST / 2, Some(MOST), Some(2), Some(1)));
    assert_eq!(look(since(1_100), 10_000).await.3, None);
    assert_eq!(look(before(2), 2).await, (0, None, None, Some(1)));
    assert_eq!(look(before(1), 2).await, (0, None, None, None));
}
