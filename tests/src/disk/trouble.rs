//! What goes wrong on a disk, and when.

use fuser::Errno;

/// What goes wrong on a disk. What is counted is counted from 1, from the moment at which the trouble is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trouble {
    /// Nothing.
    #[default]
    None,
    /// The power is lost before this change or sync.
    PowerLoss(u64),
    /// From this change on the disk is full, until it is mended: every change fails (ENOSPC), but that files are removed
    /// or made shorter.
    Full(u64),
    /// From this change on it is read-only, until it is mended (EROFS).
    ReadOnly(u64),
    /// This sync fails (EIO), and what was not synced may be lost.
    SyncFails(u64),
    /// From this sync on all fail, until it is mended.
    SyncsFail(u64),
}

/// What a program does with a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// It changes a file or the folder.
    Change,
    /// It gives room back.
    Free,
    /// It waits until what it changed is durable.
    Sync,
}

/// What comes of an act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Done,
    Fails(Failure),
    PowerLost,
}

/// Why an act fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    NoSpace,
    ReadOnly,
    Io,
}

impl From<Failure> for Errno {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NoSpace => Self::ENOSPC,
            Failure::ReadOnly => Self::EROFS,
            Failure::Io => Self::EIO,
        }
    }
}

/// How often programs did what, since the trouble was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Changes of files and of the folder.
    pub changes: u64,
    /// Syncs.
    pub syncs: u64,
    /// Of both, those that failed.
    pub failed: u64,
}

impl Trouble {
    /// Whether it is there until it is mended.
    pub const fn lasts(self) -> bool {
        matches!(self, Self::Full(_) | Self::ReadOnly(_) | Self::SyncsFail(_))
    }

    /// What comes of an act, which is counted.
    pub(super) fn fate(self, act: Act, counts: &mut Counts) -> Fate {
        match act {
            Act::Change | Act::Free => counts.changes += 1,
            Act::Sync => counts.syncs += 1,
        }
        let Counts { changes, syncs, .. } = *counts;
        let fails = match self {
            Self::PowerLoss(at) if changes + syncs >= at => return Fate::PowerLost,
            Self::Full(from) if act == Act::Change && changes >= from => Failure::NoSpace,
            Self::ReadOnly(from) if act != Act::Sync && changes >= from => Failure::ReadOnly,
            Self::SyncFails(at) if act == Act::Sync && syncs == at => Failure::Io,
            Self::SyncsFail(from) if act == Act::Sync && syncs >= from => Failure::Io,
            _ => return Fate::Done,
        };
        counts.failed += 1;
        Fate::Fails(fails)
    }
}
