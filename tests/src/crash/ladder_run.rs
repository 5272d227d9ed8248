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
use super::shown::Standings;
use crate::harness::{Clients, Process, built};

/// How long a server runs at most that is not killed while it starts.
const SERVES_FOR: Duration = Duration::from_secs(5);
/// How often a server stores ratings that have changed, in milliseconds: far oftener than it is killed, so that those that are held against
/// the results after a kill are of the server that was killed.
const STORES_EVERY_MS: &str = "100";
/// From so many kills on, half of the servers that served have to have shown and stored ratings of results that were not there before.
const FRESH_FROM: usize = 20;
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
    /// After how many of these the stored ratings were after later results than at the comparison before.
    pub freshly_stored: usize,
    /// Just before how many of the kills standings were read, which are those that the records give, bit by bit.
    pub shown: usize,
    /// How many of these were after later results than those before.
    pub freshly_shown: usize,
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
    freshly_stored: usize,
    /// After which result the stored ratings were at the last comparison.
    stored_after: Option<u64>,
    /// What was shown just before each kill, the first first.
    shown: Vec<Standings>,
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
            freshly_stored: 0,
            stored_after: None,
            shown: Vec::new(),
            problems: Vec::new(),
        };
        let mut folder = tempfile::tempdir().unwrap();
        for _ in 0..self.kills {
            folder = running.kill(folder).await;
            if !running.problems.is_empty() {
                break;
            }
        }
        let (folder, audit) = running.end(folder).await;
        let Running { while_starting, compared, freshly_stored, shown, mut problems, .. } = running;
        let afters = || shown.iter().map(|shown| shown.after);
        // Nothing is shown before the first result.
        let freshly_shown =
            std::iter::once(0).chain(afters()).zip(afters()).filter(|(old, new)| old < new).count();
        let least = if self.kills < FRESH_FROM { 0 } else { (self.kills - while_starting) / 2 };
        if problems.is_empty() && freshly_stored.min(freshly_shown) < least {
            problems.push(format!(
                "ratings of later results were stored before {freshly_stored} kills and shown before {freshly_shown}, fewer than \
                 {least}: the run shows little"
            ));
        }
        if problems.is_empty() {
            let (shown, took) = (shown.len(), began.elapsed());
            return Ok(LadderReport {
                while_starting,
                compared,
                freshly_stored,
                shown,
                freshly_shown,
                audit,
                took,
            });
        }
        Err(Failure { folder: folder.keep(), problems })
    }
}

impl Running {
    fn start(&self, folder: TempDir) -> Process {
        let flags = ["--drain-timeout-ms", "300", "--ladder-ratings-stored-every-ms", STORES_EVERY_MS]
            .map(OsStr::new);
        Process::spawn(&self.address.to_string(), "warn", folder, &flags)
    }

    /// Starts the server and kills it.
    async fn kill(&mut self, folder: TempDir) -> TempDir {
        let mut process = self.start(folder);
        if self.crew.is_some() && self.random.random_ratio(1, 8) {
            sleep(self.random.random_range(Duration::ZERO..STARTS_FOR)).await;
            self.while_starting += 1;
        } else if process.serves().await {
            self.play(&process).await;
            let clients = process.connect().await;
            sleep(self.random.random_range(Duration::ZERO..SERVES_FOR)).await;
            self.shown.extend(Standings::now(&clients).await);
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
            self.freshly_stored += usize::from(after > self.stored_after);
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
                LadderAudit::of(&process.connect().await, &played, &self.shown).await
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
            .args([
                "ladder",
                "recompute",
                "--check",
                "--exact",
                "--ladder",
                LADDER,
                "--format",
                "json",
                "--data",
            ])
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
