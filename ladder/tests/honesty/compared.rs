//! Of whom a season can tell whether they play alike, and of whom it can't.

use zetema_ladder::{
    Finding, FinishedMatch, FinishedSeat, HonestySettings, Ladder, Played, Preference, RatingSettings,
    ResultNumber, Suspicions, Uncompared, suspicions,
};
use zetema_rules::fair::{MatchSeed, ServerSeed};
use zetema_rules::{EndReason, Game, MatchResult, Phase, Preset, Seats, Teams, Viewer, autoplay};

/// A stretch is two matches of so many preferences.
const HALF_A_STRETCH: usize = 3_000;

/// What a bot preferred that had one thing to decide, again and again.
fn preferences() -> Vec<Preference> {
    let rules = Preset::Sackson.rules(2, None).expect("for two");
    let seed = MatchSeed::derive(&ServerSeed::new([7; 32]), &[]);
    let deck = seed.deck(0, rules.imperial_suit);
    let game = Game::new(rules, seed.dealer(rules.player_count()), &deck, &mut Vec::new()).expect("a game");
    let Phase::Turn { seat, .. } = game.public().phase else { unreachable!("a seat begins") };
    let view = game.view(Viewer::Seat(seat));
    let action = autoplay(&view.legal_actions()).expect("a card can be discarded");
    let once: Vec<Preference> = Preference::of(&view, &action).collect();
    once.iter().copied().cycle().take(HALF_A_STRETCH).collect()
}

/// A season in which these met so often, who win by turns. Each is its own owner's, but `rex of ann` is ann's.
fn season(meetings: &[([&'static str; 2], usize)]) -> Suspicions<&'static str> {
    let preferences = preferences();
    let mut results = Vec::new();
    for (bots, times) in meetings {
        for time in 0..*times {
            let ranks = if time % 2 == 0 { [1, 2, 0, 0, 0, 0] } else { [2, 1, 0, 0, 0, 0] };
            let result = MatchResult { reason: EndReason::DealOver, ranks, totals: [50; 6] };
            let played =
                Played::new(bots.to_vec(), Teams::Individual, result, Seats::EMPTY).expect("a match");
            let seats = bots.map(|bot| {
                let owner = bot.split(" of ").last();
                let preferences = if bot == "shy" { Vec::new() } else { preferences.clone() };
                FinishedSeat { preferences, ..FinishedSeat::played_on(owner) }
            });
            let number = ResultNumber::new(results.len() as u64 + 1);
            results.push(FinishedMatch::new(number, 0, played, seats.to_vec()).expect("a match"));
        }
    }
    let before = Ladder::new(RatingSettings::default());
    suspicions(before, &results, &HonestySettings::default()).expect("each result once")
}

/// Which pairs decide alike.
fn alike(season: &Suspicions<&'static str>) -> Vec<[&'static str; 2]> {
    let pair = |finding: &Finding<&'static str>| match finding {
        Finding::SameDecisions { bots, .. } => Some(*bots),
        _ => None,
    };
    season.listed.iter().filter_map(|one| pair(&one.finding)).collect()
}

#[test]
fn pairs_that_played_too_little_are_counted_with_what_they_lack_and_those_of_one_owner_are_not() {
    // 10 stretches will do where one pair is compared, 11 where three are.
    for (meetings, listed, uncompared) in [
        (vec![(["ann", "bob"], 20)], vec![["ann", "bob"]], (0, 1, None)),
        (vec![(["ann", "bob"], 18)], vec![], (1, 1, Some(2))),
        (vec![(["ann", "bob"], 19)], vec![], (1, 1, Some(1))),
        (vec![(["ann", "bob"], 30), (["ann", "cat"], 10)], vec![["ann", "bob"]], (2, 3, Some(12))),
        (vec![(["ann", "bob"], 30), (["ann", "cat"], 11)], vec![["ann", "bob"]], (2, 3, Some(11))),
        // Two pairs lack 13, three 17.
        (
            vec![(["ann", "bob"], 20), (["ann", "cat"], 4), (["dan", "cat"], 7)],
            vec![["ann", "bob"]],
            (5, 6, Some(17)),
        ),
        (vec![(["rex of ann", "bob"], 2), (["ann", "bob"], 18)], vec![], (2, 2, Some(18))),
        (vec![(["ann", "shy"], 40)], vec![], (1, 1, None)),
        // It is known of one pair of three, of three of six, and of six of ten.
        (vec![(["ann", "bob"], 8), (["ann", "shy"], 1)], vec![], (3, 3, None)),
        (vec![(["ann", "bob"], 8), (["cat", "shy"], 8)], vec![], (6, 6, None)),
        (vec![(["ann", "bob"], 10), (["cat", "dan"], 10), (["ann", "shy"], 1)], vec![], (10, 10, Some(16))),
        (vec![], vec![], (0, 0, None)),
    ] {
        let season = season(&meetings);
        let (pairs, of_pairs, lacking_matches) = uncompared;
        assert_eq!(alike(&season), listed, "{meetings:?}");
        assert_eq!(season.uncompared, Uncompared { pairs, of_pairs, lacking_matches }, "{meetings:?}");
    }
}

#[test]
fn pairs_that_are_looked_at_and_could_not_be_listed_whatever_they_did_are_counted_too() {
    // With fifteen pairs it takes 13 stretches, and each has 12.
    let bots = ["ann", "bob", "cat", "dan", "eve", "fay"];
    let mut meetings = Vec::new();
    for (place, one) in bots.iter().enumerate() {
        meetings.extend(bots[place + 1..].iter().map(|other| ([*one, *other], 5)));
    }
    let season = season(&meetings);
    assert_eq!(alike(&season), Vec::<[&str; 2]>::new());
    assert_eq!(season.uncompared, Uncompared { pairs: 15, of_pairs: 15, lacking_matches: Some(1) });
}
