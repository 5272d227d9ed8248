//! Runs whole matches on simulated time, network and disk, with the faults of many seeds, and prints what came of it.
//!
//! ```sh
//! cargo run --release -p zetema-tests --bin simulate -- --seeds 10000
//! cargo run --release -p zetema-tests --bin simulate -- --seeds 1 --first 17 --trace
//! ```
#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::{anyhow, bail};
use clap::Parser;
use zetema_tests::simulation::{Lines, Run, Tally, faults_of, run, shrink};

/// Runs whole matches on simulated time, network and disk, with the faults of many seeds, and prints what came of it.
#[derive(Parser)]
struct Args {
    /// How many seeds are run.
    #[arg(long)]
    seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// How many are run at once [default: one for each processor].
    #[arg(long)]
    at_once: Option<NonZeroUsize>,
    /// Prints all that happens. For one seed only.
    #[arg(long)]
    trace: bool,
}

fn main() -> anyhow::Result<()> {
    let Args { seeds, first, at_once, trace } = Args::parse();
    let end = first.checked_add(seeds).ok_or_else(|| anyhow!("there are no seeds beyond {}", u64::MAX))?;
    if trace {
        return print_trace(first, seeds);
    }
    let at_once = at_once
        .map_or_else(|| thread::available_parallelism().map_or(1, NonZeroUsize::get), NonZeroUsize::get);
    let begun = Instant::now();
    let (next, sum) = (AtomicU64::new(first), Mutex::new((Tally::default(), Vec::new())));
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        return;
                    }
                    let Run { problem, tally, .. } = run(seed, &faults_of(seed), Lines::Hashed);
                    let Ok(mut sum) = sum.lock() else { return };
                    sum.0 += tally;
                    if problem.is_some() {
                        sum.1.push(seed);
                    }
                }
            });
        }
    });
    let (tally, failed) = sum.into_inner().map_err(|_| anyhow!("a run panicked"))?;
    print(&tally, seeds, begun);
    for seed in &failed {
        print_failure(*seed);
    }
    if !failed.is_empty() {
        bail!("{} of {seeds} seeds failed", failed.len());
    }
    Ok(())
}

fn print(tally: &Tally, seeds: u64, begun: Instant) {
    let Tally {
        faults,
        matches,
        results,
        actions,
        requests,
        observations,
        snapshots,
        restarts,
        timeouts,
        packs_counted,
        simulated_ms,
    } = tally;
    let (hours, took) = (simulated_ms / 3_600_000, begun.elapsed().as_secs());
    println!("{seeds} seeds in {took} s: {hours} h of simulated time");
    println!("{matches} matches, {results} with a result; {restarts} restarts");
    println!("{actions} actions, {timeouts} time-outs, {requests} requests");
    println!("{observations} observations and {snapshots} snapshots, each compared");
    println!("{packs_counted} times every card of a pack was looked for");
    println!("{} faults:", faults.values().sum::<u64>());
    for (name, count) in faults {
        println!("{count:>9} {name}");
    }
}

/// Prints what was wrong, and the fewest faults with which it is.
fn print_failure(seed: u64) {
    let (run, faults) = shrink(seed, faults_of(seed));
    println!("seed {seed} failed: {}", run.problem.unwrap_or_default());
    println!("  cargo run --release -p zetema-tests --bin simulate -- --seeds 1 --first {seed} --trace");
    for fault in faults {
        println!("  {fault}");
    }
}

fn print_trace(seed: u64, seeds: u64) -> anyhow::Result<()> {
    if seeds != 1 {
        bail!("--trace is for one seed: give --seeds 1");
    }
    let (_, faults) = shrink(seed, faults_of(seed));
    let run = run(seed, &faults, Lines::Kept);
    for line in run.lines {
        println!("{line}");
    }
    match run.problem {
        Some(problem) => bail!("seed {seed} failed: {problem}"),
        None => Ok(()),
    }
}
