//! How near a program is to one that is nearly the same.

use std::error::Error;

use zetema_ladder::HonestyOptions;
use zetema_sdk::rules::Rules;

use crate::agreement::{Agreed, agreed};
use crate::field::{author, moved, thorough};
use crate::program::Program;
use crate::season::{Alike, alike, season};

/// How many authors are looked at: the first of the field.
const AUTHORS: usize = 3;
/// Further authors: who think of the same, and who leave things out.
const THOROUGH: usize = 15;
const OTHERS: usize = 30;
/// Matches in which programs are asked what they would discard.
const POLLED: u64 = 40;
/// Where it is counted how often two discard the same, in 100.
const STEPS: [u32; 10] = [0, 60, 70, 75, 80, 85, 88, 92, 96, 101];
/// The seed of what is moved.
const SEED: u64 = 9_000;
/// How many times as much, at most, or that part of it, a moved weight is.
const FACTORS: [f64; 8] = [1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 4.0];
/// In which share of its decisions it chooses at random.
const SHARES: [f64; 5] = [0.02, 0.05, 0.1, 0.15, 0.2];

/// Plays a season of so many results, and prints how near each author's program is to what was made of it, and who is listed.
///
/// # Errors
/// None that a program could cause.
pub(crate) fn print(rules: Rules, results: u64) -> Result<(), Box<dyn Error>> {
    let (mut programs, mut made) = (Vec::new(), Vec::new());
    for number in 0..AUTHORS {
        let weights = thorough(number);
        programs.push(Program::Weighed(weights));
        made.push("itself".to_owned());
        programs.push(Program::Weighed(weights));
        made.push("the same".to_owned());
        for factor in FACTORS {
            programs.push(Program::Weighed(moved(weights, factor, SEED + number as u64)));
            made.push(format!("weights moved by up to {factor}"));
        }
        for share in SHARES {
            programs.push(Program::Weighed(weights).careless(share));
            made.push(format!("at random in {share}"));
        }
    }
    let of_one = programs.len() / AUTHORS;
    programs.extend((AUTHORS..AUTHORS + THOROUGH).map(|number| Program::Weighed(thorough(number))));
    programs.extend((0..OTHERS).map(|number| Program::Weighed(author(number))));
    let agreed = agreed(&programs, rules, POLLED)?;
    let season = season(&programs, rules, results, 1);
    let all = alike(&season, HonestyOptions { false_alarms: 0.5, alike: 0.5, ..HonestyOptions::default() });
    let usual = alike(&season, HonestyOptions { false_alarms: 0.5, ..HonestyOptions::default() });
    for (relative, made) in made.iter().enumerate().take(of_one).skip(1) {
        let of_author = |found: &[Alike], number: usize| {
            let bots = [number * of_one, number * of_one + relative];
            found.iter().find(|one| one.bots == bots).map(|one| (one.likeness, one.nearer, one.stretches))
        };
        let share = |number: usize| agreed.share([number * of_one, number * of_one + relative]);
        let (same, of) = (0..AUTHORS).fold((0.0, 0.0), |(same, of), number| (same + share(number), of + 1.0));
        print!("{made}, {:.3} the same:", same / of);
        for number in 0..AUTHORS {
            match (of_author(&all, number), of_author(&usual, number)) {
                (_, Some((likeness, nearer, stretches))) => {
                    print!("  {likeness:.4} ({nearer} of {stretches})");
                }
                (Some((likeness, ..)), None) => print!("  {likeness:.4}"),
                (None, None) => print!("  less"),
            }
        }
        println!();
    }
    let listed = alike(&season, HonestyOptions::default());
    print_steps(&agreed, programs.len(), &all, &listed);
    Ok(())
}

/// How many pairs are listed, and how near they are, by how often they discard the same.
fn print_steps(agreed: &Agreed, bots: usize, all: &[Alike], listed: &[Alike]) {
    println!("\nof 100 discards the same, pairs, listed, likeness from and to:");
    for step in STEPS.windows(2) {
        let [from, to] = [step[0], step[1]].map(f64::from);
        let within = |bots: [usize; 2]| (from..to).contains(&(100.0 * agreed.share(bots)));
        let pairs = (0..bots).flat_map(|one| (one + 1..bots).map(move |other| [one, other]));
        let pairs = pairs.filter(|&bots| within(bots)).count();
        let listed = listed.iter().filter(|one| within(one.bots)).count();
        let likeness = || all.iter().filter(|one| within(one.bots)).map(|one| one.likeness);
        let (least, most) = (likeness().fold(f64::INFINITY, f64::min), likeness().fold(0.0, f64::max));
        println!("  {from} to {to}: {pairs}, {listed}, {least:.4} to {most:.4}");
    }
}
