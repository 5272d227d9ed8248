//! What a seat is worth: `cargo run --release -p zetema-bots --example seats -- --matches 2000`.
//!
//! Each preset, with each number of players and its usual teams, is played by the same house bot at all seats, over matches whose deals are
//! independent of one another. Place 1 is the first seat after the dealer of the first deal, who plays first; the last place is the
//! dealer's. The intervals are at 95 %, with a match as the sample.

#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use std::env;
use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::time::Instant;

use zetema_bots::{House, Samples};
use zetema_sdk::rules::fair::{MatchSeed, Nonce};
use zetema_sdk::rules::{MatchResult, Options, PlayError, Preset, Side};
use zetema_sdk::{Rules, numbered_seed, simulate};

const USAGE: &str = "usage: seats [--bot greedy] [--matches 2000] [--from 9000000] [--preset sackson] [--players 2] \
[--match whole|one-deal]";

/// The first of the seeds that nothing was chosen by.
const FIRST_SEED: u64 = 9_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let asked = Asked::read(env::args().skip(1))?;
    let begun = Instant::now();
    println!("| preset | players | share of the wins by place, % | points ahead of the mean by place |");
    println!("|---|---|---|---|");
    let mut faults = 0;
    for preset in Preset::ALL.into_iter().filter(|preset| asked.preset.is_none_or(|only| only == *preset)) {
        for &players in preset.players() {
            if asked.players.is_some_and(|only| only != usize::from(players)) {
                continue;
            }
            let rules = asked.rules(preset, players.into())?;
            let places =
                Places::play(rules, asked.bot, asked.from..asked.from.saturating_add(asked.matches))?;
            faults += places.faults;
            println!(
                "| {preset} | {players} | {} | {} |",
                Cells(&places.wins, 100.0),
                Cells(&places.points, 1.0)
            );
        }
    }
    println!(
        "\n{} at all seats, {} matches of each row from seed {}, {faults} faults, {:.0} s",
        asked.bot,
        asked.matches,
        asked.from,
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}

/// What the program was asked.
struct Asked {
    bot: House,
    matches: u64,
    from: u64,
    preset: Option<Preset>,
    players: Option<usize>,
    target: Target,
}

/// How long a match is.
enum Target {
    /// As the preset says.
    Preset,
    /// One deal.
    None,
}

impl Asked {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let mut asked = Self {
            bot: House::Greedy,
            matches: 2000,
            from: FIRST_SEED,
            preset: None,
            players: None,
            target: Target::Preset,
        };
        while let Some(flag) = words.next() {
            let Some(value) = words.next() else { return Err(USAGE.into()) };
            match (flag.as_str(), value.as_str()) {
                ("--bot", _) => asked.bot = value.parse()?,
                ("--matches", _) => asked.matches = value.parse()?,
                ("--from", _) => asked.from = value.parse()?,
                ("--preset", _) => asked.preset = Some(value.parse()?),
                ("--players", _) => asked.players = Some(value.parse()?),
                ("--match", "whole") => asked.target = Target::Preset,
                ("--match", "one-deal") => asked.target = Target::None,
                _ => return Err(USAGE.into()),
            }
        }
        Ok(asked)
    }

    fn rules(&self, preset: Preset, players: usize) -> Result<Rules, Box<dyn Error>> {
        let rules = preset.rules(players, None)?;
        Ok(match self.target {
            Target::Preset => rules,
            Target::None => Rules::new(Options { target: None, ..*rules })?,
        })
    }
}

/// What each place made of the matches, the first after the dealer first.
struct Places {
    wins: Vec<Samples>,
    points: Vec<Samples>,
    faults: usize,
}

impl Places {
    fn play(rules: Rules, bot: House, seeds: Range<u64>) -> Result<Self, PlayError> {
        let players = rules.player_count();
        let none = vec![Samples::default(); players.count()];
        let mut places = Self { wins: none.clone(), points: none, faults: 0 };
        for number in seeds {
            let seed = numbered_seed(number);
            let dealer = MatchSeed::derive(&seed, &vec![Nonce::EMPTY; players.count()]).dealer(players);
            // The bots' own dice are others in each match.
            let played = simulate(rules, &seed, |info| bot.make(info, number))?;
            places.faults += played.faults.len();
            for (place, (wins, points)) in places.wins.iter_mut().zip(&mut places.points).enumerate() {
                let side = rules.side(dealer.clockwise(place + 1, players));
                wins.add(share(&rules, &played.result, side));
                points.add(ahead(&rules, &played.result, side));
            }
        }
        Ok(places)
    }
}

/// The share of the first rank that a side has.
fn share(rules: &Rules, result: &MatchResult, side: Side) -> f64 {
    let ranks = &result.ranks[..rules.sides()];
    if ranks[side.index()] != 1 {
        return 0.0;
    }
    1.0 / ranks.iter().filter(|&&rank| rank == 1).fold(0.0, |firsts, _| firsts + 1.0)
}

/// The points that a side is ahead of the mean of all.
fn ahead(rules: &Rules, result: &MatchResult, side: Side) -> f64 {
    let totals = &result.totals[..rules.sides()];
    let (sum, sides) =
        totals.iter().fold((0.0, 0.0), |(sum, sides), &total| (sum + f64::from(total), sides + 1.0));
    f64::from(totals[side.index()]) - sum / sides
}

/// The means of all places with the widest of their intervals, so many times as large.
struct Cells<'a>(&'a [Samples], f64);

impl fmt::Display for Cells<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(places, times) = self;
        let means: Vec<String> =
            places.iter().map(|place| format!("{:.1}", times * place.mean().mean)).collect();
        let widest = places.iter().map(|place| place.mean().half_width).fold(0.0, f64::max);
        write!(f, "{} (± {:.1})", means.join(", "), times * widest)
    }
}
