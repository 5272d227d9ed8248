//! `zetema bot retire`.

use anyhow::Result;
use zetema_proto::v1;

use crate::args::{FormatArgs, ServerArgs};
use crate::client::Client;

/// End a bot: its tokens are void, its history stays, and nobody else gets its name.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
It can't be undone. Matches that run go on without it, and its seats lose by the clock: stop it between two matches,
and retire it then. Once retired, retiring again gives the same answer.

Example:
  zetema bot retire rex")]
pub(crate) struct Retire {
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

impl Retire {
    pub(super) async fn run(self) -> Result<()> {
        let client = Client::connect(&self.server).await?;
        let answer = client.retire_bot(v1::RetireBotRequest { name: self.name }).await?;
        super::print(answer.bot.as_ref(), self.format.format)
    }
}
