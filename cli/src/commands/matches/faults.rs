//! `zetema match faults`.

use anyhow::Result;
use zetema_sdk::{PlayerToken, list_faults};

use crate::args::AddressArgs;
use crate::commands::faults::{self, FaultArgs};
use crate::failure::Usage;

/// What the tokens begin with that play no seat: an owner's, and the admin's.
const OF_OWNERS: [&str; 2] = ["zto_", "zta_"];

/// Show what went wrong for the player of a seat, or for a bot, by its own token. For owners: zetema bot faults NAME
#[derive(Debug, clap::Args)]
#[command(after_help = faults::help("\
  zetema match faults --token TOKEN_OF_A_SEAT
  zetema match faults MATCH_ID --token TOKEN_OF_A_BOT --format json
  zetema bot faults rex                        with the token of its owner, or the admin's"))]
pub(crate) struct Faults {
    /// Only in this match
    #[arg(value_name = "ID")]
    match_id: Option<String>,
    /// The token of the seat, or of the bot; not its owner's, which is for zetema bot faults
    #[arg(long, env = "ZETEMA_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    token: PlayerToken,
    #[command(flatten)]
    shown: FaultArgs,
    #[command(flatten)]
    address: AddressArgs,
}

impl Faults {
    pub(super) async fn run(self) -> Result<()> {
        // The server takes it for a seat's that is not valid.
        if let PlayerToken::Seat(token) = &self.token
            && OF_OWNERS.iter().any(|prefix| token.reveal().starts_with(prefix))
        {
            return Err(Usage::new(
                "the token is an owner's or the admin's, which plays no seat: give that of the seat or of the bot, or \
                 list the faults of a bot for its owner by `zetema bot faults NAME`",
            )
            .into());
        }
        let AddressArgs { server, tls } = self.address;
        let match_id = self.match_id.as_deref();
        let faults = list_faults(&server, &tls.settings()?, &self.token, match_id, self.shown.most()).await?;
        self.shown.print(&faults)
    }
}
