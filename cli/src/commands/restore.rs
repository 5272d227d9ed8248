//! `zetema restore`.

use std::path::PathBuf;

use anyhow::Result;
use zetema_service::restore::{Restored, restore};

use super::backup::tell_damage;
use crate::args::FormatArgs;
use crate::json::RestoredJson;
use crate::output::{self, Format};

/// Make the data folder of a new server from a backup
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The matches that were not over when the backup was taken are aborted, unrated and revealed: their players
have seen cards that would come again. Results keep their numbers, and cursors of results that came after
the backup are refused. Tokens are those of the backup: one that was made since is gone, and one that was
revoked since holds again, so revoke it again. Seats' tokens hold for matches that are over.

The folder must have no journal. If a restore is cut short, the folder can't be used until it is done again.
The file admin-token is not in a backup: copy it into the folder, or run zetema token reset-admin.

Example:
  zetema restore --from zetema.backup --data /var/lib/zetema-2")]
pub(crate) struct Restore {
    /// The backup
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
    /// The data folder to make
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    #[command(flatten)]
    format: FormatArgs,
}

impl Restore {
    pub(super) async fn run(self) -> Result<()> {
        let Self { from, data, format } = self;
        let restored = restore(&from, &data).await?;
        tell_damage(&restored.backup);
        match format.format {
            Format::Json => output::print_json(&RestoredJson::new(&data, &restored)),
            Format::Table => {
                let Restored { backup, aborted, latest_result } = &restored;
                output::print(format_args!(
                    "{}: {} results of the backup, {aborted} matches aborted, {latest_result} results in all",
                    data.display(),
                    backup.latest_result
                ))
            }
        }
    }
}
