//! Seasons of honest bots and of names under which one program plays.

use std::error::Error;
use std::time::Instant;

use zetema_ladder::{FinishedMatch, HonestyOptions};
use zetema_sdk::rules::Rules;

use crate::field::{Field, HONEST, Level};
use crate::program::Program;
use crate::season::{Alike, Finished, alike, season};

/// Where the likeness of honest bots is counted.
const STEPS: [f64; 9] = [0.0, 0.8, 0.9, 0.95, 0.97, 0.98, 0.985, 0.99, 2.0];

/// Below the usual setting: from which on an honest bot would be listed.
const SETTINGS: [f64; 7] = [0.95, 0.96, 0.97, 0.975, 0.98, 0.985, 0.9875];

/// How many of the honest pairs are so much alike, between one step and the next, over all seasons.
#[derive(Default)]
struct Spread([usize; STEPS.len() - 1]);

impl Spread {
    fn count(&mut self, likeness: f64) {
        let above = STEPS.iter().skip(1).filter(|&&step| likeness >= step).count();
        if let Some(count) = self.0.get_mut(above) {
            *count += 1;
        }
    }
}

/// How a pair came out in one season after the other.
#[derive(Default)]
struct Came {
    found: usize,
    likeness: Vec<f64>,
}

/// Plays so many seasons of so many results, and prints what came of them.
///
/// # Errors
/// An honest bot is listed, or a bare pair is not.
pub(crate) fn print(field: &Field, rules: Rules, results: u64, seasons: u64) -> Result<(), Box<dyn Error>> {
    let Field { programs, pairs } = field;
    let (mut spread, mut wrong) = (Spread::default(), Vec::new());
    let mut came: Vec<Came> = pairs.iter().map(|_| Came::default()).collect();
    for seed in 1..=seasons {
        let begun = Instant::now();
        let season = season(programs, rules, results, seed);
        let played = begun.elapsed();
        let seats = season.iter().flat_map(FinishedMatch::seats);
        let preferences: usize = seats.clone().map(|seat| seat.preferences.len()).sum();
        println!(
            "season {seed}: {results} results of {} bots in {:.0} s, {} preferences a seat",
            programs.len(),
            played.as_secs_f64(),
            preferences / seats.count().max(1)
        );
        let begun = Instant::now();
        let listed = alike(&season, HonestyOptions::default());
        let looked = begun.elapsed().as_secs_f64();
        let significance = listed.first().map(|one| one.found.significance);
        if let Some(significance) = significance {
            println!(
                "  {} pairs looked at in {looked:.1} s, bar {:.1e}, {} listed",
                significance.compared,
                significance.bar,
                listed.len()
            );
        }
        for one in listed.iter().filter(|one| Field::pair_of(one.bots).is_none()) {
            wrong.push(format!("season {seed}: {}", line(one, programs)));
        }
        for (place, (pair, came)) in pairs.iter().zip(&mut came).enumerate() {
            match listed.iter().find(|one| Field::pair_of(one.bots) == Some(place)) {
                Some(_) => came.found += 1,
                None if pair.level == Level::Bare => {
                    wrong.push(format!("season {seed}: not found: {}", pair.kind));
                }
                None => {}
            }
        }
        look_closer(&season, programs, &mut spread, &mut came);
    }
    print_all(&spread, field, &came, seasons);
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

fn line(one: &Alike, programs: &[Program]) -> String {
    let names = one.bots.map(|bot| name(bot, &programs[bot]));
    let Alike { likeness, nearer, stretches, .. } = one;
    let [one, other] = names;
    format!("{likeness:.4} {nearer}/{stretches} {one} and {other}")
}

/// What tells a program in a line.
fn name(bot: usize, program: &Program) -> String {
    match program {
        Program::Weighed(_) => format!("bot {bot} by weights"),
        Program::Mixed(mostly, otherwise, share) => {
            format!("bot {bot}: {} and in {share} {}", name(bot, mostly), name(bot, otherwise))
        }
        Program::Alternates(mostly, otherwise, share) => {
            format!("bot {bot}: {} and in {share} of its matches {}", name(bot, mostly), name(bot, otherwise))
        }
        Program::House(_) | Program::Sorts(_) => format!("bot {bot} {program:?}"),
    }
}

/// How near all are, whether they are listed or not.
fn look_closer(season: &[Finished], programs: &[Program], spread: &mut Spread, came: &mut [Came]) {
    let options = |alike| HonestyOptions { false_alarms: 0.5, alike, ..HonestyOptions::default() };
    let all = alike(season, options(0.5));
    let is_honest = |one: &&Alike| one.bots.iter().all(|&bot| bot < HONEST);
    let of_honest: Vec<&Alike> = all.iter().filter(is_honest).collect();
    for one in &of_honest {
        spread.count(one.likeness);
    }
    // What is not listed at ½ is less alike than that.
    for _ in of_honest.len()..HONEST * (HONEST - 1) / 2 {
        spread.count(0.0);
    }
    let nearest = of_honest.iter().max_by(|one, other| one.likeness.total_cmp(&other.likeness));
    if let Some(nearest) = nearest {
        println!("  the nearest honest: {}", line(nearest, programs));
    }
    let lists = |&setting: &f64| {
        let options = HonestyOptions { alike: setting, ..HonestyOptions::default() };
        alike(season, options).iter().any(|one| is_honest(&one))
    };
    let most = SETTINGS.into_iter().rev().find(lists);
    println!("  an honest bot would be listed up to alike = {most:?} of {SETTINGS:?}");
    for one in &all {
        if let Some(place) = Field::pair_of(one.bots) {
            came[place].likeness.push(one.likeness);
        }
    }
}

fn print_all(spread: &Spread, field: &Field, came: &[Came], seasons: u64) {
    println!("\nhow much alike honest pairs are, over {seasons} seasons:");
    for (count, range) in spread.0.iter().zip(STEPS.windows(2)) {
        println!("  {:.3} to {:.3}: {count}", range[0], range[1]);
    }
    println!("\npair, seasons it was found in, likeness from and to:");
    for (pair, Came { found, likeness }) in field.pairs.iter().zip(came) {
        let least = likeness.iter().copied().fold(f64::INFINITY, f64::min);
        let most = likeness.iter().copied().fold(0.0, f64::max);
        println!("  {}: {found} of {seasons}, {least:.4} to {most:.4}", pair.kind);
    }
}
