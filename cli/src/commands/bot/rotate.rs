//! `zetema bot rotate`.

use anyhow::Result;
use zetema_proto::v1;

use crate::args::{FormatArgs, ServerArgs};
use crate::client::Client;
use crate::json::RegisteredBotJson;
use crate::output::{self, Format};

/// Give a bot another token, print it, once, and void all that it had.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
What plays with an old token is cut at once. The matches go on: start the bot with the new token, and it takes up
its seats. The JSON is one object: bot and secret.

Example:
  zetema bot rotate rex > rex.token")]
pub(crate) struct Rotate {
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

impl Rotate {
    pub(super) async fn run(self) -> Result<()> {
        let client = Client::connect(&self.server).await?;
        let v1::RotateTokenResponse { bot, secret } =
            client.rotate_token(v1::RotateTokenRequest { name: self.name }).await?;
        let bot = super::json_of(bot.as_ref())?;
        match self.format.format {
            Format::Json => output::print_json(&RegisteredBotJson { bot, secret }),
            Format::Table => {
                output::print(secret)?;
                output::note(format!(
                    "This is the token of the bot {} from now on. It is shown this once: keep it.",
                    bot.name
                ));
                Ok(())
            }
        }
    }
}
