//! `zetema ladder standings`.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Result, bail};
use comfy_table::Table;
use tonic::Streaming;
use zetema_proto::v1;
use zetema_proto::v1::watch_standings_response::Kind;
use zetema_service::server::termination;

use super::pictures::Pictures;
use super::{conduct, rating};
use crate::args::{AddressArgs, FormatArgs};
use crate::client::{Client, explain};
use crate::failure::Usage;
use crate::json::{EstimateJson, IntervalJson, StandingJson, StandingsJson};
use crate::output::{self, Format};
use crate::pages::pages;

/// How many standings are shown, unless it is said.
const USUAL_LIMIT: u32 = 100;

/// Show the standings of a ladder, the best first.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
No token is needed. They go by mu − 3 sigma: a bot is very likely at least as strong as that. A question mark marks a
rating that says little yet. The JSON is a list of objects: rank, bot, rating (mu, sigma, shown, provisional), matches,
wins, draws, forfeits, sides_met, margin, conduct (state: free, cooling-down or benched; until, or null), points
(matches, scored and adjusted, each with mean, standard_error and interval from and to, luck_share, variance_ratio; or
null as long as the luck of none of its matches is computed), luck_adjusted_rating (mu, sigma, shown, provisional and
matches, or null as points).

With --luck there are the points a match, as scored and without the luck of the cards, each ± half the width of its 95 %
interval (none under ten matches), the rating without luck, and of how many matches all that is. The standings go by none
of it. The rating without luck is of the same matches, each ranked by its scores less the luck of the cards: an estimate
beside the rating, for which nothing is proved, as it is for the points.

With --watch the table is drawn again when something that it shows changes, until Ctrl-C. A match is rated before its
luck is computed, so a bot's points a match come about a second after that, also where nobody plays, as after a start.
With --format json each line is an object then: result_number, kind (all or changed) and standings, of which all has the
best 1,000, and changed those whose points alone changed too.

Examples:
  zetema ladder standings sackson-2 --limit 20
  zetema ladder standings sackson-2 --luck
  zetema ladder standings sackson-2 --watch")]
pub(crate) struct Standings {
    /// The ladder's name
    #[arg(value_name = "LADDER")]
    ladder: String,
    /// At most so many; unless given, 100
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Go on and show what changes, until Ctrl-C
    #[arg(long)]
    watch: bool,
    /// Show points a match too, as scored and without the luck of the cards, and the rating without it
    #[arg(long)]
    luck: bool,
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
            let stream = Following::start(&client, &self.ladder).await?;
            return tokio::select! {
                watched = self.follow(stream) => watched,
                told = termination() => Ok(told?),
            };
        }
        let limit = self.limit.unwrap_or(USUAL_LIMIT);
        let (luck_to, results_to) = (AtomicU64::new(0), AtomicU64::new(0));
        let page = async |page_size, page_token| {
            let ladder = self.ladder.clone();
            let answer =
                client.get_standings(v1::GetStandingsRequest { ladder, page_size, page_token }).await?;
            luck_to.store(answer.luck_result_number, Ordering::Relaxed);
            results_to.store(answer.result_number, Ordering::Relaxed);
            Ok((answer.standings, answer.next_page_token))
        };
        let (standings, more) = pages(limit, page).await?;
        let standings: Vec<_> = standings.iter().map(StandingJson::new).collect::<Result<_>>()?;
        match self.format.format {
            Format::Json => output::print_json(&standings)?,
            Format::Table => output::print(table(&standings, self.columns()))?,
        }
        if self.luck
            && let Some(behind) = luck_is_behind(luck_to.into_inner(), results_to.into_inner())
        {
            output::note(behind);
        }
        if more {
            output::note(format!("there are more: give a --limit over {limit}"));
        }
        Ok(())
    }

    const fn columns(&self) -> Columns {
        if self.luck { Columns::WithLuck } else { Columns::Usual }
    }

    async fn follow(&self, mut stream: Following) -> Result<()> {
        let limit = usize::try_from(self.limit.unwrap_or(USUAL_LIMIT)).unwrap_or(usize::MAX);
        let (mut latest, mut pictures) = (Latest::default(), Pictures::new(self.format.format));
        loop {
            let standings = stream.next().await?;
            if self.format.format == Format::Json {
                output::print_json_line(&standings)?;
                continue;
            }
            latest.take(standings);
            pictures.show(table(&latest.best(limit), self.columns()).to_string())?;
        }
    }
}

/// Standings that are followed.
pub(crate) struct Following(Streaming<v1::WatchStandingsResponse>);

impl Following {
    /// Begins to follow a ladder.
    pub(crate) async fn start(client: &Client, ladder: &str) -> Result<Self> {
        client.watch_standings(ladder.to_owned()).await.map(Self)
    }

    /// All of them at first, and then what changes.
    pub(crate) async fn next(&mut self) -> Result<StandingsJson> {
        while let Some(message) = self.0.message().await.map_err(|status| explain(&status))? {
            let v1::WatchStandingsResponse { result_number, kind } = message;
            match kind {
                Some(Kind::All(v1::AllStandings { standings })) => {
                    return StandingsJson::new(result_number, "all", &standings);
                }
                Some(Kind::Changed(v1::ChangedStandings { standings })) => {
                    return StandingsJson::new(result_number, "changed", &standings);
                }
                Some(Kind::Draining(v1::StandingsDraining { reconnect_after_ms, stops_in_ms })) => {
                    output::note(format!(
                        "the server stops in at most {stops_in_ms} ms: watch again {reconnect_after_ms} ms after that"
                    ));
                }
                // What this version does not know.
                None => {}
            }
        }
        bail!("the stream ended: watch it again")
    }
}

/// The standings as far as they were told, by the bot's name.
#[derive(Default)]
pub(crate) struct Latest(BTreeMap<String, StandingJson>);

impl Latest {
    pub(crate) fn take(&mut self, StandingsJson { kind, standings, .. }: StandingsJson) {
        if kind == "all" {
            self.0.clear();
        }
        self.0.extend(standings.into_iter().map(|standing| (standing.bot.clone(), standing)));
    }

    /// The best, by their rank and then by name.
    pub(crate) fn best(&self, limit: usize) -> Vec<StandingJson> {
        let mut standings: Vec<_> = self.0.values().cloned().collect();
        standings.sort_by_key(|standing| standing.rank);
        standings.truncate(limit);
        standings
    }
}

/// Which columns a table has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Columns {
    /// Those that all have.
    Usual,
    /// With the luck of the cards, and what is scored without it.
    WithLuck,
}

/// Standings for people.
pub(crate) fn table(standings: &[StandingJson], columns: Columns) -> Table {
    let mut names = vec!["rank", "bot", "rating", "matches", "wins", "draws", "forfeits", "margin"];
    if columns == Columns::WithLuck {
        names.extend(["points a match ± 95 %", "without luck ± 95 %", "rating without luck", "of matches"]);
    }
    let right = (0..names.len()).filter(|&column| column != 1);
    names.push("conduct");
    let mut table = output::table(names);
    for standing in standings {
        let mut row = vec![
            standing.rank.to_string(),
            standing.bot.clone(),
            rating(&standing.rating),
            standing.matches.to_string(),
            standing.wins.to_string(),
            standing.draws.to_string(),
            standing.forfeits.to_string(),
            format!("{:+}", standing.margin),
        ];
        if columns == Columns::WithLuck {
            row.extend(match &standing.points {
                Some(points) => [
                    estimate(&points.scored),
                    estimate(&points.adjusted),
                    standing
                        .luck_adjusted_rating
                        .as_ref()
                        .map_or_else(|| "–".to_owned(), |of| rating(&of.rating)),
                    points.matches.to_string(),
                ],
                None => ["–", "–", "–", "0"].map(str::to_owned),
            });
        }
        row.push(conduct(&standing.conduct));
        table.add_row(row);
    }
    output::align_right(&mut table, right);
    table
}

/// A mean for people, and half the width of where it is 95 times of 100.
fn estimate(estimate: &EstimateJson) -> String {
    let EstimateJson { mean, interval, .. } = estimate;
    match interval {
        Some(IntervalJson { from, to }) => format!("{mean:+.1} ± {:.1}", (to - from) / 2.0),
        None => format!("{mean:+.1}"),
    }
}

/// Which results of the server have no luck yet, for people; `None` if all have that ever will.
pub(super) fn luck_is_behind(luck_to: u64, results_to: u64) -> Option<String> {
    match results_to.checked_sub(luck_to)? {
        0 => None,
        1 => Some(format!("the luck of result {results_to} is not computed yet")),
        _ => Some(format!("the luck of results {} to {results_to} is not computed yet", luck_to + 1)),
    }
}
