//! A server with a ladder that is killed again and again while bots wait on the ladder and play.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::num::NonZeroU16;
use std::process::Command;
use std::time::{Duration, Instant};

use futures::future::join_all;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::Value;
use tempfile::TempDir;
use tokio::time::{sleep, timeout};
use tokio_util::task::AbortOnDropHandle;
use zetema_bots::House;
use zetema_sdk::{End, LadderQueue, Session, Settings, Stop};

use super::Failure;
use super::ladder_audit::{LADDER, LadderAudit};
use super::round::{OVER_WITHIN, free_address, wrong_in};
use crate::harness::{Clients, Process, built};

/// How long a server runs at most that is not killed while it starts: shorter than ratings take to be stored.
const SERVES_FOR: Duration = Duration::from_millis(2_500);
/// When a server has stored ratings once, and when twice, as it does so every five seconds.
const STORED: [Duration; 2] = [Duration::from_millis(5_500), Duration::from_millis(10_500)];
/// How much longer one runs that has stored ratings.
const STORES_FOR: Duration = Duration::from_millis(1_500);
/// Of so many kills one comes after ratings were stored.
const STORED_IN: usize = 5;
/// Of so many kills one comes after they were stored twice, in a run that is as long.
const STORED_TWICE_IN: usize = 10;
/// The longest that a server is left alone while it starts.
const STARTS_FOR: Duration = Duration::from_millis(60);
/// Matches that a bot plays at once.
const AT_ONCE: NonZeroU16 = NonZeroU16::new(2).unwrap();
/// Bots of one owner, which never meet.
const BOTS_PER_OWNER: usize = 2;
/// What a bot waits for before it opens its next session after one that could not go on.
const PAUSE: Duration = Duration::from_millis(50);

/// Kills of one server under bots on a ladder. All that is left to chance follows from the seed, but for the pace of the machine.
#[derive(Clone, Copy, Debug)]
pub struct LadderRun {
    /// The seed.
    pub seed: u64,
    /// How often the server is killed.
    pub kills: usize,
    /// How many bots wait on the ladder.
    pub bots: usize,
}

/// What came of it.
#[derive(Debug)]
pub struct LadderReport {
    /// How many of the kills came before the server served.
    pub while_starting: usize,
    /// After how many of the kills the ratings were recomputed, and were equal to those that were stored.
    pub compared: usize,
    /// How many of these came after the server had time to store ratings twice, and had stored some.
    pub stored_twice: usize,
    /// What was played.
    pub audit: LadderAudit,
    /// How long it took.
    pub took: Duration,
}

/// The bots, from the first start that serves on.
struct Crew {
    bots: Vec<AbortOnDropHandle<Vec<String>>>,
    stops: Vec<Stop>,
}

struct Running {
    random: StdRng,
    address: SocketAddr,
    bots: usize,
    crew: Option<Crew>,
    while_starting: usize,
    compared: usize,
    stored_twice: usize,
    /// After which result the stored ratings were at the last kill.
    stored_after: Option<u64>,
    problems: Vec<String>,
}

impl LadderRun {
    /// Runs it.
    ///
    /// # Errors
    /// All that is wrong, and the folder, which is left.
    pub async fn run(self) -> Result<LadderReport, Failure> {
        let began = Instant::now();
        let mut running = Running {
            random: StdRng::seed_from_u64(self.seed),
            address: free_address(),
            bots: self.bots,
            crew: None,
            while_starting: 0,
            compared: 0,
            stored_twice: 0,
            stored_after: None,
            problems: Vec::new(),
        };
        let mut folder = tempfile::tempdir().unwrap();
        for number in 1..=self.kills {
            folder = running.kill(folder, number).await;
            if !running.problems.is_empty() {
                break;
            }
        }
        let (folder, audit) = running.end(folder).await;
        let Running { while_starting, compared, stored_twice, mut problems, .. } = running;
        if self.kills >= STORED_TWICE_IN && stored_twice == 0 {
            problems.push("no kill came after ratings were stored twice".to_owned());
        }
        if problems.is_empty() {
            let took = began.elapsed();
            return Ok(LadderReport { while_starting, compared, stored_twice, audit, took });
        }
        Err(Failure { folder: folder.keep(), problems })
    }
}

impl Running {
    fn start(&self, folder: TempDir) -> Process {
        let flags = ["--drain-timeout-ms", "300"].map(OsStr::new);
        Process::spawn(&self.address.to_string(), "warn", folder, &flags)
    }

    /// Starts the server and kills it, the first time with 1.
    async fn kill(&mut self, folder: TempDir, number: usize) -> TempDir {
        let mut process = self.start(folder);
        let [once, twice] = STORED;
        let at_least = match number {
            number if number.is_multiple_of(STORED_TWICE_IN) => Some(twice),
            number if number.is_multiple_of(STORED_IN) => Some(once),
            _ => None,
        };
        if at_least.is_none() && self.crew.is_some() && self.random.random_ratio(1, 6) {
            sleep(self.random.random_range(Duration::ZERO..STARTS_FOR)).await;
            self.while_starting += 1;
        } else if process.serves().await {
            self.play(&process).await;
            let most = if at_least.is_some() { STORES_FOR } else { SERVES_FOR };
            let more = self.random.random_range(Duration::ZERO..most);
            sleep(at_least.unwrap_or_default() + more).await;
        } else {
            self.problems.push("the server did not start".to_owned());
        }
        let (folder, log) = process.kill();
        self.look(&log);
        if let Some(found) = self.compare(&folder)
            && found["ladders"][0]["state"] == "compared"
        {
            let after = found["ladders"][0]["stored_after"].as_u64();
            self.compared += 1;
            self.stored_twice += usize::from(at_least == Some(twice) && after > self.stored_after);
            self.stored_after = after;
        }
        folder
    }

    /// The bots begin once a server has served.
    async fn play(&mut self, process: &Process) {
        if self.crew.is_some() {
            return;
        }
        let clients = process.connect().await;
        let mut crew = Crew { bots: Vec::new(), stops: Vec::new() };
        for number in 0..self.bots {
            let owner = format!("owner-{}", number / BOTS_PER_OWNER);
            let (_, token) = clients.register_bot(&format!("bot-{number}"), &owner).await;
            crew.join(&clients, &token, number as u64).await;
        }
        self.crew = Some(crew);
    }

    /// Lets what runs be played to its end, and looks at what is there.
    async fn end(&mut self, folder: TempDir) -> (TempDir, LadderAudit) {
        let mut process = self.start(folder);
        if !process.serves().await {
            self.problems.push("the server did not start".to_owned());
            let (folder, log) = process.kill();
            self.look(&log);
            return (folder, LadderAudit::default());
        }
        self.play(&process).await;
        let played = self.crew.take().expect("they play").finish().await;
        let mut audit = match played {
            Ok(played) => {
                if played.iter().all(Vec::is_empty) {
                    self.problems.push("no bot was told of a result".to_owned());
                }
                LadderAudit::of(&process.connect().await, &played).await
            }
            Err(problem) => {
                self.problems.push(problem);
                LadderAudit::default()
            }
        };
        self.problems.append(&mut audit.problems);
        process.terminate();
        let stopped = process.stopped().await;
        self.look(stopped.log());
        let folder = stopped.into_folder();
        if let Some(found) = self.compare(&folder) {
            let ladder = &found["ladders"][0];
            let counted =
                (found["results"].as_u64(), ladder["results"].as_u64(), ladder["rated_matches"].as_u64());
            let wanted = (audit.results, audit.results, audit.rated);
            if counted != (Some(wanted.0), Some(wanted.1), Some(wanted.2)) {
                self.problems.push(format!("recomputed: {counted:?}; the server has {wanted:?}"));
            }
            if ladder["state"] != "compared" {
                self.problems.push(format!("after an orderly stop nothing is compared: {ladder}"));
            }
        }
        (folder, audit)
    }

    fn look(&mut self, log: &str) {
        self.problems.extend(wrong_in(log));
        // What it says of stored ratings is a warning.
        let differs = log.lines().filter(|line| line.contains("stored rating"));
        self.problems.extend(differs.map(|line| format!("the server says: {line}")));
    }

    /// Holds the stored ratings against the results, by the program.
    fn compare(&mut self, folder: &TempDir) -> Option<Value> {
        let output = Command::new(built("zetema"))
            .args(["ladder", "recompute", "--check", "--ladder", LADDER, "--format", "json", "--data"])
            .arg(folder.path().join("data"))
            .env_remove("ZETEMA_CONFIG")
            .output()
            .expect("the program runs");
        let said = String::from_utf8_lossy(&output.stderr);
        match serde_json::from_slice::<Value>(&output.stdout) {
            Ok(found) if output.status.success() => Some(found),
            Ok(found) => {
                self.problems.push(format!("the stored ratings differ: {found}; {said}"));
                None
            }
            Err(_) => {
                self.problems.push(format!("the ratings can't be recomputed: {said}"));
                None
            }
        }
    }
}

impl Crew {
    /// A bot waits on the ladder from now on, whatever becomes of the server.
    async fn join(&mut self, clients: &Clients, token: &str, seed: u64) {
        let settings = Settings { give_up_after: Duration::from_hours(1), ..Settings::default() };
        let make = move |info: &_| House::Greedy.make(info, seed);
        let mut session = Session::open_for_bot(&clients.url(), settings, token.into(), make).unwrap();
        while session.queue([LadderQueue::new(LADDER, AT_ONCE)]).await.is_err() {
            sleep(PAUSE).await;
        }
        self.stops.push(session.stopper());
        self.bots.push(AbortOnDropHandle::new(tokio::spawn(async move {
            let mut played = Vec::new();
            while let Some(outcome) = session.next().await {
                if let (End::Result(_), Some(info)) = (&outcome.end, &outcome.info) {
                    played.push(info.match_id.clone());
                }
            }
            played
        })));
    }

    /// The bots leave the ladder and play what they have to the end: the matches of each of which it was told the result.
    async fn finish(self) -> Result<Vec<Vec<String>>, String> {
        for stop in &self.stops {
            stop.finish();
        }
        let played = timeout(OVER_WITHIN, join_all(self.bots)).await;
        let played = played.map_err(|_| format!("bots play on after {} s", OVER_WITHIN.as_secs()))?;
        played.into_iter().collect::<Result<_, _>>().map_err(|error| format!("a bot panicked: {error}"))
    }
}
