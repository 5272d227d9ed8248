//! Losses of power, and the control: a disk that does not sync.

use std::ops::Range;
use std::time::Duration;

use rand::RngExt;
use tempfile::TempDir;
use tokio::time::sleep;
use zetema_proto::v1;
use zetema_proto::v1::observe_response::Kind as Observed;
use zetema_proto::v1::subscription_start::Kind as From;

use super::round::{Running, SERVES_FOR, keep};
use super::{Audit, Round};
use crate::disk::{Disk, Survival, Syncs, Trouble};
use crate::harness::{Clients, Created, Process, soon};

/// Changes and syncs of the disk before the power is lost, most of them of the start, which writes the files of a redo log before they
/// are used.
const STARTING: Range<u64> = 1..260;
/// The same in play: up to about a second's worth.
const PLAYING: Range<u64> = 260..1_500;
/// The same in play for some seconds: the write-ahead log is then copied into the database, and begun anew.
const PLAYING_ON: Range<u64> = 1_500..12_000;
/// How long they may take.
const LOST_WITHIN: Duration = Duration::from_secs(5);

/// What came of a loss of power on a disk that does not sync.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Nothing that was acknowledged was lost.
    None,
    /// So many of so many matches had lost what was acknowledged.
    Matches {
        /// How many had.
        lost: usize,
        /// How many had something to lose.
        of: usize,
    },
    /// The server does not start any more.
    NoStart(String),
}

impl Running {
    pub(super) async fn power_losses(&mut self, mut folder: TempDir, losses: usize) -> (TempDir, Audit) {
        let mut disk = match mount(&folder, Syncs::Kept, self.random.random()) {
            Ok(disk) => disk,
            Err(missing) => {
                self.problems.push(missing);
                return (folder, Audit::default());
            }
        };
        for loss in 1..=losses {
            folder = self.lose_power(&disk, folder).await;
            let survival = disk.power_on();
            if self.problems.is_empty() {
                // As it was found after the last loss, in case that this is what breaks it.
                let _ = std::fs::remove_dir_all(folder.path().join(FOUND));
                keep(&disk, &folder, FOUND);
            } else {
                self.problems.push(format!("this was after loss {loss}, before {survival:?}"));
                break;
            }
        }
        let ended =
            if self.problems.is_empty() { self.end(folder).await } else { (folder, Audit::default()) };
        if !self.problems.is_empty() {
            keep(&disk, &ended.0, "disk");
        }
        ended
    }

    /// Starts the server, and loses the power at some change or sync.
    async fn lose_power(&mut self, disk: &Disk, folder: TempDir) -> TempDir {
        let changes = match self.random.random_range(0..8) {
            0 | 1 => STARTING,
            2 => PLAYING_ON,
            _ => PLAYING,
        };
        disk.trouble(Trouble::PowerLoss(self.random.random_range(changes)));
        let mut process = self.start(folder);
        let serves = tokio::select! {
            serves = process.serves() => Some(serves),
            () = disk.power_lost() => None,
        };
        match serves {
            None => self.while_starting += 1,
            Some(false) => self.problems.push("the server did not start".to_owned()),
            Some(true) if self.random.random_ratio(1, 6) => self.stop_until_lost(disk, &process).await,
            Some(true) => self.play_until_lost(disk, &process).await,
        }
        let ended = self.power_off(disk, process).await;
        self.read_log(ended)
    }

    /// The power is lost while the server stops in order.
    async fn stop_until_lost(&mut self, disk: &Disk, process: &Process) {
        disk.trouble(Trouble::None);
        if !disk.is_on() {
            return;
        }
        self.play(process).await;
        sleep(self.random.random_range(Duration::ZERO..SERVES_FOR)).await;
        disk.trouble(Trouble::PowerLoss(self.random.random_range(1..30)));
        process.terminate();
        tokio::select! {
            () = process.over() => {}
            () = disk.power_lost() => {}
        }
    }

    /// The server goes at once, before it learns of anything.
    pub(super) async fn power_off(&mut self, disk: &Disk, mut process: Process) -> (TempDir, String) {
        disk.lose_power();
        process.strike();
        disk.release();
        if let Some(stuck) = self.reading.take() {
            // Whatever it has read counts no more.
            let _ = stuck.await;
        }
        process.kill()
    }

    async fn play_until_lost(&mut self, disk: &Disk, process: &Process) {
        tokio::select! {
            () = async { self.play(process).await; sleep(LOST_WITHIN).await } => disk.lose_power(),
            () = disk.power_lost() => {}
        }
    }
}

/// As the disk was found after the last loss of power.
const FOUND: &str = "found";

pub(super) fn mount(folder: &TempDir, syncs: Syncs, seed: u64) -> Result<Disk, String> {
    let data = folder.path().join("data");
    std::fs::create_dir(&data).map_err(|error| error.to_string())?;
    Disk::mount(&data, syncs, seed)
}

impl Round {
    /// Loses the power once, and tells what of all that the bots had acknowledged the server knows no more. On a disk that
    /// does not sync it must lose something, or the rounds prove nothing.
    ///
    /// # Errors
    /// If this machine can't mount such a disk, or the server does not start on it.
    pub async fn control(self, syncs: Syncs) -> Result<Loss, String> {
        let mut running = Running::new(self.seed, self.tables);
        let folder = tempfile::tempdir().unwrap();
        let mut disk = mount(&folder, syncs, self.seed)?;
        let mut process = running.start(folder);
        if !process.serves().await {
            return Err(process.kill().1);
        }
        disk.trouble(Trouble::PowerLoss(running.random.random_range(200..1_000)));
        running.play_until_lost(&disk, &process).await;
        let begun = running.crew.take().expect("they play").dismiss();
        let (folder, _) = running.power_off(&disk, process).await;
        let survival = if running.random.random() { Survival::Torn } else { Survival::Reordered };
        disk.power_on_with(survival);
        let mut process = running.start(folder);
        if !process.serves().await {
            let (_, log) = process.kill();
            return Ok(Loss::NoStart(log.lines().last().unwrap_or_default().to_owned()));
        }
        let clients = Clients::lazy(running.address, "none");
        let (mut lost, mut of) = (0, 0);
        for (created, receipts) in begun {
            if let Some(last) = receipts.iter().map(|receipt| receipt.seq).max() {
                of += 1;
                lost += usize::from(reached(&clients, &created).await < Some(last));
            }
        }
        drop(process.kill());
        Ok(if lost == 0 { Loss::None } else { Loss::Matches { lost, of } })
    }
}

/// The last observation that seat 0 has, if there is the match.
async fn reached(clients: &Clients, created: &Created) -> Option<u64> {
    let seat = v1::ObserveSeat {
        seat_token: created.tokens[0].clone(),
        after_seq: None,
        views: None,
        assigned: None,
    };
    let request = v1::ObserveRequest { seats: vec![seat] };
    let mut stream = soon("Observe", clients.play().observe(request)).await.ok()?.into_inner();
    let first = soon("a snapshot", stream.message()).await.ok()??;
    match first.kind {
        Some(Observed::Start(start)) => match start.kind {
            Some(From::Snapshot(snapshot)) => Some(snapshot.seq),
            _ => None,
        },
        _ => None,
    }
}
