//! Seasons of honest bots, some of them odd, and of cheats among them: who is listed, and who is not.
#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

#[path = "honesty/bot.rs"]
mod bot;
#[path = "honesty/compared.rs"]
mod compared;
#[path = "honesty/paired.rs"]
mod paired;
#[path = "honesty/properties.rs"]
mod properties;
#[path = "honesty/records.rs"]
mod records;
#[path = "honesty/said.rs"]
mod said;
#[path = "honesty/season.rs"]
mod season;

use std::ops::RangeInclusive;

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand_distr::{Distribution, StandardNormal};
use zetema_ladder::{Cause, Departure, Ending, Finding, FinishedSeat, Suspicion};
use zetema_rules::Teams;

use bot::{Bot, Character, Name, Way};
use paired::paired_season;
use season::{Finished, listed, season};

const HONEST: usize = 50;

/// How many points a side must be behind for its match to be lost: about one standard deviation of the margins at the end.
fn lost(teams: Teams) -> i32 {
    if teams == Teams::Individual { 90 } else { 180 }
}

/// Fifty bots, one standard deviation of which wins 71 of 100 against the middle. The first ones are odd.
fn honest(seed: u64, teams: Teams) -> Vec<Bot> {
    let mut dice = StdRng::seed_from_u64(seed);
    let mut bots: Vec<Bot> = (0..HONEST)
        .map(|owner| {
            let luck: f64 = StandardNormal.sample(&mut dice);
            Bot { strength: 0.8 * luck, owner, character: Character::Plain }
        })
        .collect();
    bots[0].character = Character::Slow(0.02);
    bots[1].character = Character::BadConnection(0.04);
    // Twins of one owner.
    bots[3] = bots[2].clone();
    bots[4].strength = -4.0;
    bots[5].character = Character::ShortAtTheEnd(0.1);
    // Slow and weak, so that its time is mostly out when it is behind.
    bots[6].character = Character::Slow(0.02);
    bots[6].strength = -1.5;
    // It gives up what is lost.
    bots[7].character = Character::ResignsLost(lost(teams));
    bots[8].strength = 3.0;
    // It gives up what is lost, and much is.
    bots[9].character = Character::ResignsLost(lost(teams));
    bots[9].strength = -1.5;
    bots[10].character = Character::SlowBehind(0.003);
    bots
}

/// The bots that a suspicion names.
fn named(suspicion: &Suspicion<Name>) -> Vec<Name> {
    match suspicion.finding {
        Finding::LosesTo { loser, winner, .. } => vec![loser, winner],
        Finding::FeedsOpponent { feeder, fed, .. } => vec![feeder, fed],
        Finding::FailPartner { partners, .. } => partners.to_vec(),
        Finding::TimesOutWhenBehind { bot, .. } | Finding::Abandons { bot, .. } => vec![bot],
        Finding::SameDecisions { bots, .. } => bots.to_vec(),
    }
}

fn lines(suspicions: &[Suspicion<Name>]) -> String {
    let lines: Vec<String> = suspicions.iter().map(|suspicion| format!("    {suspicion}")).collect();
    lines.join("\n")
}

/// How many matches a season has: two bots are opponents in one of 370 matches without teams, and partners in one of 610 with them.
fn matches(teams: Teams) -> u64 {
    if teams == Teams::Individual { 10_000 } else { 15_000 }
}

fn check_nobody_is_listed(seeds: RangeInclusive<u64>, teams: Teams, matches: u64) {
    for seed in seeds {
        let found = listed(&season(seed, &honest(seed, teams), teams, matches), teams);
        assert!(found.is_empty(), "season {seed}, {teams:?}:\n{}", lines(&found));
    }
}

#[test]
fn in_ten_seasons_no_honest_bot_is_listed() {
    check_nobody_is_listed(1..=10, Teams::Individual, matches(Teams::Individual));
}

#[test]
fn in_ten_seasons_of_teams_no_honest_bot_is_listed() {
    check_nobody_is_listed(1..=10, Teams::Pairs, matches(Teams::Pairs));
}

/// As many results as a server looks at in one season of two.
const SEASON_RESULTS: usize = 30_000;

/// How many results a season has that the ladder pairs.
fn paired_matches(teams: Teams) -> usize {
    if teams == Teams::Individual { SEASON_RESULTS } else { 15_000 }
}

fn check_nobody_is_listed_where_the_ladder_pairs(teams: Teams) {
    for seed in 1..=10 {
        let found = listed(&paired_season(seed, &honest(seed, teams), teams, paired_matches(teams)), teams);
        assert!(found.is_empty(), "season {seed}, {teams:?}:\n{}", lines(&found));
    }
}

#[test]
fn in_ten_seasons_that_the_ladder_pairs_no_honest_bot_is_listed() {
    check_nobody_is_listed_where_the_ladder_pairs(Teams::Individual);
}

#[test]
fn in_ten_seasons_of_teams_that_the_ladder_pairs_no_honest_bot_is_listed() {
    check_nobody_is_listed_where_the_ladder_pairs(Teams::Pairs);
}

/// The more matches there are, the more small faults of the ratings would tell.
#[test]
fn in_a_season_of_three_times_the_matches_no_honest_bot_is_listed() {
    check_nobody_is_listed(1..=1, Teams::Individual, 30_000);
}

/// Ten bots meet so often that it would be seen with whom one of them resigns more often than with others, as they are weak or strong.
#[test]
fn in_a_season_of_ten_bots_in_teams_who_resigns_what_is_lost_is_not_listed() {
    const STRENGTHS: [f64; 10] = [-1.5, -1.0, -0.7, -0.4, -0.1, 0.1, 0.4, 0.7, 1.0, 1.5];
    let plain = |(owner, strength)| Bot { strength, owner, character: Character::Plain };
    for resigns in [1, 3, 7] {
        let mut bots: Vec<Bot> = STRENGTHS.into_iter().enumerate().map(plain).collect();
        bots[resigns].character = Character::ResignsLost(lost(Teams::Pairs));
        for seed in 1..=2 {
            let results = season(seed, &bots, Teams::Pairs, 8_000);
            let resigned = results.iter().filter(|one| one.seats().iter().any(has_resigned)).count();
            assert!(resigned > 200, "bot {resigns}, season {seed}: {resigned} were resigned");
            let found = listed(&results, Teams::Pairs);
            assert!(found.is_empty(), "bot {resigns}, season {seed}:\n{}", lines(&found));
        }
    }
}

fn has_resigned(seat: &FinishedSeat<usize>) -> bool {
    matches!(seat.ending, Ending::Forfeited(Departure { cause: Cause::Resigned, .. }))
}

/// A kind of cheat. Whoever is in it comes after the honest bots.
struct Cheat {
    name: &'static str,
    teams: Teams,
    /// From whole-hearted to half-hearted.
    shares: [f64; 3],
    /// Its place among the cheats of a season; whoever gains by it has the next.
    place: usize,
    character: fn(f64) -> Character,
    /// Whether a suspicion is that of this cheat.
    caught: fn(&Finding<Name>) -> bool,
}

const CHEATS: [Cheat; 8] = [
    Cheat {
        name: "loses to a bot of another owner, in this share of their matches",
        teams: Teams::Individual,
        shares: [1.0, 0.75, 0.5],
        place: 0,
        character: |share| Character::LosesTo(51, share, Way::PlaysBadly),
        caught: |finding| matches!(finding, Finding::LosesTo { loser: 50, winner: 51, .. }),
    },
    Cheat {
        name: "feeds a bot in teams, in this share of their matches",
        teams: Teams::Pairs,
        shares: [1.0, 0.75, 0.5],
        place: 0,
        character: |share| Character::LosesTo(51, share, Way::PlaysBadly),
        caught: |finding| matches!(finding, Finding::FeedsOpponent { feeder: 50, fed: 51, .. }),
    },
    Cheat {
        name: "feeds a bot in teams by resigning at the start, in this share of their matches",
        teams: Teams::Pairs,
        shares: [1.0, 0.75, 0.5],
        place: 4,
        character: |share| Character::LosesTo(55, share, Way::Resigns),
        caught: |finding| matches!(finding, Finding::FeedsOpponent { feeder: 54, fed: 55, .. }),
    },
    Cheat {
        name: "feeds a bot in teams by its first time-out, in this share of their matches",
        teams: Teams::Pairs,
        shares: [1.0, 0.75, 0.5],
        place: 6,
        character: |share| Character::LosesTo(57, share, Way::Lapses),
        caught: |finding| matches!(finding, Finding::FeedsOpponent { feeder: 56, fed: 57, .. }),
    },
    Cheat {
        name: "fails its partner by resigning while it is not behind, in this share of their matches",
        teams: Teams::Pairs,
        shares: [1.0, 0.75, 0.5],
        place: 8,
        character: |share| Character::Fails(59, share, Way::ResignsUnlessBehind),
        caught: |finding| matches!(finding, Finding::FailPartner { partners: [58, 59] | [59, 58], .. }),
    },
    Cheat {
        name: "fails its partner, in this share of their matches",
        teams: Teams::Pairs,
        shares: [1.0, 0.75, 0.5],
        place: 2,
        character: |share| Character::Fails(53, share, Way::PlaysBadly),
        caught: |finding| matches!(finding, Finding::FailPartner { partners: [52, 53] | [53, 52], .. }),
    },
    Cheat {
        name: "runs out of time in this share of its decisions when behind",
        teams: Teams::Individual,
        shares: [0.05, 0.02, 0.005],
        place: 2,
        character: Character::TimesOutBehind,
        caught: |finding| matches!(finding, Finding::TimesOutWhenBehind { bot: 52, .. }),
    },
    Cheat {
        name: "abandons this share of its matches",
        teams: Teams::Individual,
        shares: [0.3, 0.15, 0.1],
        place: 3,
        character: Character::Abandons,
        caught: |finding| matches!(finding, Finding::Abandons { bot: 53, .. }),
    },
];

const SEASONS: u64 = 3;

/// Fifty honest bots, and ten that cheat or gain by it, of one owner each.
fn with_cheats(seed: u64, teams: Teams, level: usize) -> Vec<Bot> {
    let mut bots = honest(seed, teams);
    for place in 0..10 {
        let cheat = CHEATS.iter().find(|cheat| cheat.teams == teams && cheat.place == place);
        let character = cheat.map_or(Character::Plain, |cheat| (cheat.character)(cheat.shares[level]));
        // It pays to lose to a weaker bot.
        let strength = [1.0, -0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0][place];
        bots.push(Bot { strength, owner: HONEST + place, character });
    }
    bots
}

#[test]
fn each_kind_of_cheat_is_found_in_one_season_and_nobody_else() {
    for teams in [Teams::Individual, Teams::Pairs] {
        for level in 0..3 {
            let seasons: Vec<Vec<Suspicion<Name>>> = (1..=SEASONS)
                .map(|seed| {
                    listed(
                        &season(100 + seed, &with_cheats(seed, teams, level), teams, matches(teams)),
                        teams,
                    )
                })
                .collect();
            println!("{}", lines(&seasons[0]));
            for suspicions in &seasons {
                check_only_cheats(suspicions);
            }
            for cheat in CHEATS.iter().filter(|cheat| cheat.teams == teams) {
                let caught =
                    |found: &&Vec<Suspicion<Name>>| found.iter().any(|one| (cheat.caught)(&one.finding));
                let found = seasons.iter().filter(caught).count();
                println!("{}, {}: found in {found} of {SEASONS} seasons", cheat.name, cheat.shares[level]);
                assert!(level > 0 || found == seasons.len(), "{}: found in {found}", cheat.name);
            }
        }
    }
}

/// Asserts that nobody honest is suspected.
fn check_only_cheats(suspicions: &[Suspicion<Name>]) {
    for suspicion in suspicions {
        assert!(named(suspicion).iter().all(|&name| name >= HONEST), "an honest bot: {suspicion}");
    }
}

/// Whoever loses on purpose is as strong as whoever gains by it, as others seldom meet. Losing without teams has a test of its own.
#[test]
fn where_the_ladder_pairs_each_other_kind_of_cheat_is_found_in_each_season_and_nobody_else() {
    for teams in [Teams::Individual, Teams::Pairs] {
        for seed in 1..=SEASONS {
            let mut bots = with_cheats(seed, teams, 0);
            for bot in &mut bots[HONEST..] {
                bot.strength = 0.0;
            }
            let suspicions = listed(&paired_season(seed, &bots, teams, paired_matches(teams)), teams);
            check_only_cheats(&suspicions);
            for cheat in CHEATS.iter().filter(|cheat| cheat.teams == teams) {
                let is_found = suspicions.iter().any(|one| (cheat.caught)(&one.finding));
                println!("paired, season {seed}: {}: found: {is_found}", cheat.name);
                let is_losing = (teams, cheat.place) == (Teams::Individual, 0);
                assert!(is_found || is_losing, "{}: not found in season {seed}", cheat.name);
            }
        }
    }
}

/// A season of two, as the ladder pairs them, of 50 honest bots and so many of this strength, all of which but the last one lose to that on
/// purpose: who is listed.
fn ring(seed: u64, bots: usize, strength: f64) -> Vec<Suspicion<Name>> {
    let mut all = honest(seed, Teams::Individual);
    let (losers, gains) = (HONEST..HONEST + bots - 1, HONEST + bots - 1);
    for name in HONEST..=gains {
        let throws = Character::LosesTo(gains, 1.0, Way::PlaysBadly);
        let character = if name == gains { Character::Plain } else { throws };
        all.push(Bot { strength, owner: name, character });
    }
    let results = paired_season(seed, &all, Teams::Individual, SEASON_RESULTS);
    let met = |one: &&Finished, name| [name, gains].iter().all(|of| one.played().bots().contains(of));
    let meetings: Vec<usize> =
        losers.map(|name| results.iter().filter(|one| met(one, name)).count()).collect();
    let suspicions = listed(&results, Teams::Individual);
    println!("{bots} of {strength}, season {seed}: {meetings:?} meetings\n{}", lines(&suspicions));
    check_only_cheats(&suspicions);
    suspicions
}

fn loses_to(suspicions: &[Suspicion<Name>], of: Name, to: Name) -> bool {
    let is = |one: &Suspicion<Name>| matches!(one.finding, Finding::LosesTo { loser, winner, .. } if (loser, winner) == (of, to));
    suspicions.iter().any(is)
}

/// Each meeting of equals tells least. The one falls and the other rises, so that they are no neighbours for long.
#[test]
fn of_two_equals_that_the_ladder_pairs_who_loses_on_purpose_is_found_in_most_seasons_and_nobody_else() {
    let is_found = |&seed: &u64| loses_to(&ring(seed, 2, 0.0), HONEST, HONEST + 1);
    let found = (1..=6).filter(is_found).count();
    println!("equals that the ladder pairs: found in {found} of 6 seasons");
    assert!(found >= 5, "found in {found}");
}

/// Those at the top are neighbours whoever wins, so they meet often.
#[test]
fn of_four_at_the_top_of_which_three_lose_to_one_on_purpose_one_is_found_in_each_season_and_nobody_else() {
    for seed in 1..=SEASONS {
        let suspicions = ring(seed, 4, 2.0);
        let found = (HONEST..HONEST + 3).filter(|&of| loses_to(&suspicions, of, HONEST + 3)).count();
        assert!(found > 0, "season {seed}");
    }
}
