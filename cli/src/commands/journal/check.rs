//! `zetema journal check`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use zetema_service::journal::{Checked, SqliteJournal};

use crate::args::FormatArgs;
use crate::json::CheckedJson;
use crate::output::{self, Format};

/// Read the journal as a start does, and all the rest of it, without starting or changing anything.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A server that runs must be stopped first: its journal is refused. The exit code is 1 when anything is
damaged, also when a server would start all the same and leave the damaged matches out.

Examples:
  zetema journal check
  zetema journal check --data /var/lib/zetema --format json")]
pub(crate) struct Check {
    /// The server's data folder
    #[arg(long, env = "ZETEMA_DATA", value_name = "DIR", default_value = "zetema-data")]
    data: PathBuf,
    #[command(flatten)]
    format: FormatArgs,
}

impl Check {
    pub(super) fn run(self) -> Result<()> {
        let checked = SqliteJournal::check(&self.data)?;
        match self.format.format {
            Format::Json => output::print_json(&CheckedJson::new(&checked))?,
            Format::Table => print(&checked)?,
        }
        if let Some(damage) = checked.damage {
            return Err(damage.into());
        }
        if !CheckedJson::new(&checked).sound {
            bail!("the journal is damaged: a server starts with it, and does not serve what is damaged");
        }
        Ok(())
    }
}

fn print(checked: &Checked) -> Result<()> {
    let mut table = output::table(["what", "found"]);
    let wal = &checked.wal;
    if let Some(damage) = &wal.damage {
        table.add_row(["write-ahead log".to_owned(), format!("damaged at byte {}", damage.offset)]);
    } else {
        let found = format!("{} commits in {} frames", wal.commits, wal.frames);
        table.add_row(["write-ahead log".to_owned(), found]);
    }
    if let Some(found) = &checked.recovery {
        table.add_row(["redo log".to_owned(), format!("{} commits", found.redo_commits)]);
        table.add_row(["running matches".to_owned(), found.unfinished.to_string()]);
        table.add_row(["results".to_owned(), found.results.to_string()]);
        table.add_row(["rows of the log".to_owned(), found.rows_read.to_string()]);
        table.add_row(["matches under quarantine".to_owned(), found.quarantined.len().to_string()]);
        for quarantine in &found.quarantined {
            let found = format!("{} intact records: {}", quarantine.intact, quarantine.damage);
            table.add_row([quarantine.match_id.to_string(), found]);
        }
        for damage in &found.stray {
            table.add_row(["damage", damage]);
        }
    }
    output::print(table)
}
