//! `zetema journal repair`.

use std::path::PathBuf;

use anyhow::Result;
use zetema_service::repair::repair;

use crate::args::FormatArgs;
use crate::json::RepairedJson;
use crate::output::{self, Format};

/// Go on without what is damaged: what a start refuses to do by itself.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A backup that is newer than the damage is the better way. The files as they were are kept in the folder
damaged-1 (or -2 …) in the data folder: they hold secrets, as the journal does. Matches that lack a record
are put under quarantine; matches whose last records are lost go on from the one before.

Example:
  zetema journal repair --accept-loss --data /var/lib/zetema")]
pub(crate) struct Repair {
    /// Say that what is lost may stay lost
    #[arg(long, required = true)]
    accept_loss: bool,
    /// The server's data folder
    #[arg(long, env = "ZETEMA_DATA", value_name = "DIR", default_value = "zetema-data")]
    data: PathBuf,
    #[command(flatten)]
    format: FormatArgs,
}

impl Repair {
    pub(super) async fn run(self) -> Result<()> {
        let repaired = repair(&self.data).await?;
        match (self.format.format, &repaired) {
            (Format::Json, repaired) => output::print_json(&RepairedJson::new(repaired.as_ref())),
            (Format::Table, None) => output::print("There was nothing to repair."),
            (Format::Table, Some(repaired)) => {
                let mut table = output::table(["", "what"]);
                for found in &repaired.found {
                    table.add_row(["found", found]);
                }
                for lost in &repaired.lost {
                    table.add_row(["lost", lost]);
                }
                output::print(table)?;
                let found = &repaired.recovery;
                output::note(format!(
                    "A server goes on with {} running matches and {} results. The files as they were are in {}.",
                    found.unfinished,
                    found.results,
                    repaired.kept.display()
                ));
                Ok(())
            }
        }
    }
}
