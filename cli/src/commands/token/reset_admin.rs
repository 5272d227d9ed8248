//! `zetema token reset-admin`.

use std::path::PathBuf;

use anyhow::Result;
use zetema_service::access::reset_admin_token;

use crate::output;

/// Replace the lost admin token of a server that does not run. The old one is void; all other tokens hold.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The new token goes to the file admin-token in the data folder, which its owner alone can read, and is
not printed. A server that runs must be stopped first.

Example:
  zetema token reset-admin --data /var/lib/zetema")]
pub(crate) struct ResetAdmin {
    /// The server's data folder
    #[arg(long, env = "ZETEMA_DATA", value_name = "DIR", default_value = "zetema-data")]
    data: PathBuf,
}

impl ResetAdmin {
    pub(super) async fn run(self) -> Result<()> {
        let path = reset_admin_token(&self.data).await?;
        output::note(format!("The new admin token is in {}.", path.display()));
        Ok(())
    }
}
