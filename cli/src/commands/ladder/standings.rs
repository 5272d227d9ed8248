//! `zetema ladder standings`.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use comfy_table::Table;
use tonic::Streaming;
use zetema_proto::v1;
use zetema_proto::v1::watch_standings_response::Kind;
use zetema_service::server::termination;

use super::{conduct, rating};
use crate::args::{AddressArgs, FormatArgs};
use crate::client::{Client, explain};
use crate::failure::Usage;
use crate::json::{StandingJson, StandingsJson};
use crate::output::{self, Format};
use crate::pages::pages;
use crate::screen::Screen;

/// How many standings are shown, unless it is said.
const USUAL_LIMIT: u32 = 100;

/// Show the standings of a ladder, the best first.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
No token is needed. They go by mu − 3 sigma: a bot is very likely at least as strong as that. A question mark marks a
rating that says little yet. The JSON is a list of objects: rank, bot, rating (mu, sigma, shown, provisional), matches,
wins, draws, forfeits, sides_met, margin, conduct (state: free, cooling-down or benched; until, or null).

With --watch the table is drawn again when something changes, until Ctrl-C. With --format json each line is an object
then: result_number, kind (all or changed) and standings, of which all has the best 1,000.

Examples:
  zetema ladder standings sackson-2 --limit 20
  zetema ladder standings sackson-2 --watch")]
pub(crate) struct Standings {
    /// The ladder's name
    #[arg(value_name = "LADDER")]
    ladder: String,
    /// At most so many; unless given, 100
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    /// Go on and show what changes, until Ctrl-C
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    address: AddressArgs,
}

impl Standings {
    pub(super) async fn run(self) -> Result<()> {
        if self.watch && self.format.format == Format::Json && self.limit.is_some() {
            return Err(Usage::new(
                "--limit can't be with --watch and --format json, which tell of each bot that changes",
            )
            .into());
        }
        let client = Client::connect_as_anyone(&self.address).await?;
        if self.watch {
            let stream = client.watch_standings(self.ladder.clone()).await?;
            return tokio::select! {
                watched = self.follow(stream) => watched,
                told = termination() => Ok(told?),
            };
        }
        let limit = self.limit.unwrap_or(USUAL_LIMIT);
        let page = async |page_size, page_token| {
            let ladder = self.ladder.clone();
            let answer =
                client.get_standings(v1::GetStandingsRequest { ladder, page_size, page_token }).await?;
            Ok((answer.standings, answer.next_page_token))
        };
        let (standings, more) = pages(limit, page).await?;
        let standings: Vec<_> = standings.iter().map(StandingJson::new).collect::<Result<_>>()?;
        match self.format.format {
            Format::Json => output::print_json(&standings)?,
            Format::Table => output::print(table(&standings))?,
        }
        if more {
            output::note(format!("there are more: give a --limit over {limit}"));
        }
        Ok(())
    }

    async fn follow(&self, mut stream: Streaming<v1::WatchStandingsResponse>) -> Result<()> {
        let limit = usize::try_from(self.limit.unwrap_or(USUAL_LIMIT)).unwrap_or(usize::MAX);
        // One line less would have no bot.
        let mut screen = Screen::with_room_for(4).filter(|_| self.format.format == Format::Table);
        let mut latest = Latest::default();
        while let Some(message) = stream.message().await.map_err(|status| explain(&status))? {
            let v1::WatchStandingsResponse { result_number, kind } = message;
            let standings = match kind {
                Some(Kind::All(v1::AllStandings { standings })) => {
                    StandingsJson::new(result_number, "all", &standings)?
                }
                Some(Kind::Changed(v1::ChangedStandings { standings })) => {
                    StandingsJson::new(result_number, "changed", &standings)?
                }
                Some(Kind::Draining(v1::StandingsDraining { reconnect_after_ms, stops_in_ms })) => {
                    output::note(format!(
                        "the server stops in at most {stops_in_ms} ms: watch again {reconnect_after_ms} ms after that"
                    ));
                    continue;
                }
                // What this version does not know.
                None => continue,
            };
            if self.format.format == Format::Json {
                output::print_json_line(&standings)?;
                continue;
            }
            latest.take(standings);
            let picture = table(&latest.best(limit));
            match &mut screen {
                Some(screen) => screen.draw(&picture.to_string())?,
                None => output::print(picture)?,
            }
        }
        bail!("the stream ended: watch it again")
    }
}

/// The standings as far as they were told, by the bot's name.
#[derive(Default)]
pub(super) struct Latest(BTreeMap<String, StandingJson>);

impl Latest {
    pub(super) fn take(&mut self, StandingsJson { kind, standings, .. }: StandingsJson) {
        if kind == "all" {
            self.0.clear();
        }
        self.0.extend(standings.into_iter().map(|standing| (standing.bot.clone(), standing)));
    }

    /// The best, by their rank and then by name.
    pub(super) fn best(&self, limit: usize) -> Vec<StandingJson> {
        let mut standings: Vec<_> = self.0.values().cloned().collect();
        standings.sort_by_key(|standing| standing.rank);
        standings.truncate(limit);
        standings
    }
}

/// Standings for people.
pub(super) fn table(standings: &[StandingJson]) -> Table {
    let columns = ["rank", "bot", "rating", "matches", "wins", "draws", "forfeits", "margin", "conduct"];
    let mut table = output::table(columns);
    for standing in standings {
        table.add_row([
            standing.rank.to_string(),
            standing.bot.clone(),
            rating(&standing.rating),
            standing.matches.to_string(),
            standing.wins.to_string(),
            standing.draws.to_string(),
            standing.forfeits.to_string(),
            format!("{:+}", standing.margin),
            conduct(&standing.conduct),
        ]);
    }
    output::align_right(&mut table, [0, 2, 3, 4, 5, 6, 7]);
    table
}
