//! `zetema bot update`.

use anyhow::Result;
use zetema_proto::v1;

use crate::args::{FormatArgs, ServerArgs};
use crate::client::Client;

/// Change what is said of a bot. What is not given stays as it was.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zetema bot update rex --bot-version 1.1
  zetema bot update rex --contact \"\"")]
pub(crate) struct Update {
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

/// What is to be said from now on.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = true)]
struct Changes {
    /// What it is, at most 256 bytes
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Its version, at most 64 bytes
    #[arg(id = "bot_version", long = "bot-version", value_name = "TEXT")]
    version: Option<String>,
    /// Whom to tell of its faults, at most 256 bytes; only you and the admin see it
    #[arg(long = "contact", value_name = "TEXT")]
    fault_contact: Option<String>,
}

impl Update {
    pub(super) async fn run(self) -> Result<()> {
        let Changes { description, version, fault_contact } = self.changes;
        let client = Client::connect(&self.server).await?;
        let request = v1::UpdateBotRequest { name: self.name, description, version, fault_contact };
        let answer = client.update_bot(request).await?;
        super::print(answer.bot.as_ref(), self.format.format)
    }
}
