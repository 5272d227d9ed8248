//! `zetema ladder results`.

use anyhow::Result;
use clap::ValueEnum;
use comfy_table::Table;
use prost_types::Timestamp;
use zetema_proto::v1;

use crate::args::{AddressArgs, FormatArgs};
use crate::client::Client;
use crate::json::{LadderResultJson, LadderSeatJson};
use crate::output::{self, Format};
use crate::pages::pages;

/// List the results of a ladder, the latest first.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
No token is needed. Matches that were aborted are among them: they are not rated. `zetema record show ID` has the cards.
The JSON is a list of objects: result_number, match_id, time, reason, seats (bot, side, rank, total, end: played,
forfeited or no-show, before, after), where rank and total are null of a match that was aborted, and before and after,
the ratings (mu, sigma, shown, provisional), of one that is not rated.

Examples:
  zetema ladder results sackson-2 --bot greedy --opponent random
  zetema ladder results sackson-2 --since 2026-11-21 --reason forfeit --reason aborted --format json")]
pub(crate) struct Results {
    /// The ladder's name
    #[arg(value_name = "LADDER")]
    ladder: String,
    /// Only matches that this bot played
    #[arg(long, value_name = "NAME")]
    bot: Option<String>,
    /// Only those in which this bot was on another side than --bot
    #[arg(long, value_name = "NAME", requires = "bot")]
    opponent: Option<String>,
    /// Only those that ended then or later, as in 2026-11-21T03:04:01Z or 2026-11-21
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<Timestamp>,
    /// Only those that ended before
    #[arg(long, value_name = "TIME", value_parser = time)]
    before: Option<Timestamp>,
    /// Only those that ended in this way; repeatable
    #[arg(long, value_enum)]
    reason: Vec<Reason>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: u32,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    address: AddressArgs,
}

/// How a match ended.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Reason {
    /// A side reached the target
    Target,
    /// The only deal of a match without a target was over
    DealOver,
    /// One side was left without a forfeit
    Forfeit,
    /// It ended without a result and is not rated
    Aborted,
}

impl Reason {
    const fn to_wire(self) -> v1::LadderResultReason {
        match self {
            Self::Target => v1::LadderResultReason::Target,
            Self::DealOver => v1::LadderResultReason::DealOver,
            Self::Forfeit => v1::LadderResultReason::Forfeit,
            Self::Aborted => v1::LadderResultReason::Aborted,
        }
    }
}

/// A time in UTC, or a day, which begins at midnight.
pub(super) fn time(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| "give a time as in 2026-11-21T03:04:01Z, or a day as in 2026-11-21".to_owned())
}

impl Results {
    pub(super) async fn run(self) -> Result<()> {
        let client = Client::connect_as_anyone(&self.address).await?;
        let filter = v1::LadderResultFilter {
            bot_name: self.bot.unwrap_or_default(),
            opponent_name: self.opponent.unwrap_or_default(),
            since: self.since,
            before: self.before,
            reasons: self.reason.iter().map(|reason| reason.to_wire().into()).collect(),
        };
        let page = async |page_size, page_token| {
            let (ladder, filter) = (self.ladder.clone(), Some(filter.clone()));
            let request = v1::ListResultsRequest { ladder, filter, page_size, page_token };
            let answer = client.list_results(request).await?;
            Ok((answer.results, answer.next_page_token))
        };
        let (results, more) = pages(self.limit, page).await?;
        let results: Vec<_> = results.iter().map(LadderResultJson::new).collect();
        match self.format.format {
            Format::Json => output::print_json(&results)?,
            Format::Table => output::print(table(&results))?,
        }
        if more {
            output::note(format!("there are more: give a --limit over {}", self.limit));
        }
        Ok(())
    }
}

/// Results for people: a row each, with a line for each seat.
pub(super) fn table(results: &[LadderResultJson]) -> Table {
    let mut table = output::table(["result", "ended", "match", "reason", "rank", "bot", "points", "rating"]);
    for result in results {
        let seats = |cell: fn(&LadderSeatJson) -> String| {
            result.seats.iter().map(cell).collect::<Vec<_>>().join("\n")
        };
        let number = |number: Option<u32>| number.map_or_else(|| "–".to_owned(), |number| number.to_string());
        table.add_row([
            result.result_number.to_string(),
            result.time.clone().unwrap_or_default(),
            result.match_id.clone(),
            result.reason.to_owned(),
            result.seats.iter().map(|seat| number(seat.rank)).collect::<Vec<_>>().join("\n"),
            seats(|seat| match seat.end {
                "forfeited" => format!("{} (forfeited)", seat.bot),
                "no-show" => format!("{} (did not come)", seat.bot),
                _ => seat.bot.clone(),
            }),
            result.seats.iter().map(|seat| number(seat.total)).collect::<Vec<_>>().join("\n"),
            seats(|seat| match (&seat.before, &seat.after) {
                (Some(before), Some(after)) => {
                    format!("{:.2} ({:+.2})", after.shown, after.shown - before.shown)
                }
                _ => "–".to_owned(),
            }),
        ]);
    }
    output::align_right(&mut table, [0, 4, 6, 7]);
    table
}
