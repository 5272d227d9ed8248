//! A server that runs short of what the machine has, under bots of the SDK that play on it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::ValueEnum;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tokio_util::task::AbortOnDropHandle;
use zetema_bots::House;
use zetema_proto::v1;
use zetema_sdk::{Action, Bot, Decision, End, MatchInfo, Session, Settings};

use super::honest::{Felt, endpoint, newcomers};
use super::host::{Effort, Host, Setup, Transport};
use super::{Figures, Tally, Target, silence, streams};
use crate::disk::{Disk, Syncs, Trouble};
use crate::harness::{Clients, Created, preset, unhurried};

/// Tables at which bots play.
const TABLES: usize = 4;
/// How long a bot thinks.
const THINKS: Duration = Duration::from_millis(5);
/// How long somebody waits whose match was not created.
const REFUSED: Duration = Duration::from_millis(200);
/// Who holds connections, each from an address of its own.
const HOLDERS: u16 = 400;
/// Who has the server keep streams, each from an address of its own.
const HOARDERS: u16 = 20;
/// How long everything is looked at without trouble.
const CALM: Duration = Duration::from_secs(5);
/// How long the trouble lasts, and how long what is after it is looked at.
const TROUBLE: Duration = Duration::from_secs(10);

/// How often it is looked whether the server runs.
const LOOKS: Duration = Duration::from_millis(100);

/// How long a server gets to feel the end of it.
const REST: Duration = Duration::from_secs(2);

/// What there is too little of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scarce {
    /// The server may have 256 files open, and others hold connections.
    Descriptors,
    /// The server may have 64 MiB of data, and others have it keep streams. Whenever it ends it is started again, as its service
    /// manager would.
    Memory,
    /// Its disk is full.
    Disk,
}

/// What was seen in some time.
#[derive(Clone, Debug)]
pub struct Phase {
    /// What it was.
    pub name: &'static str,
    /// For how long.
    pub lasts: Duration,
    /// Decisions that bots took.
    pub decisions: u32,
    /// What newcomers saw.
    pub felt: Figures,
    /// How many processors the server kept busy.
    pub processors: f64,
    /// The files that it had open, at the end.
    pub descriptors: usize,
    /// Its bytes in memory, at the end.
    pub memory: u64,
    /// How often it had ended, and was started again.
    pub restarts: u32,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct ScarceReport {
    /// Before, meanwhile and after.
    pub phases: Vec<Phase>,
    /// What bots were told, and how matches ended.
    pub told: BTreeMap<String, u64>,
    /// The last that it logged before it ended, or in the end, at `warn` and above.
    pub log: String,
}

/// Who plays, and what they are told.
struct Table {
    url: String,
    clients: Clients,
    decisions: Arc<AtomicU32>,
    told: Arc<Mutex<BTreeMap<String, u64>>>,
}

impl Scarce {
    /// Lets bots play, brings the trouble, and takes it away.
    ///
    /// # Errors
    /// If there is no server, or no disk that can be full.
    pub async fn run(self, setup: &Setup) -> anyhow::Result<ScarceReport> {
        let mut setup = Setup { transport: Transport::Plaintext, ..setup.clone() };
        setup.shell = match self {
            Self::Descriptors => Some("ulimit -n 256"),
            Self::Memory => Some("ulimit -d 65536"),
            Self::Disk => None,
        };
        let folder = tempfile::tempdir()?;
        let disk = match self {
            Self::Disk => {
                let data = folder.path().join("data");
                std::fs::create_dir(&data)?;
                Some(Disk::mount(&data, Syncs::Kept, 1).map_err(anyhow::Error::msg)?)
            }
            _ => None,
        };
        let mut host = Host::start(&setup, folder).await?;
        let admin = host.admin().await;
        let (_, token) = admin.owner_token("bots").await;
        let (_, attacker) = admin.owner_token("attacker").await;
        let (decisions, told) = (Arc::new(AtomicU32::new(0)), Arc::new(Mutex::default()));
        let felt = Arc::new(Felt::default());
        let mut tasks = JoinSet::new();
        tasks.spawn(newcomers(endpoint(&host), Arc::clone(&felt)));
        for _ in 0..TABLES {
            let table = Table {
                url: host.url(),
                clients: Clients::lazy(host.address(), &token),
                decisions: Arc::clone(&decisions),
                told: Arc::clone(&told),
            };
            tasks.spawn(table.play_on());
        }
        let mut phases = Vec::new();
        let mut log = String::new();
        let mut look = async |name, lasts: Duration, mut host: Host| {
            let effort = Effort::of(&host);
            let (mut restarts, until) = (0, Instant::now() + lasts);
            decisions.store(0, Ordering::Relaxed);
            felt.take();
            while Instant::now() < until {
                sleep(LOOKS).await;
                if !host.runs() {
                    log = host.log();
                    host = host.restart(&setup).await?;
                    restarts += 1;
                }
            }
            let phase = Phase {
                name,
                lasts,
                decisions: decisions.load(Ordering::Relaxed),
                felt: felt.take(),
                processors: effort.processors(&host),
                descriptors: host.descriptors(),
                memory: host.memory().now,
                restarts,
            };
            anyhow::Ok((host, phase))
        };
        sleep(CALM).await;
        let phase;
        (host, phase) = look("before", CALM, host).await?;
        phases.push(phase);
        let (_, watched) = watch::channel(super::Playing::default());
        let target = Target::new(&host, attacker, watched);
        if let Some(disk) = &disk {
            disk.trouble(Trouble::Full(1));
        }
        let attack = AbortOnDropHandle::new(tokio::spawn(self.attack(target)));
        let phase;
        (host, phase) = look("meanwhile", TROUBLE, host).await?;
        phases.push(phase);
        drop(attack);
        if let Some(disk) = &disk {
            disk.trouble(Trouble::None);
        }
        sleep(REST).await;
        let phase;
        (host, phase) = look("after", TROUBLE, host).await?;
        phases.push(phase);
        if log.is_empty() {
            log = host.log();
        }
        drop(tasks);
        // The disk can be unmounted when nobody uses it.
        drop(host);
        let told = told.lock().unwrap().clone();
        Ok(ScarceReport { phases, told, log })
    }

    /// Brings the trouble, if it is clients who do.
    async fn attack(self, target: Target) {
        let tally = Tally::default();
        let mut attackers = JoinSet::new();
        match self {
            Self::Descriptors => {
                for number in 1..=HOLDERS {
                    let (target, tally) = (target.clone().apart(number), tally.clone());
                    attackers.spawn(async move {
                        loop {
                            let Err(_) = silence::idle_http2(&target, &tally).await;
                            sleep(REFUSED).await;
                        }
                    });
                }
            }
            Self::Memory => {
                for number in 1..=HOARDERS {
                    let (target, tally) = (target.clone().apart(number), tally.clone());
                    attackers.spawn(async move {
                        loop {
                            let Err(_) = streams::held(&target, &tally).await;
                            sleep(REFUSED).await;
                        }
                    });
                }
            }
            Self::Disk => {}
        }
        while attackers.join_next().await.is_some() {}
    }
}

impl Table {
    /// Plays match after match by one session of the SDK.
    async fn play_on(self) {
        let decisions = Arc::clone(&self.decisions);
        let bot = move |info: &MatchInfo| Slow {
            bot: House::Random.make(info, 1),
            decisions: Arc::clone(&decisions),
        };
        let mut session = Session::open(&self.url, Settings::default(), bot).unwrap();
        loop {
            let spec = unhurried(preset(v1::Preset::Quick, 2));
            let request = v1::CreateMatchRequest { request_id: String::new(), r#match: Some(spec) };
            let created: Created = match self.clients.matches().create_match(request).await {
                Ok(answer) => answer.into_inner().into(),
                Err(status) => {
                    self.tell(format!("create: {:?}", status.code()));
                    sleep(REFUSED).await;
                    continue;
                }
            };
            for token in &created.tokens {
                session.play(token.as_str().into()).unwrap();
            }
            for _ in &created.tokens {
                let Some(outcome) = session.next().await else { break };
                for fault in &outcome.faults {
                    self.tell(format!("on the way: {fault}"));
                }
                self.tell(match outcome.end {
                    End::Result(_) => "end: played to a result".to_owned(),
                    other => format!("end: {other}"),
                });
            }
        }
    }

    fn tell(&self, what: String) {
        *self.told.lock().unwrap().entry(what).or_default() += 1;
    }
}

/// A bot that thinks a little, and counts.
struct Slow {
    bot: Box<dyn Bot>,
    decisions: Arc<AtomicU32>,
}

impl Bot for Slow {
    fn choose(&mut self, decision: &Decision) -> Action {
        #[expect(clippy::disallowed_methods, reason = "it has the time that a bot takes")]
        std::thread::sleep(THINKS);
        self.decisions.fetch_add(1, Ordering::Relaxed);
        self.bot.choose(decision)
    }
}

impl fmt::Display for ScarceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for phase in &self.phases {
            writeln!(
                f,
                "  {:<10} {:>6.0} decisions/s, newcomers let in {} of {}, {:.2} processors, {} descriptors, {} MB, {} restarts",
                phase.name,
                f64::from(phase.decisions) / phase.lasts.as_secs_f64(),
                phase.felt.let_in,
                phase.felt.let_in + phase.felt.kept_out,
                phase.processors,
                phase.descriptors,
                phase.memory / (1024 * 1024),
                phase.restarts,
            )?;
        }
        for (what, times) in &self.told {
            writeln!(f, "  {times:>6} times: {what}")?;
        }
        let last = self.log.lines().last().unwrap_or("none");
        write!(f, "  {} warnings in its log, the last: {last}", self.log.lines().count())
    }
}
