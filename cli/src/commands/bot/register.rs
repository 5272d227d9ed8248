//! `zetema bot register`.

use anyhow::Result;
use zetema_proto::v1;

use crate::args::{FormatArgs, ServerArgs};
use crate::client::Client;
use crate::json::RegisteredBotJson;
use crate::output::{self, Format};

/// Register a bot and print its token, once.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
stdout has the token alone, and the server does not keep it: pipe it to where it is to stay. The JSON is one
object: bot, as `zetema bot list` gives it, and secret.

Examples:
  zetema bot register rex --token TOKEN_OF_AN_OWNER > rex.token
  zetema bot register rex --owner kennel --description \"a careful bot\" --bot-version 1.0 --contact rex@example.com")]
pub(crate) struct Register {
    /// Its name, at most 64 characters of a-z, 0-9, '-', '_' and '.': its own for good
    #[arg(value_name = "NAME")]
    name: String,
    /// Whose it is to be; unless given, yours, so the admin has to give one
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    owner: String,
    /// What it is, at most 256 bytes
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    description: String,
    /// Its version, at most 64 bytes
    #[arg(
        id = "bot_version",
        long = "bot-version",
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    version: String,
    /// Whom to tell of its faults, at most 256 bytes; only you and the admin see it
    #[arg(long = "contact", value_name = "TEXT", default_value = "", hide_default_value = true)]
    fault_contact: String,
    /// A name for this request, at most 64 characters: sent again it gives the bot another token
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    request_id: String,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    server: ServerArgs,
}

impl Register {
    pub(super) async fn run(self) -> Result<()> {
        let Self { name, owner, description, version, fault_contact, request_id, format, server } = self;
        let client = Client::connect(&server).await?;
        let request = v1::RegisterBotRequest { request_id, name, owner, description, version, fault_contact };
        let v1::RegisterBotResponse { bot, secret } = client.register_bot(request).await?;
        let bot = super::json_of(bot.as_ref())?;
        match format.format {
            Format::Json => output::print_json(&RegisteredBotJson { bot, secret }),
            Format::Table => {
                output::print(secret)?;
                output::note(format!(
                    "This is the token of the bot {}. It is shown this once: keep it. Replace it by: {} bot rotate{} {}",
                    bot.name,
                    output::program(),
                    server.address,
                    bot.name
                ));
                Ok(())
            }
        }
    }
}
