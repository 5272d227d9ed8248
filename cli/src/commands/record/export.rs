//! `zetema record export`.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::encoding::{self, Encoding};
use super::source::Finder;
use crate::args::ServerArgs;

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
