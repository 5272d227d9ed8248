//! Plays records by the slow reference and by the rules, which must come to the same scores.
//!
//! ```sh
//! zetema demo --matches 200 --format json --records records > results.json
//! cargo run --release -p zetema-tests --bin judge -- records
//! ```

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Parser;
use zetema_rules::Record;
use zetema_tests::harness::check_by_reference;

/// Plays records by the slow reference and by the rules, which must come to the same scores.
#[derive(Parser)]
struct Args {
    /// A folder of records as text, such as `zetema demo --records` writes.
    folder: PathBuf,
}

fn main() -> anyhow::Result<()> {
    let Args { folder } = Args::parse();
    let (mut records, mut steps) = (0_u64, 0_u64);
    for entry in fs::read_dir(&folder).with_context(|| format!("{} can't be read", folder.display()))? {
        let path = entry?.path();
        let text = fs::read_to_string(&path).with_context(|| format!("{} can't be read", path.display()))?;
        let record: Record = text.parse().with_context(|| path.display().to_string())?;
        record.verify().with_context(|| path.display().to_string())?;
        check_by_reference(&record);
        records += 1;
        steps += record.steps.len() as u64;
    }
    if records == 0 {
        bail!("{} holds no record: give the folder that `zetema demo --records` wrote", folder.display());
    }
    report(records, steps);
    Ok(())
}

#[allow(clippy::print_stdout)]
fn report(records: u64, steps: u64) {
    println!("{records} records with {steps} steps: the reference agrees with every score");
}
