//! One server and its folder, from the first start through all crashes to the audit.

use std::ffi::OsStr;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{fmt, io};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::{Audit, Crew};
#[cfg(target_os = "linux")]
use crate::disk::Disk;
use crate::harness::Process;

/// How long the matches that were begun may take when there are no more crashes.
pub(super) const OVER_WITHIN: Duration = Duration::from_mins(2);
/// The longest that a server is left alone, once it serves.
pub(super) const SERVES_FOR: Duration = Duration::from_millis(400);
/// The longest that a server is left alone while it starts.
const STARTS_FOR: Duration = Duration::from_millis(40);

/// How a server is crashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crash {
    /// It is killed (SIGKILL), at a random moment.
    Kill,
    /// The power is lost at a random change or sync of its disk: what was not synced is lost, torn or reordered.
    #[cfg(target_os = "linux")]
    PowerLoss,
}

/// As the program's flag has it.
impl fmt::Display for Crash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kill => "kills",
            #[cfg(target_os = "linux")]
            Self::PowerLoss => "power-loss",
        })
    }
}

/// A number of crashes of one server, under bots at so many tables. All that is left to chance follows from the seed,
/// but for the pace of the machine.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// The seed.
    pub seed: u64,
    /// How it is crashed.
    pub crash: Crash,
    /// How often.
    pub crashes: usize,
    /// Tables that play at once.
    pub tables: usize,
}

/// What came of a round that failed.
#[derive(Debug)]
pub struct Failure {
    /// Where the data is left as it was.
    pub folder: PathBuf,
    /// All that is wrong.
    pub problems: Vec<String>,
}

/// What came of a round.
#[derive(Debug)]
pub struct Report {
    /// How many of the crashes came before the server served.
    pub while_starting: usize,
    /// What was played.
    pub audit: Audit,
    /// How long it took.
    pub took: Duration,
}

/// A round that goes on.
pub(super) struct Running {
    pub(super) random: StdRng,
    pub(super) address: SocketAddr,
    tables: usize,
    pub(super) crew: Option<Crew>,
    pub(super) while_starting: usize,
    pub(super) problems: Vec<String>,
    /// Told at the first start.
    admin_token: Option<String>,
    /// What reads it, which may be stuck on a disk that stopped.
    pub(super) reading: Option<JoinHandle<io::Result<String>>>,
}

impl Round {
    /// Plays it.
    ///
    /// # Errors
    /// All that is wrong, and the folder, which is left.
    pub async fn run(self) -> Result<Report, Failure> {
        let began = Instant::now();
        let mut running = Running::new(self.seed, self.tables);
        let folder = tempfile::tempdir().unwrap();
        let (folder, audit) = match self.crash {
            Crash::Kill => running.kills(folder, self.crashes).await,
            #[cfg(target_os = "linux")]
            Crash::PowerLoss => running.power_losses(folder, self.crashes).await,
        };
        if running.problems.is_empty() {
            return Ok(Report { while_starting: running.while_starting, audit, took: began.elapsed() });
        }
        Err(Failure { folder: folder.keep(), problems: running.problems })
    }
}

impl Running {
    pub(super) fn new(seed: u64, tables: usize) -> Self {
        Self {
            random: StdRng::seed_from_u64(seed),
            address: free_address(),
            tables,
            crew: None,
            while_starting: 0,
            problems: Vec::new(),
            admin_token: None,
            reading: None,
        }
    }

    async fn kills(&mut self, mut folder: TempDir, kills: usize) -> (TempDir, Audit) {
        for _ in 0..kills {
            let mut process = self.start(folder);
            if self.random.random_ratio(1, 6) {
                sleep(self.random.random_range(Duration::ZERO..STARTS_FOR)).await;
                self.while_starting += 1;
            } else if process.serves().await {
                self.play(&process).await;
                sleep(self.random.random_range(Duration::ZERO..SERVES_FOR)).await;
            } else {
                self.problems.push("the server did not start".to_owned());
            }
            folder = self.read_log(process.kill());
        }
        self.end(folder).await
    }

    /// Starts the server.
    pub(super) fn start(&self, folder: TempDir) -> Process {
        let flags = ["--drain-timeout-ms", "300"].map(OsStr::new);
        Process::spawn(&self.address.to_string(), "warn", folder, &flags)
    }

    /// The bots begin once a server has served. The admin's token is the same ever after.
    pub(super) async fn play(&mut self, process: &Process) {
        let file = process.admin_token_file();
        // The disk may be one that stops.
        let reading = self.reading.insert(tokio::task::spawn_blocking(move || std::fs::read_to_string(file)));
        let token = reading.await.unwrap();
        self.reading = None;
        let Ok(token) = token else { return self.problems.push("there is no admin token".to_owned()) };
        let token = token.trim().to_owned();
        let first = self.admin_token.get_or_insert_with(|| token.clone());
        if *first != token {
            self.problems.push("the admin token is another one".to_owned());
        }
        self.crew.get_or_insert_with(|| Crew::start(self.address, &token, self.tables));
    }

    /// Leaves the server alone until all matches are over, and looks at what was played.
    pub(super) async fn end(&mut self, folder: TempDir) -> (TempDir, Audit) {
        let mut process = self.start(folder);
        let mut audit = Audit::default();
        if process.serves().await {
            self.play(&process).await;
            match self.crew.take().expect("it plays").finish(OVER_WITHIN).await {
                Ok(played) => {
                    audit = Audit::of(&process.connect().await, &played).await;
                    self.problems.append(&mut audit.problems);
                }
                Err(problem) => self.problems.push(problem.to_string()),
            }
        } else {
            self.problems.push("the server did not start".to_owned());
        }
        (self.read_log(process.kill()), audit)
    }

    /// A server that finds damage or panics says so.
    pub(super) fn read_log(&mut self, (folder, log): (TempDir, String)) -> TempDir {
        self.problems.extend(wrong_in(&log));
        folder
    }
}

/// What a log says that it should not.
pub(super) fn wrong_in(log: &str) -> impl Iterator<Item = String> {
    // A warning may quote an error.
    let bad = |line: &&str| {
        let level = line.split_whitespace().nth(1);
        level == Some("ERROR")
            || line.contains("panicked")
            || ["error:", "Error:"].iter().any(|sign| line.starts_with(sign))
    };
    log.lines().filter(bad).map(|line| format!("the server says: {line}"))
}

/// Keeps what is on a disk for somebody to look at, when something is wrong.
#[cfg(target_os = "linux")]
pub(super) fn keep(disk: &Disk, folder: &TempDir, name: &str) {
    let copy = folder.path().join(name);
    std::fs::create_dir(&copy).and_then(|()| disk.write_to(&copy)).expect("the folder is writable");
}

/// An address that is free now. The server has it from its first start to the last, as clients know no other.
pub(super) fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port")
}
