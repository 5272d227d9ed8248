//! `zetema bot rotate`.

use anyhow::Result;
use zetema_proto::v1;

use crate::args::{FormatArgs, ServerArgs};
use crate::client::Client;
use crate::json::RegisteredBotJson;
use crate::output::{self, Format};

/// Give a bot another token, and print it, once.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
What plays with the old token plays its matches to the end, for 24 hours at most. It gets no new ones: zetema bot
ends with exit code 4 when they are over. Start the bot with the new token when you like: it takes up the seats
of matches that run, and waits for new ones. What the rotation before this one let play on is cut. With --now
all is cut at once: clocks run until the bot is there with the new token. The JSON is one object: bot and secret.

Examples:
  zetema bot rotate rex > rex.token
  zetema bot rotate rex --now > rex.token")]
pub(crate) struct Rotate {
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
    /// Void the old token at once, as when it may be in wrong hands
    #[arg(long)]
    now: bool,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

impl Rotate {
    pub(super) async fn run(self) -> Result<()> {
        let client = Client::connect(&self.server).await?;
        let old_tokens = if self.now { v1::OldTokens::Void } else { v1::OldTokens::PlayOn };
        let request = v1::RotateTokenRequest { name: self.name, old_tokens: old_tokens.into() };
        let v1::RotateTokenResponse { bot, secret } = client.rotate_token(request).await?;
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
