//! The server: one port, from the configuration to a clean stop.
//!
//! ```
//! use zetema_service::{config::Config, server::Server};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let server = Server::start(Config::embedded(folder.path().join("data"))).await?;
//! assert_ne!(server.local_addr().port(), 0);
//! assert!(server.admin_token().is_some());
//! server.shutdown().await;
//! # Ok(())
//! # }
//! ```

mod admit;
mod asked;
mod calls;
mod connection;
mod direct;
mod health;
mod heard;
mod in_process;
mod listener;
mod measure;
mod messages;
mod metrics_page;
mod routes;
mod saturation;
mod signal;
#[cfg(test)]
mod tests;
mod timer;
mod tls;
mod unary;
mod watched;

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::time::{Instant, sleep, timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic_health::server::{HealthReporter, HealthService};
use zetema_ladder::quota::QuotaError;

pub use in_process::InProcess;
pub use signal::{Hangups, Terminations, termination};
pub use tls::TlsError;

use crate::{
    access::{Access, AccessError, AdminToken},
    admission::{DiskRoom, Pressure, Rates},
    bots::{self, Bots},
    config::{Config, Number, Numbers, TlsFiles},
    executor::Executor,
    grpc::{Backend, Drain},
    incident::Incident,
    journal::{self, OpenError, ReadError, Recovery, ServerJournal, SqliteJournal},
    ladders::{self, Ladders},
    limits,
    matches::{self, Matches, Recovered, ServerClock, SystemEntropy},
    metrics,
    table::FairShuffler,
    webhooks::{self, Network, Webhooks},
};
use connection::{Http, Transport};
use listener::Listener;
use tls::Tls;

/// Why a server can't start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address can't be listened on.
    #[error("can't listen on {listen}: {cause}")]
    Listen {
        /// The address.
        listen: SocketAddr,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// The journal can't be opened.
    #[error(transparent)]
    Journal(#[from] OpenError),
    /// The matches can't be taken up.
    #[error(transparent)]
    Matches(#[from] matches::OpenError),
    /// The keys can't be had.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The accounts can't be read.
    #[error("the accounts can't be read: {0}")]
    Accounts(#[source] ReadError),
    /// The quota of the bots is none.
    #[error(transparent)]
    Quota(#[from] QuotaError),
    /// The webhooks can't be taken up.
    #[error(transparent)]
    Webhooks(#[from] ReadError),
    /// The receivers of webhooks can't be checked.
    #[error(transparent)]
    Trust(#[from] webhooks::TrustError),
    /// TLS can't be served.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The descriptions of the protocol can't be read.
    #[error("the reflection service can't start: {0}")]
    Reflection(#[from] tonic_reflection::server::Error),
}

impl StartError {
    /// Whether the data can't be opened until somebody does something about it: it is damaged, or of another release, or was not made
    /// for a server. To start again changes nothing then, and may take minutes each time.
    pub const fn is_about_the_data(&self) -> bool {
        match self {
            Self::Journal(error) => error.is_lasting(),
            Self::Matches(matches::OpenError::Read(ReadError::Damaged(_)))
            | Self::Access(AccessError::Damaged(_) | AccessError::Read(ReadError::Damaged(_)))
            | Self::Accounts(ReadError::Damaged(_))
            | Self::Webhooks(ReadError::Damaged(_)) => true,
            Self::Listen { .. }
            | Self::Matches(_)
            | Self::Access(_)
            | Self::Accounts(_)
            | Self::Quota(_)
            | Self::Webhooks(_)
            | Self::Trust(_)
            | Self::Tls(_)
            | Self::Reflection(_) => false,
        }
    }
}

/// A running server. [`Server::shutdown`] stops it in order; dropped, it cuts every connection and stops in the
/// background. Neither loses anything that was acknowledged.
#[derive(Debug)]
pub struct Server {
    local_addr: SocketAddr,
    access: Arc<Access>,
    matches: Matches,
    journal: Arc<dyn ServerJournal>,
    transport: Transport,
    drain_timeout: Duration,
    drain: Drain,
    stopped: CancellationToken,
    tasks: TaskTracker,
}

impl Server {
    /// Listens, opens the journal, takes up the unfinished matches, and then serves.
    ///
    /// # Errors
    /// A [`StartError`] that says what could not be had. Nothing runs on then.
    pub async fn start(config: Config) -> Result<Self, StartError> {
        let data = config.data.clone();
        let open = async move {
            let (journal, recovery) = SqliteJournal::open(&data, journal::Options::default()).await?;
            let journal: Arc<dyn ServerJournal> = Arc::new(journal);
            Ok((journal, recovery))
        };
        let faults = config.data.join("faults");
        Self::start_when(config, Some(faults), open).await
    }

    /// The same on another journal than that of the data folder, such as one in memory. The folder, which must be there,
    /// keeps the file of the admin token alone.
    ///
    /// # Errors
    /// As above.
    pub async fn start_on(config: Config, journal: Arc<dyn ServerJournal>) -> Result<Self, StartError> {
        Self::start_when(config, None, std::future::ready(Ok((journal, Recovery::default())))).await
    }

    async fn start_when(
        config: Config,
        faults: Option<PathBuf>,
        open: impl Future<Output = Result<(Arc<dyn ServerJournal>, Recovery), StartError>>,
    ) -> Result<Self, StartError> {
        // Before anything counts: what has no recorder yet is lost.
        let page = metrics::page().cloned();
        metrics::starts();
        let (webhook_settings, account_settings) = (config.webhook_settings(), config.account_settings()?);
        let (listen, numbers) = (config.listen, config.numbers);
        let listen_error = |cause| StartError::Listen { listen, cause };
        let listener = Listener::bind(listen, &numbers).map_err(listen_error)?;
        let local_addr = listener.local_addr().map_err(listen_error)?;
        let transport = open_transport(config.tls, &numbers).await?;
        // What is wrong with it is told before any match runs.
        let network = Network::open(config.webhook_allow, config.webhook_ca).await?;

        let (journal, recovery) = open.await?;
        report(&recovery);
        let clock = Arc::new(ServerClock::new());
        let (access, bots) = open_accounts(&journal, &clock, &config.data, account_settings).await?;

        let limits = limits_of_matches(&numbers);
        let (drain, stopped, tasks) = (Drain::default(), CancellationToken::new(), TaskTracker::new());
        let matches = open_matches(&journal, &clock, limits, faults).await?;
        let server = Self {
            local_addr,
            access: Arc::clone(&access),
            matches: matches.clone(),
            journal: Arc::clone(&journal),
            transport: transport.clone(),
            drain_timeout: numbers.millis(Number::DrainTimeoutMs),
            drain: drain.clone(),
            stopped: stopped.clone(),
            tasks: tasks.clone(),
        };
        // From here on matches run: what can't be had ends them in order.
        let begun: Result<(), StartError> = async {
            matches.found_damaged(&recovery.quarantined).await?;
            // When it closes its clients are told to come back later: from then on time is charged to nobody.
            tasks.spawn(Arc::clone(&clock).keep(drain.closing().clone()));
            let pressure = Arc::new(Pressure::new());
            let disk_room = Arc::new(DiskRoom::new(numbers.get(Number::MinFreeDiskBytes)));
            let ladders = ladders::Config {
                specs: config.ladders,
                matches: matches.clone(),
                accounts: Arc::new(bots.clone()),
                house_bots: config.house_bots,
                store: journal.clone(),
                stored_every: numbers.millis(Number::LadderRatingsStoredEveryMs),
                clock: Arc::<ServerClock>::clone(&clock),
                luck: config.data.join("luck"),
                results: config.data.join("results"),
                results_in_memory: numbers.count(Number::LadderResultsInMemory),
                pressure: Arc::clone(&pressure),
                disk_room: Arc::clone(&disk_room),
            };
            // A server that drains makes no matches.
            let ladders = Ladders::open(ladders, &tasks, drain.closing().clone());
            let backend = Arc::new(Backend {
                access: Arc::clone(&access),
                bots,
                matches: matches.clone(),
                ladders,
                ping_interval: numbers.millis(Number::PingIntervalMs),
                request_timeout: numbers.millis(Number::RequestTimeoutMs),
                max_request_bytes: numbers.count(Number::MaxRequestBytes),
                queued_observations: limits.queued_observations,
                drain: drain.clone(),
                pressure: Arc::clone(&pressure),
                disk_room: Arc::clone(&disk_room),
            });
            let webhooks = webhooks::Config {
                store: journal.clone(),
                journal: journal.clone(),
                matches: matches.clone(),
                access: Arc::clone(&access),
                clock: Arc::<ServerClock>::clone(&clock),
                network: Arc::new(network),
                settings: webhook_settings,
            };
            let webhooks = Webhooks::open(webhooks, tasks.clone(), drain.closing().clone()).await?;
            let reporter = HealthReporter::new();
            let rates = Rates::new(&numbers);
            let health = HealthService::from_health_reporter(reporter.clone());
            let executor = Executor::start();
            let routes = routes::routes(&backend, &executor, webhooks, &rates, health, page.clone())?;
            watch(&tasks, &drain, pressure, &executor, Arc::clone(&rates), numbers.millis(Number::MaxLateMs));
            tasks.spawn(health::follow(reporter, Arc::clone(&journal), drain.clone()));
            let process = page.is_none().then(metrics_process::Collector::default);
            tasks.spawn(health::upkeep(journal.clone(), matches.clone(), page, drain.closing().clone()));
            let http = Arc::new(Http::new(&numbers, rates, clock, executor));
            saturation::tell_limits(&numbers);
            let (bounds, closing) = (Arc::clone(http.bounds()), drain.closing().clone());
            tasks.spawn(saturation::of_queues(Arc::clone(&journal), matches.clone(), bounds, drain.clone()));
            tasks.spawn(saturation::of_machine(config.data, disk_room, process, closing));
            tasks.spawn(connection::accept(
                listener,
                transport.clone(),
                routes,
                numbers,
                http,
                drain.closing().clone(),
                stopped.clone(),
            ));
            tracing::info!(%local_addr, "serving");
            Ok(())
        }
        .await;
        server.or_closed(begun).await
    }

    /// It, or what could not be had: it is closed then, and nothing runs on.
    async fn or_closed(self, begun: Result<(), StartError>) -> Result<Self, StartError> {
        match begun {
            Ok(()) => Ok(self),
            Err(error) => {
                self.shutdown_or_close(std::future::ready(())).await;
                Err(error)
            }
        }
    }

    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Its address as clients write it.
    pub fn url(&self) -> String {
        let scheme = match self.transport {
            Transport::Plaintext => "http",
            Transport::Tls(_) => "https",
        };
        format!("{scheme}://{}", self.local_addr)
    }

    /// Reads the files of TLS again, as the program does on SIGHUP: connections that are made from now on are shown the
    /// new certificate and asked for a client's by the new CAs; those that are open go on. Without TLS there is
    /// nothing to read. The log says what came of it.
    ///
    /// # Errors
    /// A [`TlsError`] that names the file that can't be used. What was served before is served on.
    pub async fn reload(&self) -> Result<(), TlsError> {
        let Transport::Tls(tls) = &self.transport else {
            tracing::info!("there is nothing to read again: this server has no TLS");
            return Ok(());
        };
        tls.reload().await.inspect_err(|error| {
            tracing::error!(%error, "the certificate is the same as before: mend the file and send SIGHUP again");
        })
    }

    /// The admin token, when its file in the data folder still holds it.
    pub fn admin_token(&self) -> Option<&AdminToken> {
        self.access.admin_token()
    }

    /// Stops, by steps:
    ///
    /// 1. It drains: health says `NOT_SERVING`, streams are told in how long it stops, and no match is created. All else
    ///    goes on as before, clocks and new connections too, until no match runs or [`Number::DrainTimeoutMs`] is over.
    /// 2. It closes: no clock runs any more, streams end with `DRAINING`, and calls that run are answered or, after
    ///    [`limits::CLOSING_TIMEOUT`], cut.
    /// 3. The matches that are left are stopped, to go on at the next start, and the journal is closed.
    pub async fn shutdown(self) {
        self.shutdown_or_close(std::future::pending()).await;
    }

    /// Stops as [`Server::shutdown`] does, but drains no longer once `at_once` is done.
    pub async fn shutdown_or_close(self, at_once: impl Future<Output = ()>) {
        let (live, most_ms) = (self.matches.live(), self.drain_timeout.as_millis());
        tracing::info!(live, most_ms, "draining: no match is created, and those that run go on");
        self.drain.begin(Instant::now() + self.drain_timeout);
        tokio::select! {
            biased;
            () = at_once => tracing::info!("told again to stop"),
            () = self.played_out(live) => {}
            () = sleep(self.drain_timeout) => {}
        }
        let live = self.matches.live();
        tracing::info!(live, "closing: the matches that are not over go on at the next start");
        self.drain.close();
        self.tasks.close();
        if timeout(limits::CLOSING_TIMEOUT, self.tasks.wait()).await.is_err() {
            tracing::warn!("streams or calls were still open, and were cut");
            self.stopped.cancel();
            self.tasks.wait().await;
        }
        self.stopped.cancel();
        self.matches.stop().await;
        self.journal.close().await;
        tracing::info!("stopped");
    }

    /// Waits until no match runs, and if some did, until their players had the time to read the records.
    async fn played_out(&self, live: usize) {
        self.matches.drain().await;
        if live > 0 {
            sleep(limits::DRAIN_LINGER).await;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.stopped.is_cancelled() {
            return;
        }
        self.drain.close();
        self.stopped.cancel();
        // Without a runtime there is nothing left that could run on.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (matches, journal) = (self.matches.clone(), Arc::clone(&self.journal));
            runtime.spawn(async move {
                matches.stop().await;
                journal.close().await;
            });
        }
    }
}

fn limits_of_matches(numbers: &Numbers) -> matches::Limits {
    matches::Limits {
        live_matches: numbers.count(Number::MaxLiveMatches),
        live_matches_of_owner: numbers.count(Number::MaxLiveMatchesPerOwner),
        live_bytes: numbers.count(Number::MaxLiveMatchBytes),
        queued_bytes: numbers.count(Number::MaxQueuedBytesPerSeat),
        queued_bytes_in_all: numbers.count(Number::MaxQueuedObservationBytes),
        subscribers: numbers.count(Number::MaxObserversPerMatch),
        ..matches::Limits::default()
    }
}

/// Looks whether the server is late, and forgets who asks for nothing any more, until it closes.
fn watch(
    tasks: &TaskTracker,
    drain: &Drain,
    pressure: Arc<Pressure>,
    streams: &Executor,
    rates: Arc<Rates>,
    max_late: Duration,
) {
    let streams = streams.clone();
    let (looking, tidying) = (drain.closing().clone(), drain.closing().clone());
    tasks.spawn(async move { looking.run_until_cancelled(pressure.watch(max_late, streams)).await });
    tasks.spawn(async move { tidying.run_until_cancelled(rates.tidy()).await });
}

/// What connections are made of.
async fn open_transport(files: Option<TlsFiles>, numbers: &Numbers) -> Result<Transport, StartError> {
    let Some(files) = files else { return Ok(Transport::Plaintext) };
    let tls = Tls::open(files, numbers.millis(Number::TlsHandshakeTimeoutMs)).await?;
    Ok(Transport::Tls(Arc::new(tls)))
}

/// Who may do what, and the bots that there are.
async fn open_accounts(
    journal: &Arc<dyn ServerJournal>,
    clock: &Arc<ServerClock>,
    data: &Path,
    settings: bots::Settings,
) -> Result<(Arc<Access>, Bots), StartError> {
    let access = Access::open(journal.clone(), Arc::<ServerClock>::clone(clock), data).await?;
    let access = Arc::new(access);
    let bots = Bots::open(journal.clone(), Arc::clone(&access), clock.clone(), settings).await;
    Ok((access, bots.map_err(StartError::Accounts)?))
}

/// Takes up the matches that had not ended.
async fn open_matches(
    journal: &Arc<dyn ServerJournal>,
    clock: &Arc<ServerClock>,
    limits: matches::Limits,
    faults: Option<PathBuf>,
) -> Result<Matches, StartError> {
    let (matches, Recovered { running, damaged }) = Matches::open(matches::Config {
        journal: journal.clone(),
        clock: Arc::<ServerClock>::clone(clock),
        entropy: Arc::new(SystemEntropy),
        shuffler: Arc::new(FairShuffler),
        limits,
        faults,
    })
    .await?;
    tracing::info!(running, damaged = damaged.len(), "the matches are open");
    Ok(matches)
}

/// Tells the log what was found in the journal, but for damaged matches, which [`Matches::found_damaged`] tells.
fn report(recovery: &Recovery) {
    tracing::info!(unfinished = recovery.unfinished, rows_read = recovery.rows_read, "the journal is open");
    for damage in &recovery.stray {
        tracing::error!(incident = %Incident::new(), %damage, "the journal is damaged");
    }
}
