//! What is stored of ratings, and what comes of it at a start.

use zetema_ladder::pairing::{PairingOptions, PairingSettings, SameOwner};

use super::log::Log;
use super::*;
use crate::journal::StoredLadder;

const TWO_STORES: Duration = Duration::from_secs(11);

fn name() -> LadderName {
    LadderName::new(LADDER).unwrap()
}

fn stored(scene: &Scene) -> Option<StoredLadder> {
    scene.journal.ladders(|ladders| ladders.get(&name()).cloned())
}

/// What is stored is what is shown.
fn is_shown(stored: &StoredLadder, picture: &Picture) -> bool {
    let shown = |bot: &crate::journal::StoredRating| {
        let row = picture.rows.iter().find(|row| row.bot == bot.bot).unwrap();
        *bot == stored::rating(&row.bot, &row.entry)
    };
    stored.bots.len() == picture.rows.len() && stored.bots.iter().all(shown)
}

/// What the log says of this ladder's stored ratings.
fn stored_lines(log: &Log) -> Vec<String> {
    log.lines().into_iter().filter(|line| line.contains("stored rating") && line.contains(LADDER)).collect()
}

/// A scene with two bots, of which ann has won two matches, and these are stored.
async fn played() -> Scene {
    let scene = Scene::new().await;
    let _waiting = (scene.comes("ann").await, scene.comes("bob").await);
    for _ in 0..2 {
        scene.play("ann", "bob").await;
    }
    scene.shows(|picture| picture.rated_matches == 2).await;
    tokio::time::sleep(TWO_STORES).await;
    scene
}

#[tokio::test(start_paused = true)]
async fn ratings_are_stored_as_they_change_and_once_more_at_a_stop() {
    let scene = played().await;
    let picture = scene.shows(|_| true).await;
    let first = stored(&scene).unwrap();
    assert!(is_shown(&first, &picture), "{first:?}");
    assert_eq!(first.after, picture.result_number);
    // One that is not yet stored when the server stops.
    let _waiting = (scene.waits("ann", 1).await, scene.waits("bob", 1).await);
    scene.play("bob", "ann").await;
    let picture = scene.shows(|picture| picture.rated_matches == 3).await;
    assert!(!is_shown(&stored(&scene).unwrap(), &picture));
    let scene = scene.restart().await;
    assert!(is_shown(&stored(&scene).unwrap(), &picture));
}

#[tokio::test(start_paused = true)]
async fn what_was_counted_and_is_not_shown_yet_is_stored_at_a_stop() {
    let scene = played().await;
    let _waiting = (scene.waits("ann", 1).await, scene.waits("bob", 1).await);
    scene.play("bob", "ann").await;
    let counted = async || {
        let results = scene.ladders.results(LADDER, &ResultsFilter::default(), &first(10)).await;
        results.unwrap().items.len()
    };
    while counted().await < 3 {
        tokio::task::yield_now().await;
    }
    assert_eq!(scene.shows(|_| true).await.rated_matches, 2, "it is shown within a second");
    let scene = scene.restart().await;
    let stored = stored(&scene).unwrap();
    let picture = scene.shows(|picture| picture.rated_matches == 3).await;
    assert!(is_shown(&stored, &picture), "{stored:?}");
}

#[tokio::test(start_paused = true)]
async fn a_ladder_without_matches_is_not_stored() {
    let scene = Scene::new().await;
    let _ann = scene.comes("ann").await;
    tokio::time::sleep(TWO_STORES).await;
    assert_eq!(stored(&scene), None);
}

/// What a start says of stored ratings.
struct Said {
    lines: Vec<String>,
    /// By how many bots the metric of those that differ has grown.
    counted: u64,
    /// By how many the metric of those that are rounded otherwise has.
    rounded: u64,
}

impl Said {
    fn has(&self, line: usize, parts: &[&str]) {
        let line = &self.lines[line];
        assert!(parts.iter().all(|part| line.contains(part)), "{parts:?}: {line}");
    }

    /// So many lines, and bots counted.
    fn is(&self, lines: usize, counted: u64) {
        assert_eq!((self.lines.len(), self.counted), (lines, counted), "{:#?}", self.lines);
    }
}

/// Changes what is stored, and starts the server again: what is said then. The ratings are those of the results, whatever is
/// stored, and are stored again, unless it is `kept`.
async fn restarted(change: impl FnOnce(&mut StoredLadder), kept: bool) -> Said {
    let scene = played().await;
    let before = scene.shows(|_| true).await;
    scene.journal.ladders(|ladders| change(ladders.get_mut(&name()).unwrap()));
    let changed = stored(&scene).unwrap();
    let log = Log::default();
    let listening = log.listen();
    let recorder = crate::metrics::recorder().unwrap();
    let counting = metrics::set_default_local_recorder(&recorder);
    let specs = scene.specs.clone();
    // The keeper's last word would take the change away: the server is killed, not stopped.
    scene.journal.fail_ladders(1);
    let scene = scene.restart_as(specs, 0).await;
    let picture = scene.shows(|picture| picture.rated_matches == 2).await;
    drop((listening, counting));
    let page = recorder.handle().render();
    let sample = |name: &str| {
        let found = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        found.unwrap().parse().unwrap()
    };
    let counted = sample("zetema_ladder_ratings_differ_total");
    let rounded = sample("zetema_ladder_ratings_rounded_total");
    assert_eq!(picture.rows, before.rows);
    tokio::time::sleep(TWO_STORES).await;
    let now = stored(&scene).unwrap();
    assert!(if kept { now == changed } else { is_shown(&now, &picture) }, "{now:?}");
    // And nobody waits for it.
    let _waiting = (scene.waits("ann", 1).await, scene.waits("bob", 1).await);
    scene.seated("ann", 1).await;
    Said { lines: stored_lines(&log), counted, rounded }
}

#[tokio::test(start_paused = true)]
async fn a_start_says_whether_the_stored_ratings_are_those_of_the_results() {
    let said = restarted(|_| {}, false).await;
    said.is(1, 0);
    said.has(0, &["INFO", "are those of the results"]);
}

#[tokio::test(start_paused = true)]
async fn each_stored_rating_that_is_not_that_of_the_results_is_told_with_both_and_nothing_else_comes_of_it() {
    let said = restarted(|stored| stored.bots[0].mu += 1e-8, false).await;
    said.is(2, 1);
    said.has(0, &["WARN", "bot=ann", "deviation=Beyond", "stored=mu ", "recomputed=mu ", "2 matches"]);
    // A bot that is not stored, and one that is stored and never played.
    let said = restarted(|stored| stored.bots[1].bot = bot("zed"), false).await;
    said.is(3, 2);
    said.has(0, &["WARN", "bot=bob", "deviation=Beyond", "stored=nothing"]);
    said.has(1, &["WARN", "bot=zed", "deviation=Beyond", "recomputed=nothing"]);
}

#[tokio::test(start_paused = true)]
async fn a_stored_rating_that_another_platform_has_rounded_is_told_and_counted_apart_and_warns_nobody() {
    let next = |number: f64| f64::from_bits(number.to_bits() + 1);
    let said = restarted(|stored| stored.bots[0].mu = next(stored.bots[0].mu), false).await;
    said.is(2, 0);
    assert_eq!(said.rounded, 1);
    said.has(0, &["INFO", "bot=ann", "deviation=Rounding", "stored=mu ", "recomputed=mu ", "2 matches"]);
    said.has(1, &["INFO", "but for rounding", "bots=1"]);
    // Beside one that is wrong it is told as well.
    let both = |stored: &mut StoredLadder| {
        stored.bots[0].mu = next(stored.bots[0].mu);
        stored.bots[1].matches += 1;
    };
    let said = restarted(both, false).await;
    said.is(3, 1);
    assert_eq!(said.rounded, 1);
    said.has(0, &["WARN", "bot=bob", "deviation=Beyond"]);
    said.has(1, &["INFO", "bot=ann", "deviation=Rounding"]);
    said.has(2, &["WARN", "bots=1", "stored anew"]);
}

#[tokio::test(start_paused = true)]
async fn ratings_that_can_not_be_are_told_and_replaced() {
    let said = restarted(|stored| stored.bots[1].sigma = -1.0, false).await;
    said.is(1, 1);
    said.has(0, &["WARN", "bob", "sigma is -1"]);
}

#[tokio::test(start_paused = true)]
async fn ratings_by_other_settings_are_not_compared() {
    let said = restarted(|stored| stored.settings.beta += 1.0, false).await;
    said.is(1, 0);
    said.has(0, &["INFO", "other settings"]);
}

#[tokio::test(start_paused = true)]
async fn ratings_after_a_result_that_is_not_here_are_told_and_not_replaced_by_fewer() {
    let said = restarted(|stored| stored.after = ResultNumber::new(100), true).await;
    said.is(1, 1);
    said.has(0, &["WARN", "results were lost"]);
}

#[tokio::test(start_paused = true)]
async fn a_journal_that_stores_no_ratings_stops_no_match() {
    let scene = Scene::new().await;
    scene.journal.fail_ladders(usize::MAX);
    let _waiting = (scene.comes("ann").await, scene.comes("bob").await);
    for rated in 1..=2 {
        scene.play("ann", "bob").await;
        scene.shows(|picture| picture.rated_matches == rated).await;
        tokio::time::sleep(TWO_STORES).await;
    }
    assert_eq!(stored(&scene), None);
    scene.journal.fail_ladders(0);
    tokio::time::sleep(TWO_STORES).await;
    assert!(is_shown(&stored(&scene).unwrap(), &*scene.shows(|_| true).await));
}

#[tokio::test(start_paused = true)]
async fn what_is_stored_is_not_replaced_before_it_was_compared() {
    let scene = played().await;
    let change = |ladders: &mut HashMap<LadderName, StoredLadder>| {
        ladders.get_mut(&name()).unwrap().bots[0].mu += 1.0;
    };
    scene.journal.ladders(change);
    let log = Log::default();
    let listening = log.listen();
    scene.journal.fail_ladders(1);
    scene.journal.blind_to_ladders(3);
    let scene = scene.restart().await;
    let picture = scene.shows(|picture| picture.rated_matches == 2).await;
    tokio::time::sleep(TWO_STORES).await;
    drop(listening);
    let said = stored_lines(&log);
    assert!(said.iter().any(|line| line.contains("bot=ann")), "{said:#?}");
    assert!(is_shown(&stored(&scene).unwrap(), &picture));
}

#[tokio::test(start_paused = true)]
async fn a_ladder_that_is_not_rated_any_more_is_not_compared_until_it_is_rated_again() {
    let scene = played().await;
    let before = stored(&scene).unwrap();
    let rated = scene.specs.clone();
    let unrated = rated.iter().map(|spec| {
        let mut spec = LadderSpec::clone(spec);
        let anywhere = PairingOptions { same_owner: SameOwner::Anywhere, ..*spec.pairing };
        spec.pairing = PairingSettings::new(anywhere).unwrap();
        spec
    });
    let unrated = LadderSpecs::new(unrated.collect()).unwrap();
    let log = Log::default();
    let listening = log.listen();
    let scene = scene.restart_as(unrated, 0).await;
    tokio::time::sleep(TWO_STORES).await;
    let said = stored_lines(&log);
    assert!(said.len() == 1 && said[0].contains("when the ladder was rated"), "{said:#?}");
    assert_eq!(stored(&scene).as_ref(), Some(&before));
    let _scene = scene.restart_as(rated, 0).await;
    drop(listening);
    let said = stored_lines(&log);
    assert!(said.len() == 1 && said[0].contains("are those of the results"), "{said:#?}");
}

#[tokio::test(start_paused = true)]
async fn stored_ratings_of_bots_none_of_which_is_rated_are_told_once_and_go() {
    let scene = Scene::new().await;
    let settings = stored::settings(&scene.specs.iter().find(|spec| spec.name == name()).unwrap().rating);
    let entry = zetema_ladder::Ladder::new(scene.specs.iter().next().unwrap().rating).entry(&bot("ann"));
    let bots = vec![stored::rating(&bot("ann"), &entry)];
    let ghost = StoredLadder { after: ResultNumber::ZERO, settings, bots };
    scene.journal.ladders(|ladders| ladders.insert(name(), ghost));
    let log = Log::default();
    let listening = log.listen();
    let scene = scene.restart().await;
    tokio::time::sleep(TWO_STORES).await;
    assert_eq!(stored_lines(&log).len(), 2);
    assert_eq!(stored(&scene).unwrap().bots, []);
    let _scene = scene.restart().await;
    drop(listening);
    let said = stored_lines(&log);
    assert!(said.len() == 1 && said[0].contains("are those of the results"), "{said:#?}");
}

#[tokio::test(start_paused = true)]
async fn damaged_ratings_are_tried_once_and_stop_no_match() {
    let scene = Scene::new().await;
    scene.journal.damage_ladders();
    let _waiting = (scene.comes("ann").await, scene.comes("bob").await);
    for rated in 1..=2 {
        scene.play("ann", "bob").await;
        scene.shows(|picture| picture.rated_matches == rated).await;
        tokio::time::sleep(TWO_STORES).await;
    }
    assert_eq!(scene.journal.damaged_ladders_tried(), 1);
}
