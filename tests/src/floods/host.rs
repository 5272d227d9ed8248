//! The server under attack: the program in a process of its own, and what it costs the machine.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::ValueEnum;
use tempfile::TempDir;
use tokio::sync::oneshot;
use zetema_service::access::ADMIN_TOKEN_FILE;

use crate::harness::{Authority, Clients, built, soon};

/// What the program says when it serves, before its address and a semicolon.
const SERVES_AT: &str = "zetema serves at ";
/// How many ticks of processor time the system counts in a second.
const TICKS_PER_SECOND: u64 = 100;

/// What connections speak below HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Transport {
    /// Nothing.
    Plaintext,
    /// TLS.
    Tls,
}

/// How a server is started.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The program. `None`: that of this build.
    pub program: Option<PathBuf>,
    /// What its connections speak.
    pub transport: Transport,
    /// More flags.
    pub flags: Vec<OsString>,
    /// What the shell is told before, such as `ulimit -n 256`.
    pub shell: Option<&'static str>,
}

impl Setup {
    /// Gives a server the first processor alone, whatever others its parent has, if the system knows how.
    pub const ON_ONE_PROCESSOR: &str = "taskset -cp 0 $$ > /dev/null";

    /// The program of this build, without anything that is not usual.
    pub const fn usual(transport: Transport) -> Self {
        Self { program: None, transport, flags: Vec::new(), shell: None }
    }
}

/// A server in a process of its own, which is killed when this is dropped.
pub struct Host {
    child: Child,
    /// `None` once another server has it.
    folder: Option<TempDir>,
    address: SocketAddr,
    ca: Option<String>,
    log: Arc<Mutex<String>>,
}

/// What a process has of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Bytes in memory.
    pub now: u64,
    /// The most that it ever had.
    pub most: u64,
}

impl Host {
    /// Starts a server on an empty folder, or on this one's data.
    ///
    /// # Errors
    /// What is in the way.
    pub async fn start(setup: &Setup, folder: TempDir) -> anyhow::Result<Self> {
        Self::start_at("127.0.0.1:0", setup, folder).await
    }

    /// Kills it, if it still runs, and starts another with its data at its address.
    ///
    /// # Errors
    /// What is in the way.
    pub async fn restart(mut self, setup: &Setup) -> anyhow::Result<Self> {
        self.kill();
        let folder = self.folder.take().expect("it is taken once");
        Self::start_at(&self.address.to_string(), setup, folder).await
    }

    async fn start_at(listen: &str, setup: &Setup, folder: TempDir) -> anyhow::Result<Self> {
        let mut flags = setup.flags.clone();
        let mut ca = None;
        if setup.transport == Transport::Tls {
            let authority = Authority::new();
            let (cert, key) = authority.server(&["localhost", "127.0.0.1"]).write(folder.path());
            flags.extend(["--tls-cert".into(), cert.into(), "--tls-key".into(), key.into()]);
            ca = Some(authority.pem().to_owned());
        }
        let program = setup.program.clone().unwrap_or_else(|| built("zetema").to_owned());
        let mut command = match setup.shell {
            Some(told) => {
                let mut shell = Command::new("sh");
                shell.args(["-c", &format!("{told} && exec \"$0\" \"$@\"")]).arg(program);
                shell
            }
            None => Command::new(program),
        };
        let mut child = command
            .args(["serve", "--listen", listen, "--log", "warn", "--data"])
            .arg(data(&folder))
            .args(&flags)
            .env_remove("ZETEMA_CONFIG")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("the server does not start")?;
        let stderr = BufReader::new(child.stderr.take().expect("it is piped"));
        let (told, serves) = oneshot::channel();
        let log = Arc::new(Mutex::new(String::new()));
        let written = Arc::clone(&log);
        std::thread::spawn(move || {
            let mut told = Some(told);
            for line in stderr.lines().map_while(Result::ok) {
                if let Some(address) = address(&line)
                    && let Some(told) = told.take()
                {
                    // Nobody waits any more when the start was given up.
                    let _ = told.send(address);
                }
                let mut log = written.lock().unwrap();
                log.push_str(&line);
                log.push('\n');
            }
        });
        let Ok(address) = soon("the server to serve", serves).await else {
            child.wait()?;
            bail!("the server does not serve: {}", log.lock().unwrap());
        };
        Ok(Self { child, folder: Some(folder), address, ca, log })
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The PEM of the CA of its certificate, if it speaks TLS.
    pub fn ca(&self) -> Option<&str> {
        self.ca.as_deref()
    }

    /// Its address, as clients write it.
    pub fn url(&self) -> String {
        let scheme = if self.ca.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// The process's number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    fn kill(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// A client with the admin's token.
    pub async fn admin(&self) -> Clients {
        let folder = self.folder.as_ref().expect("it is there until another server has it");
        let token = std::fs::read_to_string(data(folder).join(ADMIN_TOKEN_FILE)).unwrap();
        connect(&self.url(), self.address, self.ca(), token.trim()).await
    }

    /// What it has logged.
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// What it has of the machine's memory.
    pub fn memory(&self) -> Memory {
        memory(self.pid())
    }

    /// The processor time that it has used.
    pub fn processor_time(&self) -> Duration {
        processor_time(self.pid())
    }

    /// How many files it has open.
    pub fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.pid())).map_or(0, Iterator::count)
    }

    /// Whether it still runs.
    pub fn runs(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_none())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A client with a token.
pub(super) async fn connect(url: &str, address: SocketAddr, ca: Option<&str>, token: &str) -> Clients {
    let Some(ca) = ca else { return Clients::lazy(address, token) };
    // Time-outs that are short for whoever attacks may be so on a busy machine for all.
    for _ in 0..20 {
        if let Ok(clients) = Clients::connect_securely(url, ca, token).await {
            return clients;
        }
    }
    Clients::connect_securely(url, ca, token).await.expect("the server listens")
}

/// The processor time that a process has used; none if it is gone.
pub(crate) fn processor_time(pid: u32) -> Duration {
    let line = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name, in parentheses, may have spaces.
    let fields = line.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND)
}

/// What a process has of the machine's memory; nothing if it is gone.
pub(crate) fn memory(pid: u32) -> Memory {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let bytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kilobytes.unwrap_or(0) * 1024
    };
    Memory { now: bytes("VmRSS"), most: bytes("VmHWM") }
}

/// The most memory that a process has from now on, looked at every 50 ms.
pub(super) struct Peak {
    most: Arc<Mutex<u64>>,
    watched: tokio_util::task::AbortOnDropHandle<()>,
}

impl Peak {
    /// Begins to look.
    pub(super) fn watch(pid: u32) -> Self {
        let most = Arc::new(Mutex::new(memory(pid).now));
        let seen = Arc::clone(&most);
        let watched = tokio::spawn(async move {
            let mut looks = tokio::time::interval(Duration::from_millis(50));
            loop {
                looks.tick().await;
                let now = memory(pid).now;
                let mut most = seen.lock().unwrap();
                *most = now.max(*most);
            }
        });
        Self { most, watched: tokio_util::task::AbortOnDropHandle::new(watched) }
    }

    /// What was the most.
    pub(super) fn end(self) -> u64 {
        drop(self.watched);
        *self.most.lock().unwrap()
    }
}

/// Processor time that is used from now on.
pub struct Effort {
    since: Instant,
    before: Duration,
}

impl Effort {
    /// Begins to count.
    pub fn of(host: &Host) -> Self {
        Self { since: Instant::now(), before: host.processor_time() }
    }

    /// How many processors were busy on average.
    pub fn processors(&self, host: &Host) -> f64 {
        let used = host.processor_time().saturating_sub(self.before);
        used.as_secs_f64() / self.since.elapsed().as_secs_f64().max(0.001)
    }
}

fn data(folder: &TempDir) -> PathBuf {
    folder.path().join("data")
}

fn address(line: &str) -> Option<SocketAddr> {
    let (_, rest) = line.split_once(SERVES_AT)?;
    let url = rest.split(';').next()?;
    url.split_once("://")?.1.parse().ok()
}
