//! One match on a disk that is full, read-only or fails to sync, at some moment.

use std::time::Duration;

use tempfile::TempDir;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use super::round::{Running, keep};
use super::{Audit, Crew, Failure, power};
use crate::disk::{Counts, Disk, Syncs, Trouble};
use crate::harness::{Clients, Process, soon};

/// How long the match may take, with the trouble in it.
const OVER_WITHIN: Duration = Duration::from_mins(1);

/// What happens once the trouble is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// It is mended while the server runs, if it does.
    Mended,
    /// The server is killed; it is mended before the next one starts.
    Killed,
}

/// One short match on a disk with trouble from the server's first start on, and a loss of power after it.
#[derive(Clone, Copy, Debug)]
pub struct DiskRun {
    /// The seed of what is left to chance.
    pub seed: u64,
    /// The trouble.
    pub trouble: Trouble,
    /// What comes then.
    pub then: Then,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskReport {
    /// When the trouble came.
    pub came: Came,
    /// What the server did to its disk before it was mended.
    pub counts: Counts,
}

/// When a trouble came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Came {
    /// The server did not start, and said why.
    AtTheStart,
    /// While the server ran.
    InPlay,
    /// Never: the match was over before.
    Never,
}

impl DiskRun {
    /// Runs it.
    ///
    /// # Errors
    /// All that is wrong, and the folder, which is left.
    pub async fn run(self) -> Result<DiskReport, Failure> {
        let mut running = Running::new(self.seed, 1);
        let folder = tempfile::tempdir().unwrap();
        let mut disk = match power::mount(&folder, Syncs::Kept, self.seed) {
            Ok(disk) => disk,
            Err(missing) => return Err(Failure { folder: folder.keep(), problems: vec![missing] }),
        };
        disk.trouble(self.trouble);
        let (folder, report) = running.play_one(self, &mut disk, folder).await;
        if running.problems.is_empty() {
            return Ok(report);
        }
        keep(&disk, &folder, "disk");
        drop(disk);
        Err(Failure { folder: folder.keep(), problems: running.problems })
    }
}

impl Running {
    async fn play_one(&mut self, run: DiskRun, disk: &mut Disk, folder: TempDir) -> (TempDir, DiskReport) {
        let mut process = self.start(folder);
        let mut came = Came::Never;
        let mut counts = Counts::default();
        if !process.serves().await {
            came = Came::AtTheStart;
            counts = disk.counts();
            let (folder, log) = process.kill();
            self.check_refusal(counts, &log);
            disk.trouble(Trouble::None);
            process = self.start(folder);
            if !process.serves().await {
                let (folder, log) = process.kill();
                self.problems.push(format!("the server does not start on a disk that was mended: {log}"));
                return (folder, DiskReport { came, counts });
            }
        }
        let token = process.admin_token();
        let crew = Crew::start(self.address, &token, 1);
        let mut playing = tokio::spawn(crew.finish(OVER_WITHIN));
        let mut played = None;
        tokio::select! {
            () = disk.failed() => {}
            over = &mut playing => played = Some(over),
        }
        if disk.counts().failed > 0 && came == Came::Never {
            came = Came::InPlay;
            if run.then == Then::Killed {
                let (folder, _) = process.kill();
                counts = disk.counts();
                disk.trouble(Trouble::None);
                process = self.start(folder);
                if !process.serves().await {
                    self.problems.push("the server does not start on a disk that was mended".to_owned());
                    return (process.kill().0, DiskReport { came, counts });
                }
            } else {
                if played.is_none() && run.trouble.lasts() {
                    // The match can't end before the disk is mended, unless it needed no more of it.
                    let clients = Clients::lazy(self.address, &token);
                    tokio::select! {
                        () = told_unready(&process, &clients) => {}
                        over = &mut playing => played = Some(over),
                    }
                }
                counts = disk.counts();
                disk.trouble(Trouble::None);
            }
        }
        let over = match played {
            Some(over) => over,
            None => playing.await,
        };
        if came == Came::Never {
            counts = disk.counts();
        }
        let played = match over.unwrap() {
            Ok(played) => played,
            Err(problem) => {
                self.problems.push(problem.to_string());
                let (folder, log) = process.kill();
                self.problems.push(log);
                return (folder, DiskReport { came, counts });
            }
        };
        let clients = Clients::lazy(self.address, &token);
        soon("the server to be ready", until_health(&clients, ServingStatus::Serving)).await;
        self.problems.append(&mut Audit::of(&clients, &played).await.problems);
        // What was acknowledged is on the disk, whatever programs see.
        let (folder, log) = self.power_off(disk, process).await;
        disk.power_on();
        process = self.start(folder);
        if process.serves().await {
            let after = Audit::of(&Clients::lazy(self.address, &token), &played).await.problems;
            self.problems
                .extend(after.into_iter().map(|problem| format!("after a loss of power: {problem}")));
        } else {
            self.problems.push("the server does not start after a loss of power".to_owned());
        }
        if !self.problems.is_empty() {
            self.problems.push(log);
        }
        (self.read_log(process.kill()), DiskReport { came, counts })
    }

    /// A server that does not start says why, and what failed was the disk.
    fn check_refusal(&mut self, counts: Counts, log: &str) {
        let why = log.lines().find(|line| line.starts_with("error: "));
        match why {
            Some(why) if counts.failed > 0 && CAUSES.iter().any(|cause| why.contains(cause)) => {}
            _ => self
                .problems
                .push(format!("a server that does not start does not say why: {counts:?}: {log}")),
        }
    }
}

/// What the system and SQLite call these troubles.
const CAUSES: [&str; 6] = [
    "disk I/O error",
    "disk is full",
    "No space left on device",
    "Read-only file system",
    "Input/output error",
    "see whether the disk is full, read-only or failing",
];

/// Waits until the log and the health service both say that the journal takes no writes.
async fn told_unready(process: &Process, clients: &Clients) {
    process.logs("the journal takes no writes", 1).await;
    soon("the server to be unready", until_health(clients, ServingStatus::NotServing)).await;
}

/// Waits until the health service says so of the whole server, which has no name.
async fn until_health(clients: &Clients, wanted: ServingStatus) {
    let mut health = HealthClient::new(clients.channel().clone());
    let asked = HealthCheckRequest { service: String::new() };
    let mut told = health.watch(asked).await.expect("the server is there").into_inner();
    while let Some(answer) = told.message().await.expect("the server is there") {
        if answer.status() == wanted {
            return;
        }
    }
    panic!("the server tells of its health no more");
}
