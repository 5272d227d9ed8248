//! One rate of arrivals on a server of its own.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::time::sleep;

use super::arrivals::Players;
use super::{Arrivals, Seen};
use crate::floods::{Effort, Host, Setup, Transport};

/// Connections of the clients: each may have 256 streams.
const CONNECTIONS: usize = 32;
/// Gives a server one processor, if the system knows how.
const ALONE: &str = "taskset -cp 0 $$ > /dev/null";
/// What else would stand in the way of one address that asks for so much.
const WIDE_OPEN: [&str; 8] = [
    "--requests-per-second-per-token=10000000",
    "--request-burst-per-token=10000000",
    "--requests-per-second-per-address=10000000",
    "--request-burst-per-address=10000000",
    "--creates-per-second-per-token=1000000",
    "--create-burst-per-token=10000000",
    "--creates-per-second-per-address=1000000",
    "--create-burst-per-address=10000000",
];

/// What came of one rate of arrivals.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// Matches that were asked for, a second.
    pub asked_per_second: f64,
    /// Those that were created.
    pub created_per_second: f64,
    /// Those that were refused since the server was late.
    pub shed_per_second: f64,
    /// Joins that were refused since the server was late.
    pub joins_shed_per_second: f64,
    /// Matches that came to their end, a second.
    pub finished_per_second: f64,
    /// Actions that were acknowledged, a second.
    pub actions_per_second: f64,
    /// Matches that were broken off.
    pub broken: u64,
    /// Why one of them was.
    pub problem: Option<String>,
    /// From an action to its receipt, in milliseconds.
    pub p50_ms: f64,
    /// The same.
    pub p99_ms: f64,
    /// Processors that the server kept busy.
    pub server_processors: f64,
    /// Bytes of memory that the server had at the end.
    pub server_bytes: u64,
}

impl Point {
    /// Starts a server, lets matches come, and measures after `warm_up`.
    ///
    /// # Errors
    /// If there is no server.
    pub async fn measure(
        program: Option<PathBuf>,
        flags: &[OsString],
        arrivals: Arrivals,
        warm_up: Duration,
        lasts: Duration,
    ) -> anyhow::Result<Self> {
        let flags = WIDE_OPEN.iter().map(OsString::from).chain(flags.iter().cloned()).collect();
        let setup = Setup { program, transport: Transport::Plaintext, flags, shell: Some(ALONE) };
        let host = Host::start(&setup, tempfile::tempdir()?).await?;
        let mut connections = Vec::new();
        for _ in 0..CONNECTIONS {
            connections.push(host.admin().await);
        }
        let seen = Arc::new(Seen::default());
        let players = Players::new(connections, Arc::clone(&seen));
        let playing = tokio_util::task::AbortOnDropHandle::new(tokio::spawn(players.play(arrivals)));
        sleep(warm_up).await;
        seen.take();
        let effort = Effort::of(&host);
        sleep(lasts).await;
        let figures = seen.take();
        let (server_processors, server_bytes) = (effort.processors(&host), host.memory().now);
        drop(playing);
        #[expect(clippy::cast_precision_loss, reason = "counts of a few seconds")]
        let per_second = |count: u64| count as f64 / lasts.as_secs_f64();
        Ok(Self {
            asked_per_second: per_second(figures.asked),
            created_per_second: per_second(figures.created),
            shed_per_second: per_second(figures.shed),
            joins_shed_per_second: per_second(figures.joins_shed),
            finished_per_second: per_second(figures.finished),
            actions_per_second: per_second(figures.waits.len()),
            broken: figures.broken,
            p50_ms: figures.wait_ms(0.5),
            p99_ms: figures.wait_ms(0.99),
            problem: figures.problem,
            server_processors,
            server_bytes,
        })
    }
}
