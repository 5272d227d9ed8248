//! `zetema ladder reinstate`.

use anyhow::Result;
use zetema_proto::v1;

use crate::args::{FormatArgs, ServerArgs};
use crate::client::Client;
use crate::json::ConductJson;
use crate::output::{self, Format};

/// Put a bot back that is benched until its owner does so.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For the bot's owner, with its token, and the admin. The JSON is the bot's conduct from now on: state (free,
cooling-down or benched) and until, or null.

Example:
  zetema ladder reinstate sackson-2 --bot greedy --token TOKEN_OF_THE_OWNER")]
pub(crate) struct Reinstate {
    /// The ladder's name
    #[arg(value_name = "LADDER")]
    ladder: String,
    /// The bot's name
    #[arg(long, value_name = "NAME")]
    bot: String,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

impl Reinstate {
    pub(super) async fn run(self) -> Result<()> {
        let client = Client::connect(&self.server).await?;
        let request = v1::ReinstateBotRequest { ladder: self.ladder, bot_name: self.bot.clone() };
        let v1::ReinstateBotResponse { conduct } = client.reinstate_bot(request).await?;
        let conduct = ConductJson::new(conduct.as_ref());
        match self.format.format {
            Format::Json => output::print_json(&conduct),
            Format::Table => output::print(told(&self.bot, &conduct)),
        }
    }
}

/// A bot's conduct for people.
pub(super) fn told(bot: &str, conduct: &ConductJson) -> String {
    match super::conduct(conduct) {
        free if free.is_empty() => format!("{bot} may be paired again"),
        other => format!("{bot} is {other}"),
    }
}
