//! `zetema record export`.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::encoding::{self, Encoding};
use super::source::Finder;
use crate::args::ServerArgs;

/// Write a record to a file.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zetema record export MATCH_ID > match.txt
  zetema record export MATCH_ID --format binary --output match.record")]
pub(crate) struct Export {
    /// The match's id, or a file; - for stdin
    #[arg(value_name = "ID|FILE")]
    record: String,
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
        let found = Finder::new(&self.server).find(&self.record).await?;
        let bytes = encoding::write(&found, self.format)?;
        match self.output {
            None => io::stdout().write_all(&bytes).context("stdout can't be written"),
            Some(path) => OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(&path)
                .and_then(|mut file| file.write_all(&bytes))
                .with_context(|| format!("{} can't be made", path.display())),
        }
    }
}
