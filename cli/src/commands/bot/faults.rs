//! `zetema bot faults`.

use anyhow::{Result, anyhow};
use secrecy::ExposeSecret;
use zetema_sdk::{Error, ErrorReason, list_faults_of_bot};

use crate::args::{AddressArgs, ServerArgs};
use crate::client;
use crate::commands::faults::{self, FaultArgs};

/// Show an owner, or the admin, what went wrong for a bot, retired or not.
#[derive(Debug, clap::Args)]
#[command(after_help = faults::help("\
  zetema bot faults rex
  zetema bot faults rex --match MATCH_ID --format json
  zetema match faults --token TOKEN_OF_A_BOT   with the bot's own token, or a seat's"))]
pub(crate) struct Faults {
    /// The bot's name
    #[arg(value_name = "NAME")]
    name: String,
    /// Only in this match
    #[arg(long = "match", value_name = "MATCH_ID")]
    match_id: Option<String>,
    #[command(flatten)]
    shown: FaultArgs,
    #[command(flatten)]
    server: ServerArgs,
}

impl Faults {
    pub(super) async fn run(self) -> Result<()> {
        let token = client::token(&self.server)?;
        let AddressArgs { server, tls } = self.server.address;
        let (token, match_id) = (token.expose_secret().trim(), self.match_id.as_deref());
        let asked =
            list_faults_of_bot(&server, &tls.settings()?, token, &self.name, match_id, self.shown.most())
                .await;
        self.shown.print(&asked.map_err(explained)?)
    }
}

/// The error, with what to do about it.
fn explained(error: Error) -> anyhow::Error {
    let instead = match &error {
        Error::Refused { refusal, .. } => match refusal.reason {
            ErrorReason::NotFound => {
                "`zetema bot list` shows all bots, and whose they are: the faults of one are for its owner's token and \
                 the admin's"
            }
            ErrorReason::Unauthenticated => {
                "give the token of the bot's owner, or the admin's, by --token or ZETEMA_TOKEN; for the bot's own there \
                 is `zetema match faults`"
            }
            _ => return error.into(),
        },
        _ => return error.into(),
    };
    anyhow!("{error}: {instead}")
}
