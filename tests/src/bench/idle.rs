//! What a server keeps in memory of matches and streams on which nothing happens.

use anyhow::{Context, bail, ensure};
use futures::FutureExt;
use futures::stream::{self, StreamExt, TryStreamExt};
use tonic::Streaming;

use super::calls::Calls;
use super::creation::{Created, for_days};
use super::load::{Journaled, Views};
use super::matches::Scene;
use super::memory::settled;
use super::message::{ObserveResponse, Observed};
use super::setting::{Scale, Setting};
use super::{Figure, Figures};

/// Matches that are there before, so that what comes once for all is not put down to those that are measured.
const BEFORE: usize = 1_000;
/// How many there are of what is measured in a smoke test: fewer would be lost in what else moves.
const SMOKE: usize = 400;
/// Calls that are made at once.
const AT_ONCE: usize = 64;
/// Seats of a match.
const SEATS: usize = 2;

/// Memory for a match whose seats were taken, and in which nobody follows and nobody acts.
///
/// # Errors
/// What is in the way, or came wrong.
pub(super) async fn matches(wanted: usize, setting: &Setting) -> anyhow::Result<Figures> {
    let mut scene = Scene::new(setting, Journaled::Disk).await?;
    let (first, wanted) = (setting.many(BEFORE), wanted_of(wanted, setting));
    seated(&scene, first).await?;
    let before = settled(&mut scene.server, setting).await?;
    seated(&scene, wanted).await?;
    let after = settled(&mut scene.server, setting).await?;
    scene.plays(first + wanted).await?;
    Ok(each(before, after, wanted))
}

/// Memory for an Observe stream of one seat, of which the snapshot was read.
///
/// # Errors
/// What is in the way, or came wrong.
pub(super) async fn streams(wanted: usize, setting: &Setting) -> anyhow::Result<Figures> {
    let mut scene = Scene::new(setting, Journaled::Disk).await?;
    let (first, wanted) = (setting.many(BEFORE), wanted_of(wanted, setting));
    let matches = wanted.div_ceil(SEATS) + first;
    let mut seats = seated(&scene, matches).await?.into_iter().flat_map(|created| created.tokens);
    let _first: Vec<_> = observed(&scene, seats.by_ref().take(first)).await?;
    let before = settled(&mut scene.server, setting).await?;
    let streams: Vec<_> = observed(&scene, seats.take(wanted)).await?;
    ensure!(streams.len() == wanted, "{} streams were opened of {wanted}", streams.len());
    let after = settled(&mut scene.server, setting).await?;
    scene.plays(matches).await?;
    are_idle(streams)?;
    Ok(each(before, after, wanted))
}

/// What each of so many takes.
#[expect(clippy::cast_precision_loss, reason = "bytes of a machine's memory")]
fn each(before: u64, after: u64, many: usize) -> Figures {
    let bytes = (after as f64 - before as f64) / many as f64;
    Figures::from([(Figure::MemoryBytes, bytes)])
}

/// None of them has ended, or has got more than its first message.
fn are_idle(streams: Vec<Streaming<ObserveResponse>>) -> anyhow::Result<()> {
    for mut stream in streams {
        if let Some(came) = stream.message().now_or_never() {
            bail!("a stream on which nothing happens got {came:?}");
        }
    }
    Ok(())
}

fn wanted_of(wanted: usize, setting: &Setting) -> usize {
    match setting.scale {
        Scale::Full => wanted,
        Scale::Smoke => wanted.min(SMOKE),
    }
}

/// Creates so many matches, and takes their seats. Their clocks have no end in this time.
async fn seated(scene: &Scene, wanted: usize) -> anyhow::Result<Vec<Created>> {
    let created = scene.creation_of(for_days())?.many(wanted).await?;
    let seats = created.iter().flat_map(|created| created.tokens.iter().cloned());
    let channels = scene.channels.iter().cycle();
    let joins = seats.zip(channels).map(|(seat_token, channel)| {
        let calls = Calls::new(channel, &scene.meter);
        async move { calls.join(seat_token).await }
    });
    stream::iter(joins).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
    Ok(created)
}

/// Follows seats, each on a stream of its own, and reads the first message of each.
async fn observed(
    scene: &Scene,
    seats: impl Iterator<Item = String>,
) -> anyhow::Result<Vec<Streaming<ObserveResponse>>> {
    let follow = |(seat_token, channel)| {
        let calls = Calls::new(channel, &scene.meter);
        async move {
            let mut stream = calls.observe(&[seat_token], Views::EveryDecision).await?;
            match stream.message().await?.and_then(|message| message.kind) {
                Some(Observed::Start(start)) => {
                    start.snapshot.context("a stream began without a snapshot")?
                }
                other => bail!("a stream began with {other:?}"),
            };
            Ok(stream)
        }
    };
    let streams = seats.zip(scene.channels.iter().cycle()).map(follow);
    stream::iter(streams).buffer_unordered(AT_ONCE).try_collect().await
}
