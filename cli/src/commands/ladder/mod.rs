//! `zetema ladder`: the ladders of a server.

mod audit;
mod export;
mod filter;
mod head_to_head;
mod history;
mod list;
mod listing;
mod pictures;
mod recompute;
mod reinstate;
mod results;
pub(crate) mod standings;
mod suspicions;
#[cfg(test)]
mod tests;

use anyhow::{Context, Result};
use clap::Subcommand;
use zetema_proto::v1;

use crate::client::Client;
use crate::json::{ConductJson, RatingJson};

/// What to do with ladders.
#[derive(Debug, Subcommand)]
pub(crate) enum LadderCommand {
    /// List the ladders of a server, by name
    List(list::List),
    /// Show the standings of a ladder, the best first
    Standings(standings::Standings),
    /// List the results of a ladder, the latest first
    Results(results::Results),
    /// Show how the rating of a bot went, the latest match first
    History(history::History),
    /// Show how a bot did against each that it met, by name
    HeadToHead(head_to_head::HeadToHead),
    /// Write the results or the records of a ladder for other programs: CSV, JSON Lines or Parquet
    Export(export::Export),
    /// Check every record of a server in one go
    Audit(audit::Audit),
    /// Put a bot back that is benched until its owner does so
    Reinstate(reinstate::Reinstate),
    /// List what the results of a ladder show that honest play is very unlikely to give
    Suspicions(suspicions::Suspicions),
    /// Rate all results of a server that does not run anew, and hold the ratings against those that it has stored
    Recompute(recompute::Recompute),
}

pub(super) async fn run(command: LadderCommand) -> Result<()> {
    match command {
        LadderCommand::List(list) => list.run().await,
        LadderCommand::Standings(standings) => standings.run().await,
        LadderCommand::Results(results) => results.run().await,
        LadderCommand::History(history) => history.run().await,
        LadderCommand::HeadToHead(met) => met.run().await,
        LadderCommand::Export(export) => export.run().await,
        LadderCommand::Audit(audit) => audit.run().await,
        LadderCommand::Reinstate(reinstate) => reinstate.run().await,
        LadderCommand::Suspicions(suspicions) => suspicions.run().await,
        LadderCommand::Recompute(recompute) => recompute.run().await,
    }
}

/// Refuses bots, each with its flag, that the server does not have: of them too it gives lists, which are empty.
async fn check_bots<'a>(client: &Client, named: impl Iterator<Item = (&'static str, &'a str)>) -> Result<()> {
    for (flag, bot) in named {
        let request = v1::GetBotRequest { name: bot.to_owned() };
        client.get_bot(request).await.with_context(|| format!("{flag} {bot}"))?;
    }
    Ok(())
}

/// A rating for people: what the standings go by, and how unsure it is. One that says little yet has a question mark.
fn rating(rating: &RatingJson) -> String {
    let mark = if rating.provisional { "?" } else { "" };
    format!("{:.2}{mark} ± {:.2}", rating.shown, rating.sigma)
}

/// A bot's conduct for people; nothing if it is free to play.
pub(super) fn conduct(conduct: &ConductJson) -> String {
    match (conduct.state, &conduct.until) {
        ("free", _) => String::new(),
        ("cooling-down", Some(until)) => format!("cooling down until {until}"),
        ("benched", Some(until)) => format!("benched until {until}"),
        ("out-of-quota", Some(until)) => format!("out of quota until {until}"),
        ("benched", None) => "benched until its owner puts it back".to_owned(),
        (state, _) => state.to_owned(),
    }
}
