//! One server and its folder, from the first start through all crashes to the audit.

use std::fmt;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tempfile::TempDir;
use tokio::time::sleep;

use super::{Audit, Crew};
use crate::harness::Process;

/// How long the matches that were begun may take when there are no more crashes.
const OVER_WITHIN: Duration = Duration::from_mins(2);
/// The longest that a server is left alone, once it serves.
const SERVES_FOR: Duration = Duration::from_millis(400);
/// The longest that a server is left alone while it starts.
const STARTS_FOR: Duration = Duration::from_millis(40);

/// How a server is crashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crash {
    /// It is killed (SIGKILL).
    Kill,
}

/// As the program's flag has it.
impl fmt::Display for Crash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kill => "kills",
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
struct Running {
    random: StdRng,
    address: SocketAddr,
    tables: usize,
    crew: Option<Crew>,
    while_starting: usize,
    problems: Vec<String>,
}

impl Round {
    /// Plays it.
    ///
    /// # Errors
    /// All that is wrong, and the folder, which is left.
    pub async fn run(self) -> Result<Report, Failure> {
        let began = Instant::now();
        let mut running = Running {
            random: StdRng::seed_from_u64(self.seed),
            address: free_address(),
            tables: self.tables,
            crew: None,
            while_starting: 0,
            problems: Vec::new(),
        };
        let mut folder = tempfile::tempdir().unwrap();
        for _ in 0..self.crashes {
            folder = match self.crash {
                Crash::Kill => running.kill(folder).await,
            };
        }
        let (folder, audit) = running.end(folder).await;
        if running.problems.is_empty() {
            return Ok(Report { while_starting: running.while_starting, audit, took: began.elapsed() });
        }
        Err(Failure { folder: folder.keep(), problems: running.problems })
    }
}

impl Running {
    /// Starts the server, and kills it after a while.
    async fn kill(&mut self, folder: TempDir) -> TempDir {
        let mut process = Process::spawn(&self.address.to_string(), "warn", folder, &[]);
        if self.random.random_ratio(1, 6) {
            sleep(self.random.random_range(Duration::ZERO..STARTS_FOR)).await;
            self.while_starting += 1;
        } else if process.serves().await {
            self.play(&process);
            sleep(self.random.random_range(Duration::ZERO..SERVES_FOR)).await;
        } else {
            self.problems.push("the server did not start".to_owned());
        }
        self.read_log(process.kill())
    }

    /// The bots begin once a server has served.
    fn play(&mut self, process: &Process) {
        let start = || Crew::start(self.address, &process.admin_token(), self.tables);
        self.crew.get_or_insert_with(start);
    }

    /// Leaves the server alone until all matches are over, and looks at what was played.
    async fn end(&mut self, folder: TempDir) -> (TempDir, Audit) {
        let mut process = Process::spawn(&self.address.to_string(), "warn", folder, &[]);
        let mut audit = Audit::default();
        if process.serves().await {
            self.play(&process);
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
    fn read_log(&mut self, (folder, log): (TempDir, String)) -> TempDir {
        let bad = |line: &&str| ["ERROR", "panicked", "rror:"].iter().any(|sign| line.contains(sign));
        self.problems.extend(log.lines().filter(bad).map(|line| format!("the server says: {line}")));
        folder
    }
}

/// An address that is free now. The server has it from its first start to the last, as clients know no other.
fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port")
}
