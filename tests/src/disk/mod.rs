//! A disk that fails as disks do, mounted as a file system of its own (FUSE, Linux only).
//!
//! Files are kept in memory, twice: as programs see them, and as they would be found after a loss of power. In between
//! lies what was written and not synced. When the power is lost, any of it may be on the disk or not: whole writes in
//! order, the last one torn ([`Survival::Torn`]), or each sector of 512 bytes as it was at any moment since the last sync
//! ([`Survival::Reordered`]). Names of files follow their folder's sync alone. [`Syncs::Ignored`] is a disk that says of a
//! sync that it is done and does nothing: what `synchronous=OFF` does to SQLite, or a disk that lies.
//!
//! What it can't do: links and folders within the folder; locks, which the kernel keeps for it, but not beyond a mount.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests fails the test by panicking"
)]

mod contents;
mod image;
mod mounted;
mod trouble;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fuser::{BackgroundSession, MountOption};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

pub use contents::SECTOR_BYTES;
use image::Image;
use mounted::{Mounted, Shared};
pub use trouble::{Counts, Trouble};

/// What of the changes that were not synced gets to the disk when the power is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Survival {
    /// None of them.
    Nothing,
    /// All of them, as after a SIGKILL.
    Everything,
    /// The first ones, the last of these torn.
    Torn,
    /// Any, in parts.
    Reordered,
}

/// Whether a sync does what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syncs {
    /// What was synced survives.
    Kept,
    /// A sync does nothing, as for SQLite with `synchronous=OFF`.
    Ignored,
}

/// A disk in memory, mounted at a folder. It is unmounted when it is dropped.
pub struct Disk {
    at: PathBuf,
    syncs: Syncs,
    random: StdRng,
    shared: Arc<Shared>,
    session: Option<BackgroundSession>,
}

impl Disk {
    /// An empty disk, mounted at this folder. What is left to chance follows from the seed.
    ///
    /// # Errors
    /// If this machine can't mount one: what is missing, and how to get it.
    pub fn mount(at: &Path, syncs: Syncs, seed: u64) -> Result<Self, String> {
        let random = StdRng::seed_from_u64(seed);
        let (shared, session) = mount(at, Image::empty(), syncs, seed).map_err(|error| missing(&error))?;
        Ok(Self { at: at.to_owned(), syncs, random, shared, session: Some(session) })
    }

    /// Asks for trouble, in place of what was asked for before, and counts from nothing.
    pub fn trouble(&self, trouble: Trouble) {
        self.shared.ask(trouble);
    }

    /// What programs did since the trouble was asked for.
    pub fn counts(&self) -> Counts {
        self.shared.counts()
    }

    /// Waits until something has failed by the trouble.
    pub async fn failed(&self) {
        self.shared.failed().await;
    }

    /// Whether the power is on.
    pub fn is_on(&self) -> bool {
        self.shared.is_on()
    }

    /// Waits until the power is lost. Whoever uses the disk then waits too, until [`Disk::release`].
    pub async fn power_lost(&self) {
        self.shared.power_lost().await;
    }

    /// Loses the power now, if it is not lost yet.
    pub fn lose_power(&self) {
        self.shared.lose_power();
    }

    /// Fails all that waits, and all that comes, so that a program that was killed can go.
    pub fn release(&self) {
        self.shared.release();
    }

    /// Mounts what is left after the loss of power. Nobody may have a file open.
    ///
    /// # Panics
    /// If somebody has, or the disk can't be mounted again.
    pub fn power_on(&mut self) -> Survival {
        let survival = match self.random.random_range(0..8) {
            0 => Survival::Nothing,
            1 => Survival::Everything,
            2..5 => Survival::Torn,
            _ => Survival::Reordered,
        };
        self.power_on_with(survival);
        survival
    }

    /// The same, with so much of what was not synced.
    ///
    /// # Panics
    /// If somebody has a file open, or the disk can't be mounted again.
    pub fn power_on_with(&mut self, survival: Survival) {
        self.shared.release();
        match self.session.take().expect("it is mounted").umount_and_join() {
            Ok(()) => {}
            // It is unmounted: the kernel tells so whoever still reads, in one of two ways.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => panic!("somebody has a file open: {error}"),
        }
        let image = self.shared.take_image().survive(survival, &mut self.random);
        let (shared, session) =
            mount(&self.at, image, self.syncs, self.random.random()).expect("it was mounted before");
        self.shared = shared;
        self.session = Some(session);
    }

    /// Writes all files as they are now into another folder, for somebody to look at.
    ///
    /// # Errors
    /// If they can't be written.
    pub fn write_to(&self, folder: &Path) -> io::Result<()> {
        self.shared.write_to(folder)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.shared.release();
        if let Some(session) = self.session.take() {
            // A mount that is in use goes with the process.
            let _ = session.umount_and_join();
        }
    }
}

fn mount(at: &Path, image: Image, syncs: Syncs, seed: u64) -> io::Result<(Arc<Shared>, BackgroundSession)> {
    let shared = Arc::new(Shared::new(image, syncs, seed));
    let mut options = fuser::Config::default();
    options.mount_options = vec![MountOption::FSName("zetema-disk".to_owned())];
    let session = fuser::spawn_mount(Mounted(Arc::clone(&shared)), at, &options)?;
    Ok((shared, session))
}

/// What to do when a disk can't be mounted.
fn missing(error: &io::Error) -> String {
    if Path::new("/dev/fuse").exists() {
        format!(
            "a disk that fails can't be mounted: {error}. Run this as root (in a container with --cap-add SYS_ADMIN \
             --device /dev/fuse), or install fusermount3 (apt-get install fuse3)"
        )
    } else {
        format!(
            "a disk that fails can't be mounted: {error}. /dev/fuse is missing: load the module (modprobe fuse), or \
             start the container with --device /dev/fuse --cap-add SYS_ADMIN"
        )
    }
}
