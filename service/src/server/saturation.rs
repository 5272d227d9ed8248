//! How full the server is: what waits, and what it takes of its machine, measured every so often.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use ::metrics::{Gauge, gauge};
use metrics_process::Collector;
use tokio::time::{Interval, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::{
    admission::{Bounds, DiskRoom},
    config::{Number, Numbers},
    grpc::Drain,
    journal::{FileSizes, Health, JournalQueue, ServerJournal, SqliteJournal},
    limits,
    matches::{Matches, Waiting},
    metrics::{
        DAMAGED_MATCHES, DATABASE_BYTES, DISK_FREE_BYTES, DISK_SIZE_BYTES, INBOX_MESSAGES,
        INBOX_MESSAGES_MOST, JOURNAL_LAG_SECONDS, JOURNAL_WAITING, LIMIT, LIVE_MATCH_BYTES, OPEN_CALLS,
        QUEUED_BYTES, QUEUED_OBSERVATION_BYTES, READY, REDO_LOG_BYTES, WAL_BYTES,
    },
};

/// The settings with which a gauge can be compared.
const LIMITS: [Number; 6] = [
    Number::MaxLiveMatches,
    Number::MaxLiveMatchBytes,
    Number::MaxConnections,
    Number::MaxStreams,
    Number::MaxQueuedBytes,
    Number::MaxQueuedObservationBytes,
];

/// Tells what the gauges may come to.
pub(super) fn tell_limits(numbers: &Numbers) {
    for number in LIMITS {
        set(&gauge!(LIMIT, "setting" => number.key()), numbers.get(number));
    }
}

/// Measures what waits, until the server closes.
pub(super) async fn of_queues(
    journal: Arc<dyn ServerJournal>,
    matches: Matches,
    bounds: Arc<Bounds>,
    drain: Drain,
) {
    let (health, mut ticks) = (journal.health(), ticks());
    while drain.closing().run_until_cancelled(ticks.tick()).await.is_some() {
        let ready = matches!(&*health.borrow(), Health::Writing) && !drain.draining().is_cancelled();
        gauge!(READY).set(if ready { 1.0 } else { 0.0 });
        let JournalQueue { waiting, oldest } = journal.queue();
        set(&gauge!(JOURNAL_WAITING), waiting);
        gauge!(JOURNAL_LAG_SECONDS).set(oldest.as_secs_f64());
        let Waiting { all, most } = matches.waiting();
        set(&gauge!(INBOX_MESSAGES), all);
        set(&gauge!(INBOX_MESSAGES_MOST), most);
        set(&gauge!(LIVE_MATCH_BYTES), matches.live_bytes());
        set(&gauge!(DAMAGED_MATCHES), matches.lost());
        set(&gauge!(QUEUED_BYTES), bounds.queued_in_all());
        set(&gauge!(QUEUED_OBSERVATION_BYTES), matches.queued_bytes());
        set(&gauge!(OPEN_CALLS), bounds.calls.open());
    }
    gauge!(READY).set(0.0);
}

/// Measures the disk of the data folder, until `closing`, and the process if its metrics have no page, which measures it by
/// itself. A disk that does not answer keeps this waiting and nothing else.
pub(super) async fn of_machine(
    folder: PathBuf,
    room: Arc<DiskRoom>,
    process: Option<Collector>,
    closing: CancellationToken,
) {
    let mut ticks = ticks();
    while closing.run_until_cancelled(ticks.tick()).await.is_some() {
        let (process, folder, room) = (process.clone(), folder.clone(), Arc::clone(&room));
        let measured = tokio::task::spawn_blocking(move || {
            if let Some(process) = process {
                process.collect();
            }
            disk(&folder, &room)
        });
        match closing.run_until_cancelled(measured).await {
            Some(Ok(Err(error))) => tracing::warn!(%error, "the disk of the data folder can't be measured"),
            Some(Err(error)) => tracing::warn!(%error, "the process can't be measured"),
            Some(Ok(Ok(()))) | None => {}
        }
    }
}

fn disk(folder: &Path, room: &DiskRoom) -> io::Result<()> {
    let FileSizes { database, wal, redo } = SqliteJournal::file_sizes(folder)?;
    set(&gauge!(DATABASE_BYTES), database);
    set(&gauge!(WAL_BYTES), wal);
    set(&gauge!(REDO_LOG_BYTES), redo);
    let (free, size) = (fs4::available_space(folder)?, fs4::total_space(folder)?);
    set(&gauge!(DISK_FREE_BYTES), free);
    set(&gauge!(DISK_SIZE_BYTES), size);
    room.measured(free, size);
    Ok(())
}

fn ticks() -> Interval {
    let mut ticks = interval(limits::METRICS_UPKEEP_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

#[expect(clippy::cast_precision_loss, reason = "a gauge is a float, and so much there is of nothing here")]
fn set(gauge: &Gauge, value: impl TryInto<u64>) {
    gauge.set(value.try_into().unwrap_or(u64::MAX) as f64);
}
