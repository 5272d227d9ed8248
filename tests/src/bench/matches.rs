//! The service under the load of matches.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use tokio::time::timeout;
use tonic::transport::Channel;
use zetema_proto::v1;

use super::census;
use super::creation::{Creation, sackson};
use super::load::{Journaled, Matches, Via, Views};
use super::meter::Meter;
use super::play::{Course, Manner, Players};
use super::sample::sample;
use super::server::Server;
use super::setting::Setting;
use super::unary::unary;
use super::{Figure, Figures, sdk};

/// How long it may take until all seats are taken.
const SEATED_WITHIN: Duration = Duration::from_mins(3);
/// Seats of a match.
const SEATS: usize = 2;

/// A server with its clients' connections, and what they count.
pub(super) struct Scene {
    pub(super) server: Server,
    pub(super) channels: Vec<Channel>,
    pub(super) meter: Arc<Meter>,
}

impl Scene {
    /// A server on an empty folder.
    pub(super) async fn new(setting: &Setting, journaled: Journaled) -> anyhow::Result<Self> {
        Self::on(Server::zetema(setting, journaled).await?).await
    }

    /// This server.
    pub(super) async fn on(server: Server) -> anyhow::Result<Self> {
        let meter = Arc::new(Meter::default());
        let channels = server.connect(&meter).await?;
        Ok(Self { server, channels, meter })
    }

    /// What creates matches that are like this one.
    pub(super) fn creation_of(&self, spec: v1::MatchSpec) -> anyhow::Result<Creation> {
        Creation::new(self.first()?.clone(), &self.server.admin_token()?, spec)
    }

    /// Makes sure that so many matches are played, no more and no fewer.
    pub(super) async fn plays(&self, matches: usize) -> anyhow::Result<()> {
        census::plays(self.first()?, &self.server.admin_token()?, matches).await
    }

    /// One connection.
    pub(super) fn first(&self) -> anyhow::Result<&Channel> {
        self.channels.first().context("there is no connection")
    }
}

/// Has matches played on a server of their own, and looks at that once all seats are taken.
///
/// # Errors
/// What is in the way, or came wrong.
pub(super) async fn measure(matches: Matches, setting: &Setting) -> anyhow::Result<Figures> {
    let mut scene = Scene::new(setting, matches.journaled).await?;
    let (live, in_flight) = (setting.many(matches.live), setting.many(matches.in_flight));
    let (views, course) = (matches.views, Course::OnAndOn);
    let streams = match matches.via {
        Via::Unary | Via::Sdk => None,
        Via::PlayPerSeat => Some(SEATS * live),
        Via::PlayPerConnection => Some(scene.channels.len()),
        Via::Play { streams } => Some(setting.many(streams)),
    };
    let (creation, meter) = (scene.creation_of(sackson())?, Arc::clone(&scene.meter));
    // They play until this is left.
    let _playing = match streams {
        None if matches.via == Via::Sdk => {
            let (url, connections) = (scene.server.url(), scene.channels.len());
            (Some(sdk::sessions(&url, connections, live, creation, &meter).await?), None)
        }
        None => {
            let played = Matches { live, in_flight, ..matches };
            (Some(unary(&scene.channels, played, creation, &meter).await?), None)
        }
        Some(streams) => {
            let manner = Manner { streams, in_flight, course, views };
            let players = Players::open(&scene.channels, manner, creation, &meter);
            players.begin(live).await?;
            (None, Some(players))
        }
    };
    let seats = (SEATS * live) as u64;
    let seated = timeout(SEATED_WITHIN, meter.until(|counts| counts.seats >= seats)).await;
    seated.with_context(|| format!("of {seats} seats {} were taken", meter.counts().seats))??;
    sample(setting, &mut scene.server, &meter).await
}

/// Has a batch of matches created again and again, each on a server of its own, until every seat has had a decision. Their streams, one on each
/// connection, are there before.
///
/// # Errors
/// What is in the way, or came wrong.
pub(super) async fn create(wanted: usize, setting: &Setting) -> anyhow::Result<Figures> {
    let wanted = setting.many(wanted);
    let until = Instant::now() + setting.warm_up + setting.lasts;
    let (mut took, mut batches) = (Duration::ZERO, 0_u32);
    // The first one warms up.
    while batches < 2 || Instant::now() < until {
        let time = create_once(wanted, setting).await?;
        if batches > 0 {
            took += time;
        }
        batches += 1;
    }
    #[expect(clippy::cast_precision_loss, reason = "a batch has a thousand")]
    let matches = wanted as f64 * f64::from(batches - 1);
    Ok(Figures::from([(Figure::MatchesPerSecond, matches / took.as_secs_f64())]))
}

async fn create_once(wanted: usize, setting: &Setting) -> anyhow::Result<Duration> {
    let scene = Scene::new(setting, Journaled::Disk).await?;
    let meter = Arc::clone(&scene.meter);
    let manner = Manner {
        streams: scene.channels.len(),
        in_flight: wanted,
        course: Course::FirstDecisions,
        views: Views::SnapshotsOnly,
    };
    let players = Players::open(&scene.channels, manner, scene.creation_of(sackson())?, &meter);
    // Each stream has been welcomed.
    meter.until(|counts| counts.streams >= scene.channels.len() as u64).await?;
    let began = Instant::now();
    players.begin(wanted).await?;
    let all = timeout(SEATED_WITHIN, meter.until(|counts| counts.matches >= wanted as u64)).await;
    all.with_context(|| format!("of {wanted} matches {} have begun", meter.counts().matches))??;
    Ok(began.elapsed())
}
