//! `zetema bot show`.

use anyhow::Result;
use zetema_proto::v1;

use crate::args::{FormatArgs, ServerArgs};
use crate::client::Client;

/// Show a bot. Everybody may: it needs no token.
#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

impl Show {
    pub(super) async fn run(self) -> Result<()> {
        let client = Client::connect_with_any_token(&self.server).await?;
        let answer = client.get_bot(v1::GetBotRequest { name: self.name }).await?;
        super::print(answer.bot.as_ref(), self.format.format)
    }
}
