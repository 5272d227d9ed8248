//! Clients that harm nobody, and what they feel.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use tokio::sync::watch;
use tokio::time::{interval, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tonic::Status;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint};
use zetema_proto::v1;
use zetema_proto::v1::rules_service_client::RulesServiceClient;

use super::Playing;
use super::host::{Host, connect};
use crate::harness::{Clients, Created, PlayStream, StreamTable, preset, sackson_to, soon, unhurried};

/// How often a newcomer tries the door.
const NEWCOMERS: Duration = Duration::from_millis(200);
/// How long it waits.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a player waits who was thrown out.
const THROWN_OUT: Duration = Duration::from_millis(200);
/// The longest round trip that is told apart, in microseconds.
const LONGEST_US: u64 = 60_000_000;

/// Who is there beside the attackers.
#[derive(Clone, Copy, Debug)]
pub struct Crowd {
    /// Matches that are played at once.
    pub tables: usize,
    /// Matches that share a connection.
    pub per_connection: usize,
    /// How long a player waits before each action.
    pub pause: Duration,
    /// How long their matches are.
    pub length: Length,
}

/// How long a match is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Some tens of actions.
    Quick,
    /// So long that it outlives what is measured.
    Long,
}

impl Length {
    fn spec(self) -> v1::MatchSpec {
        match self {
            Self::Quick => unhurried(preset(v1::Preset::Quick, 2)),
            Self::Long => unhurried(sackson_to(10_000, 2)),
        }
    }
}

impl Crowd {
    /// As beside a flood.
    pub const FEW: Self =
        Self { tables: 4, per_connection: 1, pause: Duration::from_millis(10), length: Length::Quick };
}

/// Clients that harm nobody. They have a thread of their own, so that an attacker in the same process is not in their way.
pub struct Honest {
    felt: Arc<Felt>,
    enough: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

/// What they felt since it was last asked.
#[derive(Clone, Debug)]
pub struct Figures {
    /// From an action to its own observation, in microseconds.
    pub round_trips: Histogram<u64>,
    /// Connections that newcomers made, and were answered on.
    pub let_in: u64,
    /// Those that were not within two seconds.
    pub kept_out: u64,
    /// Matches that were broken off.
    pub broken: u64,
    /// Matches that were not created at the first try, since the server was late.
    pub put_off: u64,
}

pub(super) struct Felt {
    round_trips: Mutex<Histogram<u64>>,
    let_in: AtomicU64,
    kept_out: AtomicU64,
    broken: AtomicU64,
    put_off: AtomicU64,
}

impl Default for Felt {
    fn default() -> Self {
        Self {
            round_trips: Mutex::new(histogram()),
            let_in: AtomicU64::new(0),
            kept_out: AtomicU64::new(0),
            broken: AtomicU64::new(0),
            put_off: AtomicU64::new(0),
        }
    }
}

impl Felt {
    /// What was felt since it was last asked.
    pub(super) fn take(&self) -> Figures {
        let mut round_trips = self.round_trips.lock().unwrap();
        Figures {
            round_trips: std::mem::replace(&mut *round_trips, histogram()),
            let_in: self.let_in.swap(0, Ordering::Relaxed),
            kept_out: self.kept_out.swap(0, Ordering::Relaxed),
            broken: self.broken.swap(0, Ordering::Relaxed),
            put_off: self.put_off.swap(0, Ordering::Relaxed),
        }
    }

    /// An action was answered.
    pub(super) fn answered(&self, took: Duration) {
        let took = u64::try_from(took.as_micros()).unwrap_or(LONGEST_US);
        self.round_trips.lock().unwrap().saturating_record(took);
    }

    /// A match was broken off.
    pub(super) fn broke(&self) {
        self.broken.fetch_add(1, Ordering::Relaxed);
    }
}

impl Figures {
    /// p50 and p99 of the round trips, in milliseconds.
    pub fn percentiles(&self) -> [f64; 2] {
        [0.5, 0.99].map(|quantile| {
            Duration::from_micros(self.round_trips.value_at_quantile(quantile)).as_secs_f64() * 1000.0
        })
    }
}

/// Where they play.
struct Place {
    clients: Clients,
    felt: Arc<Felt>,
    pause: Duration,
    length: Length,
    /// Is told which match is played.
    playing: watch::Sender<Playing>,
}

impl Honest {
    /// They begin to play, and tell which match each table plays.
    pub async fn start(host: &Host, token: &str, crowd: Crowd) -> (Self, Vec<watch::Receiver<Playing>>) {
        let felt = Arc::new(Felt::default());
        let enough = CancellationToken::new();
        let (mut playing, mut watched): (Vec<_>, Vec<_>) =
            (0..crowd.tables).map(|_| watch::channel(Playing::default())).unzip();
        let endpoint = endpoint(host);
        let (url, address, ca) = (host.url(), host.address(), host.ca().map(str::to_owned));
        let (token, told, stop) = (token.to_owned(), Arc::clone(&felt), enough.clone());
        let all = async move {
            let mut tasks = tokio::task::JoinSet::new();
            tasks.spawn(newcomers(endpoint, Arc::clone(&told)));
            while !playing.is_empty() {
                let clients = connect(&url, address, ca.as_deref(), &token).await;
                let tables = playing.len().saturating_sub(crowd.per_connection);
                for playing in playing.drain(tables..) {
                    let (clients, felt) = (clients.clone(), Arc::clone(&told));
                    let Crowd { pause, length, .. } = crowd;
                    let place = Place { clients, felt, pause, length, playing };
                    tasks.spawn(play_on(Arc::new(place)));
                }
            }
            stop.cancelled().await;
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let thread = Some(std::thread::spawn(move || {
            runtime.block_on(all);
        }));
        for table in &mut watched {
            let begun = table.wait_for(|playing| !playing.match_id.is_empty());
            soon("a match to begin", begun).await.expect("somebody plays");
        }
        (Self { felt, enough, thread }, watched)
    }

    /// What they felt since it was last asked.
    pub fn take(&self) -> Figures {
        self.felt.take()
    }
}

impl Drop for Honest {
    fn drop(&mut self) {
        self.enough.cancel();
        if let Some(thread) = self.thread.take() {
            // What went wrong was felt already.
            let _ = thread.join();
        }
    }
}

fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST_US, 3).unwrap()
}

pub(super) fn endpoint(host: &Host) -> Endpoint {
    let endpoint = Endpoint::from_shared(host.url()).unwrap().tcp_nodelay(true);
    match host.ca() {
        Some(ca) => {
            endpoint.tls_config(ClientTlsConfig::new().ca_certificate(Certificate::from_pem(ca))).unwrap()
        }
        None => endpoint,
    }
}

/// How long a server asks to wait that has refused this since it is late, if that is why.
pub(super) fn late(status: &Status) -> Option<Duration> {
    let error =
        v1::Error::from_status(status).filter(|error| error.reason() == v1::ErrorReason::Overloaded)?;
    error.retry_after_ms.map(|wait| Duration::from_millis(wait.into()))
}

/// Connects again and again, and asks for what anybody may.
pub(super) async fn newcomers(endpoint: Endpoint, felt: Arc<Felt>) {
    let mut beats = interval(NEWCOMERS);
    loop {
        beats.tick().await;
        let (endpoint, felt) = (endpoint.clone(), Arc::clone(&felt));
        tokio::spawn(async move {
            let answered = timeout(PATIENCE, newcomer(&endpoint)).await.is_ok_and(|answered| answered);
            let counter = if answered { &felt.let_in } else { &felt.kept_out };
            counter.fetch_add(1, Ordering::Relaxed);
        });
    }
}

/// Whether a new connection is answered.
async fn newcomer(endpoint: &Endpoint) -> bool {
    let Ok(channel) = endpoint.connect().await else { return false };
    RulesServiceClient::new(channel).list_presets(v1::ListPresetsRequest::default()).await.is_ok()
}

/// Plays match after match, whatever happens to one.
async fn play_on(place: Arc<Place>) {
    loop {
        let played = tokio::spawn({
            let place = Arc::clone(&place);
            async move { place.play().await }
        });
        if tokio_util::task::AbortOnDropHandle::new(played).await.is_err() {
            place.felt.broke();
            sleep(THROWN_OUT).await;
        }
    }
}

impl Place {
    async fn play(&self) {
        let mut spec = self.length.spec();
        spec.set_visibility(v1::Visibility::Public);
        let created = self.create(spec).await;
        let (mut stream, _) = PlayStream::open(&self.clients).await;
        let mut table = StreamTable::join(&mut stream, &created.tokens).await;
        let (match_id, seat_token) = (created.id().to_owned(), created.tokens[0].clone());
        self.playing.send_replace(Playing { match_id, seat_token });
        while table.decision(&mut stream).await.is_some() {
            sleep(self.pause).await;
            let asked = Instant::now();
            table.act_at_random(&mut stream).await;
            while table.acted.last().is_some_and(|acted| acted.receipt.seq == 0) {
                table.read(&mut stream).await;
            }
            self.felt.answered(asked.elapsed());
        }
    }

    /// Creates a match, as soon as the server takes on one more.
    async fn create(&self, spec: v1::MatchSpec) -> Created {
        let request = v1::CreateMatchRequest { request_id: String::new(), r#match: Some(spec) };
        loop {
            let answer = soon("CreateMatch", self.clients.matches().create_match(request.clone())).await;
            let status = match answer {
                Ok(created) => return created.into_inner().into(),
                Err(status) => status,
            };
            let wait = late(&status).unwrap_or_else(|| panic!("{status:?}"));
            self.felt.put_off.fetch_add(1, Ordering::Relaxed);
            sleep(wait).await;
        }
    }
}
