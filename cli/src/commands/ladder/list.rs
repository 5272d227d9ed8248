//! `zetema ladder list`.

use anyhow::Result;
use comfy_table::Table;
use zetema_proto::v1;

use crate::args::{AddressArgs, FormatArgs};
use crate::client::Client;
use crate::json::{LadderJson, ladders};
use crate::output::{self, Format};
use crate::render::amount;

/// List the ladders of a server, by name.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
No token is needed. The JSON is a list of objects: name, description, rules, time_control, rating (mu, sigma, beta,
kappa, tau, provisional_sigma), same_owner (apart, opponents or anywhere), owners (whose bots may enter, or null:
every registered bot), queued_bots, live_matches, rated_bots, rated_matches, result_number and
lost_results (of the server, up to result_number: a repair went on without them).

Examples:
  zetema ladder list
  zetema bot greedy --token TOKEN_OF_A_BOT --queue NAME_OF_A_LADDER:3")]
pub(crate) struct List {
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    address: AddressArgs,
}

impl List {
    pub(super) async fn run(self) -> Result<()> {
        let client = Client::connect_as_anyone(&self.address).await?;
        let v1::ListLaddersResponse { ladders } = client.list_ladders(v1::ListLaddersRequest {}).await?;
        match self.format.format {
            Format::Json => {
                let ladders: Vec<_> = ladders.iter().map(LadderJson::new).collect::<Result<_>>()?;
                output::print_json(&ladders)
            }
            Format::Table => output::print(table(&ladders)?),
        }
    }
}

/// The ladders for people.
pub(super) fn table(messages: &[v1::Ladder]) -> Result<Table> {
    let mut table =
        output::table(["ladder", "rules", "who may enter", "waiting", "live", "rated", "matches", "about"]);
    for message in messages {
        let rules = ladders::rules(message)?.to_string();
        let LadderJson { name, description, owners, .. } = LadderJson::new(message)?;
        let entry = owners.map_or_else(
            || "every registered bot".to_owned(),
            |owners| format!("bots of {}", output::plain(&owners.join(", "))),
        );
        table.add_row([
            name,
            rules,
            entry,
            message.queued_bots.to_string(),
            message.live_matches.to_string(),
            message.rated_bots.to_string(),
            amount::count(message.rated_matches),
            output::plain(&description),
        ]);
    }
    output::align_right(&mut table, 3..=6);
    Ok(table)
}
