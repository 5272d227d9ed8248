//! The luck of the cards in the results of ladders: computed in the background, one result after the other, and kept on the disk.
//!
//! One task follows the results in the order of their numbers, so nothing of them waits in memory, and a bot's points per match and its
//! rating by adjusted scores are the same folds each time: a result is counted when all before have their luck, or never will. Nobody waits for it: what is read is what there is. What is on the disk only saves the time to
//! compute it again. A task that breaks begins anew, by the results and what is on the disk.

mod cache;
mod compute;
mod entry;
mod key;
mod older;
mod shown;
mod task;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(super) use older::OlderLuck;
pub use shown::{Luck, LuckChange, LuckOfBot};

use super::spec::LadderSpec;
use super::wishes::Phase;
use crate::admission::Pressure;
use crate::journal::LadderName;
use crate::matches::Matches;
use task::Task;

/// What the luck of results is computed with.
pub(super) struct Config {
    /// Of which ladders, and where it is shown.
    pub(super) ladders: BTreeMap<LadderName, (Arc<LadderSpec>, Arc<Luck>)>,
    /// Where their matches were played.
    pub(super) matches: Matches,
    /// Whether the server has time for it.
    pub(super) pressure: Arc<Pressure>,
    /// Where it is kept.
    pub(super) folder: PathBuf,
    /// Who reads it back from there.
    pub(super) older: Arc<OlderLuck>,
    /// Whether the ladders run: they have counted what was there first.
    pub(super) phase: watch::Receiver<Phase>,
}

/// Begins to compute it, until `stop`.
pub(super) fn open(config: Config, tasks: &TaskTracker, stop: CancellationToken) {
    if !config.ladders.is_empty() {
        let task = Task::new(config);
        tasks.spawn(async move {
            task.run(&stop).await;
        });
    }
}
