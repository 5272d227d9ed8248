//! Plays a match with every fault at every frame, by both transports, and prints what came of it.
//!
//! ```sh
//! cargo run --release -p zetema-tests --bin fault_runs
//! cargo run --release -p zetema-tests --bin fault_runs -- --transport play --fault cut --direction to-client --frame 17
//! ```
#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use anyhow::bail;
use clap::{Parser, ValueEnum};
use futures::StreamExt;
use zetema_tests::fault_runs::{Case, Dealing, Run, Scene, Transport, every_case, name};
use zetema_tests::proxy::{Direction, Fault};

/// Plays a match with every fault at every frame, by both transports, and prints what came of it.
#[derive(Parser)]
struct Args {
    /// This transport only.
    #[arg(long)]
    transport: Option<Transport>,
    /// Matches with these deals only.
    #[arg(long)]
    dealing: Option<Dealing>,
    /// Frames of this direction only.
    #[arg(long)]
    direction: Option<Direction>,
    /// This fault only.
    #[arg(long)]
    fault: Option<Fault>,
    /// The frame of this number only, from 1.
    #[arg(long)]
    frame: Option<u64>,
    /// How many matches are played at once.
    #[arg(long, default_value = "32")]
    at_once: NonZeroUsize,
}

/// What came of the cases of one row.
#[derive(Default)]
struct Row {
    frames: u64,
    passed: u64,
    failed: u64,
    not_reached: u64,
    slowest: Duration,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let scene = Scene::start().await;
    let mut cases = Vec::new();
    for &transport in Transport::value_variants() {
        for &dealing in Dealing::value_variants() {
            let counts = scene.run_whole(transport, dealing).await.counts.at_least(args.frame.unwrap_or(0));
            cases.extend(every_case(transport, dealing, counts).filter(|case| args.takes(case)));
        }
    }
    if cases.is_empty() {
        bail!("no frame has this number: leave --frame out to run all");
    }
    let mut rows: BTreeMap<(Transport, Dealing, Direction, Fault), Row> = BTreeMap::new();
    let mut runs = std::pin::pin!(scene.run_all(cases, args.at_once.get()));
    while let Some((case, run)) = runs.next().await {
        let row =
            rows.entry((case.transport, case.dealing, case.plan.direction, case.plan.fault)).or_default();
        row.add(&case, &run);
    }
    println!(
        "{:<10} {:<8} {:<10} {:<10} {:>7} {:>7} {:>7} {:>12} {:>9}",
        "transport", "deals", "direction", "fault", "frames", "passed", "failed", "not reached", "slowest"
    );
    let mut all = Row::default();
    for ((transport, dealing, direction, fault), row) in &rows {
        row.print([name(transport), name(dealing), name(direction), name(fault)]);
        all.frames += row.frames;
        all.passed += row.passed;
        all.failed += row.failed;
        all.not_reached += row.not_reached;
        all.slowest = all.slowest.max(row.slowest);
    }
    all.print(["all".to_owned(), String::new(), String::new(), String::new()]);
    if all.failed > 0 {
        bail!("{} cases failed", all.failed);
    }
    if all.passed == 0 {
        bail!("no match has a frame of this number: give a smaller one, or leave --frame out to run all");
    }
    Ok(())
}

impl Args {
    fn takes(&self, case: &Case) -> bool {
        let Case { transport, dealing, plan } = *case;
        self.transport.is_none_or(|only| only == transport)
            && self.dealing.is_none_or(|only| only == dealing)
            && self.direction.is_none_or(|only| only == plan.direction)
            && self.fault.is_none_or(|only| only == plan.fault)
            && self.frame.is_none_or(|only| only == plan.frame)
    }
}

impl Row {
    fn print(&self, [transport, dealing, direction, fault]: [String; 4]) {
        let Self { frames, passed, failed, not_reached, slowest } = self;
        println!(
            "{transport:<10} {dealing:<8} {direction:<10} {fault:<10} {frames:>7} {passed:>7} {failed:>7} \
             {not_reached:>12} {:>6} ms",
            slowest.as_millis()
        );
    }

    fn add(&mut self, case: &Case, run: &Run) {
        self.frames += 1;
        self.slowest = self.slowest.max(run.took);
        match &run.struck {
            _ if !run.problems.is_empty() => {
                self.failed += 1;
                let frame =
                    run.struck.as_ref().map_or("a frame that never came".to_owned(), ToString::to_string);
                println!("failed at {frame}: cargo run --release -p zetema-tests --bin fault_runs -- {case}");
                for problem in &run.problems {
                    println!("  {problem}");
                }
            }
            Some(_) => self.passed += 1,
            None => self.not_reached += 1,
        }
    }
}
