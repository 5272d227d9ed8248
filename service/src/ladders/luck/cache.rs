//! What was computed before, in a folder beside the journal.
//!
//! All of it can be computed anew, so the folder may be removed while the server is stopped, and no backup needs it. Whatever can't
//! be read or written is told in the log, and computed.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::task::spawn_blocking;
use tokio::time::Instant;
use zetema_ladder::{AdjustedScore, Baseline, Reference};

use super::entry::{self, Found, KnownBaseline, ResultLuck, Stored};
use super::key::LuckKey;
use super::older::OlderLuck;
use crate::journal::{ResultNumber, make_folder};
use crate::limits;

/// The folder, with the block of results that is at hand.
pub(super) struct Cache {
    folder: PathBuf,
    /// Told with which files this is done.
    older: Arc<OlderLuck>,
    baselines: Vec<KnownBaseline>,
    block: Block,
}

/// The luck of results whose numbers are near one another.
struct Block {
    number: u64,
    entries: BTreeMap<ResultNumber, ResultLuck>,
    /// How many are not on the disk.
    unsaved: usize,
    saved_at: Instant,
}

/// The file of the baselines.
const BASELINES: &str = "places";

/// What the names of the files of results end with.
const RESULTS: &str = "luck";

/// Which block the luck of a result is in.
pub(super) const fn block_of(result: ResultNumber) -> u64 {
    result.get() / limits::LUCK_BLOCK_RESULTS
}

/// The file of a block.
pub(super) fn file_of(folder: &Path, block: u64) -> PathBuf {
    folder.join(format!("{block:016}.{RESULTS}"))
}

/// Which results are looked at, if the latest is this: the first of them.
pub(super) fn first_result(latest: ResultNumber) -> ResultNumber {
    let blocks = limits::LUCK_RESULTS / limits::LUCK_BLOCK_RESULTS;
    let first = (block_of(latest) + 1).saturating_sub(blocks);
    ResultNumber::new((first * limits::LUCK_BLOCK_RESULTS).max(1))
}

impl Cache {
    /// What is there, of which what was kept of results before the first one is removed.
    pub(super) async fn open(folder: PathBuf, first: ResultNumber, older: Arc<OlderLuck>) -> Self {
        let block = block_of(first);
        older.begin(block);
        let mut cache = Self { folder, older, baselines: Vec::new(), block: Block::empty(block) };
        let at = cache.folder.clone();
        let made = cache.on_disk("make the folder of", move || {
            make_folder(&at)?;
            remove_before(&at, block)
        });
        made.await;
        cache.baselines = cache.read(cache.folder.join(BASELINES), limits::MAX_LUCK_BASELINES).await;
        cache.load(block).await;
        cache
    }

    /// The baseline of a reference, if it was computed.
    pub(super) fn baseline(&self, reference: Reference) -> Option<Baseline> {
        let key = reference.baseline_key();
        let known = self.baselines.iter().find(|known| known.key == *key.as_bytes())?;
        let baseline = Baseline::from_sums(reference, &known.sums);
        baseline.inspect_err(|error| damaged(&self.folder.join(BASELINES), error)).ok()
    }

    /// Keeps a baseline. Of too many the oldest are forgotten.
    pub(super) async fn keep_baseline(&mut self, baseline: &Baseline) {
        let key = *baseline.reference().baseline_key().as_bytes();
        self.baselines.retain(|known| known.key != key);
        self.baselines.push(KnownBaseline { key, sums: baseline.sums().to_vec() });
        let more = self.baselines.len().saturating_sub(limits::MAX_LUCK_BASELINES);
        self.baselines.drain(..more);
        self.write(self.folder.join(BASELINES), self.baselines.clone()).await;
    }

    /// The scores of a result, if they were computed. Results are asked for in the order of their numbers.
    pub(super) async fn scores(
        &mut self,
        result: ResultNumber,
        key: LuckKey,
    ) -> Option<Arc<[AdjustedScore]>> {
        if block_of(result) != self.block.number {
            self.save().await;
            self.load(block_of(result)).await;
        }
        let known = self.block.entries.get(&result)?;
        if known.key == key {
            return Some(Arc::clone(&known.scores));
        }
        // It is another match's: nobody is to read it back as this one's, whatever comes of that.
        self.block.entries.remove(&result);
        self.block.unsaved += 1;
        None
    }

    /// Keeps the scores of the result that was asked for last.
    pub(super) async fn keep_scores(&mut self, luck: ResultLuck) {
        self.block.entries.insert(luck.number, luck);
        self.block.unsaved += 1;
        self.save_if_due().await;
    }

    /// Writes what was computed, if it is much or was so a while ago.
    pub(super) async fn save_if_due(&mut self) {
        let Block { unsaved, saved_at, .. } = &self.block;
        if *unsaved >= limits::LUCK_UNSAVED_RESULTS || saved_at.elapsed() >= limits::LUCK_SAVED_EVERY {
            self.save().await;
        }
    }

    /// Writes what was computed.
    pub(super) async fn save(&mut self) {
        self.block.saved_at = Instant::now();
        if self.block.unsaved > 0 {
            self.block.unsaved = 0;
            let entries = self.block.entries.values().cloned().collect();
            self.write(self.file(self.block.number), entries).await;
        }
    }

    async fn load(&mut self, number: u64) {
        self.block = Block::empty(number);
        let most = usize::try_from(limits::LUCK_BLOCK_RESULTS).unwrap_or(usize::MAX);
        let read: Vec<ResultLuck> = self.read(self.file(number), most).await;
        let own = read.into_iter().filter(|luck| block_of(luck.number) == number);
        self.block.entries = own.map(|luck| (luck.number, luck)).collect();
        if self.block.entries.is_empty() {
            let (folder, latest) = (self.folder.clone(), number);
            // A new block: the oldest is not kept any more.
            let first = (latest + 1).saturating_sub(limits::LUCK_RESULTS / limits::LUCK_BLOCK_RESULTS);
            self.on_disk("remove the oldest of", move || remove_before(&folder, first)).await;
        }
        self.older.done_before(number);
    }

    fn file(&self, block: u64) -> PathBuf {
        file_of(&self.folder, block)
    }

    async fn read<T: Stored + Send + 'static>(&self, path: PathBuf, most: usize) -> Vec<T> {
        let read = self.on_disk("read", {
            let path = path.clone();
            move || entry::read(&path, most)
        });
        let Some(Found { entries, damaged: count }) = read.await else { return Vec::new() };
        if count > 0 {
            damaged(&path, &format!("{count} entries are not as they were written"));
        }
        entries
    }

    async fn write<T: Stored + Send + 'static>(&self, path: PathBuf, entries: Vec<T>) {
        self.on_disk("write", move || entry::write(&path, entries.iter())).await;
    }

    async fn on_disk<T: Send + 'static>(
        &self,
        what: &'static str,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> Option<T> {
        let done = match spawn_blocking(work).await {
            Ok(done) => done,
            Err(error) => Err(io::Error::other(error)),
        };
        let folder = self.folder.display();
        done.inspect_err(|error| {
            tracing::warn!(%folder, %error, "can't {what} the luck that is kept: it is computed when it is needed again");
        })
        .ok()
    }
}

impl Block {
    fn empty(number: u64) -> Self {
        Self { number, entries: BTreeMap::new(), unsaved: 0, saved_at: Instant::now() }
    }
}

fn damaged(file: &Path, what: &(dyn std::fmt::Display + Sync)) {
    let file = file.display();
    tracing::warn!(%file, %what, "luck that was kept is damaged, and is computed anew");
}

/// Removes the files of blocks before this one.
fn remove_before(folder: &Path, block: u64) -> io::Result<()> {
    for file in fs::read_dir(folder)? {
        let path = file?.path();
        let number = path.file_stem().and_then(OsStr::to_str).and_then(|number| number.parse::<u64>().ok());
        let is_of_results = path.extension() == Some(OsStr::new(RESULTS));
        if is_of_results && number.is_some_and(|number| number < block) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}
