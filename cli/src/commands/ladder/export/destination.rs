//! Where lines are written: whole pages of them.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, bail};

use super::progress::{Lacks, Progress, unreadable};
use crate::failure::Usage;
use crate::output;

/// Where lines are written.
pub(super) enum Destination {
    Stdout,
    File(Box<Lines>),
}

/// A file of whole lines, and how far it is, which is kept beside it. What is there beyond that is of a page that was not finished,
/// and is cut off before anything else is written.
pub(super) struct Lines {
    file: File,
    path: PathBuf,
    progress: Progress,
}

impl Destination {
    /// Opens stdout. `header` is what comes before all rows.
    pub(super) fn stdout(header: &[u8]) -> Result<Self> {
        let mut stdout = Self::Stdout;
        stdout.write(header, "", Lacks::default())?;
        Ok(stdout)
    }

    /// Writes a page, what comes after it, and what it lacks.
    pub(super) fn write(&mut self, page: &[u8], cursor: &str, lacks: Lacks) -> Result<()> {
        match self {
            Self::Stdout => {
                let mut stdout = io::stdout().lock();
                stdout.write_all(page).and_then(|()| stdout.flush()).context("stdout can't be written")
            }
            Self::File(lines) => lines.write(page, cursor, lacks),
        }
    }
}

impl Lines {
    /// Opens a file, which goes on from there. `header` is what comes before all rows, and `line` is how each begins where there is none.
    pub(super) fn open(path: &Path, progress: Progress, header: &[u8], line: &[u8]) -> Result<Self> {
        let begins = progress.bytes == 0;
        if begins {
            // First, so that no file of ours is there without it. Another run may have begun the same file since, or be done with it.
            progress.keep_new(path)?;
            progress.still(path)?;
        }
        let mut options = OpenOptions::new();
        options.append(true).read(true).create(begins);
        let file = options.open(path).with_context(|| format!("{} can't be opened", path.display()))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!("{} is being written by another export", path.display()),
            Err(TryLockError::Error(error)) => return Err(error).with_context(|| unreadable(path)),
        }
        let kept = progress.still(path)?;
        let mut lines = Self { file, path: path.to_owned(), progress };
        lines.cut(header, line)?;
        if kept != lines.progress {
            // The settings that an earlier version did not keep.
            lines.progress.keep(path)?;
        }
        if begins {
            lines.sync_name()?;
            let cursor = lines.progress.cursor.clone();
            lines.write(header, &cursor, Lacks::default())?;
        }
        Ok(lines)
    }

    /// Cuts off what was not finished, if all before is as it was written, as far as can be told.
    fn cut(&self, header: &[u8], line: &[u8]) -> Result<()> {
        let (path, kept) = (self.path.display(), self.progress.bytes);
        let there = self.file.metadata().with_context(|| unreadable(&self.path))?.len();
        if there < kept {
            bail!(Usage::new(format!(
                "{path} was changed: it has {there} bytes, and had {kept}. Give another file"
            )));
        }
        let begins = if header.is_empty() { line } else { header };
        let first = self.first(begins.len())?;
        // What a run may have begun to write before anything was kept: the header, or, where there is none, the first page.
        let is_begun = || begins.starts_with(&first) && (header.is_empty() || there <= header.len() as u64);
        if kept > 0 {
            let mut last = [0];
            let mut file = &self.file;
            let read = file.seek(SeekFrom::Start(kept - 1));
            let read = read.and_then(|_| file.read_exact(&mut last));
            read.with_context(|| unreadable(&self.path))?;
            if first != begins || last != *b"\n" {
                bail!(Usage::new(format!(
                    "{path} was changed, or this version writes other columns: give another file"
                )));
            }
        } else if there > 0 && !is_begun() {
            bail!(Usage::new(format!(
                "{path} has {there} bytes, and {} says that nothing of this export is in it: give another file",
                Progress::path(&self.path).display()
            )));
        }
        if there > kept {
            self.file.set_len(kept).with_context(|| format!("{path} can't be cut"))?;
            let cut = there - kept;
            output::note(format!("{path}: {cut} bytes were cut off that a run had not finished"));
        }
        Ok(())
    }

    /// So many bytes from its start, or all of it.
    fn first(&self, bytes: usize) -> Result<Vec<u8>> {
        let (mut file, mut first) = (&self.file, Vec::new());
        let read = file.rewind();
        let read = read.and_then(|()| file.take(bytes as u64).read_to_end(&mut first));
        read.with_context(|| unreadable(&self.path))?;
        Ok(first)
    }

    fn write(&mut self, page: &[u8], cursor: &str, lacks: Lacks) -> Result<()> {
        if page.is_empty() && cursor == self.progress.cursor {
            return Ok(());
        }
        if let Err(error) = self.file.write_all(page).and_then(|()| self.file.sync_data()) {
            let error = Error::new(error).context(format!("{} can't be written", self.path.display()));
            // A part of the page may be there.
            return Err(match self.file.set_len(self.progress.bytes) {
                Ok(()) => error,
                Err(left) => error.context(format!(
                    "a part of a page is left in {}, which the next run cuts off ({left})",
                    self.path.display()
                )),
            });
        }
        let bytes = self.progress.bytes + u64::try_from(page.len())?;
        let lacks = self.progress.lacks.with(lacks);
        let progress = Progress { cursor: cursor.to_owned(), bytes, lacks, ..self.progress.clone() };
        progress.keep(&self.path)?;
        self.progress = progress;
        Ok(())
    }

    /// Makes the names of a new file and of what is kept beside it durable.
    fn sync_name(&self) -> Result<()> {
        #[cfg(unix)]
        {
            let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new("."));
            let synced = File::open(folder).and_then(|folder| folder.sync_all());
            synced.with_context(|| format!("{} can't be written", folder.display()))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::{Lacks, Lines, Progress};
    use crate::commands::ladder::export::progress::Subject;

    #[test]
    fn of_exports_begun_at_once_on_one_file_the_later_are_refused_and_the_first_is_whole() {
        let check = |format: &str, header: &[u8], line: &[u8], page: &[u8], beside: &str| {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("results");
            let subject = || -> Subject {
                let filter =
                    json!({"bot": null, "opponent": null, "since": null, "before": null, "reasons": []});
                let what = json!({
                    "what": "results",
                    "ladder": "quick-2",
                    "format": format,
                    "filter": filter,
                    "rating": "mu 25",
                });
                serde_json::from_value(what).unwrap()
            };
            // None of them sees anything of the others.
            let [first, second, third, last] =
                [(); 4].map(|()| Progress::of(&file, subject(), None).unwrap());
            let refused = |progress: Progress, says: &str| {
                let (content, kept) = (fs::read(&file).unwrap(), Progress::read(&file).unwrap());
                let told = Lines::open(&file, progress, header, line).err().unwrap().to_string();
                assert!(told.contains(says), "{format}: {told}");
                assert_eq!((fs::read(&file).unwrap(), Progress::read(&file).unwrap()), (content, kept));
            };
            let mut lines = Lines::open(&file, first.clone(), header, line).unwrap();
            refused(second, beside);
            lines.write(page, "r-1", Lacks::default()).unwrap();
            refused(third, "was gone on with meanwhile: call it again");
            drop(lines);
            refused(last, "was gone on with meanwhile: call it again");
            let whole = [header, page].concat();
            assert_eq!(fs::read(&file).unwrap(), whole);
            let bytes = u64::try_from(whole.len()).unwrap();
            let done = Progress { cursor: "r-1".to_owned(), bytes, ..first };
            assert_eq!(Progress::read(&file).unwrap(), Some(done));
        };
        check("csv", b"a,b\n", b"", b"1,2\n", "was gone on with meanwhile: call it again");
        // Nothing is written and kept before the first page, so that the lock alone is seen.
        check("jsonl", b"", b"{\"a\":", b"{\"a\":1}\n", "is being written by another export");
    }
}
