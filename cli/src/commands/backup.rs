//! `zetema backup`.

use std::path::PathBuf;

use anyhow::{Context, Result};
use zetema_service::journal::{BackupContent, backup};

use crate::args::FormatArgs;
use crate::json::BackupJson;
use crate::output::{self, Format};

/// Copy the journal of a server, which may be running, into a new file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The copy is the journal as it was at one moment, and all of it is read before the file gets its name. It
holds the seeds of running matches and the key of the seats' tokens: its owner alone can read it, keep it
so. An existing file is never replaced. The file admin-token is not in it.

Examples:
  zetema backup --to zetema.backup
  zetema backup --data /var/lib/zetema --to \"/backup/zetema-$(date +%F-%H%M)\" --format json")]
pub(crate) struct Backup {
    /// The server's data folder
    #[arg(long, env = "ZETEMA_DATA", value_name = "DIR", default_value = "zetema-data")]
    data: PathBuf,
    /// The file to make
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    #[command(flatten)]
    format: FormatArgs,
}

impl Backup {
    pub(super) async fn run(self) -> Result<()> {
        let Self { data, to, format } = self;
        let file = to.clone();
        let copied = tokio::task::spawn_blocking(move || backup(&data, &to)).await;
        let content = copied.context("the copy was cut short")??;
        tell_damage(&content);
        match format.format {
            Format::Json => output::print_json(&BackupJson::new(&file, &content)),
            Format::Table => {
                let BackupContent { unfinished, latest_result, bytes, .. } = &content;
                output::print(format_args!(
                    "{}: {latest_result} results, {unfinished} matches that are not over, {bytes} bytes",
                    file.display()
                ))
            }
        }
    }
}

/// Says what is damaged in a backup, which is no reason not to have it.
pub(super) fn tell_damage(content: &BackupContent) {
    for damage in &content.damage {
        output::note(format!("damaged: {damage}"));
    }
}
