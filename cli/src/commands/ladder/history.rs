//! `zetema ladder history`.

use anyhow::Result;
use comfy_table::Table;
use zetema_proto::v1;

use super::listing::ListArgs;
use super::rating;
use crate::args::AddressArgs;
use crate::client::Client;
use crate::json::RatingPointJson;
use crate::output;
use crate::pages::pages;

/// Show how the rating of a bot went, the latest match first.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
No token is needed. The JSON is a list of objects: result_number, match_id, time, rating (mu, sigma, shown,
provisional): the rating after that match.

With --watch the list is asked for and shown again when the standings change, until Ctrl-C. With --format json each line
is the whole list then.

Examples:
  zetema ladder history sackson-2 --bot greedy --watch
  zetema ladder history sackson-2 --bot greedy --limit 1000 --format json")]
pub(crate) struct History {
    /// The ladder's name
    #[arg(value_name = "LADDER")]
    ladder: String,
    /// The bot's name
    #[arg(long, value_name = "NAME")]
    bot: String,
    #[command(flatten)]
    list: ListArgs,
    #[command(flatten)]
    address: AddressArgs,
}

impl History {
    pub(super) async fn run(self) -> Result<()> {
        let client = Client::connect_as_anyone(&self.address).await?;
        let ask = async || self.ask(&client).await;
        self.list.show(&client, &self.ladder, ask, table).await
    }

    /// What there is now, and whether there is more.
    async fn ask(&self, client: &Client) -> Result<(Vec<RatingPointJson>, bool)> {
        let page = async |page_size, page_token| {
            let (ladder, bot_name) = (self.ladder.clone(), self.bot.clone());
            let request = v1::GetRatingHistoryRequest { ladder, bot_name, page_size, page_token };
            let answer = client.get_rating_history(request).await?;
            Ok((answer.points, answer.next_page_token))
        };
        let (points, more) = pages(self.list.limit, page).await?;
        Ok((points.iter().map(RatingPointJson::new).collect::<Result<_>>()?, more))
    }
}

/// Ratings for people.
pub(super) fn table(points: &[RatingPointJson]) -> Table {
    let mut table = output::table(["result", "ended", "match", "rating"]);
    for point in points {
        table.add_row([
            point.result_number.to_string(),
            point.time.clone().unwrap_or_default(),
            point.match_id.clone(),
            rating(&point.rating),
        ]);
    }
    output::align_right(&mut table, [0, 3]);
    table
}
