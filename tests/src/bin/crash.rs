//! Crashes a server under bots that play on it, again and again, and checks that nothing was lost and nothing doubled.
//!
//! ```sh
//! cargo run --release -p zetema-tests --bin crash -- --kills 200
//! cargo run --release -p zetema-tests --bin crash -- --power-loss 200
//! cargo run --release -p zetema-tests --bin crash -- --disk full
//! cargo run --release -p zetema-tests --bin crash -- --ladder-kills 100
//! ```
#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use anyhow::bail;
use clap::{Parser, ValueEnum};
use zetema_tests::crash::{Crash, Failure, LadderReport, LadderRun, Report, Round};
#[cfg(target_os = "linux")]
use {
    futures::StreamExt,
    std::collections::BTreeMap,
    zetema_tests::crash::{Came, DiskReport, DiskRun, Loss, Then},
    zetema_tests::disk::{Syncs, Trouble},
};

/// Losses of power of a disk that does not sync.
#[cfg(target_os = "linux")]
const CONTROLS: u64 = 10;
/// Troubles that are run at once.
#[cfg(target_os = "linux")]
const RUNS_AT_ONCE: usize = 4;

/// Crashes a server under bots that play on it, again and again, and checks that nothing was lost and nothing doubled.
#[derive(Parser)]
struct Args {
    /// Kill the server (SIGKILL) so many times.
    #[arg(long, default_value = "0")]
    kills: usize,
    /// Lose the power of the server's disk so many times: what was not synced is lost, torn or reordered. As a control, a
    /// disk that does not sync loses its power too, which must lose something. Linux only.
    #[arg(long, default_value = "0")]
    power_loss: usize,
    /// Play a short match with this trouble at every change or sync of the server's disk, each followed by a loss of power.
    /// Linux only.
    #[arg(long)]
    disk: Option<DiskTrouble>,
    /// With --disk: at the change or sync of this number only, from 1.
    #[arg(long, requires = "disk")]
    at: Option<u64>,
    /// Kill the server so many times while bots wait on a ladder and play, 100 unless given: then every result is there and rated once, and
    /// the ratings that were stored, and those that were shown just before a kill, are those of the results.
    #[arg(long, num_args = 0..=1, default_missing_value = "100", value_name = "KILLS")]
    ladder_kills: Option<usize>,
    /// With --ladder-kills: bots on the ladder.
    #[arg(long, default_value = "6", requires = "ladder_kills", value_parser = clap::value_parser!(u8).range(3..=100))]
    bots: u8,
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

/// A trouble of a disk.
#[derive(Clone, Copy, ValueEnum)]
enum DiskTrouble {
    /// It is full from a change on, until there is room again.
    Full,
    /// It is read-only from a change on, until it is mended.
    ReadOnly,
    /// One sync fails.
    SyncFails,
    /// All syncs fail from one on, until it is mended.
    SyncsFail,
    /// One sync fails, and the server is killed at once and started again.
    SyncFailsAndKilled,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Args { kills, power_loss, disk, at, ladder_kills, bots, per_round, tables, seed } = Args::parse();
    if kills == 0 && power_loss == 0 && disk.is_none() && ladder_kills.is_none() {
        bail!("say what: --kills N, --power-loss N, --disk TROUBLE, --ladder-kills N");
    }
    if per_round == 0 || tables == 0 {
        bail!("a round has a crash and a table at least");
    }
    let mut seed = seed.unwrap_or_else(|| rand::random::<u32>().into());
    if kills > 0 {
        rounds(Crash::Kill, kills, per_round, tables, &mut seed).await?;
    }
    if power_loss > 0 {
        power_losses(power_loss, per_round, tables, &mut seed).await?;
    }
    if let Some(kills) = ladder_kills {
        ladder_run(LadderRun { seed, kills, bots: bots.into() }).await?;
    }
    if let Some(trouble) = disk {
        disk_runs(trouble, at, seed).await?;
    }
    Ok(())
}

/// Kills a server with a ladder, and prints what came of it.
async fn ladder_run(run: LadderRun) -> anyhow::Result<()> {
    let LadderRun { seed, kills, bots } = run;
    match run.run().await {
        Ok(LadderReport { while_starting, compared, freshly_stored, shown, freshly_shown, audit, took }) => {
            let figures = [
                ("kills", kills.to_string()),
                ("of them while starting", while_starting.to_string()),
                ("bots that were rated", audit.bots.to_string()),
                ("results, numbered without a gap", audit.results.to_string()),
                ("of them rated, each once", audit.rated.to_string()),
                ("stored ratings equal after a kill, times", compared.to_string()),
                ("of them of later results than before", freshly_stored.to_string()),
                ("shown ratings equal to the records', times", shown.to_string()),
                ("of them of later results than before", freshly_shown.to_string()),
                ("seconds", took.as_secs().to_string()),
            ];
            for (what, figure) in figures {
                println!("{what:<42} {figure:>8}");
            }
            println!(
                "ladder-kills, seed {seed}: nothing lost, nothing doubled, every rating that of the results"
            );
            Ok(())
        }
        Err(Failure { folder, problems }) => {
            for problem in &problems {
                println!("  {problem}");
            }
            let flags = format!("--ladder-kills {kills} --bots {bots} --seed {seed}");
            println!("again: cargo run --release -p zetema-tests --bin crash -- {flags}");
            bail!("{} problems; the server's folder is left: {}", problems.len(), folder.display());
        }
    }
}

/// Runs a trouble at every change or sync, until the match is over before it comes.
#[cfg(target_os = "linux")]
async fn disk_runs(trouble: DiskTrouble, at: Option<u64>, seed: u64) -> anyhow::Result<()> {
    let run = |at: u64| {
        let (trouble, then) = match trouble {
            DiskTrouble::Full => (Trouble::Full(at), Then::Mended),
            DiskTrouble::ReadOnly => (Trouble::ReadOnly(at), Then::Mended),
            DiskTrouble::SyncFails => (Trouble::SyncFails(at), Then::Mended),
            DiskTrouble::SyncsFail => (Trouble::SyncsFail(at), Then::Mended),
            DiskTrouble::SyncFailsAndKilled => (Trouble::SyncFails(at), Then::Killed),
        };
        async move { (at, DiskRun { seed: seed + at, trouble, then }.run().await) }
    };
    let name = trouble.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    let all = at.map_or(1..=u64::MAX, |at| at..=at);
    let mut runs = std::pin::pin!(futures::stream::iter(all).map(run).buffered(RUNS_AT_ONCE));
    let mut came: BTreeMap<Came, u64> = BTreeMap::new();
    while let Some((at, ran)) = runs.next().await {
        match ran {
            Ok(DiskReport { came: when, counts }) => {
                *came.entry(when).or_default() += 1;
                println!("{name} at {at}: {when:?}, {counts:?}");
                if when == Came::Never {
                    break;
                }
            }
            Err(Failure { folder, problems }) => {
                for problem in &problems {
                    println!("  {problem}");
                }
                println!(
                    "again: cargo run --release -p zetema-tests --bin crash -- --disk {name} --at {at} --seed {seed}"
                );
                bail!("{} problems; the server's folder is left: {}", problems.len(), folder.display());
            }
        }
    }
    let count = |when| came.get(&when).copied().unwrap_or(0);
    println!(
        "{name}: {} times at the start, {} times in play, each told of, and nothing lost or doubled",
        count(Came::AtTheStart),
        count(Came::InPlay)
    );
    Ok(())
}

#[cfg(not(target_os = "linux"))]
async fn disk_runs(_: DiskTrouble, _: Option<u64>, _: u64) -> anyhow::Result<()> {
    bail!("--disk needs a file system of its own, which this program can mount on Linux only")
}

#[cfg(target_os = "linux")]
async fn power_losses(losses: usize, per_round: usize, tables: usize, seed: &mut u64) -> anyhow::Result<()> {
    rounds(Crash::PowerLoss, losses, per_round, tables, seed).await?;
    let (mut lost, mut runs) = (0, 0);
    // A control may lose the power in a moment in which there was nothing to lose.
    while runs < CONTROLS {
        let round = Round { seed: *seed, crash: Crash::PowerLoss, crashes: 1, tables };
        let found = round.control(Syncs::Ignored).await.map_err(anyhow::Error::msg)?;
        match &found {
            Loss::None => println!("control, seed {seed}: nothing was lost"),
            Loss::Matches { lost: matches, of } => {
                println!("control, seed {seed}: {matches} of {of} matches lost what was acknowledged");
                lost += 1;
            }
            Loss::NoStart(why) => println!("control, seed {seed}: the server does not start: {why}"),
        }
        *seed += 1;
        runs += 1;
    }
    if lost == 0 {
        bail!("a disk that does not sync lost nothing {runs} times: so the losses of power prove nothing");
    }
    println!(
        "control: with a disk that does not sync, {lost} of {runs} losses of power lost what was acknowledged"
    );
    Ok(())
}

#[cfg(not(target_os = "linux"))]
async fn power_losses(_: usize, _: usize, _: usize, _: &mut u64) -> anyhow::Result<()> {
    bail!("--power-loss needs a file system of its own, which this program can mount on Linux only")
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
