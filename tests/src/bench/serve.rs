//! What the program is in the processes that it starts: a server with a runtime of one thread on a core of its own.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Subcommand;
use tokio::net::TcpListener;
use tonic::transport::server::TcpIncoming;
use zetema_service::config::{Config, ConfigError, Number, Setting};
use zetema_service::journal::{Options, ServerJournal, SqliteJournal};
use zetema_service::server::Server;

use super::cores::{SERVER_CORE, pin};
use super::echo::Echo;
use super::load::Journaled;
use super::planted::Slowed;
use crate::twins::MemoryJournal;

/// Streams that a connection of a bare server may have, of which it would refuse the 201st.
const STREAMS: u32 = 10_000;

/// All of the load comes from one address and by one token, which is as much as many clients send together: these bounds of a server
/// are wide open. All others, and all checks, are as they are by default.
const WIDE_OPEN: [Number; 16] = [
    Number::RequestsPerSecondPerToken,
    Number::RequestBurstPerToken,
    Number::RequestsPerSecondPerAddress,
    Number::RequestBurstPerAddress,
    Number::CreatesPerSecondPerToken,
    Number::CreateBurstPerToken,
    Number::CreatesPerSecondPerAddress,
    Number::CreateBurstPerAddress,
    Number::MaxStreamsPerConnection,
    Number::MaxStreamsPerAddress,
    Number::MaxFollowedSeatsPerAddress,
    Number::MaxQueuedBytesPerAddress,
    Number::MaxConnectionsPerAddress,
    Number::ConnectionsPerSecondPerAddress,
    Number::ConnectionBurstPerAddress,
    Number::MaxQueuedBytesPerConnection,
];

/// What a process serves.
#[derive(Clone, Debug, Subcommand)]
pub enum Role {
    /// A bare gRPC server, which answers every message with one of a given size.
    Echo {
        /// Bytes of each answer.
        #[arg(long)]
        response_bytes: usize,
    },
    /// The service, embedded.
    Zetema {
        /// The folder of its data.
        #[arg(long)]
        data: PathBuf,
        /// Where it keeps its matches.
        #[arg(long)]
        journal: Journaled,
    },
}

/// The bounds that are wide open, for people.
pub(super) fn wide_open() -> String {
    WIDE_OPEN.map(|number| Setting::Number(number).key()).join(", ")
}

/// Serves until standard input ends. Says on standard output where, once it does.
///
/// # Errors
/// What is in the way.
pub async fn serve(role: Role) -> anyhow::Result<()> {
    pin(SERVER_CORE)?;
    match role {
        Role::Echo { response_bytes } => {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
            say(listener.local_addr()?)?;
            let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
            let bare = tonic::transport::Server::builder()
                .max_concurrent_streams(STREAMS)
                .add_service(Echo::new(response_bytes));
            tokio::select! {
                ended = bare.serve_with_incoming(incoming) => ended?,
                told = told_to_stop() => told?,
            }
        }
        Role::Zetema { data, journal } => {
            // A journal in memory makes none.
            std::fs::create_dir_all(&data)?;
            let config = WIDE_OPEN.into_iter().try_fold(Config::embedded(data), wide)?;
            let server = start(config, journal).await?;
            say(server.local_addr())?;
            // What it has stored is of no use to anybody then, and clients that do not listen any more would be waited for.
            told_to_stop().await?;
        }
    }
    Ok(())
}

/// Starts a server that keeps its matches there.
///
/// # Errors
/// What is in the way.
pub(super) async fn start(config: Config, journaled: Journaled) -> anyhow::Result<Server> {
    let journal: Arc<dyn ServerJournal> = match journaled {
        Journaled::Disk => return Ok(Server::start(config).await?),
        Journaled::Memory => Arc::new(MemoryJournal::new()),
        Journaled::Slowed(planted) => {
            let (journal, _) = SqliteJournal::open(&config.data, Options::default()).await?;
            Arc::new(Slowed::new(journal, planted))
        }
    };
    Ok(Server::start_on(config, journal).await?)
}

fn wide(config: Config, number: Number) -> Result<Config, ConfigError> {
    config.with(number, *number.range().end())
}

fn say(address: SocketAddr) -> std::io::Result<()> {
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{address}")?;
    stdout.flush()
}

/// Whoever has started this has closed its standard input, or is gone.
async fn told_to_stop() -> std::io::Result<()> {
    let reading = tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
    reading.await?.map(drop)
}
