//! Spectators of one match, beside those who play it, and beside other matches.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::{StreamExt, stream};
use prost::Message;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Request, Status};
use tonic_prost::ProstCodec;
use zetema_proto::v1;

use super::honest::{Crowd, Figures, Honest, Length, endpoint, late};
use super::host::{Effort, Host, Peak, Setup};

/// The match that is watched: its players take their time, as people would like to see it.
const WATCHED: Crowd =
    Crowd { tables: 1, per_connection: 1, pause: Duration::from_millis(100), length: Length::Long };
/// Other matches.
const OTHERS: Crowd =
    Crowd { tables: 20, per_connection: 5, pause: Duration::from_millis(50), length: Length::Quick };
/// Spectators that share a connection, less than it may have streams.
const PER_CONNECTION: usize = 200;
/// Those that come at once.
const AT_ONCE: usize = 64;
/// How long they all get to get going.
const WARM_UP: Duration = Duration::from_secs(5);

/// What came of it.
#[derive(Clone, Debug)]
pub struct SpectatorsRow {
    /// What the players of the match felt.
    pub players: Figures,
    /// What the players of the other matches felt.
    pub others: Figures,
    /// Observations that came to all spectators, a second.
    pub shown_per_second: f64,
    /// How often one was missing.
    pub gaps: u64,
    /// Streams that ended.
    pub ended: u64,
    /// Bytes of the server's memory that each spectator took when all had come.
    pub bytes_each: u64,
    /// The most memory that the server had, in bytes.
    pub peak: u64,
    /// How many processors it kept busy.
    pub processors: f64,
}

/// What the spectators saw.
#[derive(Default)]
struct Seen {
    observations: AtomicU64,
    gaps: AtomicU64,
    ended: AtomicU64,
}

/// So many spectators of one match, for so long.
///
/// # Errors
/// If there is no server, or a spectator is not let in.
pub async fn watch_one(setup: &Setup, spectators: usize, lasts: Duration) -> anyhow::Result<SpectatorsRow> {
    let mut setup = setup.clone();
    // They come from one address.
    setup.flags.push("--max-streams-per-address=1000000".into());
    let host = Host::start(&setup, tempfile::tempdir()?).await?;
    let admin = host.admin().await;
    let (_, token) = admin.owner_token("players").await;
    let (players, watched) = Honest::start(&host, &token, WATCHED).await;
    let (others, _) = Honest::start(&host, &token, OTHERS).await;
    let match_id = watched[0].borrow().match_id.clone();
    sleep(WARM_UP).await;
    let before = host.memory().now;
    let peak = Peak::watch(host.pid());
    let seen = Arc::new(Seen::default());
    let mut watching = JoinSet::new();
    let mut channels = Vec::new();
    for _ in 0..spectators.div_ceil(PER_CONNECTION) {
        channels.push(endpoint(&host).connect().await?);
    }
    let begun = stream::iter(0..spectators)
        .map(|number| begin(channels[number / PER_CONNECTION].clone(), match_id.clone()))
        .buffer_unordered(AT_ONCE);
    let mut begun = std::pin::pin!(begun);
    while let Some(stream) = begun.next().await {
        watching.spawn(follow(stream?, Arc::clone(&seen)));
    }
    sleep(WARM_UP).await;
    let grown = host.memory().now.saturating_sub(before);
    // What they felt meanwhile is not measured.
    players.take();
    others.take();
    let shown_before = seen.observations.load(Ordering::Relaxed);
    let effort = Effort::of(&host);
    sleep(lasts).await;
    let (players, others, processors) = (players.take(), others.take(), effort.processors(&host));
    let shown = seen.observations.load(Ordering::Relaxed) - shown_before;
    Ok(SpectatorsRow {
        players,
        others,
        #[allow(clippy::cast_precision_loss, reason = "a rate")]
        shown_per_second: shown as f64 / lasts.as_secs_f64(),
        gaps: seen.gaps.load(Ordering::Relaxed),
        ended: seen.ended.load(Ordering::Relaxed),
        bytes_each: grown / u64::try_from(spectators.max(1))?,
        peak: peak.end(),
        processors,
    })
}

type Watching = tonic::Streaming<Peeked>;

/// Begins to watch, and asks again while the server is late.
async fn begin(channel: Channel, match_id: String) -> Result<Watching, Status> {
    loop {
        let mut client = Grpc::new(channel.clone());
        client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
        let path = PathAndQuery::from_static("/zetema.v1.MatchService/WatchMatch");
        let request = v1::WatchMatchRequest { match_id: match_id.clone(), after_seq: None, views: None };
        match client.server_streaming(Request::new(request), path, ProstCodec::default()).await {
            Ok(stream) => return Ok(stream.into_inner()),
            Err(status) => sleep(late(&status).ok_or(status)?).await,
        }
    }
}

async fn follow(mut stream: Watching, seen: Arc<Seen>) {
    let mut last = None;
    while let Ok(Some(Peeked { observation })) = stream.message().await {
        let Some(Numbered { seq }) = observation else { continue };
        seen.observations.fetch_add(1, Ordering::Relaxed);
        if last.is_some_and(|last| seq != last + 1) {
            seen.gaps.fetch_add(1, Ordering::Relaxed);
        }
        last = Some(seq);
    }
    seen.ended.fetch_add(1, Ordering::Relaxed);
}

/// As much of a `WatchMatchResponse` as is looked at here, so that ten thousand readers cost little.
#[derive(Clone, PartialEq, Message)]
struct Peeked {
    #[prost(message, optional, tag = "2")]
    observation: Option<Numbered>,
}

/// As much of an `Observation`.
#[derive(Clone, PartialEq, Message)]
struct Numbered {
    #[prost(uint64, tag = "1")]
    seq: u64,
}
