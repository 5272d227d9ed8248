//! Short records that many tables append to the journal at once, and what the disk can do at best with batches of them.

use std::fs::File;
use std::io::{Seek, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use tokio::task::JoinSet;
use zetema_service::journal::{
    Append, Journal, MatchId, NewMatch, NewMatches, Options, Outcome, Payload, SqliteJournal, UnixMillis,
    Version,
};

use super::meter::Meter;
use super::sample::wait;
use super::setting::Setting;
use super::{Figure, Figures};

/// Bytes of a record, as the journal is given it.
const RECORD: [u8; 64] = [0x5a; 64];
/// Tables, each with a record on its way: as many as it takes for batches of 128.
const TABLES: usize = 160;
/// Bytes of the preallocated file. Where it ends it is begun anew, as a write-ahead log is.
const FILE_BYTES: usize = 64 << 20;

/// Has tables append to a journal of a server, each one record after the other; then writes as many bytes of as many records to a file.
///
/// # Errors
/// If the journal does not take something, or what the disk says.
pub(super) async fn measure(setting: &Setting) -> anyhow::Result<Figures> {
    let (per_second, per_batch) = journal(setting).await?;
    let setting = setting.clone();
    let raw = tokio::task::spawn_blocking(move || raw(&setting, per_batch)).await??;
    Ok(Figures::from([
        (Figure::PerSecond, per_second),
        (Figure::RecordsPerBatch, per_batch),
        (Figure::RawPerSecond, raw),
    ]))
}

/// Records a second, and how many of them were committed together.
async fn journal(setting: &Setting) -> anyhow::Result<(f64, f64)> {
    let folder = tempfile::tempdir_in(&setting.folder)?;
    let (journal, _) = SqliteJournal::open(folder.path(), Options::default()).await?;
    let (journal, meter) = (Arc::new(journal), Arc::new(Meter::default()));
    let mut tables = JoinSet::new();
    for number in 0..setting.many(TABLES) {
        let (journal, meter) = (Arc::clone(&journal), Arc::clone(&meter));
        tables.spawn(async move {
            if let Err(error) = table(&journal, number).await {
                meter.fail(&format!("{error:#}"));
            }
        });
    }
    wait(setting.warm_up, &meter).await?;
    let (began, before) = (Instant::now(), journal.stats());
    wait(setting.lasts, &meter).await?;
    let (took, after) = (began.elapsed(), journal.stats());
    tables.shutdown().await;
    journal.close().await;
    let (rows, commits) = (after.rows - before.rows, after.commits - before.commits);
    ensure!(commits > 0, "the journal has written nothing in {:?}", setting.lasts);
    #[expect(clippy::cast_precision_loss, reason = "records of a minute")]
    let (rows, commits) = (rows as f64, commits as f64);
    Ok((rows / took.as_secs_f64(), rows / commits))
}

/// Creates a match, and appends to it for ever.
async fn table(journal: &SqliteJournal, number: usize) -> anyhow::Result<()> {
    let match_id = MatchId::from_bytes((number as u128).to_be_bytes());
    let (epoch, record) = (journal.epoch(), Payload::new(&RECORD[..])?);
    let new = NewMatch { match_id, records: record.clone().into() };
    let new = NewMatches::new(vec![new], epoch, UnixMillis::new(0), None)?;
    match journal.create(new).await {
        Outcome::Done(_) => {}
        other => bail!("a match was not created: {other:?}"),
    }
    let mut expected = Version::new(1);
    loop {
        let append = Append { match_id, expected, epoch, records: record.clone().into() };
        match journal.append(append).await {
            Outcome::Done(version) => expected = version,
            other => bail!("a record was not appended: {other:?}"),
        }
    }
}

/// Records a second, in batches of so many on average: each is one write to a file that is there, and a sync of its data.
fn raw(setting: &Setting, per_batch: f64) -> anyhow::Result<f64> {
    let folder = tempfile::tempdir_in(&setting.folder)?;
    let mut file = File::create_new(folder.path().join("preallocated"))?;
    // Written, so that an append changes nothing of the file but its bytes.
    file.write_all(&vec![0; FILE_BYTES])?;
    file.sync_all()?;
    file.rewind()?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some hundreds")]
    let records = per_batch.round() as u32;
    let batch = RECORD.repeat(records.try_into()?);
    let mut room = FILE_BYTES;
    let mut batches = |lasts: Duration| -> anyhow::Result<f64> {
        let (began, mut written) = (Instant::now(), 0_u32);
        while began.elapsed() < lasts {
            if room < batch.len() {
                file.rewind()?;
                room = FILE_BYTES;
            }
            file.write_all(&batch)?;
            file.sync_data()?;
            room -= batch.len();
            written += 1;
        }
        Ok(f64::from(written) / began.elapsed().as_secs_f64())
    };
    batches(setting.warm_up)?;
    Ok(batches(setting.lasts)? * f64::from(records))
}
