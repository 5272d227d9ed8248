//! Damages a small journal in every way that one bit or one cut can, and opens each.
//!
//! ```sh
//! cargo run --release -p zetema-tests --bin damage
//! ```
#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use std::path::PathBuf;
use std::time::Instant;

use anyhow::bail;
use clap::Parser;
use zetema_tests::damage::{Bits, Case, Report, Scene, Target, run};

/// Damages a small journal in every way that one bit or one cut can, and opens each.
#[derive(Parser)]
struct Args {
    /// Flip every bit of every byte, one in each case, and not one of each byte.
    #[arg(long)]
    all_bits: bool,
    /// Which bit of each byte follows from this.
    #[arg(long, default_value = "1")]
    seed: u64,
    /// Damage every so-manieth byte, and cut at every so-manieth length.
    #[arg(long, default_value = "1")]
    stride: usize,
    /// How many cases to run at once.
    #[arg(long, default_value = "2")]
    threads: usize,
    /// Where to put the files: a file system in memory is fastest [default: the system's temporary folder]
    #[arg(long)]
    folder: Option<PathBuf>,
}

fn main() -> anyhow::Result<()> {
    let Args { all_bits, seed, stride, threads, folder } = Args::parse();
    if stride == 0 || threads == 0 {
        bail!("a stride and a number of threads are 1 at least");
    }
    let below = match folder {
        Some(folder) => tempfile::tempdir_in(folder)?,
        None => tempfile::tempdir()?,
    };
    let bits = if all_bits { Bits::All } else { Bits::One { seed } };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let scene = runtime.block_on(Scene::make())?;
    let [wal, redo] = [Target::Wal, Target::Redo].map(|log| scene.commits(log));
    println!("the write-ahead log has {wal} commits, the redo log {redo} that the database does not know");
    let mut failed = 0;
    for target in Target::ALL {
        let length = scene.length(target);
        let kinds = [
            ("flips", Case::flips(target, length, stride, bits)),
            ("cuts", Case::cuts(target, length, stride)),
        ];
        for (kind, cases) in kinds {
            let begun = Instant::now();
            let Report { verdicts, problems } = run(&scene, &cases, below.path(), threads)?;
            println!("{target:?}, {length} bytes, {} {kind}, {} s", cases.len(), begun.elapsed().as_secs());
            for (verdict, count) in verdicts {
                println!("  {count:>8}  {verdict}");
            }
            for problem in problems.iter().take(20) {
                println!("  PROBLEM  {}: {}", problem.case, problem.what);
            }
            failed += problems.len();
        }
    }
    if failed > 0 {
        bail!("{failed} cases went wrong");
    }
    Ok(())
}
