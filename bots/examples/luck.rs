//! How many fewer matches the scores without luck need, of house bots: `cargo run --release -p zetema-bots --example luck --
//! --matches 500`. And what it costs to compute the luck of a deck: `… --example luck -- --cost 20`, by so many decks.
//!
//! A row is a house bot that plays at each seat in turn among others, over matches whose deals are independent of one another. The
//! factor is the variance of its points a match over that of its adjusted points; its interval at 95 % is a bootstrap over the matches.

#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use std::collections::HashMap;
use std::env;
use std::error::Error;
use std::time::Instant;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use zetema_bots::House;
use zetema_ladder::{
    AdjustedScore, Baseline, DealKey, DealValues, Estimate, MatchTimes, PointsPerMatch, Reference,
    ReferenceVersion,
};
use zetema_sdk::rules::Preset;
use zetema_sdk::rules::fair::{MatchSeed, Nonce};
use zetema_sdk::{Rules, numbered_seed, simulate};

const USAGE: &str = "usage: luck [--matches 500] [--from 9500000] or luck --cost 20";

/// The first of the seeds that nothing was chosen by.
const FIRST_SEED: u64 = 9_500_000;
/// How often the matches are drawn again for an interval.
const DRAWS: usize = 1_000;
/// How often the same decks are computed for the cost: the fastest counts, as the machine may do something else meanwhile.
const RUNS: usize = 5;

/// A preset with so many players, and the pairs of bots that play it: the one that is looked at, and all others.
type Table = (Preset, usize, &'static [(House, House)]);

/// Those whose baselines are published.
const TABLES: [Table; 4] = [
    (
        Preset::Sackson,
        2,
        &[
            (House::Greedy, House::Greedy),
            (House::Appraiser, House::Greedy),
            (House::Searcher, House::Greedy),
            (House::Greedy, House::Random),
        ],
    ),
    (Preset::Sackson, 4, &[(House::Greedy, House::Greedy), (House::Greedy, House::Random)]),
    (
        Preset::Quick,
        2,
        &[
            (House::Greedy, House::Greedy),
            (House::Appraiser, House::Greedy),
            (House::Searcher, House::Appraiser),
        ],
    ),
    (Preset::Quick, 3, &[(House::Greedy, House::Greedy), (House::Greedy, House::Random)]),
];

fn main() -> Result<(), Box<dyn Error>> {
    let (mut matches, mut from, mut cost) = (500, FIRST_SEED, None);
    let mut words = env::args().skip(1);
    while let Some(flag) = words.next() {
        let Some(value) = words.next() else { return Err(USAGE.into()) };
        match flag.as_str() {
            "--matches" => matches = value.parse()?,
            "--from" => from = value.parse()?,
            "--cost" => cost = Some(value.parse()?),
            _ => return Err(USAGE.into()),
        }
    }
    match cost {
        Some(decks) => print_cost(decks),
        None => print_factors(matches, from),
    }
}

/// A row for each pair of bots.
fn print_factors(matches: u64, from: u64) -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    println!("| preset | players | bot | others | score | adjusted | times as many matches without |");
    println!("|---|---|---|---|---|---|---|");
    for (preset, players, pairs) in TABLES {
        let rules = preset.rules(players, None)?;
        let reference = Reference::new(&rules, ReferenceVersion::CURRENT);
        let usual = Baseline::published(&reference).unwrap_or_else(|| reference.baseline().finish());
        let mut decks = Decks { usual, values: HashMap::new() };
        for &(bot, others) in pairs {
            let scores = (from..from.saturating_add(matches))
                .map(|number| score(rules, bot, others, number, &mut decks))
                .collect::<Result<Vec<_>, _>>()?;
            let Row { points, pairs } = Row::of(&scores);
            let (low, high) = interval(&pairs);
            println!(
                "| `{preset}` | {players} | `{bot}` | `{others}` | {} | {} | {:.2} [{low:.2}, {high:.2}] |",
                shown(points.raw()),
                shown(points.adjusted()),
                points.variance_ratio().unwrap_or(f64::NAN),
            );
        }
    }
    println!("\n{matches} matches of each row from seed {from}, {:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}

/// What decks are worth, each computed once.
struct Decks {
    usual: Baseline,
    values: HashMap<DealKey, DealValues>,
}

/// What the bot's side scored in the match with this number.
fn score(
    rules: Rules,
    bot: House,
    others: House,
    number: u64,
    decks: &mut Decks,
) -> Result<AdjustedScore, Box<dyn Error>> {
    let players = u64::from(rules.players);
    let seat = usize::try_from(number % players)?;
    // The bots' own dice are others in each match.
    let played = simulate(rules, &numbered_seed(number), |info| {
        if info.seat.index() == seat { bot.make(info, number) } else { others.make(info, number) }
    })?;
    if let Some((seat, fault)) = played.faults.first() {
        return Err(format!("match {number}: a bot is at fault at seat {seat}: {fault:?}").into());
    }
    let record = played.record()?;
    let reference = decks.usual.reference();
    let mut values = Vec::with_capacity(record.deals.len());
    for deal in &record.deals {
        let key = reference.deal_key(&deal.deck);
        let known = decks.values.get(&key).copied();
        let value = match known {
            Some(value) => value,
            None => reference.deal(&deal.deck)?.finish(),
        };
        decks.values.insert(key, value);
        values.push(value);
    }
    let dealer = record.dealer.ok_or("a match that was played has a dealer")?;
    let scores = decks.usual.adjusted_scores(dealer, &values, &played.result)?;
    let side = rules.seats().nth(seat).map(|seat| rules.side(seat).index());
    let score = side.and_then(|side| scores.get(side)).ok_or("every seat has a side")?;
    Ok(*score)
}

/// What a bot scores a match, and each match's points as scored and adjusted.
struct Row {
    points: PointsPerMatch,
    pairs: Vec<(f64, f64)>,
}

impl Row {
    fn of(scores: &[AdjustedScore]) -> Self {
        let mut row = Self { points: PointsPerMatch::default(), pairs: Vec::with_capacity(scores.len()) };
        for (number, score) in (0..).zip(scores) {
            row.pairs.push((score.raw, score.raw - row.points.share() * score.luck));
            // One match after the other.
            let times = MatchTimes { created_ms: 2 * number + 1, ended_ms: 2 * number + 2 };
            row.points.count(*score, times);
        }
        row
    }
}

/// The interval of the variance of the first over that of the second, by drawing pairs again.
fn interval(pairs: &[(f64, f64)]) -> (f64, f64) {
    let mut dice = StdRng::seed_from_u64(1);
    let mut ratios: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let drawn: Vec<(f64, f64)> =
                pairs.iter().map(|_| pairs[dice.random_range(0..pairs.len())]).collect();
            variance(drawn.iter().map(|pair| pair.0)) / variance(drawn.iter().map(|pair| pair.1))
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    (ratios[DRAWS / 40], ratios[DRAWS - 1 - DRAWS / 40])
}

fn variance(points: impl Iterator<Item = f64>) -> f64 {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for point in points {
        count += 1.0;
        sum += point;
        squares += point * point;
    }
    (squares - sum * sum / count) / (count - 1.0)
}

fn shown(estimate: Estimate) -> String {
    let error = estimate.standard_error.map_or("?".to_owned(), |error| format!("{error:.1}"));
    format!("{:.1} ± {error}", estimate.mean)
}

/// How long a deck takes, by preset and players.
fn print_cost(decks: u32) -> Result<(), Box<dyn Error>> {
    const PLAYERS: [u8; 3] = [2, 4, 6];
    println!("| | {} |", Preset::ALL.map(|preset| format!("`{preset}`")).join(" | "));
    println!("|---|{}", "---|".repeat(Preset::ALL.len()));
    for players in PLAYERS {
        let cells = Preset::ALL
            .into_iter()
            .map(|preset| cost_ms(preset, players.into(), decks).map(|ms| format!("{ms:.1}")))
            .collect::<Result<Vec<_>, _>>()?;
        println!("| {players} players | {} |", cells.join(" | "));
    }
    println!("\nmilliseconds a deck, the best of {RUNS} runs of {decks} decks each");
    Ok(())
}

/// Of the fastest run.
fn cost_ms(preset: Preset, players: usize, decks: u32) -> Result<f64, Box<dyn Error>> {
    let rules = preset.rules(players, None)?;
    let reference = Reference::new(&rules, ReferenceVersion::CURRENT);
    let seed = MatchSeed::derive(&numbered_seed(FIRST_SEED), &vec![Nonce::EMPTY; players]);
    let decks: Vec<_> = (0..decks).map(|number| seed.deck(number, rules.imperial_suit)).collect();
    let mut fastest = f64::INFINITY;
    for _ in 0..RUNS {
        let begun = Instant::now();
        for deck in &decks {
            std::hint::black_box(reference.deal(deck)?.finish());
        }
        fastest = fastest.min(begun.elapsed().as_secs_f64());
    }
    Ok(1e3 * fastest / f64::from(u32::try_from(decks.len())?))
}
