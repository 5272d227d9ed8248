//! `zetema ladder results`.

use anyhow::Result;
use comfy_table::Table;
use zetema_proto::v1;

use super::check_bots;
use super::filter::FilterArgs;
use super::listing::ListArgs;
use super::standings::Columns;
use crate::args::AddressArgs;
use crate::client::Client;
use crate::json::{AdjustedScoreJson, LadderResultJson, LadderSeatJson, ScoredSeatJson};
use crate::output;
use crate::pages::pages;

/// List the results of a ladder, the latest first.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
No token is needed. Matches that were aborted are among them: they are not rated. `zetema record show ID` has the cards.
The JSON is a list of objects: result_number, match_id, time, reason, seats (bot, side, rank, total, end: played,
forfeited or no-show, before, after, adjusted_score), where rank and total are null of a match that was aborted, and
before and after, the ratings (mu, sigma, shown, provisional), of one that is not rated. adjusted_score (score, luck,
adjusted: points of the side less the mean of the others', what of it was the luck of the cards, and the rest) is null
until it is computed, in the background, of a match that is not rated, and of results older than the latest 1,048,576 of
the server when it started. --luck shows it in the table.

With --watch the list is shown again when there is a result more, until Ctrl-C, within a few seconds. With --format json
each line is the whole list then.

Examples:
  zetema ladder results sackson-2 --bot greedy --opponent random
  zetema ladder results sackson-2 --since 2026-11-21 --reason forfeit --reason aborted --format json
  zetema ladder results sackson-2 --limit 20 --watch")]
pub(crate) struct Results {
    /// The ladder's name
    #[arg(value_name = "LADDER")]
    ladder: String,
    #[command(flatten)]
    filter: FilterArgs,
    /// Show what each side scored without the luck of the cards too
    #[arg(long)]
    luck: bool,
    #[command(flatten)]
    list: ListArgs,
    #[command(flatten)]
    address: AddressArgs,
}

impl Results {
    pub(super) async fn run(self) -> Result<()> {
        self.filter.check()?;
        let client = Client::connect_as_anyone(&self.address).await?;
        let ask = async || self.ask(&client).await;
        self.list.show(&client, &self.ladder, ask, |results| table(results, self.columns())).await
    }

    /// What there is now, and whether there is more.
    async fn ask(&self, client: &Client) -> Result<(Vec<LadderResultJson>, bool)> {
        let filter = self.filter.to_wire();
        let page = async |page_size, page_token| {
            let (ladder, filter) = (self.ladder.clone(), Some(filter.clone()));
            let request =
                v1::ListResultsRequest { ladder, filter, page_size, page_token, oldest_first: None };
            let answer = client.list_results(request).await?;
            Ok((answer.results, answer.next_page_token))
        };
        let (results, more) = pages(self.list.limit, page).await?;
        if results.is_empty() {
            check_bots(client, self.filter.bots()).await?;
        }
        Ok((results.iter().map(LadderResultJson::new).collect(), more))
    }

    const fn columns(&self) -> Columns {
        if self.luck { Columns::WithLuck } else { Columns::Usual }
    }
}

/// Results for people: a row each, with a line for each seat.
pub(super) fn table(results: &[LadderResultJson], columns: Columns) -> Table {
    let mut names = vec!["result", "ended", "match", "reason", "rank", "bot", "points", "rating"];
    let mut right = vec![0, 4, 6, 7];
    if columns == Columns::WithLuck {
        right.extend(names.len()..names.len() + 3);
        names.extend(["score", "luck", "without luck"]);
    }
    let mut table = output::table(names);
    for result in results {
        let seats = |cell: fn(&LadderSeatJson) -> String| {
            result.seats.iter().map(|scored| cell(&scored.seat)).collect::<Vec<_>>().join("\n")
        };
        let number = |number: Option<u32>| number.map_or_else(|| "–".to_owned(), |number| number.to_string());
        let mut row = vec![
            result.result_number.to_string(),
            result.time.clone().unwrap_or_default(),
            result.match_id.clone(),
            result.reason.to_owned(),
            result.seats.iter().map(|scored| number(scored.seat.rank)).collect::<Vec<_>>().join("\n"),
            seats(|seat| match seat.end {
                "forfeited" => format!("{} (forfeited)", seat.bot),
                "no-show" => format!("{} (did not come)", seat.bot),
                _ => seat.bot.clone(),
            }),
            result.seats.iter().map(|scored| number(scored.seat.total)).collect::<Vec<_>>().join("\n"),
            seats(|seat| match (&seat.before, &seat.after) {
                (Some(before), Some(after)) => {
                    format!("{:.2} ({:+.2})", after.shown, after.shown - before.shown)
                }
                _ => "–".to_owned(),
            }),
        ];
        if columns == Columns::WithLuck {
            let points = |points: fn(&AdjustedScoreJson) -> f64| {
                let cell = |scored: &ScoredSeatJson| {
                    let score = scored.adjusted_score.as_ref();
                    score.map_or_else(|| "–".to_owned(), |score| format!("{:+.1}", points(score)))
                };
                result.seats.iter().map(cell).collect::<Vec<_>>().join("\n")
            };
            row.extend([points(|of| of.score), points(|of| of.luck), points(|of| of.adjusted)]);
        }
        table.add_row(row);
    }
    output::align_right(&mut table, right);
    table
}
