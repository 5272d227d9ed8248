//! Crashes a server under bots that play on it, again and again, and checks that nothing was lost and nothing doubled.
//!
//! ```sh
//! cargo run --release -p zetema-tests --bin crash -- --kills 200
//! ```
#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use anyhow::bail;
use clap::Parser;
use zetema_tests::crash::{Crash, Failure, Report, Round};

/// Crashes a server under bots that play on it, again and again, and checks that nothing was lost and nothing doubled.
#[derive(Parser)]
struct Args {
    /// Kill the server (SIGKILL) so many times.
    #[arg(long, default_value = "0")]
    kills: usize,
    /// Crashes of one server and its folder, before the next one begins with an empty one.
    #[arg(long, default_value = "20")]
    per_round: usize,
    /// Tables at which bots play at once.
    #[arg(long, default_value = "8")]
    tables: usize,
    /// The seed of the first round; the next has the next number. Without it, any.
    #[arg(long)]
    seed: Option<u64>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Args { kills, per_round, tables, seed } = Args::parse();
    if kills == 0 {
        bail!("say how often: --kills N");
    }
    if per_round == 0 || tables == 0 {
        bail!("a round has a crash and a table at least");
    }
    let mut seed = seed.unwrap_or_else(|| rand::random::<u32>().into());
    rounds(Crash::Kill, kills, per_round, tables, &mut seed).await
}

/// Plays rounds until there were so many crashes.
async fn rounds(
    crash: Crash,
    all: usize,
    per_round: usize,
    tables: usize,
    seed: &mut u64,
) -> anyhow::Result<()> {
    let (mut left, mut while_starting, mut matches, mut actions) = (all, 0, 0, 0);
    while left > 0 {
        let crashes = left.min(per_round);
        left -= crashes;
        match (Round { seed: *seed, crash, crashes, tables }).run().await {
            Ok(Report { while_starting: starting, audit, took }) => {
                println!(
                    "{crash}, seed {seed}: {crashes} crashes, {starting} of them while starting; {} matches with {} acknowledged actions: all there, once; {} ms",
                    audit.matches,
                    audit.actions,
                    took.as_millis()
                );
                while_starting += starting;
                matches += audit.matches;
                actions += audit.actions;
            }
            Err(Failure { folder, problems }) => {
                for problem in &problems {
                    println!("  {problem}");
                }
                let flags =
                    format!("--{crash} {crashes} --per-round {crashes} --tables {tables} --seed {seed}");
                println!("again: cargo run --release -p zetema-tests --bin crash -- {flags}");
                bail!("{} problems; the server's folder is left: {}", problems.len(), folder.display());
            }
        }
        *seed += 1;
    }
    println!(
        "{crash}: {all} crashes, {while_starting} of them while starting; {matches} matches with {actions} acknowledged actions: nothing lost, nothing doubled"
    );
    Ok(())
}
