//! The files of older results that were read last ([`FilesRead`]): whoever reads page by page asks for the same ones again and again.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::block::Block;
use crate::ladders::results::LoggedResult;
use crate::limits;

/// Those of all ladders together, a bounded number of them. The one that makes room is of the ladder that has most of them, the one that
/// was asked for longest ago: so who goes through all of one ladder leaves the others theirs.
#[derive(Debug)]
pub(in crate::ladders) struct FilesRead {
    most: usize,
    /// Whichever was asked for last comes last.
    read: Mutex<Vec<FileRead>>,
}

/// What was read of a file.
#[derive(Debug)]
struct FileRead {
    /// The folder of its ladder.
    folder: PathBuf,
    block: Block,
    results: Arc<[Arc<LoggedResult>]>,
}

impl Default for FilesRead {
    fn default() -> Self {
        Self::of(limits::LADDER_BLOCKS_READ)
    }
}

impl FilesRead {
    /// At most so many.
    pub(in crate::ladders) fn of(most: usize) -> Self {
        Self { most, read: Mutex::default() }
    }

    /// The results of a file, if it was read.
    pub(super) fn get(&self, folder: &Path, block: Block) -> Option<Arc<[Arc<LoggedResult>]>> {
        let mut read = self.read();
        let at = read.iter().position(|file| file.block == block && file.folder == folder)?;
        let file = read.remove(at);
        let results = Arc::clone(&file.results);
        read.push(file);
        Some(results)
    }

    /// A file was read.
    pub(super) fn put(&self, folder: &Path, block: Block, results: Arc<[Arc<LoggedResult>]>) {
        let mut read = self.read();
        read.retain(|file| file.block != block || file.folder != folder);
        read.push(FileRead { folder: folder.to_owned(), block, results });
        while read.len() > self.most {
            let mut held: HashMap<&Path, usize> = HashMap::new();
            for file in &*read {
                *held.entry(&file.folder).or_default() += 1;
            }
            let most = held.values().copied().max().unwrap_or(0);
            let first = read.iter().position(|file| held.get(&*file.folder) == Some(&most)).unwrap_or(0);
            read.remove(first);
        }
    }

    fn read(&self) -> MutexGuard<'_, Vec<FileRead>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
