//! Plays pairs of games that differ only in what a seat, or a spectator, can't see, and compares every byte that is
//! received.
//!
//! ```sh
//! cargo run --release -p zetema-tests --bin twins -- --games 10000
//! cargo run --release -p zetema-tests --bin twins -- --preset victorian --seed 17
//! ```
#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use std::num::{NonZeroU64, NonZeroUsize};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::bail;
use clap::Parser;
use zetema_rules::Preset;
use zetema_tests::twins::{Lab, Pair, Setting, play_pair};

/// Plays pairs of games that differ only in what a seat can't see, and compares every byte that it receives.
#[derive(Parser)]
struct Args {
    /// How many pairs of each preset, over all its numbers of players, teams and observers.
    #[arg(long, default_value = "1")]
    games: NonZeroU64,
    /// This preset only.
    #[arg(long)]
    preset: Option<Preset>,
    /// The seed of the first pair: the others follow.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many pairs are played at once. Left out: as many as there are processors.
    #[arg(long)]
    at_once: Option<NonZeroUsize>,
}

/// What came of the pairs of a preset.
#[derive(Clone, Copy, Default)]
struct Row {
    equal: u64,
    different: u64,
    broken: u64,
    steps: u64,
    moved: u64,
    answers: u64,
    bytes: u64,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let at_once = match args.at_once {
        Some(at_once) => at_once,
        None => thread::available_parallelism()?,
    };
    println!(
        "{:<10} {:>7} {:>7} {:>9} {:>7} {:>11} {:>11} {:>12} {:>15} {:>7}",
        "preset",
        "pairs",
        "equal",
        "different",
        "broken",
        "mean steps",
        "mean cards",
        "mean answers",
        "bytes compared",
        "time"
    );
    let mut failed = 0;
    for preset in Preset::ALL {
        if args.preset.is_none_or(|only| only == preset) {
            let begun = Instant::now();
            let row = play(preset, &args, at_once);
            row.print(preset, begun);
            failed += row.different + row.broken;
        }
    }
    if failed > 0 {
        bail!("{failed} pairs are not equal");
    }
    Ok(())
}

/// Plays the pairs of a preset.
fn play(preset: Preset, args: &Args, at_once: NonZeroUsize) -> Row {
    let (end, next) = (args.seed.saturating_add(args.games.get()), AtomicU64::new(args.seed));
    let played = thread::scope(|scope| {
        let workers: Vec<_> =
            (0..at_once.get()).map(|_| scope.spawn(|| play_some(preset, &next, end))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or_default()).collect::<Vec<_>>()
    });
    played.into_iter().fold(Row::default(), Row::plus)
}

fn play_some(preset: Preset, next: &AtomicU64, end: u64) -> Row {
    let lab = Lab::new();
    let mut row = Row::default();
    loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= end {
            return row;
        }
        let setting = Setting::new(preset, seed);
        // What breaks has told why on standard error.
        let pair = catch_unwind(AssertUnwindSafe(|| play_pair(&lab, setting, None)));
        let told = match &pair {
            Ok(Pair { difference: Some(difference), .. }) => difference.to_string(),
            Ok(_) => String::new(),
            Err(_) => "a game did not go as planned".to_owned(),
        };
        if !told.is_empty() {
            println!(
                "cargo run --release -p zetema-tests --bin twins -- --preset {} --seed {seed}\n  {setting:?}\n  {told}",
                preset.name()
            );
        }
        row.add(pair.ok());
    }
}

impl Row {
    fn add(&mut self, pair: Option<Pair>) {
        let Some(Pair { steps, moved, answers, bytes, difference }) = pair else {
            self.broken += 1;
            return;
        };
        match difference {
            None => self.equal += 1,
            Some(_) => self.different += 1,
        }
        self.steps += steps as u64;
        self.moved += moved as u64;
        self.answers += answers as u64;
        self.bytes += bytes;
    }

    const fn plus(self, other: Self) -> Self {
        Self {
            equal: self.equal + other.equal,
            different: self.different + other.different,
            broken: self.broken + other.broken,
            steps: self.steps + other.steps,
            moved: self.moved + other.moved,
            answers: self.answers + other.answers,
            bytes: self.bytes + other.bytes,
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "it is a mean to one digit")]
    fn print(&self, preset: Preset, begun: Instant) {
        let Self { equal, different, broken, steps, moved, answers, bytes } = *self;
        let pairs = equal + different + broken;
        let mean = |all: u64| all as f64 / pairs as f64;
        println!(
            "{:<10} {pairs:>7} {equal:>7} {different:>9} {broken:>7} {:>11.1} {:>11.1} {:>12.1} {bytes:>15} {:>5} s",
            preset.name(),
            mean(steps),
            mean(moved),
            mean(answers),
            begun.elapsed().as_secs()
        );
    }
}
