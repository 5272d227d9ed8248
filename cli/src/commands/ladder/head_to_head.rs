//! `zetema ladder head-to-head`.

use anyhow::Result;
use comfy_table::Table;
use zetema_proto::v1;

use super::check_bots;
use super::listing::ListArgs;
use crate::args::AddressArgs;
use crate::client::Client;
use crate::json::HeadToHeadJson;
use crate::output;
use crate::pages::pages;

/// Show how a bot did against each that it met, by name.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
No token is needed. The JSON is a list of objects: opponent, matches (those in which both were on different sides),
ahead, level, behind, margin (points, summed; not rated).

With --watch the list is asked for and shown again when the standings change, until Ctrl-C. With --format json each line
is the whole list then.

Examples:
  zetema ladder head-to-head sackson-2 --bot greedy
  zetema ladder head-to-head sackson-2 --bot greedy --opponent random
  zetema ladder head-to-head sackson-2 --bot greedy --watch")]
pub(crate) struct HeadToHead {
    /// The ladder's name
    #[arg(value_name = "LADDER")]
    ladder: String,
    /// The bot's name
    #[arg(long, value_name = "NAME")]
    bot: String,
    /// Only against this one
    #[arg(long, value_name = "NAME")]
    opponent: Option<String>,
    #[command(flatten)]
    list: ListArgs,
    #[command(flatten)]
    address: AddressArgs,
}

impl HeadToHead {
    pub(super) async fn run(self) -> Result<()> {
        let client = Client::connect_as_anyone(&self.address).await?;
        let ask = async || self.ask(&client).await;
        self.list.show(&client, &self.ladder, ask, table).await
    }

    /// What there is now, and whether there is more.
    async fn ask(&self, client: &Client) -> Result<(Vec<HeadToHeadJson>, bool)> {
        let page = async |page_size, page_token| {
            let request = v1::GetHeadToHeadRequest {
                ladder: self.ladder.clone(),
                bot_name: self.bot.clone(),
                opponent_name: self.opponent.clone().unwrap_or_default(),
                page_size,
                page_token,
            };
            let answer = client.get_head_to_head(request).await?;
            Ok((answer.opponents, answer.next_page_token))
        };
        let (met, more) = pages(self.list.limit, page).await?;
        if met.is_empty() {
            let opponent = self.opponent.as_deref().map(|opponent| ("--opponent", opponent));
            check_bots(client, opponent.into_iter()).await?;
        }
        Ok((met.iter().map(HeadToHeadJson::new).collect(), more))
    }
}

/// How a bot did, for people.
pub(super) fn table(met: &[HeadToHeadJson]) -> Table {
    let mut table = output::table(["opponent", "matches", "ahead", "level", "behind", "margin"]);
    for one in met {
        table.add_row([
            one.opponent.clone(),
            one.matches.to_string(),
            one.ahead.to_string(),
            one.level.to_string(),
            one.behind.to_string(),
            format!("{:+}", one.margin),
        ]);
    }
    output::align_right(&mut table, 1..=5);
    table
}
