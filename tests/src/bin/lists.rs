//! Measures how long a page of a list takes among very many finished matches, for every kind of list.
//!
//! ```sh
//! cargo run --release -p zetema-tests --bin lists -- --matches 1000000
//! cargo run --release -p zetema-tests --bin lists -- --matches 1000000 --upgrade
//! ```
#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::bail;
use clap::Parser;
use zetema_service::journal::{FileSizes, SqliteJournal};
use zetema_tests::lists::{Kind, Lists, Measured, PAGE, to_version_5};

/// Measures how long a page of a list takes among very many finished matches.
#[derive(Parser)]
struct Args {
    /// How many finished matches there are.
    #[arg(long, default_value = "1000000")]
    matches: u64,
    /// How often each page is read.
    #[arg(long, default_value = "101")]
    times: usize,
    /// Instead of pages: how long a start takes, and one that brings a journal of version 5 up to date.
    #[arg(long)]
    upgrade: bool,
    /// Where to put the journal [default: the system's temporary folder]
    #[arg(long)]
    folder: Option<PathBuf>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let Args { matches, times, upgrade, folder } = Args::parse();
    if matches == 0 || times == 0 {
        bail!("matches and times are 1 at least");
    }
    let folder = match folder {
        Some(folder) => tempfile::tempdir_in(folder)?,
        None => tempfile::tempdir()?,
    };
    let begun = Instant::now();
    let lists = Lists::fill(folder.path(), matches).await?;
    let FileSizes { database, wal, .. } = SqliteJournal::file_sizes(folder.path())?;
    println!("{matches} matches were filed in {:.1} s", begun.elapsed().as_secs_f64());
    println!("the database has {} MB, its write-ahead log {} MB", database / 1_000_000, wal / 1_000_000);
    if upgrade {
        lists.close().await;
        return measure_upgrade(folder.path(), matches).await;
    }
    println!("pages of {PAGE}, each read {times} times: matches on the page, median and longest, in ms\n");
    println!("{:<18} {:<9} {:>20} {:>20} {:>20}", "list", "reference", "first", "middle", "last");
    let mut longest = Duration::ZERO;
    for kind in Kind::all() {
        let reference = kind.client_reference.unwrap_or("-");
        let mut line = format!("{:<18} {reference:<9}", format!("{:?}", kind.asked));
        for from in kind.places(matches) {
            let measured = lists.measure(kind, from, times).await?;
            longest = longest.max(measured.longest);
            write!(line, " {:>20}", cell(measured))?;
        }
        println!("{line}");
    }
    println!("\nthe longest of all took {:.3} ms", millis(longest));
    lists.close().await;
    Ok(())
}

async fn measure_upgrade(folder: &Path, matches: u64) -> anyhow::Result<()> {
    for what in ["a start", "a start that makes what version 6 added", "a start after it"] {
        if what.contains("makes") {
            to_version_5(folder)?;
        }
        let (lists, took) = Lists::open(folder, matches).await?;
        println!("{what} took {:.3} s", took.as_secs_f64());
        lists.close().await;
    }
    Ok(())
}

fn cell(Measured { rows, median, longest }: Measured) -> String {
    format!("{rows} {:.3} {:.3}", millis(median), millis(longest))
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
