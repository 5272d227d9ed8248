//! How fast the journal is on this machine, beside a raw append and `fdatasync` of the same bytes in the same run:
//! `cargo run --release -p zetema-service --example journal_speed [FOLDER]`. Without a folder a temporary one is used,
//! which may be on another disk than the server's data.

#![allow(clippy::print_stdout)] // it is what the program is for

use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use zetema_service::journal::{
    Append, Journal, MatchId, NewMatch, NewMatches, Options, Outcome, Payload, SqliteJournal, UnixMillis,
    Version,
};

const MATCHES: [u32; 3] = [1, 128, 1000];
const PAYLOAD_BYTES: usize = 64;
const ENVELOPE_BYTES: usize = 62;
const SPAN: Duration = Duration::from_secs(3);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = folder.join(format!("journal-speed-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    println!("{PAYLOAD_BYTES}-byte records in {}, {SPAN:?} each", folder.display());
    for matches in MATCHES {
        let raw = raw(&folder, matches)?;
        let (rows, per_commit, median) = journal(&folder.join(matches.to_string()), matches).await?;
        println!(
            "{matches:>5} matches at once: raw {raw:>7.0} rows/s, journal {rows:>7.0} rows/s ({:.2} of raw, {per_commit:.0} a commit, p50 {median:?})",
            rows / raw,
        );
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Rows a second of writing `batch` rows to the end of a file and syncing it, again and again.
fn raw(folder: &Path, batch: u32) -> Result<f64, Box<dyn Error>> {
    let mut file = File::create(folder.join("raw"))?;
    let bytes = vec![7; (PAYLOAD_BYTES + ENVELOPE_BYTES) * usize::try_from(batch)?];
    let start = Instant::now();
    let mut rows = 0_u32;
    while start.elapsed() < SPAN {
        file.write_all(&bytes)?;
        file.sync_data()?;
        rows += batch;
    }
    Ok(f64::from(rows) / start.elapsed().as_secs_f64())
}

/// Rows a second, rows a commit and the median time of an append, when each match appends one record after another.
async fn journal(folder: &Path, matches: u32) -> Result<(f64, f64, Duration), Box<dyn Error>> {
    let (journal, _) = SqliteJournal::open(folder, Options::default()).await?;
    let journal = Arc::new(journal);
    let ids: Vec<MatchId> = (0..matches).map(|n| MatchId::from_bytes(u128::from(n).to_be_bytes())).collect();
    let payload = Payload::new(vec![7; PAYLOAD_BYTES])?;
    let new = |match_id: &MatchId| NewMatch { match_id: *match_id, records: payload.clone().into() };
    let new = ids.iter().map(new).collect();
    let created = journal.create(NewMatches::new(new, journal.epoch(), UnixMillis::new(0), None)?).await;
    if !matches!(created, Outcome::Done(_)) {
        return Err(format!("{created:?}").into());
    }
    let before = journal.stats();
    let start = Instant::now();
    let running: Vec<_> = ids
        .into_iter()
        .map(|match_id| {
            let (journal, payload) = (journal.clone(), payload.clone());
            tokio::spawn(async move {
                let mut version = Version::new(1);
                let mut times = Vec::new();
                while start.elapsed() < SPAN {
                    let records = payload.clone().into();
                    let append = Append { match_id, expected: version, epoch: journal.epoch(), records };
                    let sent = Instant::now();
                    match journal.append(append).await {
                        Outcome::Done(now) => version = now,
                        other => return Err(format!("{other:?}")),
                    }
                    times.push(sent.elapsed());
                }
                Ok(times)
            })
        })
        .collect();
    let mut times = Vec::new();
    for running in running {
        times.extend(running.await??);
    }
    let seconds = start.elapsed().as_secs_f64();
    let after = journal.stats();
    let commits = u32::try_from(after.commits - before.commits)?;
    let rows = f64::from(u32::try_from(after.rows - before.rows)?);
    journal.close().await;
    times.sort_unstable();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    Ok((rows / seconds, rows / f64::from(commits.max(1)), median))
}
