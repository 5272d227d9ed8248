//! The luck of results that is not in memory any more, read back from the files in which it is kept ([`OlderLuck`]).

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::spawn_blocking;
use zetema_ladder::AdjustedScore;

use super::cache::{block_of, file_of};
use super::entry::{self, Found, ResultLuck};
use crate::journal::ResultNumber;
use crate::limits;

/// What is in the files that the task which computes luck is done with, of all ladders: it has held each entry of them against its match, or
/// made it. A bounded number of files is in memory, those that were read last.
#[derive(Debug)]
pub(in crate::ladders) struct OlderLuck {
    folder: PathBuf,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// The files that the task is done with.
    done: Range<u64>,
    /// Whichever was asked for last comes last.
    read: VecDeque<Arc<Scores>>,
}

/// The scores in one file, in the order of their results.
#[derive(Debug)]
struct Scores {
    block: u64,
    of: Vec<(ResultNumber, Arc<[AdjustedScore]>)>,
}

impl OlderLuck {
    /// That of files in this folder, with none of which the task is done.
    pub(in crate::ladders) fn new(folder: PathBuf) -> Self {
        Self { folder, known: Mutex::default() }
    }

    /// The task begins with this file, and is done with none.
    pub(super) fn begin(&self, block: u64) {
        *self.known() = Known { done: block..block, read: VecDeque::new() };
    }

    /// The task is done with the files before this one.
    pub(super) fn done_before(&self, block: u64) {
        self.known().done.end = block;
    }

    /// What the sides of a match scored; `None` if it is in no file that the task is done with, or can't be read.
    pub(super) async fn scores(&self, result: ResultNumber) -> Option<Arc<[AdjustedScore]>> {
        let block = block_of(result);
        if !self.known().done.contains(&block) {
            return None;
        }
        let scores = match self.at_hand(block) {
            Some(scores) => scores,
            None => self.load(block).await?,
        };
        let at = scores.of.binary_search_by_key(&result, |(number, _)| *number).ok()?;
        scores.of.get(at).map(|(_, scores)| Arc::clone(scores))
    }

    fn at_hand(&self, block: u64) -> Option<Arc<Scores>> {
        let read = &mut self.known().read;
        let at = read.iter().position(|scores| scores.block == block)?;
        let scores = read.remove(at)?;
        read.push_back(Arc::clone(&scores));
        Some(scores)
    }

    async fn load(&self, block: u64) -> Option<Arc<Scores>> {
        let (path, most) = (file_of(&self.folder, block), limits::LUCK_BLOCK_RESULTS);
        let name = path.display().to_string();
        let reading = move || entry::read::<ResultLuck>(&path, usize::try_from(most).unwrap_or(usize::MAX));
        let found = match spawn_blocking(reading).await.map_err(io::Error::other).flatten() {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(file = name, %error, "the luck of older results can't be read: it is not shown now");
                return None;
            }
        };
        let Found { entries, damaged } = found;
        if damaged > 0 {
            tracing::warn!(
                file = name,
                damaged,
                "luck of older results is not as it was written: it is not shown until the next start"
            );
        }
        let own = entries.into_iter().filter(|luck| block_of(luck.number) == block);
        let mut of: Vec<_> = own.map(|luck| (luck.number, luck.scores)).collect();
        of.sort_by_key(|(number, _)| *number);
        let scores = Arc::new(Scores { block, of });
        let Known { done, read } = &mut *self.known();
        // The task may have begun anew meanwhile.
        if done.contains(&block) {
            read.retain(|other| other.block != block);
            read.push_back(Arc::clone(&scores));
            let more = read.len().saturating_sub(limits::LUCK_BLOCKS_READ);
            read.drain(..more);
        }
        Some(scores)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
