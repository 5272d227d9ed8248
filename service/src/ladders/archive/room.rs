//! How many results there is room for in memory, and how room is made: the oldest are written to files.

use std::collections::HashSet;
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::task::spawn_blocking;

use super::block::{self, Block, BlockError};
use super::{Archive, Kept, results_of_one_of};
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
    /// That of one of so many ladders, which share the memory for so many results.
    pub(in crate::ladders) fn of_one_of(ladders: NonZeroUsize, of_all: usize) -> Self {
        let block = limits::LADDER_BLOCK_RESULTS;
        // Beside those that stay there are those that are not enough for a file yet.
        let memory = results_of_one_of(ladders, of_all).saturating_sub(block);
        Self { memory, block, unwritten: limits::UNWRITTEN_LADDER_RESULTS }
    }

    /// In memory at most.
    pub(super) const fn most(self) -> usize {
        self.memory.saturating_add(self.block).saturating_add(self.unwritten)
    }
}

impl Kept {
    /// The oldest results in memory are to be those of a file. They can be looked up as such from now on.
    fn begin_file(&mut self, results: usize) -> Option<(Block, Arc<[Arc<LoggedResult>]>)> {
        let oldest: Arc<[_]> = self.results.iter().take(results).cloned().collect();
        let block = Block::of(&oldest)?;
        self.results.drain(..oldest.len());
        self.blocks.push(block);
        self.on_its_way = Some(Arc::clone(&oldest));
        Some((block, oldest))
    }

    /// A file that was begun could not be written: its results are in memory again, unless there is a gap after them by now.
    fn give_up_file(&mut self, block: Block, results: &[Arc<LoggedResult>]) {
        if self.blocks.pop_if(|last| *last == block).is_some() {
            for result in results.iter().rev() {
                self.results.push_front(Arc::clone(result));
            }
        }
    }
}

impl Archive {
    /// Whether there are as many results for which there is no room as a file has, and a file is to be tried.
    pub(in crate::ladders) fn is_full(&self) -> bool {
        self.kept().is_full(self.room)
    }

    /// Writes the oldest results in memory to files, until there is room. When a file can't be written its results stay in memory, and it
    /// is tried again when as many more have come as a file has.
    pub(in crate::ladders) async fn make_room(&self) {
        let _writing = self.writing.lock().await;
        loop {
            let (begun, count) = {
                let mut kept = self.kept_mut();
                let full = kept.is_full(self.room).then_some(self.room.block);
                (full.and_then(|results| kept.begin_file(results)), kept.count)
            };
            let Some((block, results)) = begun else { return };
            let written = self.write(block, Arc::clone(&results)).await;
            let mut kept = self.kept_mut();
            if kept.count != count {
                // They are counted anew, and come again.
                continue;
            }
            kept.on_its_way = None;
            if let Err(error) = written {
                kept.give_up_file(block, &results);
                kept.pause = self.room.block;
                let (folder, in_memory, room) = (self.folder.display(), kept.results.len(), self.room.most());
                tracing::warn!(
                    %folder, in_memory, room, %error,
                    "results of a ladder can't be written to a file: they stay in memory, and it is tried again. Where there is no room \
                     for more, the oldest can't be looked up until the next start"
                );
                return;
            }
        }
    }

    /// Makes room in a task of its own, if there is none and nobody makes it.
    pub(in crate::ladders) fn make_room_meanwhile(self: &Arc<Self>) {
        if self.is_full() && self.writing.try_lock().is_ok() {
            let archive = Arc::clone(self);
            tokio::spawn(async move { archive.make_room().await });
        }
    }

    /// Removes the files that are none of these: what was written before results were lost to a repair, and by an earlier release. All
    /// results are counted. Where some can't be looked up, their files stay for the next start.
    pub(in crate::ladders) async fn tidy(&self) {
        let _writing = self.writing.lock().await;
        let (folder, wanted): (_, HashSet<PathBuf>) = {
            let kept = self.kept();
            if kept.dropped.is_some() {
                return;
            }
            (self.folder.clone(), kept.blocks.iter().map(|block| block.file(&self.folder)).collect())
        };
        let removed = spawn_blocking(move || block::remove_all_but(&folder, &wanted)).await;
        if let Err(error) = removed.map_err(io::Error::other).flatten() {
            let folder = self.folder.display();
            tracing::warn!(%folder, %error, "files of older results that nothing uses can't be removed: remove them by hand");
        }
    }

    async fn write(&self, block: Block, results: Arc<[Arc<LoggedResult>]>) -> io::Result<()> {
        let (folder, file) = (self.folder.clone(), block.file(&self.folder));
        let write = move || {
            make_folder(&folder)?;
            block::write(&file, &results)
        };
        spawn_blocking(write).await.map_err(io::Error::other)?
    }

    /// The results of a file. `None`: it is damaged, and is not among the files any more, nor are those before it.
    pub(super) async fn read(&self, block: Block) -> Result<Option<Vec<Arc<LoggedResult>>>, LadderFault> {
        if let Some(results) = self.on_its_way(block).or_else(|| self.files_read.get(&self.folder, block)) {
            return Ok(Some(results.to_vec()));
        }
        let (file, most) = (block.file(&self.folder), self.room.block);
        let name = file.display().to_string();
        let read = spawn_blocking(move || block::read(&file, most)).await.map_err(io::Error::other);
        let error = match read.map_err(BlockError::Io).flatten() {
            Ok(results) if Block::of(&results) == Some(block) => {
                self.files_read.put(&self.folder, block, results.as_slice().into());
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
        if let Some(at) = kept.blocks.iter().position(|other| *other == block) {
            let last = block.last;
            tracing::warn!(
                file = name, %last, %error,
                "results of a ladder can't be read: up to the last of them they can't be looked up until the next start"
            );
            kept.drop_blocks(at + 1, block);
        }
        Ok(None)
    }

    /// The results of a file that is on its way to the disk, if it is this one.
    fn on_its_way(&self, block: Block) -> Option<Arc<[Arc<LoggedResult>]>> {
        let kept = self.kept();
        kept.on_its_way.clone().filter(|_| kept.blocks.last() == Some(&block))
    }
}
