//! How long a server takes to serve again whose folder has many matches.

use std::fmt;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use tempfile::TempDir;
use tokio::time::{sleep, timeout};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use zetema_service::journal::{FileSizes, SqliteJournal};

use super::creation::{for_days, sackson};
use super::load::{Journaled, Views};
use super::matches::Scene;
use super::play::{Course, Manner, Players};
use super::server::{Server, data};
use super::setting::Setting;
use super::{Figure, Figures};
use crate::lists::Filed;

/// Actions of each match that is not over.
const ACTIONS: usize = 20;
/// Actions that are in flight while they are played.
const IN_FLIGHT: usize = 1_000;
/// Play streams for them: one takes a thousand seats at most.
const STREAMS: usize = 32;
/// How long it may take to play them.
const PLAYED_WITHIN: Duration = Duration::from_mins(5);
/// How long a server may take to serve.
const SERVES_WITHIN: Duration = Duration::from_mins(2);
/// How often it is asked.
const ASKED: Duration = Duration::from_millis(1);

/// A folder with matches, as a server left it that was killed.
pub(super) struct Stopped {
    folder: TempDir,
    live: usize,
    record_bytes: usize,
    sizes: FileSizes,
}

impl Stopped {
    /// One with so many matches that are played and so many that are over.
    ///
    /// # Errors
    /// What is in the way, or came wrong.
    pub(super) async fn make(live: usize, finished: usize, setting: &Setting) -> anyhow::Result<Self> {
        let (live, finished) = (setting.many(live), setting.many(finished));
        let filed = played_to_the_end(setting).await?;
        let folder = played(live, setting).await?;
        // They are filed after the others, so that the log has their rows too: it is cleaned of what is over when there is more of that
        // than of what is not.
        filed.file(&data(folder.path()), finished as u64).await?;
        let scene = Scene::on(Server::zetema_in(folder, Journaled::Disk).await?).await?;
        scene.plays(live).await?;
        let (folder, record_bytes) = (scene.server.kill()?, filed.record_bytes());
        let sizes = SqliteJournal::file_sizes(&data(folder.path()))?;
        Ok(Self { folder, live, record_bytes, sizes })
    }

    /// Starts a server on a copy of it.
    ///
    /// # Errors
    /// What is in the way, or came wrong.
    pub(super) async fn start(&self, setting: &Setting) -> anyhow::Result<Figures> {
        let folder = tempfile::tempdir_in(&setting.folder)?;
        copy(&data(self.folder.path()), &data(folder.path()))?;
        let began = Instant::now();
        let scene = Scene::on(Server::zetema_in(folder, Journaled::Disk).await?).await?;
        timeout(SERVES_WITHIN, serves(&scene)).await.context("the server does not get healthy")??;
        let took = began.elapsed();
        scene.plays(self.live).await?;
        Ok(Figures::from([(Figure::StartSeconds, took.as_secs_f64())]))
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { record_bytes, sizes: FileSizes { database, wal, redo }, .. } = self;
        write!(
            f,
            "a record has {record_bytes} bytes, the database {database}, its write-ahead log {wal}, the redo log {redo}"
        )
    }
}

/// A match like those that are filed, played to its end.
async fn played_to_the_end(setting: &Setting) -> anyhow::Result<Filed> {
    let scene = Scene::new(setting, Journaled::Disk).await?;
    let creation = scene.creation_of(sackson())?;
    let manner = Manner { streams: 1, in_flight: 1, course: Course::OnAndOn, views: Views::SnapshotsOnly };
    let players = Players::open(&scene.channels, manner, creation, &scene.meter);
    players.begin(1).await?;
    let ended = scene.meter.until(|counts| counts.ended > 0);
    timeout(PLAYED_WITHIN, ended).await.context("no match came to its end")??;
    drop(players);
    let folder = scene.server.kill()?;
    Filed::first(&data(folder.path())).await
}

/// A folder with so many matches, each after the same number of actions.
async fn played(live: usize, setting: &Setting) -> anyhow::Result<TempDir> {
    let scene = Scene::new(setting, Journaled::Disk).await?;
    let manner = Manner {
        streams: STREAMS,
        in_flight: IN_FLIGHT,
        course: Course::Actions(ACTIONS),
        views: Views::SnapshotsOnly,
    };
    let players = Players::open(&scene.channels, manner, scene.creation_of(for_days())?, &scene.meter);
    players.begin(live).await?;
    let all = scene.meter.until(|counts| counts.matches >= live as u64);
    timeout(PLAYED_WITHIN, all)
        .await
        .with_context(|| format!("of {live} matches {} were played", scene.meter.counts().matches))??;
    drop(players);
    scene.server.kill()
}

/// Waits until a server says that it serves.
async fn serves(scene: &Scene) -> anyhow::Result<()> {
    let mut health = HealthClient::new(scene.first()?.clone());
    loop {
        let answer = health.check(HealthCheckRequest::default()).await?.into_inner();
        if answer.status() == ServingStatus::Serving {
            return Ok(());
        }
        sleep(ASKED).await;
    }
}

/// Copies the files of a folder, so that nothing of them is still to be written.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        ensure!(entry.file_type()?.is_file(), "{} is no file", entry.path().display());
        let copied = to.join(entry.file_name());
        fs::copy(entry.path(), &copied)?;
        fs::File::open(copied)?.sync_all()?;
    }
    fs::File::open(to)?.sync_all()?;
    Ok(())
}
