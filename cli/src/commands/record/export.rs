//! `zetema record export`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, anyhow, bail};
use tempfile::NamedTempFile;

use super::encoding::{self, Encoding};
use super::source::Finder;
use crate::args::ServerArgs;
use crate::beside::beside;

/// Write records to a file.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zetema record export MATCH_ID > match.txt
  zetema record export MATCH_ID --format binary --output match.record
  zetema record export MATCH_ID OTHER_ID --format json-lines | python3 examples/verify/verify.py")]
pub(crate) struct Export {
    /// The match's id, or a file; - for stdin. Several with --format json-lines
    #[arg(value_name = "ID|FILE", required = true)]
    records: Vec<String>,
    /// The form to write it in
    #[arg(long, value_enum, default_value_t)]
    format: Encoding,
    /// The file to make, which may not exist; unless given, stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    server: ServerArgs,
}

impl Export {
    pub(super) async fn run(self) -> Result<()> {
        let output = self.output.as_deref().map(begin).transpose()?;
        let mut finder = Finder::new(&self.server);
        let mut bytes = Vec::new();
        let mut count = 0;
        for name in &self.records {
            for found in finder.find_all(name).await? {
                bytes.extend(encoding::write(&found, self.format)?);
                count += 1;
            }
        }
        if count > 1 && self.format != Encoding::JsonLines {
            bail!("{count} records don't fit into one file of this form: give --format json-lines");
        }
        match output {
            None => io::stdout().write_all(&bytes).context("stdout can't be written"),
            Some((file, path)) => end(file, path, &bytes),
        }
    }
}

/// Begins a file beside where it will be: what can't be made is told before anything is read, and the file has its name once it is whole.
fn begin(path: &Path) -> Result<(NamedTempFile, &Path)> {
    if path.symlink_metadata().is_ok() {
        return Err(is_there(path));
    }
    let file = beside(path).with_context(|| {
        format!(
            "{} can't be made: give a file in a folder that is there and that you may write to",
            path.display()
        )
    })?;
    Ok((file, path))
}

fn end(mut file: NamedTempFile, path: &Path, bytes: &[u8]) -> Result<()> {
    file.write_all(bytes)
        .and_then(|()| file.as_file().sync_all())
        .with_context(|| format!("{} can't be written", path.display()))?;
    file.persist_noclobber(path).map(drop).map_err(|failed| match failed.error {
        error if error.kind() == io::ErrorKind::AlreadyExists => is_there(path),
        error => Error::new(error).context(format!("{} can't be made", path.display())),
    })
}

fn is_there(path: &Path) -> Error {
    anyhow!("{} is there already, and an export replaces nothing: give another name", path.display())
}
