//! How many results there is room for in memory, and how room is made: the oldest are written to files.

use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;

use tokio::task::spawn_blocking;

use super::block::{self, Block, BlockError};
use super::{Archive, LastRead, results_of_one_of};
use crate::incident::Incident;
use crate::journal::make_folder;
use crate::ladders::LadderFault;
use crate::ladders::results::LoggedResult;
use crate::limits;

/// How many results of a ladder there is room for.
#[derive(Clone, Copy, Debug)]
pub(in crate::ladders) struct Room {
    /// That stay in memory.
    pub(in crate::ladders) memory: usize,
    /// In each file. They are in memory too until they are enough for one.
    pub(in crate::ladders) block: usize,
    /// More in memory while a file is written, or can't be.
    pub(in crate::ladders) unwritten: usize,
}

impl Room {
    /// That of one of so many ladders, which share the memory for results.
    pub(in crate::ladders) fn of_one_of(ladders: NonZeroUsize) -> Self {
        let block = limits::LADDER_BLOCK_RESULTS;
        // Beside those that stay there are those that are not enough for a file yet, and where there is room those of the file that was
        // read last.
        let all = results_of_one_of(ladders);
        let memory = all.checked_sub(2 * block).unwrap_or_else(|| all.saturating_sub(block));
        Self { memory, block, unwritten: limits::UNWRITTEN_LADDER_RESULTS }
    }

    /// In memory at most.
    pub(super) const fn most(self) -> usize {
        self.memory.saturating_add(self.block).saturating_add(self.unwritten)
    }
}

impl Archive {
    /// Whether there are as many results for which there is no room as a file has, and a file is to be tried.
    pub(in crate::ladders) fn is_full(&self) -> bool {
        let kept = self.kept();
        kept.pause == 0 && kept.results.len() >= self.room.memory.saturating_add(self.room.block)
    }

    /// Writes the oldest results in memory to files, until there is room. When a file can't be written its results stay in memory, and it
    /// is tried again when as many more have come as a file has.
    pub(in crate::ladders) async fn make_room(&self) {
        let _writing = self.writing.lock().await;
        while self.is_full() {
            let oldest: Vec<_> = self.kept().results.iter().take(self.room.block).cloned().collect();
            let Some((block, first)) = Block::of(&oldest).zip(oldest.first().cloned()) else { return };
            let count = oldest.len();
            let written = self.write(block, oldest).await;
            let mut kept = self.kept_mut();
            if let Err(error) = written {
                kept.pause = self.room.block;
                let (folder, in_memory, room) = (self.folder.display(), kept.results.len(), self.room.most());
                tracing::warn!(
                    %folder, in_memory, room, %error,
                    "results of a ladder can't be written to a file: they stay in memory, and it is tried again. Where there is no room \
                     for more, the oldest can't be looked up until the next start"
                );
                return;
            }
            if !kept.results.front().is_some_and(|front| Arc::ptr_eq(front, &first)) {
                // They are counted anew, or some had to be dropped: it is not this file that is missing.
                continue;
            }
            kept.results.drain(..count);
            kept.blocks.push(block);
        }
    }

    /// Makes room in a task of its own, if there is none and nobody makes it.
    pub(in crate::ladders) fn make_room_meanwhile(self: &Arc<Self>) {
        if self.is_full() && self.writing.try_lock().is_ok() {
            let archive = Arc::clone(self);
            tokio::spawn(async move { archive.make_room().await });
        }
    }

    async fn write(&self, block: Block, results: Vec<Arc<LoggedResult>>) -> io::Result<()> {
        let (folder, file) = (self.folder.clone(), block.file(&self.folder));
        let write = move || {
            make_folder(&folder)?;
            block::write(&file, &results)
        };
        spawn_blocking(write).await.map_err(io::Error::other)?
    }

    /// The results of a file. `None`: it is damaged, and is not among the files any more, nor are those before it.
    pub(super) async fn read(&self, block: Block) -> Result<Option<Vec<Arc<LoggedResult>>>, LadderFault> {
        if let Some(results) = self.read_last(block) {
            return Ok(Some(results));
        }
        let (file, most) = (block.file(&self.folder), self.room.block);
        let name = file.display().to_string();
        let read = spawn_blocking(move || block::read(&file, most)).await.map_err(io::Error::other);
        let error = match read.map_err(BlockError::Io).flatten() {
            Ok(results) if Block::of(&results) == Some(block) => {
                if self.room.memory >= self.room.block {
                    self.kept_mut().last_read = Some(LastRead { block, results: results.clone() });
                }
                return Ok(Some(results));
            }
            Ok(_) => BlockError::Damaged("it has other results"),
            Err(BlockError::Io(error)) => {
                let cause = format!("the results in {name} can't be read: {error}");
                return Err(LadderFault::Unread(Incident::of(&cause)));
            }
            Err(damaged) => damaged,
        };
        let mut kept = self.kept_mut();
        if kept.blocks.contains(&block) {
            let last = block.last;
            tracing::warn!(
                file = name, %last, %error,
                "results of a ladder can't be read: up to the last of them they can't be looked up until the next start"
            );
            kept.blocks.retain(|other| other.first > last);
            kept.dropped = Some(last);
        }
        Ok(None)
    }

    /// The results of the file that was read last, if it is this one.
    fn read_last(&self, block: Block) -> Option<Vec<Arc<LoggedResult>>> {
        let kept = self.kept();
        kept.last_read.as_ref().filter(|last| last.block == block).map(|last| last.results.clone())
    }
}
