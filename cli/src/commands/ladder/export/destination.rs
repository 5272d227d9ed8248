//! Where lines are written: whole pages of them.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, bail};

use super::progress::{Progress, unreadable};
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
        stdout.write(header, "", 0)?;
        Ok(stdout)
    }

    /// Writes a page, what comes after it, and how many records it lacks.
    pub(super) fn write(&mut self, page: &[u8], cursor: &str, left_out: usize) -> Result<()> {
        match self {
            Self::Stdout => {
                let mut stdout = io::stdout().lock();
                stdout.write_all(page).and_then(|()| stdout.flush()).context("stdout can't be written")
            }
            Self::File(lines) => lines.write(page, cursor, left_out),
        }
    }
}

impl Lines {
    /// Opens a file, which goes on from there. `header` is what comes before all rows, and `line` is how each begins where there is none.
    pub(super) fn open(path: &Path, progress: Progress, header: &[u8], line: &[u8]) -> Result<Self> {
        let begins = progress.bytes == 0;
        if begins && Progress::read(path)?.as_ref() != Some(&progress) {
            // First, so that no file of ours is there without it.
            progress.keep(path)?;
        }
        let mut options = OpenOptions::new();
        options.append(true).read(true).create(begins);
        let file = options.open(path).with_context(|| format!("{} can't be opened", path.display()))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!("{} is being written by another export", path.display()),
            Err(TryLockError::Error(error)) => return Err(error).with_context(|| unreadable(path)),
        }
        if Progress::read(path)?.as_ref() != Some(&progress) {
            bail!("{} was gone on with meanwhile: call it again", path.display());
        }
        let mut lines = Self { file, path: path.to_owned(), progress };
        lines.cut(header, line)?;
        if begins {
            lines.sync_name()?;
            let cursor = lines.progress.cursor.clone();
            lines.write(header, &cursor, 0)?;
        }
        Ok(lines)
    }

    /// Cuts off what was not finished, if all before is as it was written, as far as can be told.
    fn cut(&mut self, header: &[u8], line: &[u8]) -> Result<()> {
        let (path, kept) = (self.path.display(), self.progress.bytes);
        let there = self.file.metadata().with_context(|| unreadable(&self.path))?.len();
        if there < kept {
            bail!(Usage::new(format!(
                "{path} was changed: it has {there} bytes, and had {kept}. Give another file"
            )));
        }
        if kept > 0 {
            let mut first = vec![0; header.len()];
            let mut last = [0];
            let file = &mut self.file;
            let read = file.rewind().and_then(|()| file.read_exact(&mut first));
            let read = read.and_then(|()| file.seek(SeekFrom::Start(kept - 1)));
            let read = read.and_then(|_| file.read_exact(&mut last));
            read.with_context(|| unreadable(&self.path))?;
            if first != header || last != *b"\n" {
                bail!(Usage::new(format!(
                    "{path} was changed, or this version writes other columns: give another file"
                )));
            }
        } else if there > 0 && !self.is_begun(there, header, line)? {
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

    /// Whether what is in the file may be what a run had begun to write before anything was kept: the header, or, where there is
    /// none, the first page.
    fn is_begun(&self, there: u64, header: &[u8], line: &[u8]) -> Result<bool> {
        let begins = if header.is_empty() { line } else { header };
        let (mut file, mut first) = (&self.file, Vec::new());
        let read = file.rewind();
        let read = read.and_then(|()| file.take(begins.len() as u64).read_to_end(&mut first));
        read.with_context(|| unreadable(&self.path))?;
        Ok(begins.starts_with(&first) && (header.is_empty() || there <= header.len() as u64))
    }

    fn write(&mut self, page: &[u8], cursor: &str, left_out: usize) -> Result<()> {
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
        let left_out = self.progress.left_out + left_out;
        let progress = Progress { cursor: cursor.to_owned(), bytes, left_out, ..self.progress.clone() };
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
