//! `zetema status`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use serde::Serialize;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use zetema_load::scrape::Scrape;
use zetema_service::config::{Number, Setting};
use zetema_service::metrics;

use crate::args::{AddressArgs, FormatArgs};
use crate::output::{self, Format};
use crate::render::amount;
use crate::{client, scrape};

const NOT_READY: &str = "the server is not ready: its log says why";

/// Show how a running server is, at a glance.
///
/// It exits with 1 when the server is not ready: when its journal takes no writes, or it is told to stop.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
What is shown is of the server's page of metrics, for which no token is needed; docs/server.md says what each
metric counts. Counts are since the server started. The JSON is an object with server, version, ready, up_s,
live_matches, live_matches_limit, matches_created, actions, connections, connections_limit, streams,
queued_bytes, journal_lag_ms, journal_failed_commits, database_bytes, wal_bytes, disk_free_bytes,
memory_bytes, late_ms, refused (connections, throttled, shed, rejections), closed (connections, readers).
up_s is null when the server does not tell it. With --ready only grpc.health.v1.Health/Check is asked, which costs the
server next to nothing and is answered however full it is: for probes.

Examples:
  zetema status
  zetema status --ready
  zetema status --server https://zetema.example.com --format json")]
pub(crate) struct Status {
    /// Only ask whether it is ready
    #[arg(long, conflicts_with = "format")]
    ready: bool,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    address: AddressArgs,
}

impl Status {
    pub(super) async fn run(self) -> Result<()> {
        if self.ready {
            return ask(&self.address).await;
        }
        let scrape = scrape::page(&self.address).await?.read().await?;
        let glance = Glance::new(&self.address.server, &scrape);
        match self.format.format {
            Format::Json => output::print_json(&glance)?,
            Format::Table => output::print(glance.text())?,
        }
        if glance.ready {
            Ok(())
        } else {
            anyhow::bail!(NOT_READY);
        }
    }
}

/// Asks whether it is ready.
async fn ask(address: &AddressArgs) -> Result<()> {
    let mut health = HealthClient::new(client::channel(address).await?);
    let answer = health.check(HealthCheckRequest::default()).await;
    if answer.map_err(|status| client::explain(&status))?.get_ref().status() != ServingStatus::Serving {
        anyhow::bail!(NOT_READY);
    }
    output::print("ready")
}

/// What is known of a server by one reading.
#[derive(Debug, Serialize)]
pub(super) struct Glance {
    server: String,
    version: Option<String>,
    ready: bool,
    up_s: Option<u64>,
    live_matches: u64,
    live_matches_limit: u64,
    matches_created: u64,
    actions: u64,
    connections: u64,
    connections_limit: u64,
    streams: u64,
    queued_bytes: u64,
    journal_lag_ms: f64,
    journal_failed_commits: u64,
    database_bytes: u64,
    wal_bytes: u64,
    disk_free_bytes: u64,
    memory_bytes: u64,
    late_ms: f64,
    refused: Refused,
    closed: Closed,
}

/// What was refused since the start.
#[derive(Debug, Serialize)]
struct Refused {
    connections: u64,
    throttled: u64,
    shed: u64,
    rejections: u64,
}

/// What was closed since the start.
#[derive(Debug, Serialize)]
struct Closed {
    connections: u64,
    readers: u64,
}

impl Glance {
    pub(super) fn new(server: &str, scrape: &Scrape) -> Self {
        let limit =
            |number: Number| count(scrape.at(metrics::LIMIT, "setting", Setting::Number(number).key()));
        let sum = |name| count(scrape.sum(name));
        // A server of an earlier release does not tell it.
        let started = Some(metrics::START_TIME).filter(|name| scrape.has(name)).map(|name| scrape.sum(name));
        let started = started.and_then(|started| Duration::try_from_secs_f64(started).ok());
        let up = started.and_then(|started| SystemTime::now().duration_since(UNIX_EPOCH + started).ok());
        Self {
            server: server.to_owned(),
            version: scrape.label(metrics::BUILD_INFO, "version").map(str::to_owned),
            ready: scrape.sum(metrics::READY) > 0.0,
            up_s: up.map(|up| up.as_secs()),
            live_matches: sum(metrics::LIVE_MATCHES),
            live_matches_limit: limit(Number::MaxLiveMatches),
            matches_created: sum(metrics::MATCHES_CREATED),
            actions: sum(metrics::ACTIONS),
            connections: sum(metrics::CONNECTIONS),
            connections_limit: limit(Number::MaxConnections),
            streams: sum(metrics::STREAMS),
            queued_bytes: sum(metrics::QUEUED_BYTES),
            journal_lag_ms: 1000.0 * scrape.sum(metrics::JOURNAL_LAG_SECONDS),
            journal_failed_commits: sum(metrics::JOURNAL_FAILED_COMMITS),
            database_bytes: sum(metrics::DATABASE_BYTES),
            wal_bytes: sum(metrics::WAL_BYTES),
            disk_free_bytes: sum(metrics::DISK_FREE_BYTES),
            memory_bytes: sum("process_resident_memory_bytes"),
            late_ms: 1000.0 * scrape.sum(metrics::LATE),
            refused: Refused {
                connections: sum(metrics::REFUSED_CONNECTIONS),
                throttled: sum(metrics::THROTTLED),
                shed: sum(metrics::SHED),
                rejections: sum(metrics::REJECTIONS),
            },
            closed: Closed {
                connections: sum(metrics::CLOSED_CONNECTIONS),
                readers: sum(metrics::SLOW_READERS),
            },
        }
    }

    /// The first line, and one for each part.
    pub(super) fn text(&self) -> String {
        let Self { server, ready, up_s, late_ms, journal_lag_ms, .. } = self;
        let version = output::plain(self.version.as_deref().unwrap_or("of an unknown version"));
        let is_ready = if *ready { "ready" } else { "NOT READY" };
        let up = up_s.map(|up_s| format!(", up {}", amount::time(Duration::from_secs(up_s))));
        let up = up.unwrap_or_default();
        let number = amount::count;
        let bytes = amount::bytes;
        let parts = [
            (
                "matches",
                format!(
                    "{} live (at most {}), {} created, {} actions",
                    number(self.live_matches),
                    number(self.live_matches_limit),
                    number(self.matches_created),
                    number(self.actions)
                ),
            ),
            (
                "clients",
                format!(
                    "{} connections (at most {}), {} streams, {} wait to be read",
                    number(self.connections),
                    number(self.connections_limit),
                    number(self.streams),
                    bytes(self.queued_bytes)
                ),
            ),
            (
                "journal",
                format!(
                    "{} and {} of log, lag {journal_lag_ms:.1} ms, {} failed commits, {} free on the disk",
                    bytes(self.database_bytes),
                    bytes(self.wal_bytes),
                    number(self.journal_failed_commits),
                    bytes(self.disk_free_bytes)
                ),
            ),
            ("process", format!("{} of memory, {late_ms:.1} ms late", bytes(self.memory_bytes))),
            (
                "refused",
                format!(
                    "{} connections, {} asked too fast, {} while late, {} requests in all",
                    number(self.refused.connections),
                    number(self.refused.throttled),
                    number(self.refused.shed),
                    number(self.refused.rejections)
                ),
            ),
            (
                "closed",
                format!(
                    "{} connections, {} slow readers",
                    number(self.closed.connections),
                    number(self.closed.readers)
                ),
            ),
        ];
        let parts = parts.map(|(part, text)| format!("{part:<9}{text}"));
        format!("zetema {version} at {server}: {is_ready}{up}\n{}", parts.join("\n"))
    }
}

/// A count, which the page has as a float.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count is neither negative nor so large"
)]
fn count(value: f64) -> u64 {
    value.max(0.0).round() as u64
}
