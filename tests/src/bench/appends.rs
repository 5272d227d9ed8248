//! Short records that many tables append to the journal at once, and what the disk can do at best with batches of them.

use std::fs::File;
use std::io::{Seek, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use zetema_service::journal::{
    Append, AppendOutcome, Journal, MatchId, NewMatch, NewMatches, Options, Outcome, Payload, SqliteJournal,
    UnixMillis, Version,
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
    let all =
        Arc::new(All { journal: Arc::new(journal), meter: Meter::default(), ended: AtomicBool::new(false) });
    let measured = async {
        for number in 0..setting.many(TABLES) {
            let table = Table::create(&all, number).await?;
            table.append(Version::new(1));
        }
        wait(setting.warm_up, &all.meter).await?;
        let (began, before) = (Instant::now(), all.journal.stats());
        wait(setting.lasts, &all.meter).await?;
        anyhow::Ok((began.elapsed(), before, all.journal.stats()))
    }
    .await;
    all.ended.store(true, Relaxed);
    all.journal.close().await;
    let (took, before, after) = measured?;
    let (rows, commits) = (after.rows - before.rows, after.commits - before.commits);
    ensure!(commits > 0, "the journal has written nothing in {:?}", setting.lasts);
    #[expect(clippy::cast_precision_loss, reason = "records of a minute")]
    let (rows, commits) = (rows as f64, commits as f64);
    Ok((rows / took.as_secs_f64(), rows / commits))
}

/// What all tables have in common.
struct All {
    journal: Arc<SqliteJournal>,
    meter: Meter,
    ended: AtomicBool,
}

/// A match that is appended to for ever. It hands a record in where it is told of the one before, as the tables of a server do with
/// actions.
struct Table {
    all: Arc<All>,
    match_id: MatchId,
    record: Payload,
}

impl Table {
    async fn create(all: &Arc<All>, number: usize) -> anyhow::Result<Self> {
        let match_id = MatchId::from_bytes((number as u128).to_be_bytes());
        let record = Payload::new(&RECORD[..])?;
        let new = NewMatch { match_id, records: record.clone().into() };
        let new = NewMatches::new(vec![new], all.journal.epoch(), UnixMillis::new(0), None)?;
        match all.journal.create(new).await {
            Outcome::Done(_) => Ok(Self { all: Arc::clone(all), match_id, record }),
            other => bail!("a match was not created: {other:?}"),
        }
    }

    fn append(self, expected: Version) {
        let journal = Arc::clone(&self.all.journal);
        let (match_id, records) = (self.match_id, self.record.clone().into());
        let append = Append { match_id, expected, epoch: journal.epoch(), records };
        let mut waiting = Waiting(Some(self));
        journal.append_then(append, Box::new(move |outcome| waiting.told(outcome)));
    }
}

/// A table whose record is on its way.
struct Waiting(Option<Table>);

impl Waiting {
    fn told(&mut self, outcome: AppendOutcome) {
        match (self.0.take(), outcome) {
            (Some(table), _) if table.all.ended.load(Relaxed) => drop(table),
            (Some(table), Outcome::Done(version)) => table.append(version),
            (table, other) => fail(table, &format!("a record was not appended: {other:?}")),
        }
    }
}

/// A journal that goes away tells nobody.
impl Drop for Waiting {
    fn drop(&mut self) {
        let table = self.0.take().filter(|table| !table.all.ended.load(Relaxed));
        fail(table, "the journal has gone away");
    }
}

fn fail(table: Option<Table>, problem: &str) {
    if let Some(Table { all, .. }) = table {
        all.ended.store(true, Relaxed);
        all.meter.fail(problem);
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
