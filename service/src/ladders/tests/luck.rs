//! The luck of the cards in results: what it is, when it is known, and what of it is kept.

use std::fs;
use std::path::PathBuf;

use zetema_ladder::{
    AdjustedScore, Baseline, Counted, Ladder, LadderResult, MatchTimes, Played, RatingSettings, Reference,
    ReferenceVersion, ResultNumber as Number,
};
use zetema_rules::{EndReason, MatchResult, Outcome, Seat, Seats, Teams};

use super::*;
use crate::encoding::decode_record;
use crate::journal::ResultNumber;

const LATE: Duration = Duration::from_secs(1);

fn number(number: u64) -> ResultNumber {
    ResultNumber::new(number)
}

impl Scene {
    fn luck(&self) -> Arc<Luck> {
        self.ladders.luck(LADDER).unwrap()
    }

    /// Waits until the luck of all results up to this one is computed.
    async fn computed(&self, result: u64) {
        let luck = self.luck();
        let computed = async {
            while luck.result_number() < number(result) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        timeout(Duration::from_hours(1), computed).await.expect("it is computed");
    }

    fn scores(&self, result: u64) -> Vec<AdjustedScore> {
        self.luck().in_memory(number(result)).expect("it is known").to_vec()
    }

    /// What the definition gives for the record of a match.
    async fn by_the_record(&self, match_id: MatchId) -> Vec<AdjustedScore> {
        let (record, _) = decode_record(&self.matches.record(match_id).await.unwrap().record).unwrap();
        let reference = Reference::new(&record.rules, ReferenceVersion::CURRENT);
        let deals: Vec<_> =
            record.deals.iter().map(|deal| reference.deal(&deal.deck).unwrap().finish()).collect();
        let Outcome::Result(result) = &record.outcome else { panic!("{:?}", record.outcome) };
        let baseline = Baseline::published(&reference).expect("that of a usual ladder is published");
        baseline.adjusted_scores(record.dealer.unwrap(), &deals, result).unwrap()
    }

    fn luck_files(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.folder.path().join("luck")).unwrap();
        files.map(|file| file.unwrap().path()).collect()
    }
}

/// That of a ladder of which so many results are in memory.
fn of_results(in_memory: usize) -> Luck {
    Luck::new(in_memory, RatingSettings::default(), Arc::new(OlderLuck::new(PathBuf::new())))
}

/// A match of two that the first has won.
fn won(bots: [&str; 2], forfeited: Seats) -> Played<BotName> {
    let (ranks, totals) = ([1, 2, 0, 0, 0, 0], [200, 100, 0, 0, 0, 0]);
    let result = MatchResult { reason: EndReason::Target, ranks, totals };
    Played::new(bots.map(bot).into(), Teams::Individual, result, forfeited).unwrap()
}

/// Two bots that wait, and the matches that they play, in which the second resigns.
async fn with_matches(count: usize) -> (Scene, Vec<MatchId>) {
    let scene = Scene::new().await;
    let waiting = (scene.comes("ann").await, scene.comes("bob").await);
    let mut played = Vec::new();
    for _ in 0..count {
        played.push(scene.seated("ann", 1).await[0].0);
        scene.play("ann", "bob").await;
    }
    scene.computed(count as u64).await;
    drop(waiting);
    (scene, played)
}

#[tokio::test(start_paused = true)]
async fn luck_is_what_the_record_gives_and_is_known_no_sooner_than_the_match_is_over() {
    let scene = Scene::new().await;
    let _waiting = (scene.comes("ann").await, scene.comes("bob").await);
    let seats = [scene.seated("ann", 1).await[0], scene.seated("bob", 1).await[0]];
    scene.join("ann", seats[0]).await;
    scene.join("bob", seats[1]).await;
    // It is dealt, and goes on.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let luck = scene.luck();
    assert_eq!((luck.in_memory(number(1)), luck.of_bot(&bot("ann"))), (None, None));
    assert_eq!(
        fs::read_dir(scene.folder.path().join("luck")).unwrap().count(),
        0,
        "nothing is written of it"
    );
    scene.resign("bob", seats[1]).await;
    scene.computed(1).await;
    let scores = scene.scores(1);
    assert_eq!(scores, scene.by_the_record(seats[0].0).await);
    let sum: f64 = scores.iter().map(|score| score.luck).sum();
    assert!(scores[0].luck.abs() > 0.1 && sum.abs() < 1e-9, "{scores:?}");
    let results = scene.ladders.results(LADDER, &ResultsFilter::default(), &first(10)).await.unwrap();
    for seat in &results.items[0].seats {
        let points = luck.of_bot(&seat.bot).unwrap().points;
        let raw = scores[seat.side.index()].raw;
        assert_eq!((points.matches(), points.raw().mean.to_bits()), (1, raw.to_bits()), "{}", seat.bot);
    }
}

#[tokio::test(start_paused = true)]
async fn a_match_that_was_aborted_has_no_luck_and_holds_up_none() {
    let scene = Scene::new().await;
    let _waiting = (scene.comes("ann").await, scene.comes("bob").await);
    let seat = scene.seated("ann", 1).await[0];
    scene.join("ann", seat).await;
    // Bob does not come, and cools down; then both play.
    scene.computed(1).await;
    assert_eq!((scene.luck().in_memory(number(1)), scene.luck().of_bot(&bot("ann"))), (None, None));
    scene.play("ann", "bob").await;
    scene.computed(2).await;
    assert_eq!(scene.luck().of_bot(&bot("ann")).map(|of| of.points.matches()), Some(1));
    assert_eq!(scene.scores(2).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn no_luck_is_computed_while_the_server_is_late_and_bots_are_rated_all_the_same() {
    let scene = Scene::new().await;
    let _waiting = (scene.comes("ann").await, scene.comes("bob").await);
    let seats = [scene.seated("ann", 1).await[0], scene.seated("bob", 1).await[0]];
    scene.join("ann", seats[0]).await;
    scene.join("bob", seats[1]).await;
    scene.pressure.pretend(LATE);
    scene.resign("bob", seats[1]).await;
    scene.shows(|picture| picture.rated_matches == 1).await;
    tokio::time::sleep(Duration::from_mins(10)).await;
    assert_eq!(scene.luck().in_memory(number(1)), None);
    assert_eq!(scene.luck().result_number(), number(0));
    scene.pressure.pretend(Duration::ZERO);
    scene.computed(1).await;
    assert_eq!(scene.scores(1), scene.by_the_record(seats[0].0).await);
}

#[tokio::test(start_paused = true)]
async fn no_result_is_looked_at_for_luck_while_the_server_is_late() {
    let scene = Scene::new().await;
    let _waiting = (scene.comes("ann").await, scene.comes("bob").await);
    scene.seated("ann", 1).await;
    scene.pressure.pretend(LATE);
    // Nobody comes, so there is nothing to be computed of it.
    scene.shows(|picture| picture.result_number >= number(1)).await;
    tokio::time::sleep(Duration::from_mins(10)).await;
    assert_eq!(scene.luck().result_number(), number(0));
    scene.pressure.pretend(Duration::ZERO);
    scene.computed(1).await;
}

#[test]
fn no_more_luck_is_kept_than_of_the_results_in_memory_or_in_one_file() {
    for (in_memory, most) in [(1, limits::LUCK_BLOCK_RESULTS), (5_000, 5_000)] {
        let luck = of_results(in_memory);
        let scores: Arc<[AdjustedScore]> =
            Arc::new([10.0, -10.0].map(|raw| AdjustedScore { raw, luck: 1.0 }));
        let (times, played) = (MatchTimes { created_ms: 0, ended_ms: 1 }, won(["ann", "bob"], Seats::EMPTY));
        for result in 1..=most + 2 {
            luck.count(number(result), times, &played, Arc::clone(&scores));
        }
        let kept = |result| luck.in_memory(number(result)).is_some();
        assert_eq!([1, 2, 3, most, most + 2].map(kept), [false, false, true, true, true], "{in_memory}");
    }
}

#[test]
fn whose_points_have_changed_is_told_bot_by_bot_also_when_all_is_counted_anew() {
    let luck = of_results(1);
    let bots = ["ann", "bob", "cyd"].map(bot);
    let latest = || *luck.changes().borrow();
    let told = |since| {
        let changed = luck.changed_since(since, bots.iter(), |bot| *bot);
        changed.into_iter().map(BotName::as_str).collect::<Vec<_>>()
    };
    let count = |result, of: [&str; 2]| {
        let (of, times) = (won(of, Seats::EMPTY), MatchTimes { created_ms: 0, ended_ms: 1 });
        let scores = [10.0, -10.0].map(|raw| AdjustedScore { raw, luck: 1.0 });
        luck.count(number(result), times, &of, Arc::new(scores));
        latest()
    };
    let start = latest();
    assert!(told(start).is_empty());
    let first = count(1, ["ann", "bob"]);
    assert_eq!(told(start), ["ann", "bob"]);
    let second = count(2, ["ann", "cyd"]);
    assert_eq!((told(start).len(), told(first), told(second)), (3, vec!["ann", "cyd"], vec![]));
    // Gone, and there again: who has seen either is told of what has come since.
    luck.clear();
    let cleared = latest();
    assert_eq!((told(second).len(), told(cleared).len()), (3, 0));
    luck.clear();
    assert_eq!(latest(), cleared, "there was nothing to lose");
    count(1, ["ann", "bob"]);
    assert_eq!((told(second).len(), told(cleared)), (3, vec!["ann", "bob"]));
}

#[tokio::test(start_paused = true)]
async fn after_a_restart_what_was_computed_is_not_computed_again_and_the_rest_goes_on() {
    let (scene, _) = with_matches(3).await;
    let before: Vec<_> = (1..=3).map(|result| scene.scores(result)).collect();
    let points = scene.luck().of_bot(&bot("bob"));
    // What can't be read can't be computed.
    (1..=3).for_each(|result| scene.journal.damage_record(number(result)));
    let scene = scene.restart().await;
    scene.computed(3).await;
    assert_eq!((1..=3).map(|result| scene.scores(result)).collect::<Vec<_>>(), before);
    assert_eq!(scene.luck().of_bot(&bot("bob")), points);
    assert_eq!(points.map(|of| of.points.matches()), Some(3));
}

#[tokio::test(start_paused = true)]
async fn what_ended_while_luck_was_not_computed_is_computed_after_the_restart() {
    let scene = Scene::new().await;
    let waiting = (scene.comes("ann").await, scene.comes("bob").await);
    let seats = [scene.seated("ann", 1).await[0], scene.seated("bob", 1).await[0]];
    scene.join("ann", seats[0]).await;
    scene.join("bob", seats[1]).await;
    scene.pressure.pretend(LATE);
    scene.resign("bob", seats[1]).await;
    scene.shows(|picture| picture.rated_matches == 1).await;
    drop(waiting);
    let scene = scene.restart().await;
    scene.computed(1).await;
    assert_eq!(scene.scores(1), scene.by_the_record(seats[0].0).await);
}

#[tokio::test(start_paused = true)]
async fn what_is_damaged_or_gone_is_computed_anew() {
    let (mut scene, played) = with_matches(2).await;
    let mut expected = Vec::new();
    for &match_id in &played {
        expected.push(scene.by_the_record(match_id).await);
    }
    let harms: [fn(&Scene); 3] = [
        |scene| scene.luck_files().iter().for_each(|file| flip(file, 40)),
        |scene| scene.luck_files().iter().for_each(|file| fs::write(file, b"no luck").unwrap()),
        |scene| fs::remove_dir_all(scene.folder.path().join("luck")).unwrap(),
    ];
    for (at, harm) in harms.into_iter().enumerate() {
        // All is written as the server stops, and nothing is new as it does so again.
        scene = scene.restart().await;
        scene.computed(2).await;
        assert!(!scene.luck_files().is_empty());
        harm(&scene);
        scene = scene.restart().await;
        scene.computed(2).await;
        assert_eq!([scene.scores(1), scene.scores(2)], *expected, "{at}");
    }
}

/// Flips a bit of a byte.
fn flip(file: &PathBuf, byte: usize) {
    let mut bytes = fs::read(file).unwrap();
    bytes[byte] ^= 1;
    fs::write(file, bytes).unwrap();
}

/// What the adjusted scores of these records give the bot as its rating, by the definition alone.
async fn rated_by_the_records(scene: &Scene, results: &[(u64, MatchId)], of: &str) -> (u64, [u64; 2]) {
    let mut ratings = Ladder::new(RatingSettings::default());
    for &(result, match_id) in results {
        let info = scene.matches.get(match_id).await.unwrap();
        let names: Vec<&str> = info.seats.iter().map(|seat| seat.bot.as_ref().unwrap().as_str()).collect();
        let [first, second] = names[..] else { panic!("{names:?}") };
        // Bob resigns each match, so whatever the cards were he is behind.
        let loser = info.seats.iter().find(|seat| seat.bot == Some(bot("bob"))).unwrap().seat;
        let scores = scene.by_the_record(match_id).await;
        let played = won([first, second], Seats::EMPTY.with(loser)).ranked_by(&scores).unwrap();
        let counted = Counted::Rated(played);
        ratings.count(&LadderResult { number: Number::new(result), counted }).unwrap();
    }
    let entry = ratings.entry(&bot(of));
    (entry.tally.matches, [entry.rating.mu.to_bits(), entry.rating.sigma.to_bits()])
}

impl Scene {
    /// A bot's rating by adjusted scores, bit by bit, and of how many matches it is.
    fn adjusted_rating(&self, of: &str) -> Option<(u64, [u64; 2])> {
        let (entry, _) = self.luck().of_bot(&bot(of))?.adjusted_rating?;
        Some((entry.tally.matches, [entry.rating.mu.to_bits(), entry.rating.sigma.to_bits()]))
    }
}

#[tokio::test(start_paused = true)]
async fn a_rating_by_adjusted_scores_is_the_same_in_whatever_order_the_luck_came() {
    // One more, and bob would be benched.
    let (mut scene, played) = with_matches(3).await;
    let results: Vec<_> = (1..).zip(played).collect();
    let mut expected = Vec::new();
    for of in ["ann", "bob"] {
        expected.push(Some(rated_by_the_records(&scene, &results, of).await));
    }
    let rated = |scene: &Scene| ["ann", "bob"].map(|of| scene.adjusted_rating(of));
    assert_eq!(rated(&scene), *expected);
    assert!(expected[0] != expected[1] && expected[0].is_some_and(|(matches, _)| matches == 3));
    // All luck is at hand; that of the first alone is not, which is computed when that of those after it is known; of none.
    let harms: [fn(&Scene); 3] = [
        |_| {},
        |scene| scene.luck_files().iter().for_each(|file| flip(file, 40)),
        |scene| fs::remove_dir_all(scene.folder.path().join("luck")).unwrap(),
    ];
    for (at, harm) in harms.into_iter().enumerate() {
        scene = scene.restart().await;
        scene.computed(3).await;
        harm(&scene);
        scene = scene.restart().await;
        scene.computed(3).await;
        assert_eq!(rated(&scene), *expected, "{at}");
    }
}

/// What becomes of the luck of two results, the record of the first of which is made one that can't be read.
async fn check_left_out(made_unreadable: fn(&FakeJournal, ResultNumber)) {
    let scene = Scene::new().await;
    let _waiting = (scene.comes("ann").await, scene.comes("bob").await);
    let mut played = Vec::new();
    let seats = [scene.seated("ann", 1).await[0], scene.seated("bob", 1).await[0]];
    scene.pressure.pretend(LATE);
    played.push((1, seats[0].0));
    scene.join("ann", seats[0]).await;
    scene.join("bob", seats[1]).await;
    scene.resign("bob", seats[1]).await;
    scene.shows(|picture| picture.rated_matches == 1).await;
    made_unreadable(&scene.journal, number(1));
    assert_eq!(scene.adjusted_rating("ann"), None, "nothing is computed of it");
    scene.pressure.pretend(Duration::ZERO);
    played.push((2, scene.seated("ann", 1).await[0].0));
    scene.play("ann", "bob").await;
    scene.computed(2).await;
    let expected = rated_by_the_records(&scene, &played[1..], "ann").await;
    assert_eq!(scene.adjusted_rating("ann"), Some(expected));
    let of = scene.luck().of_bot(&bot("ann")).unwrap();
    assert_eq!((of.adjusted_rating.unwrap().0.tally.matches, of.points.matches()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_result_whose_luck_can_never_be_had_is_left_out_of_the_rating_by_adjusted_scores_and_holds_up_none()
{
    check_left_out(FakeJournal::damage_record).await;
    // As on a disk with a bad sector, which says no more than that it can't be read.
    check_left_out(FakeJournal::hide_record).await;
}

#[test]
fn luck_moves_no_rating_by_adjusted_scores_and_who_forfeits_is_behind_whatever_the_scores() {
    let luck = of_results(1);
    let times = MatchTimes { created_ms: 0, ended_ms: 1 };
    // Ann has won by her cards: without them bob is ahead.
    let scores = [(50.0, 80.0), (-50.0, -80.0)].map(|(raw, luck)| AdjustedScore { raw, luck });
    luck.count(number(1), times, &won(["ann", "bob"], Seats::EMPTY), Arc::new(scores));
    let mu = |of: &str| luck.of_bot(&bot(of)).unwrap().adjusted_rating.unwrap().0.rating.mu;
    assert!(mu("bob") > mu("ann"));
    luck.count(
        number(2),
        times,
        &won(["cyd", "dan"], Seats::EMPTY.with(Seat::new(1).unwrap())),
        Arc::new(scores),
    );
    assert!(mu("cyd") > mu("dan"), "dan has forfeited");
    luck.clear();
    assert_eq!(luck.of_bot(&bot("ann")), None);
}
