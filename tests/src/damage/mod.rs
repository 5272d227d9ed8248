//! Damage to a small journal: a flipped bit at every byte and a cut at every length of its files, each opened by the code
//! that a start runs. Whatever is damaged is found, harmless, or leaves an exact earlier commit.

mod case;
mod scene;
mod state;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::{fs, thread};

pub use case::{Bits, Case, Change, Target};
pub use scene::Scene;
pub use state::{Observed, State};

/// What came of a case that went as it has to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The start stopped and said why.
    Stopped,
    /// The journal was opened, all that is not as it was is an error for whoever asks, and the rest is as it was.
    Told,
    /// All is as it was.
    Harmless,
    /// It is an earlier commit to the byte, where that can't be told: the end of the write-ahead log or of the redo log.
    Earlier,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stopped => "the start stopped and said why",
            Self::Told => "opened, and what is damaged is an error",
            Self::Harmless => "opened, and all is as it was",
            Self::Earlier => "an exact earlier commit",
        })
    }
}

/// A case that did not go as it has to.
#[derive(Debug)]
pub struct Problem {
    /// Which case.
    pub case: Case,
    /// What is wrong.
    pub what: String,
}

/// What came of all cases.
#[derive(Debug, Default)]
pub struct Report {
    /// How many cases ended in each way.
    pub verdicts: BTreeMap<Verdict, usize>,
    /// Those that ended in no allowed way.
    pub problems: Vec<Problem>,
}

/// Runs cases in folders of their own below one, on so many threads.
///
/// # Errors
/// When the files can't be written.
pub fn run(scene: &Scene, cases: &[Case], below: &Path, threads: usize) -> anyhow::Result<Report> {
    let (next, report) = (AtomicUsize::new(0), Mutex::new(Report::default()));
    let work = |thread: usize| -> anyhow::Result<()> {
        let folder = below.join(format!("case-{thread}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        while let Some(case) = cases.get(next.fetch_add(1, Relaxed)) {
            if folder.exists() {
                fs::remove_dir_all(&folder)?;
            }
            scene.write(case, &folder)?;
            let judged = runtime.block_on(scene.judge(case, &folder));
            let Ok(mut report) = report.lock() else { return Ok(()) };
            match judged {
                Ok(verdict) => *report.verdicts.entry(verdict).or_default() += 1,
                Err(what) => report.problems.push(Problem { case: *case, what }),
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        threads.into_iter().try_for_each(|thread| match thread.join() {
            Ok(done) => done,
            Err(_) => anyhow::bail!("a thread panicked"),
        })
    })?;
    Ok(report.into_inner().unwrap_or_default())
}
