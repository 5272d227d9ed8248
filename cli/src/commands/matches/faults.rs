//! `zetema match faults`.

use anyhow::Result;
use zetema_sdk::{PlayerToken, list_faults};

use crate::args::{AddressArgs, FormatArgs};
use crate::json::FaultJson;
use crate::output::{self, Format};

/// Show what went wrong for the player of a seat, or for a bot.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The latest comes first. The server remembers, over a restart too, those of a bot's latest 1,000 seats with faults,
and those of a seat with a token of its own until an hour after its match; 16 of each seat. When more than 10,000
seats have faults, whoever has the most loses its oldest. Time-outs are in the records too. The JSON is a list of objects: time, match_id, seat, kind (rejected, cut, lost,
timed-out, panicked or other), reason, message, decision and strikes, of which the last four may be null.

Examples:
  zetema match faults --token TOKEN_OF_A_SEAT
  zetema match faults MATCH_ID --token TOKEN_OF_A_BOT --format json")]
pub(crate) struct Faults {
    /// Only in this match
    #[arg(value_name = "ID")]
    match_id: Option<String>,
    /// The token of the seat, or of the bot
    #[arg(long, env = "ZETEMA_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    token: PlayerToken,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    address: AddressArgs,
}

impl Faults {
    pub(super) async fn run(self) -> Result<()> {
        let AddressArgs { server, tls } = self.address;
        // One more than is shown tells whether there are more.
        let most = self.limit.saturating_add(1);
        let faults =
            list_faults(&server, &tls.settings()?, &self.token, self.match_id.as_deref(), most).await?;
        let shown: Vec<FaultJson> = faults.iter().take(self.limit).map(FaultJson::new).collect();
        match self.format.format {
            Format::Json => output::print_json(&shown)?,
            Format::Table => {
                let mut table = output::table(["time", "match", "seat", "fault"]);
                for (json, fault) in shown.iter().zip(&faults) {
                    let seat = fault.seat.to_string();
                    let times =
                        if fault.count > 1 { format!(" ({} times)", fault.count) } else { String::new() };
                    let told = format!("{}{times}", fault.kind);
                    table.add_row([json.time.as_str(), &fault.match_id, &seat, &told]);
                }
                output::print(table)?;
            }
        }
        if faults.len() > self.limit {
            output::note(format!("there are more: give a --limit over {}", self.limit));
        }
        Ok(())
    }
}
