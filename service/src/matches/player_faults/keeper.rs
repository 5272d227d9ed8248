//! The task that writes faults behind what happens.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::file::{self, Unread};
use super::{PlayerFaults, Saved};
use crate::limits;
use crate::matches::{Clock, Incarnation};

/// Keeps the faults of players over a restart.
pub(in crate::matches) struct FaultKeeper {
    kept: Arc<Kept>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// What is kept, and where.
struct Kept {
    faults: Arc<PlayerFaults>,
    path: PathBuf,
    life: Incarnation,
    clock: Arc<dyn Clock>,
}

impl FaultKeeper {
    /// Takes up what was kept, before any match runs. What can't be read is told in the log, set aside, and stops nothing.
    pub(in crate::matches) async fn open(
        path: PathBuf,
        faults: Arc<PlayerFaults>,
        life: Incarnation,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let (from, most, wall) = (path.clone(), faults.limits.seats, clock.wall());
        let read = spawn_blocking(move || {
            let (seats, unread) = file::read(&from, life, most);
            if let Some(unread) = &unread {
                set_aside(&from, unread);
            }
            (seats, unread)
        });
        let (seats, unread) = read.await.unwrap_or_else(|error| {
            let unread = Unread::Read(io::Error::other(error));
            set_aside(&path, &unread);
            (Vec::new(), Some(unread))
        });
        let saved = if unread.is_some() { Saved::No } else { Saved::Yes };
        faults.take_up(seats, wall, saved);
        let kept = Kept { faults, path, life, clock };
        Self { kept: Arc::new(kept), tasks: TaskTracker::new(), stop: CancellationToken::new() }
    }

    /// Begins to write what changes.
    pub(in crate::matches) fn start(&self) {
        let (kept, stop) = (Arc::clone(&self.kept), self.stop.clone());
        self.tasks.spawn(async move { kept.run(&stop).await });
    }

    /// Writes what is not written yet, and ends. A disk that hangs is not waited for.
    pub(in crate::matches) async fn stop(&self) {
        self.stop.cancel();
        self.tasks.close();
        if timeout(limits::FAULTS_SAVED_AT_STOP, self.tasks.wait()).await.is_err() {
            let file = self.kept.path.display();
            tracing::warn!(%file, "what went wrong for players is still not written: what came last may be forgotten");
        }
    }
}

impl Kept {
    async fn run(self: Arc<Self>, stop: &CancellationToken) {
        let mut next = Instant::now();
        loop {
            let due = async {
                self.faults.changed.notified().await;
                sleep_until(next.max(Instant::now() + limits::FAULTS_GATHERED)).await;
            };
            let stopped = stop.run_until_cancelled(due).await.is_none();
            self.save().await;
            if stopped {
                return;
            }
            next = Instant::now() + limits::FAULTS_SAVED_EVERY;
        }
    }

    async fn save(self: &Arc<Self>) {
        let kept = Arc::clone(self);
        let saved = spawn_blocking(move || kept.write()).await;
        if let Err(error) = saved.unwrap_or_else(|error| Err(io::Error::other(error))) {
            let file = self.path.display();
            tracing::warn!(%file, %error, "can't write what went wrong for players: it is tried again, and a restart before forgets it");
            self.faults.not_saved();
        }
    }

    fn write(&self) -> io::Result<()> {
        let Some(seats) = self.faults.unsaved() else { return Ok(()) };
        let parts = seats.chunks(limits::FAULTS_SAVED_AT_ONCE);
        let parts = parts.map(|seats| self.faults.kept(seats, self.clock.wall()));
        file::write(&self.path, self.life, parts)?;
        tracing::debug!(seats = seats.len(), "what went wrong for players is written");
        Ok(())
    }
}

/// Whatever is in the file, it is not written over.
fn set_aside(path: &Path, why: &Unread) {
    let aside = path.with_extension("unread");
    let moved = std::fs::rename(path, &aside);
    let (file, aside) = (path.display(), aside.display());
    match moved {
        Ok(()) => tracing::warn!(
            %file, %aside, %why,
            "not all that went wrong for players is taken up, and authors don't see the rest. The server goes on: keep the file \
             that was set aside to look into it, or delete it"
        ),
        Err(error) => tracing::warn!(
            %file, %why, %error,
            "not all that went wrong for players is taken up, and the file can't be set aside: see that the server may read and \
             rename it, or delete it. The server goes on, and replaces it"
        ),
    }
}
