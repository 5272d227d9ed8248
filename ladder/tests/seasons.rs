//! Seasons of a ladder on simulated time: how long bots wait, against whom they play, and where they sit. `docs/pairing.md` has the
//! figures, which `cargo test -p zetema-ladder --test seasons -- --nocapture` prints.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss, clippy::print_stdout)]

mod season;

use std::num::NonZeroU16;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use season::{Figures, Season};
use zetema_ladder::pairing::{
    BotId, Entrant, OwnerId, PairingOptions, PairingSettings, Queue, SameOwner, Strength,
};
use zetema_rules::{Players, Teams};

/// What a season must not exceed.
struct Bounds {
    /// Half of the waits, in milliseconds.
    wait_p50_ms: u64,
    /// 99 of 100 waits.
    wait_p99_ms: u64,
    /// All waits.
    wait_max_ms: u64,
    /// Half of the distances between two opponents' strengths, in points.
    distance_p50: f64,
    /// How much more often a bot had one seat than another.
    seat_spread: u32,
    /// How many of 100 meetings were with a bot of the last 20 matches.
    repeats_percent: f64,
}

fn check(name: &str, season: &Season, bounds: &Bounds) {
    let began = Instant::now();
    let figures = season.play();
    println!("{name}: {figures}; took {:.1} s", began.elapsed().as_secs_f64());
    let Figures { waits_ms, distances, seat_spreads, .. } = &figures;
    assert!(waits_ms.at(50) <= bounds.wait_p50_ms, "half waited {} ms or more", waits_ms.at(50));
    assert!(waits_ms.at(99) <= bounds.wait_p99_ms, "one of 100 waited {} ms or more", waits_ms.at(99));
    assert!(waits_ms.at(100) <= bounds.wait_max_ms, "one waited {} ms", waits_ms.at(100));
    assert!(distances.at(50) <= bounds.distance_p50, "half were {} points apart or more", distances.at(50));
    assert!(seat_spreads.at(100) <= bounds.seat_spread, "one's seats differ by {}", seat_spreads.at(100));
    assert!(figures.repeats_percent() <= bounds.repeats_percent, "{} % repeats", figures.repeats_percent());
}

fn season(players: usize, teams: Teams) -> Season {
    let options = PairingOptions::usual(Players::new(players).unwrap(), teams);
    Season {
        settings: PairingSettings::new(options).unwrap(),
        bots: 200,
        hours: 6,
        median_match_s: 60.0,
        seed: 1,
    }
}

#[test]
fn a_season_of_two() {
    check(
        "two players",
        &season(2, Teams::Individual),
        &Bounds {
            wait_p50_ms: 1_500,
            wait_p99_ms: 15_000,
            wait_max_ms: 45_000,
            distance_p50: 2.5,
            seat_spread: 3,
            repeats_percent: 25.0,
        },
    );
}

#[test]
fn a_season_of_pairs() {
    check(
        "two pairs",
        &season(4, Teams::Pairs),
        &Bounds {
            wait_p50_ms: 2_000,
            wait_p99_ms: 20_000,
            wait_max_ms: 50_000,
            distance_p50: 2.8,
            seat_spread: 4,
            repeats_percent: 60.0,
        },
    );
}

#[test]
fn a_season_of_six() {
    check(
        "six players",
        &season(6, Teams::Individual),
        &Bounds {
            wait_p50_ms: 2_000,
            wait_p99_ms: 25_000,
            wait_max_ms: 50_000,
            distance_p50: 3.0,
            seat_spread: 4,
            repeats_percent: 75.0,
        },
    );
}

#[test]
fn a_season_of_few_bots() {
    check(
        "two players, eight bots",
        &Season { bots: 8, ..season(2, Teams::Individual) },
        &Bounds {
            wait_p50_ms: 3_000,
            wait_p99_ms: 50_000,
            wait_max_ms: 200_000,
            distance_p50: 8.0,
            seat_spread: 3,
            repeats_percent: 98.0,
        },
    );
}

/// Two of equal rating are the only bots of their owners, and all others have many. So few owners are no reason to meet as often.
#[test]
fn the_only_bots_of_two_owners_do_not_meet_most_where_other_owners_have_many() {
    for (players, owners, each, most) in [(2, 2, 20, 15), (2, 4, 5, 20), (4, 4, 20, 30), (4, 9, 10, 20)] {
        let mut bots = vec![(1_000, 25.0), (1_001, 25.0)];
        let of_others = (0..owners).flat_map(|owner| vec![owner; each]).zip(0_u32..);
        bots.extend(of_others.map(|(owner, number)| (owner, 14.0 + f64::from(number * 7 % 23))));
        let (matches, _) = quick(players, Teams::Individual, &bots);
        let of_first = matches.iter().filter(|of| of.contains(&0));
        let (together, apart): (Vec<_>, Vec<_>) = of_first.partition(|of| of.contains(&1));
        let percent = 100 * together.len() / (together.len() + apart.len());
        println!("{players} players, {owners} owners of {each} bots, two of one: who meet in {percent} %");
        assert!(percent <= most, "{players} players, {owners} owners of {each}: {percent} %");
    }
}

/// Calls of twenty minutes.
const CALLS: u64 = 1_200;

/// Bots with these owners and ratings play for twenty minutes, each four matches at once, all of which are over by the next call: who played
/// in each match, and how long one waited at most.
fn quick(players: usize, teams: Teams, bots: &[(u64, f64)]) -> (Vec<Vec<u64>>, u64) {
    let options = PairingOptions::usual(Players::new(players).unwrap(), teams);
    let mut queue = Queue::new(PairingSettings::new(options).unwrap());
    for (number, &(owner, rating)) in (0..).zip(bots) {
        let (bot, owner, places) = (BotId::new(number), OwnerId::new(owner), NonZeroU16::new(4).unwrap());
        queue.join(Entrant { bot, owner, strength: Strength::new(rating, 1.0).unwrap(), places }, 0);
    }
    let (mut matches, mut longest_ms) = (Vec::new(), 0);
    for now_ms in (1..=CALLS).map(|call| call * 1_000) {
        for pairing in queue.pair(now_ms) {
            matches.push(pairing.members().iter().map(|member| member.bot.number()).collect());
            let waits = pairing.members().iter().map(|member| now_ms - member.since_ms);
            longest_ms = waits.fold(longest_ms, u64::max);
            queue.finish(&pairing, now_ms + 500).unwrap();
        }
    }
    (matches, longest_ms)
}

/// How many of the matches come about that could, where each bot of these ratings has one a call, and nobody waits for longer than this.
fn check_quick(players: usize, teams: Teams, ratings: &[f64], share: f64, wait_max_ms: u64) {
    let bots: Vec<_> = (0..).zip(ratings.iter().copied()).collect();
    let (matches, longest_ms) = quick(players, teams, &bots);
    let matches = u32::try_from(matches.len()).unwrap();
    let most = CALLS * (ratings.len() / players) as u64;
    println!(
        "{players} players, {} bots, quick matches: {matches} of {most}; longest wait {longest_ms} ms",
        ratings.len()
    );
    assert!(f64::from(matches) >= share * most as f64, "{matches} of {most} matches");
    assert!(longest_ms <= wait_max_ms, "one waited {longest_ms} ms");
}

#[test]
fn few_bots_of_unlike_strength_play_on_where_matches_take_no_time() {
    let six = [5.0, 20.0, 24.0, 28.0, 31.0, 33.0];
    check_quick(2, Teams::Individual, &[0.0, 10.0, 20.0, 30.0], 0.95, 2_000);
    check_quick(2, Teams::Individual, &six, 0.75, 3_000);
    check_quick(4, Teams::Pairs, &six, 0.95, 3_000);
    check_quick(6, Teams::Individual, &six, 0.95, 2_000);
    // Two groups that are far apart, each enough for one match.
    let of_four = [0.0, 1.0, 2.0, 3.0, 40.0, 41.0, 42.0, 43.0];
    check_quick(4, Teams::Pairs, &of_four, 0.75, 5_000);
    check_quick(4, Teams::Individual, &of_four, 0.75, 5_000);
    let of_six: Vec<f64> = (0..12).map(|number| f64::from(number + number / 6 * 40)).collect();
    check_quick(6, Teams::Trios, &of_six, 0.75, 5_000);
    let sixteen: Vec<f64> = (0..16).map(|number| f64::from(number * number) / 6.0).collect();
    check_quick(2, Teams::Individual, &sixteen, 0.75, 5_000);
}

#[test]
fn few_bots_of_owners_with_several_play_on_where_matches_take_no_time() {
    // Each match takes one bot of each owner.
    for owners in [&[0, 1, 1, 1][..], &[0, 1, 1, 1, 1], &[0, 1, 2, 2, 2, 3, 3, 3]] {
        let players = if owners.contains(&3) { 4 } else { 2 };
        for apart in [0.0, 6.0] {
            let bots: Vec<_> =
                owners.iter().enumerate().map(|(at, &owner)| (owner, 25.0 + apart * at as f64)).collect();
            let (matches, longest_ms) = quick(players, Teams::Individual, &bots);
            println!(
                "owners {owners:?}, {apart} apart: {} matches of {CALLS}, {longest_ms} ms",
                matches.len()
            );
            assert!(
                matches.len() as u64 * 20 >= CALLS * 19,
                "{owners:?}, {apart}: {} matches",
                matches.len()
            );
        }
    }
}

#[test]
fn no_far_neighbour_is_met_more_often_than_a_near_one() {
    let mut ratings = vec![39.0, 38.4, 37.1, 37.0, 33.7, 33.4, 32.1, 31.9, 31.5];
    ratings.extend((0..91).map(|number| 10.0 + f64::from(number) * 21.0 / 90.0));
    let bots: Vec<_> = (0..).zip(ratings).collect();
    let (matches, _) = quick(2, Teams::Individual, &bots);
    let met = |number: u64| matches.iter().filter(|of| of.contains(&0) && of.contains(&number)).count();
    let met: Vec<usize> = (1..9).map(met).collect();
    println!("the best of 100 has met its neighbours, the nearest first, {met:?} times");
    let (near, far): (usize, usize) = (met[..3].iter().sum(), met[5..].iter().sum());
    assert!(near >= far, "{met:?}");
}

/// How far four at the top, who may be of one mind, are above all others has little say in it.
#[test]
fn four_at_the_top_of_many_meet_others_as_often_and_no_two_of_them_most() {
    for above in [0.0, 3.0, 10.0] {
        let mut bots: Vec<_> = (0..200).map(|number| (number, 10.0 + number as f64 / 8.0)).collect();
        for (_, rating) in &mut bots[196..] {
            *rating += above;
        }
        let (matches, _) = quick(2, Teams::Individual, &bots);
        let is_of_them = |bot: &u64| *bot >= 196;
        let of_them: Vec<_> = matches.iter().filter(|of| of.iter().any(is_of_them)).collect();
        let among = of_them.iter().filter(|of| of.iter().all(is_of_them)).count();
        // Each match among them is one of two.
        let percent = 100 * 2 * among / (of_them.len() + among);
        let of_one = |one| of_them.iter().copied().filter(move |of| of.contains(&one)).collect::<Vec<_>>();
        let met = |one, other| {
            let lately = |of: &[&Vec<u64>]| of.iter().filter(|of| of.contains(&other)).count();
            of_one(one).windows(20).map(lately).max().unwrap()
        };
        let most = (196..200).flat_map(|one| (196..one).map(move |other| met(one, other))).max().unwrap();
        println!(
            "four {above} above 196 others: {percent} % among them, no two more than {most} of 20 matches"
        );
        assert!(percent <= 60, "{above} above: {percent} %");
        assert!(most <= 6, "{above} above: {most} of 20");
    }
}

#[test]
fn the_strongest_and_the_weakest_of_many_do_not_wait_for_opponents_that_are_not_there() {
    let mut ratings: Vec<f64> = (0..200).map(|number| 15.0 + f64::from(number) / 10.0).collect();
    ratings.extend([-20.0, 60.0]);
    check_quick(2, Teams::Individual, &ratings, 0.9, 5_000);
}

/// What this thread has taken of the processor.
#[cfg(target_os = "linux")]
fn processor_time() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_THREAD).unwrap();
    let time = |time: TimeVal| Duration::from_micros(time.num_microseconds().try_into().unwrap());
    time(usage.user_time()) + time(usage.system_time())
}

/// The fastest of three calls counts, and the bound is far more than it takes, as other tests run beside it.
#[cfg(target_os = "linux")]
#[test]
fn ten_thousand_bots_are_paired_in_well_under_a_second() {
    let free = |count: u64| (0..count).map(|number| (number, number)).collect::<Vec<_>>();
    // Half of all bots are one owner's: most of those that are nearest may not be met.
    let of_one = (0..10_000).map(|number| (number, if number % 2 == 0 { 1 } else { number })).collect();
    for (name, players, field, now_ms) in [
        ("two players, no patience", 2, free(10_000), 60_000),
        ("two players, at once", 2, free(10_000), 0),
        ("six players, no patience", 6, free(10_000), 60_000),
        ("six players, at once", 6, free(10_000), 0),
        ("two players, half of the bots one owner's", 2, of_one, 60_000),
    ] {
        let options = PairingOptions {
            same_owner: SameOwner::Apart,
            ..PairingOptions::usual(Players::new(players).unwrap(), Teams::Individual)
        };
        let mut queue = Queue::new(PairingSettings::new(options).unwrap());
        for (number, owner) in field {
            // Spread over 50 points in no order.
            let strength = Strength::new((number * 7_919 % 10_007) as f64 / 200.0, 2.0).unwrap();
            let (bot, owner) = (BotId::new(number), OwnerId::new(owner));
            queue.join(Entrant { bot, owner, strength, places: NonZeroU16::MIN }, 0);
        }
        let call = || {
            let mut queue = queue.clone();
            let began = processor_time();
            let matches = queue.pair(now_ms).len();
            (processor_time().saturating_sub(began), matches)
        };
        let (took, matches) = [call(), call(), call()].into_iter().min().unwrap();
        println!("10,000 bots, {name}: {matches} matches in {:.0} ms", took.as_secs_f64() * 1e3);
        assert!(took.as_millis() < 1_000, "{name} took {took:?}");
        assert!(matches * players >= 7_000, "{name}: {matches} matches");
    }
}
